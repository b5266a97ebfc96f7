"""The runs table by example: what it must and must not do, on both databases."""

from __future__ import annotations

import base64
import itertools
import math
import threading
from typing import Any

import msgspec
import pytest

from strobe.errors import NotInStore, UsageError
from strobe.store.database import Cursor, Database
from strobe.store.values import Question, Values, grouping
from strobe.store.values.pattern import compile_pattern
from tests.store.values.samples import NOW_NS, Sample, write


def ids(database: Database, project: str, samples: list[Sample], **question: Any) -> list[str]:
    names = {sample.row: sample.id for sample in samples}
    page = Values(database).page("team", project, Question(**question), now_ns=NOW_NS, limit=1000)
    return [names[row] for row in page.run_ids]


def test_deleted_runs_are_left_out_unless_asked_for(database: Database) -> None:
    runs = [Sample(id="kept"), Sample(id="gone", deleted_ns=5)]
    project = write(database, runs)
    assert ids(database, project, runs) == ["kept"]
    assert ids(database, project, runs, deleted="only") == ["gone"]
    assert set(ids(database, project, runs, deleted="with")) == {"kept", "gone"}


def test_runs_of_other_projects_are_never_found(database: Database) -> None:
    mine, others = [Sample(config={"lr": 1})], [Sample(config={"lr": 1})]
    project, _ = write(database, mine), write(database, others)
    for sort in ("config.lr", "-created_ns", "config.other"):
        page = Values(database).page("team", project, Question(sort=sort), now_ns=0)
        assert page.run_ids == [mine[0].row]


def test_a_project_that_is_not_there_is_said(database: Database) -> None:
    with pytest.raises(NotInStore, match="no project team/none"):
        Values(database).page("team", "none", Question(), now_ns=0)


def test_an_update_writes_only_what_differs(database: Database) -> None:
    run = Sample(config={"lr": 1, "layers": [1, 2, 3]}, summary={"loss": 2.0, "old": 1})
    project = write(database, [run])
    old = run.document()
    run.config, run.summary = {"lr": 1, "layers": [3]}, {"loss": math.nan}
    run.attributes = {"tags": ["new"]}

    def change(cursor: Cursor) -> list[Any]:
        cursor.run("UPDATE value SET digest = ? WHERE run_id = ?", b"untouched", run.row)
        Values(database).replace(cursor, _project_id(cursor, project), run.row, old, run.document())
        return cursor.all(
            "SELECT path.name, value.place, value.digest FROM value JOIN path ON path.id = value.path_id"
            " WHERE run_id = ? ORDER BY path.name, value.place",
            run.row,
        )

    rows = [(name, place, digest == b"untouched") for name, place, digest in database.write(change)]
    assert ("config.lr", 0, True) in rows
    assert [row[1:] for row in rows if row[0] == "config.layers"] == [(0, False), (1, False)]
    assert [row[1:] for row in rows if row[0] == "summary.loss"] == [(0, False)]
    assert not [row for row in rows if row[0] == "summary.old"]
    present: list[dict[str, Any]] = [{"config.layers": 3}, {"summary.loss": math.nan}, {"tags": "new"}]
    for wanted in (*present, {"summary.old": None}):
        assert ids(database, project, [run], filters=wanted) == [run.id]
    absent: list[dict[str, Any]] = [{"config.layers": 1}, {"summary.loss": {"$gt": 0}}]
    for wanted in absent:
        assert ids(database, project, [run], filters=wanted) == []


def test_a_rebuild_repairs_whatever_was_there(database: Database) -> None:
    run = Sample(config={"lr": 1})
    project = write(database, [run])

    def change(cursor: Cursor) -> None:
        cursor.run("UPDATE value SET kind = 3, number = NULL, text = 'wrong' WHERE run_id = ?", run.row)
        Values(database).rebuild(cursor, _project_id(cursor, project), run.row, run.document())

    database.write(change)
    assert ids(database, project, [run], filters={"config.lr": 1}) == [run.id]


