"""Which server a run goes to and how it is reached: what an uploader needs to know of the run's settings.

Made in the training process, which alone knows its settings and environment, and read wherever the upload happens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from strobe.errors import SettingsError
from strobe.remote.note import target_fields

if TYPE_CHECKING:
    from strobe.settings import Resolved


class Target(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server and the way there."""

    base_url: str
    #: None for a server that asks for none, or where `key_file` has it
    api_key: str | None = None
    #: the user's settings file, when the key comes from there: it is not copied to yet another place
    key_file: str | None = None
    #: an address, "off", or None for what `way` says
    proxy: str | None = None
    ca_bundle: str | None = None
    timeout_s: float = 30.0
    #: None: automatic; 0: as fast as it goes
    bytes_per_s: int | None = None
    #: proxy and certificate variables, in capitals
    way: dict[str, str] = {}

    def __repr__(self) -> str:  # keys do not belong in tracebacks and logs
        return f"Target({self.base_url!r})"


def target_of(settings: Resolved, environ: Mapping[str, str] | None = None) -> Target | None:
    """Return where the settings send runs; None if they name no server."""
    if settings.base_url is None:
        return None
    return Target(**target_fields(settings, os.environ if environ is None else environ))


def with_key(target: Target) -> Target:
    """Return the target with the key that its `key_file` holds by now."""
    if target.api_key is not None or target.key_file is None:
        return target
    from pathlib import Path

    from strobe.settings.files import parse

    path = Path(target.key_file)
    try:
        found = parse(path.read_text(encoding="utf-8"), path).get("api_key")
    except (OSError, SettingsError):
        found = None  # the server will say that it wants a key
    return msgspec.structs.replace(target, api_key=found if isinstance(found, str) else None)
