"""What `init()` leaves for whoever uploads the run: a file in `<home>/unsynced/`, made of plain values.

The types that it is read as are in `marker` and `target`. Making such classes takes milliseconds, which a training
process need not pay: this module is all that it loads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import json

if TYPE_CHECKING:
    from strobe.home import Home
    from strobe.settings import Resolved

UNSYNCED = "unsynced"
#: variables of the process that decide the way to a server
_WAY = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


def target_fields(settings: Resolved, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return where the settings send runs, as the fields of a `Target`."""
    key_file = settings.origin("api_key").rpartition(":")[0] if settings.api_key else ""
    return {
        "base_url": settings.base_url,
        "api_key": None if key_file else settings.api_key,
        "key_file": key_file or None,
        "proxy": settings.proxy,
        "ca_bundle": None if settings.ca_bundle is None else str(settings.ca_bundle),
        "timeout_s": settings.upload_timeout_s,
        "bytes_per_s": settings.upload_bytes_per_s,
        "way": {name: found for name in _WAY if (found := environ.get(name) or environ.get(name.lower()))},
    }


def leave_note(home: Home, fields: Mapping[str, Any]) -> None:
    """Leave the fields of a `Marker`, for the user's eyes alone. Raises OSError."""
    directory = os.path.join(home.path, UNSYNCED)
    name = f"{fields['writer']}.json"
    partial = os.path.join(directory, f".{name}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    try:
        fd = os.open(partial, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        fd = os.open(partial, flags, 0o600)
    try:
        os.write(fd, json.encode(fields))
    finally:
        os.close(fd)
    os.replace(partial, os.path.join(directory, name))
