"""Everything that is known of a run as one plain value, once from its journals and once from a store.

The two are built by different code from different places, so that they are the same only if every row, line, file and
alert of the run is in the store, once. `explain` says what is not.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from strobe.artifact.atomic import UNFINISHED
from strobe.artifact.collection import Collection
from strobe.home import Home, RunDir, RunPath
from strobe.journal import JournalReader, Replay
from strobe.journal.entry import Noted
from strobe.journal.event import Console
from strobe.journal.mark import place_of
from strobe.journal.screen import Screen
from strobe.store.store import Store
from tests.store.test_same_as_replay import same

Content = dict[str, Any]


def content_of_journals(home: Home, run_dir: RunDir) -> Content:
    """Return what the home has of a run."""
    replay = Replay(run_dir)
    replay.refresh()
    assert not replay.damages, f"{run_dir.path}: {replay.damages}"
    content = {
        "state": replay.state,
        "config": replay.config,
        "attributes": replay.attributes,
        "attempts": [(attempt.number, attempt.state) for attempt in replay.attempts],
        "summary": replay.summary,
        "rows": [row for row in replay.rows() if len(row) > 3],
        "num_rows": replay.num_rows,
        "system": sorted(replay.system_rows(), key=_moment),
        "alerts": sorted((alert.time_ns, alert.title, alert.text) for alert in replay.alerts),
        "files": {path: _sha256(run_dir.files / path) for path in _files_below(run_dir.files)},
        "artifacts": _logged_artifacts(home, run_dir),
    }
    for attempt in replay.attempts:
        rows = replay.rows(attempt=attempt.number)
        content[f"rows of attempt {attempt.number}"] = [row for row in rows if len(row) > 3]
    return content | _read_records(run_dir)


def _read_records(run_dir: RunDir) -> Content:
    """Return the console, drawn at once, and where each writer stands."""
    screens: dict[tuple[int, str, str], Screen] = {}
    offsets: dict[str, int] = {}
    for header, entry in JournalReader(run_dir.journal).poll():
        offsets[header.writer] = max(offsets.get(header.writer, 0), place_of(entry) + 1)
        if isinstance(entry, Noted) and isinstance(entry.event, Console) and entry.event.text:
            screen = screens.setdefault((header.attempt, header.writer, entry.event.stream), Screen())
            screen.begin(entry.order_ns)
            screen.feed(entry.event.text, entry.order_ns)
    return {"console": {name: screen.lines(styles=True) for name, screen in screens.items()}, "offsets": offsets}


def content_of_store(store: Store, path: RunPath) -> Content:
    """Return what a store has of a run."""
    view = store.runs.get(path)
    row = view.row
    lines: dict[tuple[int, str, str], list[str]] = {}
    answer = store.console.lines(row.id, 0, 10_000)
    assert answer.total == len(answer.lines), "more lines than one answer has; log less"
    for line in answer.lines:
        lane = answer.lanes[line.lane]
        lines.setdefault((lane.attempt, lane.writer, lane.stream), []).append(line.text)
    content = {
        "state": row.state,
        "config": view.config,
        "attributes": view.attributes,
        "attempts": [(attempt.number, attempt.state) for attempt in view.attempts],
        "summary": view.summary,
        "rows": _history(store, row.id, None),
        "num_rows": row.num_rows,
        "system": sorted(store.history.system_page(row.id, limit=1_000_000)[0], key=_moment),
        "alerts": _alerts(store, row.id),
        "files": {file.path: file.sha256 for file in store.files.list(row.id, limit=10_000)},
        "artifacts": _stored_artifacts(store, row.id),
        "console": lines,
        "offsets": offsets_of(store, row.id),
    }
    for attempt in view.attempts:
        content[f"rows of attempt {attempt.number}"] = _history(store, row.id, attempt.number)
    _check_blobs(store, row.id)
    return content


def offsets_of(store: Store, run_id: int) -> dict[str, int]:
    """Return up to where the store has what each writer of a run wrote."""
    sql = "SELECT name, next FROM writer WHERE run_id = ?"
    return dict(store.database.read(lambda cursor: cursor.all(sql, run_id)))


def explain(found: Content, expected: Content) -> str:
    """Return what differs, or nothing."""
    told = []
    for name in sorted(found.keys() | expected.keys()):
        here, there = found.get(name), expected.get(name)
        if not same(here, there):
            told.append(f"{name}: {_first_difference(here, there)}")
    return "\n".join(told)


def _first_difference(found: Any, expected: Any) -> str:
    if isinstance(found, list) and isinstance(expected, list):
        for place, (here, there) in enumerate(zip(found, expected, strict=False)):
            if not same(here, there):
                return f"item {place} of {len(found)} is {here!r}, expected {there!r} of {len(expected)}"
        longer, word = (found, "too much") if len(found) > len(expected) else (expected, "missing")
        place = min(len(found), len(expected))
        return f"{len(found)} items, expected {len(expected)}; {word}: {longer[place]!r}"
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in sorted(found.keys() | expected.keys(), key=repr):
            if key not in found or key not in expected:
                word = "missing" if key not in found else "too much"
                return f"{word}: {key!r}: {found.get(key, expected.get(key))!r}"
            if not same(found[key], expected[key]):
                return f"at {key!r}: {_first_difference(found[key], expected[key])}"
    return f"{found!r}, expected {expected!r}"


def _history(store: Store, run_id: int, attempt: int | None) -> list[dict[str, Any]]:
    rows, following = store.history.page(run_id, attempt=attempt, limit=1_000_000)
    assert following is None
    return rows


def _moment(sample: dict[str, Any]) -> tuple[float, str]:
    return sample["_timestamp"], repr(sorted(sample.items()))


def _alerts(store: Store, run_id: int) -> list[tuple[int, str, str]]:
    found = store.alerts.of_run(run_id, limit=1000).items
    return sorted((alert.time_ns, alert.title, alert.text) for alert in found)


def _files_below(root: Path) -> list[str]:
    found = (path for path in root.rglob("*") if path.is_file() and not path.name.startswith(UNFINISHED))
    return [path.relative_to(root).as_posix() for path in found]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_blobs(store: Store, run_id: int) -> None:
    """See that the bytes of each file are what the store says they are."""
    for file in store.files.list(run_id, limit=10_000):
        body = b"".join(store.files.read(file))
        assert hashlib.sha256(body).hexdigest() == file.sha256, f"the bytes of {file.path} are not its own"


def _logged_artifacts(home: Home, run_dir: RunDir) -> list[str]:
    path = run_dir.run_path
    root = home.artifacts / "collections" / path.entity / path.project
    found = []
    for place in root.iterdir() if root.exists() else ():
        collection = Collection(home, path.entity, path.project, place.name)
        for number in collection.numbers() if collection.exists() else ():
            version = collection.version(number)
            if version.logged_by == str(path) and version.source is None:
                found.append(f"{place.name} {version.digest} {version.id}")
    return sorted(found)


def _stored_artifacts(store: Store, run_id: int) -> list[str]:
    sql = (
        "SELECT c.name, v.digest, o.name FROM artifact_version v JOIN artifact_collection c ON c.id = v.collection_id"
        " JOIN artifact_origin o ON o.version_id = v.id WHERE v.run_id = ? AND v.number IS NOT NULL"
        " AND o.name LIKE 'sender:%'"
    )
    rows = store.database.read(lambda cursor: cursor.all(sql, run_id))
    return sorted(f"{name} {digest} {origin.removeprefix('sender:')}" for name, digest, origin in rows)
