"""The server: an ASGI application in front of a store.

`create_app(services)` is the application; `strobe server` and `strobe ui` run it. Each endpoint is one declaration
(`strobe.server.endpoint`) in `strobe.server.routes`. Nothing here knows a database: that is the store's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strobe.server.app import create_app as create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    # Parts of the server are read by programs that never serve (the CLI's help); Starlette is for those that do.
    if name == "create_app":
        from strobe.server.app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
