"""What of a foreign run is in the home already.

A writer's id comes from the identity of the start that it recorded, so the names of the segments tell which starts are
there, without reading any.
"""

from __future__ import annotations

from strobe.home import Home, RunDir, RunPath
from strobe.importers.model import ForeignRun
from strobe.journal.segment import list_segments, parse_name
from strobe.journal.skim import Skim
from strobe.sdk.name import id_of


def is_present(home: Home, run: ForeignRun) -> bool:
    """Tell, without reading the run, whether all its starts were imported before."""
    known = writers(home.run_dir(run.path))
    return all(writer_id(run.path, identity, "main") in known for identity in run.identities)


def has_changed(home: Home, run: ForeignRun) -> bool:
    """Tell whether the files of a run that is present are not as long as they were when it was imported."""
    before = Skim(home.run_dir(run.path)).attributes.get("imported")
    return isinstance(before, dict) and before.get("bytes") != run.imported["bytes"]


def is_same(home: Home, run: ForeignRun) -> bool:
    """Tell whether the run in its place came from there: starts of it are known, or it says so."""
    run_dir = home.run_dir(run.path)
    known = writers(run_dir)
    if any(writer_id(run.path, identity, "main") in known for identity in run.identities):
        return True
    origin = Skim(run_dir).attributes.get("imported")
    return isinstance(origin, dict) and all(origin.get(name) == run.imported[name] for name in ("from", "run"))


def writer_id(path: RunPath, identity: str, kind: str) -> str:
    return id_of(f"{identity} {kind} of {path.id}")


def writers(run_dir: RunDir) -> set[str]:
    return {parse_name(segment)[1] for segment in list_segments(run_dir.journal)}
