"""Entries of `home.active`: whose they are, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from strobe.agent.entry import ActiveEntries
from strobe.home import Home

from .scene import MakeEntry


@pytest.fixture
def active(home: Home) -> ActiveEntries:
    return ActiveEntries(home.active, owner=os.getuid())


def test_no_directory_no_entries(active: ActiveEntries) -> None:
    assert active.scan() == {}


def test_entries_come_change_and_go(home: Home, active: ActiveEntries, make_entry: MakeEntry) -> None:
    entry = make_entry()
    assert active.scan() == {"aaaaaaaa": entry}
    changed = make_entry(stats_interval_s=2.0)
    assert active.scan() == {"aaaaaaaa": changed}
    active.remove("aaaaaaaa")
    active.remove("aaaaaaaa")
    assert active.scan() == {}
    assert not list(home.active.iterdir())


def test_a_change_is_seen_without_a_scan(active: ActiveEntries, make_entry: MakeEntry) -> None:
    active.scan()
    assert not active.has_changed()
    make_entry()
    assert active.has_changed()
    active.scan()
    assert not active.has_changed()
    active.remove("aaaaaaaa")
    assert active.has_changed()


def test_fields_of_a_later_version_are_ignored(home: Home, active: ActiveEntries, make_entry: MakeEntry) -> None:
    entry = make_entry()
    fields = msgspec.to_builtins(entry) | {"novelty": {"a": 1}}
    (home.active / "aaaaaaaa.json").write_bytes(msgspec.json.encode(fields))
    assert active.scan() == {"aaaaaaaa": entry}


@pytest.mark.parametrize("content", [b"", b'{"run_dir": "x"', b"[]", b"{}"])
def test_what_is_no_entry_is_named_and_read_again_when_it_changes(
    content: bytes, home: Home, active: ActiveEntries, make_entry: MakeEntry
) -> None:
    home.active.mkdir(parents=True)
    (home.active / "aaaaaaaa.json").write_bytes(content)
    (home.active / "other.tmp").touch()
    assert active.scan() == {}
    assert list(active.refused) == ["aaaaaaaa.json"]
    make_entry()
    assert len(active.scan()) == 1


def test_a_file_that_names_another_writer_is_refused(home: Home, active: ActiveEntries, make_entry: MakeEntry) -> None:
    make_entry()
    (home.active / "aaaaaaaa.json").rename(home.active / "bbbbbbbb.json")
    assert active.scan() == {}
    assert "aaaaaaaa" in active.refused["bbbbbbbb.json"]


def test_other_hosts_and_namespaces_are_left_alone(active: ActiveEntries, make_entry: MakeEntry) -> None:
    make_entry("aaaaaaaa", host="elsewhere")
    make_entry("bbbbbbbb", pid_namespace="pid:[1]")
    assert active.scan() == {}
    assert active.refused == {}


def test_an_earlier_boot_of_this_host_is_ours_and_dead(active: ActiveEntries, make_entry: MakeEntry) -> None:
    make_entry(boot_id="before", pid_namespace="pid:[1]")
    assert active.scan()["aaaaaaaa"].is_alive() is False


def test_other_users_entries_are_left_alone(home: Home, make_entry: MakeEntry) -> None:
    make_entry()
    assert ActiveEntries(home.active, owner=os.getuid() + 1).scan() == {}


def test_entry_knows_its_run(make_entry: MakeEntry) -> None:
    assert str(make_entry().run.run_path) == "local/p/r1"
    assert make_entry().run.journal == Path(make_entry().run_dir) / "journal"
