"""Tables of the runs table: every config, summary and attribute value of a run as rows that can be searched and sorted.

They are an index: whatever stands here can be made again from the runs' documents.
"""

TABLES = """
-- names such as config.optimizer.lr as small numbers
CREATE TABLE path (
    id {identity},
    project_id BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name {text_c} NOT NULL,
    UNIQUE (project_id, name)
);
CREATE TABLE value (
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    path_id BIGINT NOT NULL,
    -- 0 is the value itself, 1 and on the different elements of a list
    place INTEGER NOT NULL,
    -- strobe.store.values.leaf.Kind
    kind SMALLINT NOT NULL,
    -- of a number or a boolean; never NaN, which SQLite cannot hold
    number DOUBLE PRECISION,
    -- the beginning of a text, a list as JSON, the digits of an integer that `number` holds only nearly
    text {text_c},
    -- of what `text` has only the beginning of
    digest {bytes},
    PRIMARY KEY (run_id, path_id, place)
);
-- texts (kind 3) in one index, everything else in the other
CREATE INDEX value_number ON value (path_id, kind, number, run_id, place) WHERE kind <> 3;
CREATE INDEX value_text ON value (path_id, text, run_id, place, kind) WHERE kind = 3;
-- what a list of runs sorts and filters by without looking at the wide rows of runs
CREATE INDEX run_listed ON run (project_id, state, created_ns, ended_ns, deleted_ns, id);
"""
