"""Tables of what runs printed: finished lines in pages, and per stream the screen that is still being drawn on."""

TABLES = """
CREATE TABLE console (
    id {identity},
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt BIGINT NOT NULL,
    writer {text_c} NOT NULL,
    stream {text_c} NOT NULL,
    -- lines in all, those among them that nothing can change any more, and those in pages
    lines BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    paged BIGINT NOT NULL,
    -- the times of the first line that is not in a page, and of the last one
    open_ns BIGINT NOT NULL,
    last_ns BIGINT NOT NULL,
    UNIQUE (run_id, attempt, writer, stream)
);
-- apart from the above, which is read much more often
CREATE TABLE console_open (
    console_id BIGINT PRIMARY KEY REFERENCES console (id) ON DELETE CASCADE,
    body {bytes} NOT NULL
);
CREATE TABLE console_page (
    console_id BIGINT NOT NULL REFERENCES console (id) ON DELETE CASCADE,
    first_line BIGINT NOT NULL,
    first_ns BIGINT NOT NULL,
    body {bytes} NOT NULL,
    PRIMARY KEY (console_id, first_line)
);
-- where pages begin, without reading them
CREATE INDEX console_page_place ON console_page (console_id, first_line, first_ns);
"""
