"""Bring a version's entries out of the store, every byte checked against its digest.

A file appears under its name only when it's whole and right. What is there already with the right content is left.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable
from pathlib import Path

from strobe.artifact import copying
from strobe.artifact import digest as digests
from strobe.artifact.atomic import UNFINISHED, token
from strobe.artifact.manifest import Entry
from strobe.artifact.objects import Objects
from strobe.artifact.reference import local_path
from strobe.errors import ArtifactError, CommError

_HTTP_TIMEOUT_S = 30.0


def default_root(name: str) -> Path:
    """Return where `name` ("dataset:v3") is downloaded to when nobody says."""
    base = os.environ.get("STROBE_ARTIFACT_DIR") or os.environ.get("WANDB_ARTIFACT_DIR") or "artifacts"
    # Windows allows no colon in a file name.
    return Path(base).expanduser() / (name.replace(":", "-") if os.name == "nt" else name)


def fetch(entry: Entry, objects: Objects, root: Path, *, allow_missing_references: bool = False) -> Path:
    """Bring one entry to `root` and return its path there."""
    target = root / entry.path
    if holds(target, entry):
        return target
    temporary = target.with_name(UNFINISHED + token())
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.ref is None:
            with objects.open(entry.digest, entry.algorithm) as source:
                _copy_checked(source, temporary, entry, f"the stored content of {entry.path!r} is damaged")
        else:
            _fetch_reference(entry, temporary)
        temporary.replace(target)
    except (ArtifactError, CommError):
        _discard(temporary)
        if entry.ref is not None and allow_missing_references:
            return target
        raise
    except OSError as exc:
        _discard(temporary)
        raise ArtifactError(f"{entry.path!r} can't be written to {root}: {exc.strerror or exc}") from exc
    return target


def holds(path: Path, entry: Entry) -> bool:
    """Tell whether the file at `path` has the entry's content."""
    try:
        with io.FileIO(path) as file:
            if entry.size is not None and os.fstat(file.fileno()).st_size != entry.size:
                return False
            return digests.of_file(file, entry.algorithm) == entry.digest
    except OSError:
        return False


def check(entries: Iterable[Entry], root: Path) -> None:
    """Raise ArtifactError naming the first file under `root` that is missing or not what was logged."""
    for entry in entries:
        path = root / entry.path
        if not path.is_file():
            raise ArtifactError(f"{path} is missing; download the artifact again")
        if _has_content_digest(entry) and not holds(path, entry):
            raise ArtifactError(f"{path} is not what was logged; download the artifact again")


def _discard(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _has_content_digest(entry: Entry) -> bool:
    if entry.ref is None:
        return True
    return entry.ref.startswith("file://") and entry.digest != digests.of_text(entry.ref)


def _copy_checked(source: io.FileIO, target_path: Path, entry: Entry, complaint: str) -> None:
    hasher = digests.new_hasher(entry.algorithm)
    with copying.create(target_path) as target:
        if copying.clone(source, target):
            found = digests.of_file(source, entry.algorithm)
        else:
            copying.copy_hashing(source, target, hasher)
            found = digests.encode(hasher.digest())
    if _has_content_digest(entry) and found != entry.digest:
        raise ArtifactError(f"{complaint}: its digest is {found}, logged was {entry.digest}")


def _fetch_reference(entry: Entry, target: Path) -> None:
    ref = entry.ref_target()
    if ref.startswith("file://"):
        path = local_path(ref)
        try:
            source = io.FileIO(path)
        except OSError as exc:
            raise ArtifactError(f"{path}, which {entry.path!r} refers to, can't be read: {exc.strerror}") from exc
        with source:
            _copy_checked(source, target, entry, f"{path} changed since the artifact was logged")
    elif ref.startswith(("http://", "https://")):
        _fetch_http(entry, ref, target)
    else:
        raise ArtifactError(f"{ref} is only referred to; fetch it yourself, or pass allow_missing_references=True")


def _fetch_http(entry: Entry, ref: str, target: Path) -> None:
    import http.client
    import shutil
    import urllib.request

    try:
        with urllib.request.urlopen(ref, timeout=_HTTP_TIMEOUT_S) as response:
            etag = response.headers.get("ETag")
            if "etag" in entry.extra and etag != entry.extra["etag"]:
                raise ArtifactError(f"{ref} changed: its ETag is {etag}, logged was {entry.extra['etag']}")
            with copying.create(target) as file:
                shutil.copyfileobj(response, file)
    except (OSError, http.client.HTTPException) as exc:
        raise CommError(f"{ref}, which {entry.path!r} refers to, can't be fetched: {exc}") from exc
