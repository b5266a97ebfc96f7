"""What reading typed objects needs besides their table, which is in `core`."""

TABLES = """
-- which types a key has, without reading the values
CREATE INDEX object_type ON object (run_id, key, type);
"""
