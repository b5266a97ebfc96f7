"""The application by itself, for ASGI servers other than ours: what it serves is in the environment.

STROBE_SERVER_STORE=postgresql://db/strobe STROBE_SERVER_BLOBS=s3://bucket uvicorn --factory strobe.server:create_app
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from strobe.errors import UsageError
from strobe.server.log import open_log
from strobe.server.services import ServerSettings, Services, open_services
from strobe.store.store import open_store


def services_from(environ: Mapping[str, str] | None = None) -> Services:
    """Open the store that the variables name; the caller closes it."""
    env = os.environ if environ is None else environ
    store, blobs = env.get("STROBE_SERVER_STORE"), env.get("STROBE_SERVER_BLOBS")
    if not store or not blobs:
        raise UsageError(
            "create_app() without services serves what STROBE_SERVER_STORE (sqlite:///PATH or postgresql://…) and "
            "STROBE_SERVER_BLOBS (a directory or s3://…) name; set both"
        )
    hosts = tuple(name.strip() for name in env.get("STROBE_SERVER_ALLOWED_HOSTS", "").split(",") if name.strip())
    return open_services(open_store(store, blobs), ServerSettings(allowed_hosts=hosts), open_log("auto"))
