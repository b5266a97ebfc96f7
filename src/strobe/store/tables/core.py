"""Tables of entities, projects, runs, their writers, and what they logged."""

TABLES = """
CREATE TABLE project (
    id {identity},
    entity {text_c} NOT NULL,
    name {text_c} NOT NULL,
    -- private (its entity only), team (everybody with an account) or public (everybody, for reading)
    access TEXT NOT NULL DEFAULT 'team',
    description TEXT NOT NULL DEFAULT '',
    created_ns BIGINT NOT NULL,
    -- runs that ended longer ago than this are deleted by gc; none: kept for ever
    retention_days BIGINT,
    -- how much it may keep; none: as much as there is room for
    quota_bytes BIGINT,
    UNIQUE (entity, name)
);
CREATE TABLE run (
    id {identity},
    project_id BIGINT NOT NULL REFERENCES project (id),
    -- the run's id as its user knows it
    name {text_c} NOT NULL,
    state {text_c} NOT NULL DEFAULT 'running',
    created_ns BIGINT NOT NULL,
    started_ns BIGINT NOT NULL DEFAULT 0,
    ended_ns BIGINT,
    -- when anything, or a sign of life, last came in, by the server's clock
    heartbeat_ns BIGINT NOT NULL,
    changed_ns BIGINT NOT NULL,
    -- counts every change: ETags and subscribers look at it
    version BIGINT NOT NULL DEFAULT 0,
    -- whether the index of values lags behind what was taken in
    is_dirty SMALLINT NOT NULL DEFAULT 0,
    deleted_ns BIGINT,
    -- who wants the run to stop, or nobody
    stop_by TEXT,
    num_rows BIGINT NOT NULL DEFAULT 0,
    -- what it brought, as it came in
    num_bytes BIGINT NOT NULL DEFAULT 0,
    num_writers INTEGER NOT NULL DEFAULT 0,
    -- what is in `tail`, and the number of its next batch
    tail_rows BIGINT NOT NULL DEFAULT 0,
    tail_points BIGINT NOT NULL DEFAULT 0,
    tail_batches BIGINT NOT NULL DEFAULT 0,
    tail_next BIGINT NOT NULL DEFAULT 0,
    -- JSON: attempt → first step that it gave up on purpose
    rewinds TEXT NOT NULL DEFAULT '{{}}',
    -- what it forked from: a run's path and the last step taken over
    parent TEXT,
    fork_step BIGINT,
    -- msgpack: what events add up to (strobe.store.state)
    facts {bytes} NOT NULL,
    -- msgpack: what the index of values holds of it
    settled {bytes},
    UNIQUE (project_id, name)
);
CREATE INDEX run_changed ON run (changed_ns);
CREATE INDEX run_dirty ON run (id) WHERE is_dirty = 1;
CREATE INDEX run_running ON run (heartbeat_ns) WHERE state = 'running';
CREATE INDEX run_created ON run (project_id, created_ns, id);
CREATE TABLE writer (
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    name {text_c} NOT NULL,
    -- a small number for it in points
    number INTEGER NOT NULL,
    attempt BIGINT NOT NULL,
    kind TEXT NOT NULL,
    host TEXT NOT NULL DEFAULT '',
    rank BIGINT,
    -- everything before this sequence was taken in
    next BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, name)
);
CREATE TABLE tail (
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    writer INTEGER NOT NULL,
    attempt BIGINT NOT NULL,
    body {bytes} NOT NULL,
    PRIMARY KEY (run_id, number)
);
CREATE TABLE series (
    id {identity},
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    -- '' for what was logged, a writer's name for its samples of the system
    lane {text_c} NOT NULL,
    key {text_c} NOT NULL,
    attempt BIGINT NOT NULL,
    -- the logged key that a number inside of a nested value came from; the key itself for others
    top {text_c} NOT NULL,
    -- the place (order_ns, writer, sequence) and step of the first row that has the key: it supersedes earlier attempts
    first_order BIGINT NOT NULL,
    first_writer {text_c} NOT NULL,
    first_sequence BIGINT NOT NULL,
    first_step BIGINT NOT NULL,
    -- the place, step, time and value (msgpack) of the last; no value while it is still being computed
    last_order BIGINT NOT NULL,
    last_writer {text_c} NOT NULL,
    last_sequence BIGINT NOT NULL,
    last_step BIGINT NOT NULL,
    last_time BIGINT NOT NULL,
    last_value {bytes},
    -- the highest step of all
    max_step BIGINT NOT NULL,
    has_points SMALLINT NOT NULL DEFAULT 0,
    has_objects SMALLINT NOT NULL DEFAULT 0,
    -- points that are in pages, and the lowest and the highest step among them
    folded_count BIGINT NOT NULL DEFAULT 0,
    folded_first BIGINT,
    folded_last BIGINT,
    UNIQUE (run_id, lane, key, attempt)
);
CREATE TABLE page (
    series_id BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    level SMALLINT NOT NULL,
    number BIGINT NOT NULL,
    first_step BIGINT NOT NULL,
    last_step BIGINT NOT NULL,
    min_time BIGINT NOT NULL,
    max_time BIGINT NOT NULL,
    count BIGINT NOT NULL,
    body {bytes} NOT NULL,
    PRIMARY KEY (series_id, level, number)
);
-- What pages span, without touching their bodies.
CREATE INDEX page_span ON page (series_id, level, number, first_step, last_step, min_time, max_time);
CREATE TABLE object (
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    key {text_c} NOT NULL,
    attempt BIGINT NOT NULL,
    step BIGINT NOT NULL,
    order_ns BIGINT NOT NULL,
    writer {text_c} NOT NULL,
    sequence BIGINT NOT NULL,
    time_ns BIGINT NOT NULL,
    -- the value's _type (histogram, image-file, …), else the name of its plain type
    type TEXT NOT NULL,
    -- msgpack
    body {bytes} NOT NULL,
    PRIMARY KEY (run_id, key, attempt, step)
);
"""