def test_wandbs_names_are_understood(database: Database) -> None:
    run = Sample(config={"lr": 1}, summary={"acc": 2}, attributes={"name": "fox", "user": "ada", "job_type": "eval"})
    project = write(database, [run])
    for wanted in (
        {"config.lr.value": 1},
        {"summary_metrics.acc": 2},
        {"summaryMetrics.acc": 2},
        {"displayName": "fox"},
        {"name": "fox"},
        {"jobType": "eval"},
        {"username": "ada"},
        {"user": "ada"},
        {"createdAt": {"$lt": "2024"}},
    ):
        assert ids(database, project, [run], filters=wanted) == [run.id], wanted


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"nonsense": 1}, "no field 'nonsense'"),
        ({"config": 1}, "no field 'config'"),
        ({"config.lr": {"$near": 1}}, r"\$near is not supported"),
        ({"$where": "x"}, r"\$where is not supported"),
        ({"$or": {}}, "non-empty list"),
        ({"name": {"$in": "abc"}}, "takes a list"),
        ({"name": {"$regex": "("}}, "regular expression"),
        ({"name": {"$regex": 5}}, "regular expression"),
        ({"name": {"$regex": "a" * 301}}, "at most 300"),
        ({"name": {"$regex": "((a{99}){99}){99}"}}, "counts too far"),
        ({"name": {"$regex": "(?:foo){e<=1}"}}, "two meanings"),
        (["state"], "must be a dict"),
        ({"config.a": {"$gt": "x" * 500}}, "less than 500"),
        ({"config.a": "\ud800"}, "not Unicode"),
        ({"config.\ud800": 1}, "not Unicode"),
        ({"config.a": {"$in": list(range(10_001))}}, "10000 values"),
        ({"$or": [{"config.a": 1}] * 501}, "500 conditions"),
    ],
)
def test_what_is_not_understood_is_said(database: Database, filters: Any, said: str) -> None:
    project = write(database, [Sample()])
    with pytest.raises(UsageError, match=said):
        Values(database).page("team", project, Question(filters=filters), now_ns=0)


def test_filters_have_an_end(database: Database) -> None:
    project = write(database, [Sample()])
    for operator in ("$not", "$and"):
        deep: Any = {"config.a": 1}
        for _ in range(50):
            deep = {operator: deep if operator == "$not" else [deep]}
        with pytest.raises(UsageError, match="20 deep"):
            Values(database).page("team", project, Question(filters=deep), now_ns=0)
    nested: Any = 1
    for _ in range(500):
        nested = [nested]
    with pytest.raises(UsageError, match="20 deep"):
        Values(database).page("team", project, Question(filters={"config.a": nested}), now_ns=0)
    condition: Any = {"$eq": 1}
    for _ in range(500):
        condition = {"$not": condition}
    with pytest.raises(UsageError):
        Values(database).page("team", project, Question(filters={"config.a": condition}), now_ns=0)


def test_a_catastrophic_pattern_ends_with_an_error() -> None:
    pattern = compile_pattern(r"((a{1,20}){1,20}){1,20}b")
    with pytest.raises(UsageError, match=r"more than 0.2 s"):
        pattern.matching(["a" * 400] * 10, budget_s=0.2)


def test_many_values_at_once(database: Database) -> None:
    runs = [Sample(config={"seed": number, "word": f"w{number}"}) for number in range(20)]
    project = write(database, runs)
    seeds = list(range(5, 9000))
    assert len(ids(database, project, runs, filters={"config.seed": {"$in": seeds}})) == 15
    assert len(ids(database, project, runs, filters={"config.seed": {"$nin": [*seeds, math.inf, -math.inf]}})) == 5
    words = [f"w{number}" for number in range(10, 9000)]
    assert len(ids(database, project, runs, filters={"config.word": {"$in": words}})) == 10


def test_integers_beyond_doubles_are_told_apart(database: Database) -> None:
    runs = [Sample(config={"seed": 2**53 + number}) for number in range(3)]
    project = write(database, runs)
    for run in runs:
        assert ids(database, project, runs, filters={"config.seed": run.config["seed"]}) == [run.id]


def test_long_texts_are_told_apart(database: Database) -> None:
    runs = [Sample(config={"prompt": "x" * 2000 + end}) for end in "ab"]
    project = write(database, runs)
    for run in runs:
        assert ids(database, project, runs, filters={"config.prompt": run.config["prompt"]}) == [run.id]


# --- cursors


def cursor_of(database: Database, project: str, **question: Any) -> str:
    page = Values(database).page("team", project, Question(**question), now_ns=NOW_NS, limit=1)
    assert page.cursor is not None
    return page.cursor


@pytest.mark.parametrize("forged", ["", "x", "====", "AAAA", "é", "a" * 5000, base64.b64encode(b"\x96\x01").decode()])
def test_what_is_no_cursor_is_refused(database: Database, forged: str) -> None:
    project = write(database, [Sample(), Sample()])
    if forged:
        with pytest.raises(UsageError, match="cursor"):
            Values(database).page("team", project, Question(), now_ns=0, after=forged)


