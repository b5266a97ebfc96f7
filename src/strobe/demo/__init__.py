"""`strobe demo`: a real training to look at, on a machine that has nothing yet.

spiral.py is a small model, training.py trains and logs it as a user's script would, story.py says which runs there are,
trainer.py is the process that makes them, show.py serves them while they are made, and check.py looks at what is served
in the place of a person.
"""
