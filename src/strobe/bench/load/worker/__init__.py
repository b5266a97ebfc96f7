"""The half that runs inside a tracker's virtual environment, where Strobe is not installed: standard library only.

`start.py` is executed by path and loads this package under a name of its own, so that measuring `strobe` begins
with no part of Strobe imported.
"""