def test_a_cursor_of_another_question_is_refused(database: Database) -> None:
    runs = [Sample(config={"a": 1}), Sample(config={"a": 2})]
    project, other = write(database, runs), write(database, [Sample(), Sample()])
    cursor = cursor_of(database, project, sort="config.a")
    for place, question in (
        (project, Question(sort="-config.a")),
        (project, Question(sort="config.a", filters={"state": "finished"})),
        (project, Question(sort="config.a", deleted="with")),
        (other, Question(sort="config.a")),
    ):
        with pytest.raises(UsageError, match="another filter, order or project"):
            Values(database).page("team", place, question, now_ns=0, after=cursor)


@pytest.mark.parametrize("sort", ["config.a", "-config.a", "created_ns", "runtime", "id", "config.none"])
def test_a_forged_place_is_an_error_or_a_page(database: Database, sort: str) -> None:
    runs = [Sample(config={"a": value}, ended_ns=NOW_NS) for value in (1, "t", math.nan, None)]
    project = write(database, runs)
    body = msgspec.msgpack.decode(base64.urlsafe_b64decode(cursor_of(database, project, sort=sort) + "==="))
    num_refused = 0
    for phase, key in itertools.product([0, 1, 3, 4, 99], ["text", 2**63, 1.5, -1, "a\0b", "x" * 600]):
        body[3], body[4] = phase, key
        forged = base64.urlsafe_b64encode(msgspec.msgpack.encode(body)).decode().rstrip("=")
        try:
            Values(database).page("team", project, Question(sort=sort), now_ns=0, after=forged)
        except UsageError:
            num_refused += 1
    assert num_refused >= 20


def test_a_page_goes_on_behind_a_run_that_was_removed(database: Database) -> None:
    runs = [Sample(config={"a": 1}) for _ in range(4)]
    project = write(database, runs)
    values = Values(database)
    question = Question(sort="config.a")
    first = values.page("team", project, question, now_ns=0, limit=2)
    database.write(lambda cursor: cursor.run("DELETE FROM run WHERE id = ?", first.run_ids[-1]))
    rest = values.page("team", project, question, now_ns=0, limit=2, after=first.cursor)
    assert rest.run_ids == [run.row for run in runs[2:]]
    assert rest.cursor is None


# --- groups and fields


def test_groups_have_counts_and_statistics(database: Database) -> None:
    runs = [
        Sample(config={"opt": "adam"}, summary={"loss": 1.0}),
        Sample(config={"opt": "adam"}, summary={"loss": 3.0}),
        Sample(config={"opt": "adam"}, summary={"loss": math.nan}),
        Sample(config={"opt": ["a", "b"]}, summary={"loss": math.inf}),
        Sample(summary={"loss": 1e308}),
        Sample(summary={"loss": 1e308}, state="failed"),
    ]
    project = write(database, runs)
    found = Values(database).groups(
        "team", project, Question(), by=["config.opt"], metrics=["summary.loss", "summary.none"], now_ns=0
    )
    assert [(group.values, group.num_runs) for group in found.groups] == [
        (["adam"], 3),
        ([None], 2),
        (['["a","b"]'], 1),
    ]
    adam, absent, listed = (group.metrics["summary.loss"] for group in found.groups)
    assert (adam.count, adam.num_nan, adam.mean, adam.min, adam.max) == (2, 1, 2.0, 1.0, 3.0)
    assert adam.std == pytest.approx(math.sqrt(2))
    assert absent.mean == 1e308
    assert (listed.mean, listed.std) == (math.inf, None)
    assert found.groups[0].metrics["summary.none"].count == 0


def test_a_groups_runs_are_found_by_its_key(database: Database) -> None:
    kinds: list[Any] = [
        "a",
        "x" * 900 + "1",
        "x" * 900 + "2",
        1,
        True,
        math.nan,
        None,
        [1, 2],
        {"m": 1},
        2**53 + 1,
        0.5,
    ]
    runs = [Sample(config={"k": kind}, state=state) for kind in kinds for state in ("finished", "failed")]
    runs.append(Sample(state="finished"))
    project = write(database, runs)
    values = Values(database)
    by = ["config.k", "state"]
    found = values.groups("team", project, Question(), by=by, now_ns=NOW_NS)
    assert found.num_groups == len(runs)
    met = []
    for group in found.groups:
        question = Question(within=grouping.within(by, group.key))
        page = values.page("team", project, question, now_ns=NOW_NS)
        assert len(page.run_ids) == group.num_runs == 1
        met += page.run_ids
    assert sorted(met) == [run.row for run in runs]


