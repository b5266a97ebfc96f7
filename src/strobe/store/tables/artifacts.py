"""Tables of artifacts: collections, their versions with what they hold, aliases, tags, and which runs had them."""

TABLES = """
CREATE TABLE artifact_collection (
    id {identity},
    project_id BIGINT NOT NULL REFERENCES project (id),
    -- a name has one type: whoever logs first decides
    name {text_c} NOT NULL,
    type {text_c} NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    created_ns BIGINT NOT NULL,
    -- the number of the next version; a number is never used twice
    next_number BIGINT NOT NULL DEFAULT 0,
    UNIQUE (project_id, name)
);
CREATE INDEX artifact_collection_type ON artifact_collection (project_id, type);
CREATE TABLE artifact_version (
    id {identity},
    -- its name outside of this database
    token {text_c} NOT NULL UNIQUE,
    collection_id BIGINT NOT NULL REFERENCES artifact_collection (id),
    -- none while it is a draft
    number BIGINT,
    digest TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    size BIGINT NOT NULL,
    num_files BIGINT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    -- JSON
    metadata TEXT NOT NULL,
    ttl_s BIGINT,
    use_as TEXT,
    -- the version elsewhere that it is a link to, as entity/project/name:v3
    source TEXT,
    -- who logged it, and at which step
    run_id BIGINT REFERENCES run (id) ON DELETE SET NULL,
    step BIGINT,
    created_ns BIGINT NOT NULL,
    updated_ns BIGINT NOT NULL,
    deleted_ns BIGINT,
    -- of a draft: JSON of what happens when it is committed
    plan TEXT NOT NULL DEFAULT '',
    UNIQUE (collection_id, number)
);
CREATE INDEX artifact_version_run ON artifact_version (run_id);
CREATE INDEX artifact_version_deleted ON artifact_version (deleted_ns) WHERE deleted_ns IS NOT NULL;
CREATE INDEX artifact_version_draft ON artifact_version (updated_ns) WHERE number IS NULL;
CREATE TABLE artifact_entry (
    version_id BIGINT NOT NULL REFERENCES artifact_version (id) ON DELETE CASCADE,
    path {text_c} NOT NULL,
    digest {text_c} NOT NULL,
    algorithm TEXT NOT NULL,
    size BIGINT,
    -- an address outside, whose content is not here
    ref TEXT,
    -- JSON, or nothing
    extra TEXT NOT NULL DEFAULT '',
    -- its content; none for references, and in drafts until it comes
    sha256 {text_c} REFERENCES blob (sha256),
    PRIMARY KEY (version_id, path)
);
CREATE INDEX artifact_entry_blob ON artifact_entry (sha256);
CREATE INDEX artifact_entry_digest ON artifact_entry (digest, version_id);
CREATE TABLE artifact_alias (
    collection_id BIGINT NOT NULL REFERENCES artifact_collection (id),
    -- never "latest", which is the highest version that there is
    name {text_c} NOT NULL,
    version_id BIGINT NOT NULL REFERENCES artifact_version (id) ON DELETE CASCADE,
    PRIMARY KEY (collection_id, name)
);
CREATE INDEX artifact_alias_version ON artifact_alias (version_id);
CREATE TABLE artifact_tag (
    version_id BIGINT NOT NULL REFERENCES artifact_version (id) ON DELETE CASCADE,
    name {text_c} NOT NULL,
    PRIMARY KEY (version_id, name)
);
-- which version a sender's own version became, so that sending it again makes no other
CREATE TABLE artifact_origin (
    collection_id BIGINT NOT NULL REFERENCES artifact_collection (id),
    name {text_c} NOT NULL,
    version_id BIGINT NOT NULL REFERENCES artifact_version (id) ON DELETE CASCADE,
    PRIMARY KEY (collection_id, name)
);
CREATE INDEX artifact_origin_name ON artifact_origin (name);
CREATE INDEX artifact_origin_version ON artifact_origin (version_id);
CREATE TABLE artifact_run (
    version_id BIGINT NOT NULL REFERENCES artifact_version (id) ON DELETE CASCADE,
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    -- logged or used
    role TEXT NOT NULL,
    use_as TEXT,
    time_ns BIGINT NOT NULL,
    PRIMARY KEY (version_id, run_id, role)
);
CREATE INDEX artifact_run_run ON artifact_run (run_id, role);
"""
