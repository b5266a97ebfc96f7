"""`strobe ui`: the runs of a home, served from the journals themselves to the person at this machine.

The store is only an index here: it is made from the journals, follows them as they grow, and can be made again; views
and rules that were saved are all that lies in it alone. Files stay where they are, edits go to journals, removed runs
to the home's trash.
"""
