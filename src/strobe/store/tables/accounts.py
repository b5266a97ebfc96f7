"""Tables of accounts, teams and keys."""

TABLES = """
-- users and teams: what stands before the slash of a project. A project's entity need not be here (imported runs).
CREATE TABLE entity (
    name {text_c} PRIMARY KEY,
    -- user or team
    kind TEXT NOT NULL,
    created_ns BIGINT NOT NULL
);
CREATE TABLE account (
    name {text_c} PRIMARY KEY REFERENCES entity (name),
    email TEXT NOT NULL DEFAULT '',
    -- whether it runs the server
    is_admin SMALLINT NOT NULL DEFAULT 0,
    -- where runs go that name no entity
    default_entity {text_c} NOT NULL REFERENCES entity (name),
    created_ns BIGINT NOT NULL,
    -- since when its keys are refused
    disabled_ns BIGINT
);
CREATE TABLE team_member (
    team {text_c} NOT NULL REFERENCES entity (name),
    account {text_c} NOT NULL REFERENCES account (name),
    -- viewer (reads), member (writes too) or owner (decides too)
    role TEXT NOT NULL,
    PRIMARY KEY (team, account)
);
CREATE INDEX team_member_account ON team_member (account);
CREATE TABLE api_key (
    -- the public part
    id {text_c} PRIMARY KEY,
    account {text_c} NOT NULL REFERENCES account (name),
    label TEXT NOT NULL DEFAULT '',
    -- read, write or admin
    scope TEXT NOT NULL,
    -- SHA-256 of the secret part, which is 256 random bits and kept nowhere
    hash {bytes} NOT NULL,
    created_ns BIGINT NOT NULL,
    expires_ns BIGINT,
    revoked_ns BIGINT,
    -- to the minute
    used_ns BIGINT
);
CREATE INDEX api_key_account ON api_key (account);
-- what servers in front of one store sign with
CREATE TABLE server_secret (
    name {text_c} PRIMARY KEY,
    body {bytes} NOT NULL
);
"""
