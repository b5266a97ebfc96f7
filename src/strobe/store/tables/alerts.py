"""Tables of alerts: what was noticed, the rules that notice, where alerts go, and what is still to be delivered."""

TABLES = """
CREATE TABLE alert_rule (
    id {identity},
    project_id BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    -- nonfinite, threshold, stall or state, and the rest of the condition as JSON
    kind TEXT NOT NULL,
    condition TEXT NOT NULL,
    level TEXT NOT NULL,
    -- JSON: ids of the sinks that it goes to, none for all of the project
    sinks TEXT NOT NULL,
    is_enabled SMALLINT NOT NULL DEFAULT 1,
    created_by TEXT NOT NULL DEFAULT '',
    created_ns BIGINT NOT NULL
);
CREATE INDEX alert_rule_project ON alert_rule (project_id);
CREATE TABLE alert_sink (
    id {identity},
    project_id BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    -- webhook (one URL) or email (JSON: addresses)
    kind TEXT NOT NULL,
    address TEXT NOT NULL,
    -- of a webhook: what its body looks like (strobe, slack or discord), and the key of its signature
    format TEXT NOT NULL DEFAULT 'strobe',
    secret TEXT NOT NULL DEFAULT '',
    -- alerts below this level are not sent there
    min_level TEXT NOT NULL DEFAULT 'INFO',
    is_enabled SMALLINT NOT NULL DEFAULT 1,
    created_by TEXT NOT NULL DEFAULT '',
    created_ns BIGINT NOT NULL
);
CREATE INDEX alert_sink_project ON alert_sink (project_id);
CREATE TABLE alert (
    id {identity},
    project_id BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    -- what raised it: the same source raises one alert of a run, however often it is looked at
    source {text_c} NOT NULL,
    -- run (the user's own run.alert) or the kind of the rule; a rule may be gone by now
    kind TEXT NOT NULL,
    rule_id BIGINT,
    level TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    -- when it happened by the run's clock, and when the server heard of it
    time_ns BIGINT NOT NULL,
    raised_ns BIGINT NOT NULL,
    UNIQUE (run_id, source)
);
CREATE INDEX alert_of_project ON alert (project_id, id);
CREATE INDEX alert_of_run ON alert (run_id, raised_ns);
CREATE TABLE alert_delivery (
    alert_id BIGINT NOT NULL REFERENCES alert (id) ON DELETE CASCADE,
    sink_id BIGINT NOT NULL REFERENCES alert_sink (id) ON DELETE CASCADE,
    -- pending, sent, failed (given up) or held (too many of one run)
    state TEXT NOT NULL,
    tries BIGINT NOT NULL DEFAULT 0,
    -- when to try; whoever tries sets it to when others may, should it not come back
    due_ns BIGINT NOT NULL,
    done_ns BIGINT,
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (alert_id, sink_id)
);
CREATE INDEX alert_delivery_due ON alert_delivery (due_ns) WHERE state = 'pending';
CREATE INDEX alert_delivery_sink ON alert_delivery (sink_id);
-- what rules remember of the points of a run: how many in a row, or -1 once the rule has spoken
CREATE TABLE alert_streak (
    run_id BIGINT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    rule_id BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    writer {text_c} NOT NULL,
    key {text_c} NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (run_id, rule_id, attempt, writer, key)
);
-- since when a run has had this many rows, by the server's clock
CREATE TABLE alert_activity (
    run_id BIGINT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    num_rows BIGINT NOT NULL,
    since_ns BIGINT NOT NULL
);
-- of several servers one does what is to be done now and then: until when it is another's turn
CREATE TABLE alert_turn (
    name {text_c} PRIMARY KEY,
    until_ns BIGINT NOT NULL
);
"""
