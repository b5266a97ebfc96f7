"""What is written, without a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from strobe.bench.latency import judge
from strobe.bench.publish import publish, render
from strobe.bench.publish.figures import collect
from strobe.bench.records import Environment, Record, append_records, read_records
from strobe.bench.spec import Latency as Limit
from strobe.cli import main
from strobe.errors import UsageError
from tests.bench.publish.suite import STEP_AT, records
from tests.bench.results import ELSEWHERE, HERE, result


def _figures(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="figures" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    read: dict[str, Any] = json.loads(found[1])
    return read


def test_the_page_refers_to_nothing_outside() -> None:
    page = render(records())
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert not re.search(r"<(link|img|script src|iframe)", page)
    assert "{{" not in page


def test_no_text_ends_the_script_it_stands_in() -> None:
    evil = "</script><script>alert(1)</script>"
    made = [msgspec.structs.replace(one, config=evil, command=evil) for one in records()[:1]]
    page = render(made, title=evil)
    assert evil not in page
    assert _figures(page)["systems"][0]["rows"][0]["config"] == evil


def test_the_raw_records_lie_beside_it(tmp_path: Path) -> None:
    for _ in range(2):  # what is there is replaced
        publish(records(), tmp_path)
    assert list(read_records(tmp_path / "records.jsonl")) == records()


@pytest.mark.parametrize("name", ["results.jsonl", "index.html", "records.jsonl"])
def test_what_publish_did_not_write_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    if name == "results.jsonl":
        publish(records(), tmp_path)
        publish(records(), tmp_path)
    else:
        with pytest.raises(UsageError, match=f"{name} was not written by `publish`"):
            publish(records(), tmp_path)
    assert (tmp_path / name).read_text() == "mine"


def test_figures() -> None:
    found = collect(records())
    assert [len(system["rows"]) for system in found["systems"]] == [19, 9]
    (worse,) = [series for series in found["history"] if series["is_worse"]]
    assert [step["index"] for step in worse["steps"]] == [STEP_AT]
    changed = [row for change in found["systems"][0]["changes"] for row in change["rows"]]
    assert changed == [{"name": "torch", "a": "2.12.0", "b": "2.13.0"}]
    (dlrm,) = [task for task in found["systems"][0]["curves"] if task["title"] == "DLRM Inference tiny-100k"]
    assert [point["batch"] for point in dlrm["lines"][0]["points"]] == [8, 64, 512]
    titles = [task["title"] for task in found["systems"][0]["curves"]]
    assert not any("CvT" in title for title in titles)  # what is incorrect has no place on a curve


def test_a_curve_is_of_one_device_and_of_rows_that_still_say_what_they_measure() -> None:
    (task,) = [one for one in collect(records())["systems"][0]["curves"] if one["title"] == "DLRM Inference tiny-100k"]
    (row, *_) = [one for one in records() if one.config == "tiny-100k-fp32" and one.batch_size == 64]
    more = [msgspec.structs.replace(row, device="cuda"), msgspec.structs.replace(row, is_changed=True, batch_size=99)]
    found = collect([*records(), *more])["systems"][0]["curves"]
    (with_more,) = [one for one in found if one["title"] == task["title"]]
    assert [line["label"] for line in with_more["lines"] if line not in task["lines"]] == [
        f"{row.subject} tiny-100k-fp32 cuda"
    ]


def test_a_curve_shows_the_percentile_that_the_limit_is_about() -> None:
    def curve(percentile: float | None) -> dict[str, Any]:
        rows = [row for row in records() if row.benchmark == "dlrm/ootb/inference/tiny-100k"][:3]
        limit = None if percentile is None else Limit(limit_ms=60, percentile=percentile)
        steps = [[one for repeat in row.repeats for one in repeat.wall_s] for row in rows]
        judged = [judge(wall, limit) if limit else None for wall in steps]
        made = [msgspec.structs.replace(row, latency=one) for row, one in zip(rows, judged, strict=True)]
        found: dict[str, Any] = collect(made)["systems"][0]["curves"][0]
        return found

    of_limit, without = curve(99), curve(None)
    assert (of_limit["percentile"], without["percentile"]) == ("p99", "p95")
    assert of_limit["lines"][0]["points"][0]["latency_ms"] > without["lines"][0]["points"][0]["latency_ms"]
    assert [point["limit"] for point in of_limit["lines"][0]["points"]] == ["met", "met", "missed"]
    assert [point["limit"] for point in without["lines"][0]["points"]] == [None, None, None]


def _code(number: int, commit: str, *, is_dirty: bool = False, **fields: Any) -> Record:
    began = f"2026-11-{number:02}T06:00:00+00:00"
    place = msgspec.structs.replace(HERE, git_commit=commit, is_dirty=is_dirty, started_at=began)
    return result([100.0, 101.0, 99.0], id=f"{number:04}", environment=place, **fields)


def _compared(found: list[Record]) -> list[tuple[str, str]]:
    return [(one["a"].split(",")[0], one["b"].split(",")[0]) for one in collect(found)["commits"]]


@pytest.mark.parametrize("mark", ["is_trial", "is_confirmation"])
def test_a_search_or_a_confirmation_does_not_empty_the_commits(mark: str) -> None:
    commits = [_code(1, "a"), _code(2, "b")]
    aside = [_code(number, f"aside{number}", batch_size=number, **{mark: True}) for number in range(3, 15)]
    assert _compared([*commits, *aside]) == [("a", "b")]


@pytest.mark.parametrize("place", [{"commit": "c", "is_dirty": True}, {"commit": ""}])
def test_sessions_of_uncommitted_code_do_not_push_out_commits(place: dict[str, Any]) -> None:
    commits = [_code(number, f"c{number}") for number in range(1, 11)]
    drafts = [_code(number, **place) for number in range(11, 21)]
    found = _compared([*commits, *drafts])
    name = "c+" if place["commit"] else "no commit"
    assert {before for before, _ in found} == {f"c{number}" for number in range(2, 11)}  # nine commits
    assert [pair for pair in found if name in pair] == [(f"c{number}", name) for number in range(10, 1, -1)]
    assert len(_compared(drafts)) == 36  # without any commit, sessions are what there is


def _with_software(number: int, software: dict[str, str], name: str = "one", **fields: Any) -> Record:
    place = msgspec.structs.replace(HERE, software=software, started_at=f"2026-11-{number:02}T06:00:00+00:00")
    known = {"id": f"{number:04}-{name}", "environment": place, **fields}
    return result([1.0, 1.1, 1.2], f"toy/ootb/inference/{name}", **known)


def _tests(number: int) -> Record:
    """Return what a pytest session leaves, which knows nothing of torch."""
    return _with_software(number, {"python": "3.11"}, "tests")


def test_sessions_of_other_rows_are_no_change_of_the_environment() -> None:
    torch = [_with_software(number, {"python": "3.11", "torch": f"2.{10 + number // 4}"}) for number in (1, 3, 5)]
    (system,) = collect([torch[0], _tests(2), torch[1], _tests(4), torch[2], _tests(6)])["systems"]
    change = {"name": "torch", "a": "2.10", "b": "2.11"}
    assert [(one["from"][8:10], one["to"][8:10], one["rows"]) for one in system["changes"]] == [("03", "05", [change])]
    assert system["software"] == {"python": "3.11", "torch": "2.11"}
    assert system["title"].endswith("torch 2.11")


def test_a_change_is_told_once_also_where_rows_were_last_measured_in_different_sessions() -> None:
    old, new = {"torch": "2.10"}, {"torch": "2.11"}
    first = [_with_software(1, old, name) for name in ("one", "two")]
    later = [_with_software(2, new, "one"), _with_software(3, new, "two")]
    (change,) = collect([*first, *later])["systems"][0]["changes"]
    assert (change["from"][8:10], change["to"][8:10]) == ("01", "02")


@pytest.mark.parametrize("fields", [{"samples": (), "error": "killed"}, {"is_trial": True}, {"is_confirmation": True}])
def test_what_a_failed_row_or_one_aside_does_not_know_is_no_change(fields: dict[str, Any]) -> None:
    rows = [_with_software(number, {"torch": "2.10"}) for number in (1, 3)]
    middle = msgspec.structs.replace(_with_software(2, {}), **fields)
    assert collect([rows[0], middle, rows[1]])["systems"][0]["changes"] == []


def test_systems_do_not_differ_in_what_only_one_of_their_rows_knows() -> None:
    away = [
        msgspec.structs.replace(one, environment=msgspec.structs.replace(one.environment, hardware=ELSEWHERE.hardware))
        for one in (_with_software(3, {"python": "3.11", "torch": "2.11"}), _tests(4))
    ]
    here = [_with_software(1, {"python": "3.11", "torch": "2.10"}), _tests(2)]
    for of_a, of_b in ((here, away), (here, away[:1]), (here[::-1], away)):
        (between,) = collect([*of_a, *of_b])["between"]
        assert [row["name"] for row in between["environment"]] == ["cpu", "cores", "torch"]
    (between,) = collect([here[0], away[1]])["between"]  # no row in common
    assert [row["name"] for row in between["environment"]] == ["cpu", "cores"]


def test_the_systems_that_are_compared_are_those_that_were_measured_last() -> None:
    places = [Environment(hardware={"cpu": f"machine {number}"}) for number in range(8)]
    rows = [result([1.0], environment=place, id=f"{number:04}") for number, place in enumerate(places)]
    rows.append(result([2.0], environment=places[0], id="0008"))  # the first one, measured again
    names = [place.fingerprint for place in (places[0], *places[3:])]
    assert collect(rows)["compared_systems"] == names


def test_a_search_s_trials_are_points_of_the_line_of_its_winner() -> None:
    rows = [row for row in records() if row.benchmark == "dlrm/ootb/inference/tiny-100k"][:3]
    mixed = [msgspec.structs.replace(row, is_trial=row.batch_size != 64) for row in rows]
    (line,) = collect(mixed)["systems"][0]["curves"][0]["lines"]
    assert len(line["points"]) == 3


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    append_records(path, records()[:3])
    assert main(["bench", "publish", str(tmp_path / "site"), "--results", str(path), "--title", "Mine"]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert page == tmp_path / "site" / "index.html"
    assert _figures(page.read_text())["title"] == "Mine"
    path.write_text("")
    assert main(["bench", "publish", str(tmp_path / "none"), str(path)]) == 2
    assert "nothing to publish" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_result_that_two_files_have_is_published_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "old.jsonl", tmp_path / "all.jsonl"]
    own = [one for one in records() if one.benchmark == "dlrm/ootb/inference/tiny-100k"]
    append_records(paths[0], own[:-2])
    append_records(paths[1], own)
    assert main(["bench", "publish", str(tmp_path / "site"), *map(str, paths), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == len(own)
    assert list(read_records(tmp_path / "site" / "records.jsonl")) == own
    page = (tmp_path / "site" / "index.html").read_text()
    assert _figures(page)["history"] == json.loads(json.dumps(collect(own)["history"]))


def test_a_directory_of_somebody_else_is_not_told_as_a_lack_of_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.jsonl"
    append_records(path, records()[:3])
    (tmp_path / "index.html").write_text("mine")
    assert main(["bench", "publish", str(tmp_path), str(path)]) == 2
    told = capsys.readouterr().err
    assert "index.html was not written by `publish` and is left alone; name another directory" in told
    assert "nothing to publish" not in told
