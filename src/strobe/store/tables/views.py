"""The table of saved views: how somebody wants to see the runs of a project."""

TABLES = """
CREATE TABLE saved_view (
    id {identity},
    project_id BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name {text_c} NOT NULL,
    -- who made it
    owner {text_c} NOT NULL,
    -- JSON, the dashboard's own
    document TEXT NOT NULL,
    -- counts the changes: who changes it names the version that was seen
    version BIGINT NOT NULL DEFAULT 1,
    created_ns BIGINT NOT NULL,
    changed_ns BIGINT NOT NULL,
    changed_by {text_c} NOT NULL,
    UNIQUE (project_id, name)
);
"""
