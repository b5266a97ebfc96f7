"""Which records a side is: what the words on the command line mean.

A side is a results file, or within the default one a git commit (or branch, or tag), a record's id, `latest` or
`previous` (the last session, and the one before it that shares most rows with it, on the same machine if any does).
Commits and ids may be cut short, as with git. Results of uncommitted changes are not those of the commit below them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from strobe.bench.compare.pairing import newest, row_key
from strobe.bench.records import Record
from strobe.bench.table import count_text
from strobe.bench.unfinished import read_results
from strobe.errors import UsageError

WORDS = ("latest", "previous")
_SHORTEST = 4


def select(
    text: str,
    records: Sequence[Record],
    commit_of: Callable[[str], str | None] = lambda word: None,
    *,
    report: Callable[[str], None] = lambda text: None,
) -> list[Record]:
    """Return the records that a word means; raises UsageError, with what there is, for none.

    `commit_of` knows what git calls by other names, such as branches; `report` is told what may surprise.
    """
    if Path(text).is_file():
        return read_results(Path(text))
    if text in WORDS:
        # Trials of a search and confirmations are sessions of their own, and none to compare with.
        return _session(text, [one for one in records if not one.is_aside], report)
    for word in (text, commit_of(text) or ""):
        if found := _by_commit(word, records):
            if all(one.environment.is_dirty for one in found):
                report(f"{text}: all results of this commit were measured with uncommitted changes")
            return found
        if found := _by_id(word, records):
            return found
    commits = list(dict.fromkeys(one.environment.git_commit[:10] for one in records if one.environment.git_commit))
    known = f"commits with results: {', '.join(commits[-6:])}" if commits else "there are no results yet"
    raise UsageError(f"{text!r} is no results file, commit or id of a result, nor `latest` or `previous`; {known}")


def _by_commit(text: str, records: Sequence[Record]) -> list[Record]:
    """Return the results of a commit that begins so; those of changes to it only where there are no others."""
    found = [one for one in records if len(text) >= _SHORTEST and one.environment.git_commit.startswith(text)]
    return [one for one in found if not one.environment.is_dirty] or found


def _by_id(text: str, records: Sequence[Record]) -> list[Record]:
    """Return the records whose id begins or ends so: tables show its end."""
    return [one for one in records if len(text) >= _SHORTEST and (one.id.startswith(text) or one.id.endswith(text))]


def _session(word: str, records: Sequence[Record], report: Callable[[str], None]) -> list[Record]:
    sessions: dict[str, list[Record]] = {}
    for record in records:
        if moment := record.environment.started_at:
            sessions.setdefault(moment, []).append(record)
    began = sorted(sessions, reverse=True)
    if not began:
        raise UsageError(f"`{word}` needs a session, and there is none; `strobe bench run` makes one")
    latest = sessions[began[0]]
    if word == "latest":
        return latest
    # Tests, load profiles, workloads and other machines share a file: what was done between has nothing to do with it.
    # A row that was measured again has, but says nothing of the others; max() takes the first, which is the newest.
    likeness = {moment: _likeness(sessions[moment], latest) for moment in began[1:]}
    found = max(likeness, key=likeness.__getitem__, default="")
    if found and any(likeness[found]):
        rows = count_text(len(set(map(row_key, latest))), "row")
        report(f"previous: the session of {found}, with {likeness[found][1]} of the {rows} of the latest")
        return sessions[found]
    raise UsageError(
        f"no session before the latest ({began[0]}) measured any of its rows; `strobe bench run` makes one, "
        "`strobe bench history` shows all"
    )


def _likeness(session: Sequence[Record], latest: Sequence[Record]) -> tuple[int, int]:
    """Return how many rows two sessions have in common on one machine, and on any."""
    of_one = newest(session).keys() & newest(latest).keys()
    of_any = set(map(row_key, session)) & set(map(row_key, latest))
    return len(of_one), len(of_any)
