"""Turn a draft into a version: objects first, the version last, so that a kill in between leaves no version at all."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from strobe.artifact import record
from strobe.artifact.atomic import token
from strobe.artifact.collection import Collection
from strobe.artifact.manifest import Manifest
from strobe.artifact.name import LATEST, check_alias
from strobe.artifact.objects import Objects
from strobe.artifact.record import Version
from strobe.errors import UsageError
from strobe.home import Home

if TYPE_CHECKING:
    from strobe.artifact.artifact import Artifact


def commit(
    draft: Artifact, home: Home, entity: str, project: str, *, run: str | None = None, step: int | None = None
) -> Version:
    """Store what `draft` holds and publish it; `draft` is that version afterwards.

    Content that the latest version has already makes no new version; the aliases are moved all the same.
    """
    collection = Collection(home, entity, project, draft.name)
    collection.create(draft.type)
    store_contents(draft.manifest, home)
    version = publish(draft, collection, run, step=step, aliases=draft.aliases)
    draft.become(collection, version)
    return version


def store_contents(manifest: Manifest, home: Home) -> None:
    """Bring the content of every entry into the home's store."""
    manifest.check_tree()
    objects = Objects(home.artifacts / "objects")
    for entry in manifest:
        if entry.source is not None:
            objects.put(entry.source, entry.algorithm)


def publish(
    artifact: Artifact,
    collection: Collection,
    run: str | None,
    *,
    step: int | None = None,
    source: str | None = None,
    aliases: Iterable[str] | str | None = None,
) -> Version:
    """Add a version with the attributes and entries of `artifact`, whose contents are in the store."""
    names = check_aliases(aliases)
    collection.create(artifact.type)
    ttl = artifact.ttl
    facts = Version(
        number=-1,
        id=token() + token(),
        digest="",
        created_ns=time.time_ns(),
        logged_by=run,
        step=step,
        aliases=names,
        source=source,
        use_as=artifact.use_as,
        description=artifact.description,
        metadata=record.dump_metadata(artifact.metadata),
        tags=list(artifact.tags),
        ttl_s=ttl.total_seconds() if ttl is not None else None,
    )
    is_incremental = artifact.incremental and artifact.is_draft()
    version, is_new = collection.publish(facts, artifact.manifest, on_latest=is_incremental)
    if not is_new:
        for alias in names:
            collection.point(alias, version.number)
    return version


def check_aliases(aliases: Iterable[str] | str | None) -> list[str]:
    """Return the aliases to store; `latest` needs no storing, and one alias may come as a plain string."""
    if aliases is None:
        return []
    if not isinstance(aliases, (str, list, tuple, set, frozenset)):
        raise UsageError(f"aliases must be a list of strings, got {aliases!r}")
    words = [aliases] if isinstance(aliases, str) else list(aliases)
    return [check_alias(word) for word in dict.fromkeys(words) if word != LATEST]
