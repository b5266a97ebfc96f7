"""Table of what runs say of artifacts, whether the versions that they mean are here or not."""

TABLES = """
CREATE TABLE artifact_mention (
    id {identity},
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    -- logged or used
    role {text_c} NOT NULL,
    -- the artifact as the run names it
    entity {text_c} NOT NULL,
    project {text_c} NOT NULL,
    name {text_c} NOT NULL,
    -- where the run was, which may be another one here, and -1 if it is none
    number BIGINT NOT NULL,
    digest {text_c} NOT NULL,
    time_ns BIGINT NOT NULL,
    -- whether artifact_run has it
    is_linked SMALLINT NOT NULL DEFAULT 0,
    UNIQUE (run_id, role, entity, project, name, number, digest)
);
CREATE INDEX artifact_mention_digest ON artifact_mention (digest);
CREATE INDEX artifact_version_digest ON artifact_version (collection_id, digest);
"""
