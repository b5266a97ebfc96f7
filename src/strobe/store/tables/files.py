"""Tables of contents, the files of runs that they are the content of, and uploads in parts."""

TABLES = """
CREATE TABLE blob (
    -- of the content, in hex
    sha256 {text_c} PRIMARY KEY,
    -- in base64, as manifests and wandb's files have it
    md5 TEXT NOT NULL,
    size BIGINT NOT NULL,
    -- where it lies, a new place each time that the content comes in: deleting an old one can't hit a newer one
    key {text_c} NOT NULL UNIQUE,
    stored_ns BIGINT NOT NULL,
    -- when somebody last began to refer to it
    held_ns BIGINT NOT NULL
);
CREATE INDEX blob_held ON blob (held_ns);
CREATE TABLE run_file (
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    path {text_c} NOT NULL,
    sha256 {text_c} NOT NULL REFERENCES blob (sha256),
    size BIGINT NOT NULL,
    -- of the file where it came from
    mtime_ns BIGINT,
    -- live, now or end: when the SDK was to keep it
    policy TEXT NOT NULL,
    uploaded_ns BIGINT NOT NULL,
    PRIMARY KEY (run_id, path)
);
CREATE INDEX run_file_blob ON run_file (sha256);
CREATE TABLE upload (
    id {text_c} PRIMARY KEY,
    -- what it will be: a file of a run (run) or an entry of an artifact's draft (draft), whose id owner_id is
    kind TEXT NOT NULL,
    owner_id BIGINT NOT NULL,
    path {text_c} NOT NULL,
    -- what it must have when it is complete
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    part_bytes BIGINT NOT NULL,
    -- the algorithm of the digest that its taker asks for
    algorithm TEXT NOT NULL,
    mtime_ns BIGINT,
    policy TEXT NOT NULL,
    -- when a part last came in
    touched_ns BIGINT NOT NULL,
    -- a sign of life of whoever puts the parts together
    joining_ns BIGINT NOT NULL DEFAULT 0,
    UNIQUE (kind, owner_id, path, sha256, size)
);
CREATE INDEX upload_touched ON upload (touched_ns);
CREATE TABLE upload_part (
    upload_id {text_c} NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    key {text_c} NOT NULL UNIQUE,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (upload_id, number)
);
"""
