"""What finding the forks of a run needs besides the table of runs, which is in `core`."""

TABLES = """
CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;
"""