@pytest.mark.parametrize("by", [["created_ns"], ["runtime"], ["created_at"], ["ended_ns"], ["id", "entity"]])
def test_a_group_of_the_runs_own_row_is_found_by_its_key(database: Database, by: list[str]) -> None:
    runs = [
        Sample(created_ns=1_700_000_000_000_000_000 + number, ended_ns=NOW_NS - number * 300) for number in range(3)
    ]
    runs.append(Sample())
    project = write(database, runs)
    values = Values(database)
    found = values.groups("team", project, Question(), by=by, now_ns=NOW_NS)
    assert sum(group.num_runs for group in found.groups) == len(runs)
    for group in found.groups:
        page = values.page("team", project, Question(within=grouping.within(by, group.key)), now_ns=NOW_NS)
        assert len(page.run_ids) == group.num_runs


def test_groups_come_in_pages(database: Database) -> None:
    runs = [Sample(config={"k": number % 7}) for number in range(20)]
    project = write(database, runs)
    seen, after = [], None
    while True:
        found = Values(database).groups("team", project, Question(), by=["config.k"], now_ns=0, limit=3, after=after)
        seen += [group.values[0] for group in found.groups]
        if (after := found.cursor) is None:
            break
    assert sorted(seen) == list(range(7))


@pytest.mark.parametrize(
    "key", ["x", "", "kZM", "k8DAwA", base64.urlsafe_b64encode(b"\x91\x94\x09\xc0\xc0\xc0").decode()]
)
def test_what_is_no_group_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="group"):
        grouping.within(["config.k"], key)


def test_fields_are_found_by_name(database: Database) -> None:
    runs = [Sample(config={"lr": 10.0**-number, "opt": {"Name": "adam"}}) for number in range(3)]
    runs[0].config["lr"] = "auto"
    project = write(database, runs)
    values = Values(database)
    found = {facts.name: facts for facts in values.fields("team", project, prefix="config.")}
    assert list(found) == ["config.lr", "config.opt", "config.opt.Name"]
    assert found["config.lr"].kinds == ["number", "text"]
    assert (found["config.lr"].num_runs, found["config.lr"].min, found["config.lr"].max) == (3, 0.01, 0.1)
    assert [facts.name for facts in values.fields("team", project, contains="NAME")] == [
        "config.opt.Name",
        "display_name",
        "username",
    ]
    assert [facts.name for facts in values.fields("team", project, contains="%")] == []
    page = values.fields("team", project, limit=1, after="config.lr")
    assert [facts.name for facts in page] == ["config.opt"]


def test_texts_are_found_by_their_beginning(database: Database) -> None:
    runs = [Sample(attributes={"tags": tags}) for tags in (["ab", "b"], ["aa"], ["aa", "é"])]
    project = write(database, runs)
    values = Values(database)
    assert values.texts("team", project, "tags", prefix="a") == ["aa", "ab"]
    assert values.texts("team", project, "tags", limit=1) == ["aa"]
    assert values.texts("team", project, "state") == ["finished"]
    assert values.texts("team", project, "config.none") == []
    assert values.texts("team", project, "created_ns") == []


def _project_id(cursor: Cursor, project: str) -> int:
    row = cursor.one("SELECT id FROM project WHERE name = ?", project)
    assert row is not None
    return int(row[0])


def test_many_writers_meet_the_same_new_paths(database: Database) -> None:
    runs = [Sample() for _ in range(4)]
    project = write(database, runs)
    names = [f"key{number}" for number in range(40)]

    def settle(number: int) -> None:
        order = names[number * 7 :] + names[: number * 7]
        run = runs[number]
        old, run.config = run.document(), dict.fromkeys(order, number)
        database.write(
            lambda cursor: Values(database).replace(cursor, _project_id(cursor, project), run.row, old, run.document())
        )

    threads = [threading.Thread(target=settle, args=(number,)) for number in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, run in enumerate(runs):
        assert ids(database, project, runs, filters={f"config.{names[-1]}": number}) == [run.id]
    found = Values(database).fields("team", project, prefix="config.")
    assert [facts.num_runs for facts in found] == [4] * len(names)
