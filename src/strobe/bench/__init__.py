"""The performance lab: measured results in one record type (`records`), their statistics (`stats`), and what
produces them, beginning with the load profiles of experiment trackers (`load`).

Importing this package imports nothing else.
"""
