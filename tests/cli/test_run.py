"""`strobe run …` does what its help says, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from strobe.cli.run_read import _order
from strobe.home import Home

from .conftest import SECOND, START, Strobe, record


class TestLs:
    def test_lists_the_newest_first(self, strobe: Strobe, three: Home) -> None:
        result = strobe("run", "ls")
        assert result.lines[0].split() == ["ID", "NAME", "PROJECT", "STATE", "CREATED", "TIME", "STEP", "TAGS"]
        assert [line.split()[0] for line in result.lines[1:]] == ["cc3", "ab2", "aa1"]
        assert result.lines[1].split()[3] == "failed"
        assert "1m 30s" in result.lines[1]

    def test_filters_and_order(self, strobe: Strobe, three: Home) -> None:
        def ids(*words: str) -> list[str]:
            return [item["id"] for item in strobe("run", "ls", "--json", *words).json]

        assert ids("--project", "mnist") == ["ab2", "aa1"]
        assert ids("--state", "failed") == ["cc3"]
        assert ids("--tag", "good") == ["aa1"]
        assert ids("--sort", "config.lr") == ["aa1", "cc3", "ab2"]
        assert ids("--sort", "name", "--reverse") == ["cc3", "ab2", "aa1"]
        assert ids("--sort=-name") == ["cc3", "ab2", "aa1"]
        assert ids("--limit", "1") == ["cc3"]

    def test_the_schema_of_json(self, strobe: Strobe, three: Home) -> None:
        item = strobe("run", "ls", "--json", "--tag", "good", "--show", "summary.loss").json[0]
        assert item.pop("directory").endswith("runs/local/mnist/aa1")
        assert item == {
            "id": "aa1",
            "name": "name-aa1",
            "entity": "local",
            "project": "mnist",
            "state": "finished",
            "created_at": "2023-11-14T22:13:20Z",
            "runtime_s": 90.0,
            "rows": 5,
            "last_step": 4,
            "tags": ["good"],
            "group": None,
            "job_type": None,
            "url": None,
            "summary.loss": 0.2,
        }

    def test_csv(self, strobe: Strobe, three: Home) -> None:
        rows = list(csv.DictReader(io.StringIO(strobe("run", "ls", "--csv", "--show", "config.lr").out)))
        assert [row["config.lr"] for row in rows] == ["0.1", "0.2", "0.1"]
        assert rows[2]["tags"] == "good"

    def test_nothing_is_hidden_silently(self, strobe: Strobe, home: Home) -> None:
        for number in range(22):
            record(home, f"run{number:02}", rows=1, started_ns=START + number * SECOND)
        result = strobe("run", "ls")
        assert len(result.lines) == 21
        assert "showing 20 of 22; --limit 0 shows all" in result.err
        assert len(strobe("run", "ls", "--limit", "0").lines) == 23
        assert len(strobe("run", "ls", "--json").json) == 22

    def test_an_empty_home(self, strobe: Strobe) -> None:
        result = strobe("run", "ls")
        assert (result.code, result.out) == (0, "")
        assert "strobe demo" in result.err
        assert strobe("run", "ls", "--json").json == []
        assert strobe("run", "ls", "-q").err == ""

    def test_it_fits_the_screen(self, strobe: Strobe, three: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "60")
        assert max(map(len, strobe("run", "ls").lines)) <= 60

    def test_colours_only_when_wanted(self, strobe: Strobe, three: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        assert "\x1b" not in strobe("run", "ls").out
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert "\x1b[31mfailed" in strobe("run", "ls").out
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b" not in strobe("run", "ls").out

    def test_order_words(self) -> None:
        assert _order(None, False) == "-created_at"
        assert _order(None, True) == "+created_at"
        assert _order("name", True) == "-name"


class TestShow:
    def test_the_card(self, strobe: Strobe, three: Home) -> None:
        out = strobe("run", "show", "aa1").out
        for said in ("name-aa1", "local/mnist/aa1", "finished", "took 1m 30s", "tags: good", "opt.name", "adam"):
            assert said in out
        loss = next(line for line in out.splitlines() if line.strip().startswith("loss"))
        assert loss.split() == ["loss", "█▃▂▁▁", "0.2", "best", "0.2", "@4", "1", "@0", "5"]
        assert "5 rows, 0 rejected" in out

    def test_latest_is_the_default(self, strobe: Strobe, three: Home) -> None:
        assert "name-cc3" in strobe("run", "show").out

    def test_json(self, strobe: Strobe, three: Home) -> None:
        page = strobe("run", "show", "aa1", "--json").json
        assert page["config"] == {"lr": 0.1, "opt": {"name": "adam"}}
        assert page["metrics"]["loss"]["min_step"] == 4
        assert page["attempts"][0]["state"] == "finished"
        assert page["metadata"]["host"] == "h1"
        assert page["damages"] == []

    def test_csv(self, strobe: Strobe, three: Home) -> None:
        header, loss, *_ = strobe("run", "show", "aa1", "--csv").out.splitlines()
        figures = dict(zip(header.split(","), loss.split(","), strict=True))
        assert figures["metric"] == "loss"
        assert (figures["last"], figures["min_step"], figures["best"], figures["count"]) == ("0.2", "4", "0.2", "5")

    def test_show_stands_by_itself_too(self, strobe: Strobe, three: Home) -> None:
        assert strobe("show", "aa1").out == strobe("run", "show", "aa1").out

    def test_a_failed_run_shows_its_error(self, strobe: Strobe, home: Home) -> None:
        from strobe.journal import Header, Writer, event

        run_dir = record(home, "bad", state=None)
        header = Header(entity="local", project="mnist", run="bad", writer="bbbb0001", kind="agent")
        writer = Writer(run_dir.journal, header)
        ended = event.Ended(time_ns=START, state="failed", exit_code=1, error="ValueError: boom", writer="aaaa0001")
        writer.event(ended)
        writer.close()
        out = strobe("run", "show", "bad").out
        assert "ValueError: boom" in out
        assert "exit code 1" in out

    def test_long_lists_are_cut_and_say_so(self, strobe: Strobe, home: Home) -> None:
        record(home, "wide", config={f"k{number}": number for number in range(50)})
        assert "… 20 more; --all shows them" in strobe("run", "show", "wide").out
        assert "k49" in strobe("run", "show", "wide", "--all").out

    def test_ambiguous_is_2_with_the_candidates(self, strobe: Strobe, three: Home) -> None:
        result = strobe("run", "show", "a")
        assert result.code == 2
        assert "mnist/aa1" in result.err
        assert "mnist/ab2" in result.err

    def test_another_home(self, strobe: Strobe, three: Home, tmp_path: Path) -> None:
        assert strobe("run", "show", "--home", str(tmp_path / "none")).code == 1
        assert strobe("run", "ls", "--home", str(three.path), "--json").json


class TestDiff:
    def test_shows_only_what_differs(self, strobe: Strobe, three: Home) -> None:
        result = strobe("run", "diff", "aa1", "ab2")
        assert result.lines[0].split() == ["SECTION", "KEY", "mnist/aa1", "mnist/ab2"]
        assert [line.split() for line in result.lines[1:]] == [
            ["config", "lr", "0.1", "0.2"],
            ["environment", "host", "h1", "h2"],
        ]

    def test_three_ways_as_json(self, strobe: Strobe, three: Home) -> None:
        found = strobe("run", "diff", "aa1", "ab2", "cc3", "--json", "--ignore", "^env").json
        assert found["runs"] == ["mnist/aa1", "mnist/ab2", "cifar/cc3"]
        assert found["rows"] == [
            {"section": "config", "key": "lr", "differs": True, "values": [0.1, 0.2, 0.1], "present": [True] * 3},
            {
                "section": "config",
                "key": "opt.name",
                "differs": True,
                "values": ["adam", "adam", None],
                "present": [True, True, False],
            },
        ]

    def test_all_and_none(self, strobe: Strobe, three: Home) -> None:
        assert any("opt.name" in line for line in strobe("run", "diff", "aa1", "ab2", "--all").lines)
        same = strobe("run", "diff", "aa1", "aa1")
        assert (same.code, same.out) == (0, "")
        assert "no differences" in same.err

    def test_one_run_is_not_enough(self, strobe: Strobe, three: Home) -> None:
        assert strobe("run", "diff", "aa1").code == 2


class TestTail:
    def test_once(self, strobe: Strobe, three: Home) -> None:
        lines = strobe("run", "tail", "aa1", "--once", "-n", "-1").lines
        assert len(lines) == 8
        assert any("step 4  loss=0.2  nested.a=4" in line for line in lines)
        assert any("| hello" in line for line in lines)

    def test_a_finished_run_ends_by_itself(self, strobe: Strobe, three: Home) -> None:
        result = strobe("run", "tail", "aa1", "--json", "--key", "loss", "--no-console", "-n", "-1")
        kinds = [json.loads(line)["kind"] for line in result.lines]
        assert sorted(kinds) == ["ended", *["row"] * 5, "started"]

    @pytest.mark.slow
    def test_follows_another_process_until_it_ends(self, home: Home) -> None:
        from strobe.journal import Header, Writer, event

        run_dir = record(home, "live", state=None, rows=1)
        command = [sys.executable, "-m", "strobe", "run", "tail", "live", "-q"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tail:
            assert tail.stdout is not None
            for _ in range(3):
                tail.stdout.readline()
            header = Header(entity="local", project="mnist", run="live", writer="aaaa0002", kind="rank")
            writer = Writer(run_dir.journal, header)
            writer.row({"loss": 7.0}, 100)
            assert "step 100  loss=7" in tail.stdout.readline()
            writer.event(event.Ended(time_ns=START, state="finished", writer="aaaa0001"))
            assert "finished" in tail.stdout.readline()
            assert tail.wait(timeout=10) == 0


class TestExport:
    def test_csv_to_stdout(self, strobe: Strobe, three: Home) -> None:
        result = strobe("run", "export", "aa1")
        rows = list(csv.DictReader(io.StringIO(result.out)))
        assert [float(row["loss"]) for row in rows] == [1.0 / (step + 1) for step in range(5)]
        assert list(rows[0]) == ["_step", "_runtime", "_timestamp", "loss", "nested.a"]
        assert "5 rows of 1 run" in result.err

    def test_the_format_follows_the_name(self, strobe: Strobe, three: Home, tmp_path: Path) -> None:
        target = tmp_path / "out.jsonl"
        assert strobe("run", "export", "aa1", "ab2", "-o", str(target), "-k", "loss").code == 0
        rows = [json.loads(line) for line in target.read_text().splitlines()]
        assert len(rows) == 10
        assert rows[5]["run"] == "local/mnist/ab2"
        assert "nested.a" not in rows[0]
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []

    def test_parquet(self, strobe: Strobe, three: Home, tmp_path: Path) -> None:
        import pyarrow.parquet as pq

        target = tmp_path / "out.parquet"
        assert strobe("run", "export", "aa1", "-f", "parquet", "-o", str(target)).code == 0
        assert pq.read_table(target).column("nested.a").to_pylist() == [0, 1, 2, 3, 4]

    def test_chart(self, strobe: Strobe, three: Home, tmp_path: Path) -> None:
        target = tmp_path / "loss.svg"
        result = strobe("run", "export", "aa1", "ab2", "-k", "loss", "-o", str(target))
        assert "10 points of 2 runs" in result.err
        texts = [element.text for element in ET.parse(target).iter() if element.text]
        assert {"loss", "name-aa1", "name-ab2"} <= set(texts)
        assert "name them with --key" in strobe("run", "export", "aa1", "-f", "svg").err
        assert "has numbers in nothing" in strobe("run", "export", "aa1", "-f", "svg", "-k", "nothing").err

    def test_mistakes(self, strobe: Strobe, three: Home, tmp_path: Path) -> None:
        assert "name a file with -o" in strobe("run", "export", "aa1", "-f", "parquet").err
        assert strobe("run", "export", "aa1", "-o", str(tmp_path / "no" / "x.csv")).code == 2


class TestRemove:
    def test_rm_undo_and_empty(self, strobe: Strobe, three: Home) -> None:
        removed = strobe("run", "rm", "aa1", "cc3", "--yes")
        assert removed.lines == ["removed local/mnist/aa1  name-aa1", "removed local/cifar/cc3  name-cc3"]
        assert [item["id"] for item in strobe("run", "ls", "--json").json] == ["ab2"]
        assert {item["run"] for item in strobe("run", "trash", "ls", "--json").json} == {
            "local/mnist/aa1",
            "local/cifar/cc3",
        }
        assert strobe("run", "undo").out == "brought back local/cifar/cc3\n"
        assert strobe("run", "rm", "--undo", "aa1", "--json").json == {"restored": ["local/mnist/aa1"]}
        assert len(strobe("run", "ls", "--json").json) == 3
        assert strobe("run", "undo").code == 1
        strobe("run", "rm", "aa1", "-y")
        assert "deleted 1 run" in strobe("run", "trash", "empty", "--yes").out
        assert strobe("run", "trash", "ls").err == "the trash is empty\n"

    def test_nothing_happens_without_yes(self, strobe: Strobe, three: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        result = strobe("run", "rm", "aa1")
        assert result.code == 2
        assert "--yes" in result.err
        assert strobe("run", "rm", "aa1", "--dry-run").out == "would remove local/mnist/aa1  name-aa1\n"
        assert len(strobe("run", "ls", "--json").json) == 3

    def test_a_person_is_asked(self, strobe: Strobe, three: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        class Person(io.StringIO):
            def isatty(self) -> bool:
                return True

        monkeypatch.setattr("sys.stdin", Person("no\n"))
        assert strobe("run", "rm", "aa1").code == 1
        monkeypatch.setattr("sys.stdin", Person("y\n"))
        assert strobe("run", "rm", "aa1").code == 0

    def test_a_running_run_makes_it_partial(self, strobe: Strobe, three: Home) -> None:
        record(three, "live", state=None)
        result = strobe("run", "rm", "aa1", "live", "--yes", "--json")
        assert result.code == 3
        assert result.json["removed"] == ["local/mnist/aa1"]
        assert "still running" in result.json["failed"][0]["error"]
        assert strobe("run", "rm", "live", "--yes", "--force").code == 0

    def test_oldest(self, strobe: Strobe, three: Home) -> None:
        assert len(strobe("run", "rm", "--oldest", "2", "--dry-run", "--json").json["removed"]) == 2
        assert len(strobe("run", "rm", "--oldest", "1kB", "--dry-run", "--json").json["removed"]) == 1
        assert len(strobe("run", "rm", "--oldest", "1GB", "--dry-run", "--json").json["removed"]) == 3
        assert strobe("run", "rm", "--oldest", "many").code == 2
        assert strobe("run", "rm").code == 2
        assert strobe("run", "rm", "aa1", "--oldest", "1").code == 2

    def test_trash_by_age(self, strobe: Strobe, three: Home) -> None:
        strobe("run", "rm", "aa1", "-y")
        assert strobe("run", "trash", "empty", "--older-than", "1", "--json").json["deleted"] == []
        assert strobe("run", "trash", "empty", "--dry-run").out.startswith("would delete 1 run")
        assert strobe("run", "trash", "ls").code == 0


def test_a_run_is_also_found_by_the_end_of_its_id_as_the_table_of_results_shows_it(strobe: Strobe, home: Home) -> None:
    for run_id in ("019a8f00aa3f9a01bc", "019a8f00bb77aa0042", "0042first"):
        record(home, run_id, project="bench")
    assert strobe("show", "3f9a01bc", "--json").json["id"] == "019a8f00aa3f9a01bc"
    assert strobe("show", "0042", "--json").json["id"] == "0042first"  # a beginning comes first
