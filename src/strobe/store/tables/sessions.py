"""Table of browser sessions that were ended before their time."""

TABLES = """
CREATE TABLE ended_session (
    -- what the session's signed cookie calls it
    id {text_c} PRIMARY KEY,
    -- when the cookie would have ended by itself: nobody needs to know of it after that
    expires_ns BIGINT NOT NULL
);
"""
