"""Names of artifacts: what may be one, and how `entity/project/name:alias` is read.

The rules are wandb's where they are sensible, so that an artifact can move between the two. Pure: no disk.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from strobe.errors import UsageError
from strobe.home import LOCAL_ENTITY, check_name

LATEST = "latest"

_MAX_NAME = 128
_NAME = re.compile(r"[A-Za-z0-9_.\-]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.\-]")
_TAG = re.compile(r"[A-Za-z0-9]+([ _\-]+[A-Za-z0-9]+)*")
_VERSION = re.compile(r"v(0|[1-9][0-9]*)")
_CONTROL = re.compile(r"[\x00-\x1f]")
_SCHEMES = ("wandb-artifact://", "strobe-artifact://")


def check_artifact_name(name: object) -> str:
    """Return `name` if it can name a collection of versions, else raise UsageError saying why."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in {".", ".."}:
        raise UsageError(f"artifact name {name!r}: use letters, digits, dashes, underscores and dots only")
    if len(name) > _MAX_NAME:
        raise UsageError(f"artifact name is {len(name)} characters long, at most {_MAX_NAME}: {name[:40]!r}…")
    return name


def safe_artifact_name(name: str) -> str:
    """Return `name` with every character that an artifact name can't have replaced, cut to length."""
    safe = _UNSAFE.sub("_", name)[:_MAX_NAME]
    return safe if safe not in {"", ".", ".."} else "artifact"


def check_type(kind: object) -> str:
    """Return `kind` if it can be an artifact's type."""
    if not isinstance(kind, str) or not kind or len(kind) > _MAX_NAME or _CONTROL.search(kind):
        raise UsageError(f"artifact type must be a string of 1 to {_MAX_NAME} characters, got {kind!r}")
    return kind


def check_alias(alias: object) -> str:
    """Return `alias` if it can point to a version; `v3` can't, being a version's own name."""
    checked = check_name("artifact alias", alias)  # type: ignore[arg-type]  # it checks the type itself
    if version_number(checked) is not None:
        raise UsageError(f"alias {checked!r} has the form of a version number; choose another word")
    return checked


def check_tag(tag: object) -> str:
    """Return `tag` if it can mark a version."""
    if not isinstance(tag, str) or not _TAG.fullmatch(tag):
        raise UsageError(f"artifact tag {tag!r}: use letters and digits, joined by dashes, underscores or spaces")
    return tag


def version_number(text: str) -> int | None:
    """Return 3 for `v3`, None for anything else."""
    return int(text[1:]) if text.startswith("v") and _VERSION.fullmatch(text) else None


def entry_path(path: object) -> str:
    """Return the path of an entry in its one form: relative, `/` between parts, never climbing."""
    text = str(path)
    if os.sep == "\\":  # elsewhere a backslash is an ordinary character of a file name
        text = text.replace("\\", "/")
    parts = [part for part in text.split("/") if part not in {"", "."}]
    if text.startswith("/") or not parts or ".." in parts or _CONTROL.search(text) or _has_drive(parts[0]):
        raise UsageError(f"artifact path {str(path)!r} must be relative, not empty and without '..'")
    return "/".join(parts)


def _has_drive(first: str) -> bool:
    return len(first) == 2 and first[1] == ":" and first[0].isalpha()


@dataclass(frozen=True, slots=True)
class ArtifactPath:
    """Which artifact is meant: `reference` is a version (`v3`) or an alias (`best`)."""

    entity: str
    project: str
    name: str
    reference: str = LATEST

    def __str__(self) -> str:
        return f"{self.entity}/{self.project}/{self.name}:{self.reference}"

    @classmethod
    def parse(cls, text: str, *, entity: str = LOCAL_ENTITY, project: str | None = None) -> ArtifactPath:
        """Parse `name`, `name:alias`, `project/name:alias` or `entity/project/name:alias`."""
        if not isinstance(text, str):
            raise UsageError(f"an artifact is named by a string such as 'dataset:latest', got {text!r}")
        bare = text
        for scheme in _SCHEMES:
            bare = bare.removeprefix(scheme)
        place, _, last = bare.rpartition("/")
        name, _, reference = last.partition(":")
        parts = place.split("/") if place else []
        if len(parts) == 2:
            entity, project = parts
        elif len(parts) == 1:
            project = parts[0]
        elif parts or not project:
            raise UsageError(
                f"{text!r} is not an artifact; write entity/project/name:alias, or name:alias with a project"
            )
        check_name("entity", entity)
        check_name("project", project)
        return cls(entity, project, check_artifact_name(name), reference or LATEST)
