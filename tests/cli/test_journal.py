"""`strobe journal` tells whole from damaged, repairs, and prints everything."""

from __future__ import annotations

import json
from pathlib import Path

from strobe.home import Home

from .conftest import Strobe, record


def segment_of(home: Home, run: str) -> Path:
    return next((home.path / "runs" / "local" / run / "journal").glob("*.strobe"))


def test_verify_a_whole_journal(strobe: Strobe, three: Home) -> None:
    result = strobe("journal", "verify", "aa1")
    assert result.code == 0
    assert result.lines[1].split()[:3] == ["ok", "0001-aaaa0001-000000.strobe", "main"]
    report = strobe("journal", "verify", str(segment_of(three, "mnist/aa1")), "--json").json[0]
    assert (report["rows"], report["events"], report["sealed"], report["damages"]) == (5, 4, True, [])
    assert len(strobe("journal", "verify", str(three.path), "--json").json) == 3


def test_verify_finds_a_flipped_bit_and_repair_keeps_the_rest(strobe: Strobe, three: Home) -> None:
    path = segment_of(three, "mnist/aa1")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    result = strobe("journal", "verify", "aa1")
    assert result.code == 1
    assert "bytes" in result.out
    assert f"strobe journal repair {path}" in result.err
    assert "damaged" in strobe("run", "show", "aa1").out
    repaired = strobe("journal", "repair", "aa1", "--json").json[0]
    assert repaired["changed"] is True
    assert Path(repaired["backup"]).read_bytes() == content
    assert strobe("journal", "verify", "aa1").code == 0
    assert "nothing to repair" in strobe("journal", "repair", "aa1").err


def test_repair_says_what_it_did(strobe: Strobe, three: Home) -> None:
    path = segment_of(three, "mnist/ab2")
    content = bytearray(path.read_bytes())
    content[-30] ^= 1
    path.write_bytes(content)
    assert "records kept" in strobe("journal", "repair", str(path)).out


def test_torn_is_not_damage(strobe: Strobe, home: Home) -> None:
    record(home, "cut", state=None)
    path = segment_of(home, "mnist/cut")
    path.write_bytes(path.read_bytes()[:-3])
    result = strobe("journal", "verify", "cut")
    assert result.code == 0
    assert "torn at" in result.out


def test_something_else_is_no_journal(strobe: Strobe, three: Home, tmp_path: Path) -> None:
    other = tmp_path / "0001-aaaa-000000.strobe"
    other.write_bytes(b"hello, this is not a journal")
    result = strobe("journal", "verify", str(other))
    assert result.code == 1
    assert "not a Strobe journal" in result.out
    assert strobe("journal", "verify", "nope").code == 1
    (tmp_path / "empty").mkdir()
    assert strobe("journal", "verify", str(tmp_path / "empty")).code == 2


def test_dump(strobe: Strobe, three: Home) -> None:
    records = [json.loads(line) for line in strobe("journal", "dump", "aa1").lines]
    assert records[0]["record"] == "header"
    assert records[0]["run"] == "aa1"
    assert [record["type"] for record in records if record["record"] == "event"] == [
        "started",
        "config",
        "console",
        "ended",
    ]
    rows = [record for record in records if record["record"] == "row"]
    assert rows[4]["values"] == {"loss": 0.2, "nested": {"a": 4}}


def test_dump_shows_damage(strobe: Strobe, three: Home) -> None:
    path = segment_of(three, "mnist/aa1")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert any(json.loads(line)["record"] == "damage" for line in strobe("journal", "dump", str(path)).lines)
