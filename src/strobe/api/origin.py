"""Which source is meant: a home or a server, by what was given and by the settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from strobe.errors import UsageError
from strobe.home import Home

if TYPE_CHECKING:
    from strobe.api.record import Source
    from strobe.settings import Resolved


def open_source(
    place: Home | str | os.PathLike[str] | None,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout_s: float | None = None,
) -> Source:
    """Return the home or the server that is meant.

    What is given decides. Where nothing is, it is where `init()` sends runs by the settings: their server in mode
    online, else their home.
    """
    from strobe.api.home_source import HomeSource

    if isinstance(place, str) and place.startswith(("http://", "https://")):
        if base_url is not None and base_url != place:
            raise UsageError(f"two servers are given, {place} and {base_url}; which one?")
        place, base_url = None, place
    if place is not None:
        if base_url is not None or api_key is not None:
            raise UsageError(f"both a home ({place}) and a server are given; a home needs neither address nor key")
        return HomeSource(place if isinstance(place, Home) else Home(Path(place).expanduser()))
    settings = _settings(base_url, api_key)
    if base_url is None and settings.mode != "online":
        return HomeSource(Home(settings.home))
    from strobe.api.server.source import ServerSource

    return ServerSource.of(settings, timeout_s=timeout_s)


def _settings(base_url: str | None, api_key: str | None) -> Resolved:
    from strobe.settings import resolve

    configured = resolve()
    given = {name: item for name, item in (("base_url", base_url), ("api_key", api_key)) if item is not None}
    if not given:
        return configured
    found = resolve(given)
    if api_key is None and configured.base_url not in (None, found.base_url):
        return found.replace(api_key=None)  # the configured key is for the configured server, and for no other
    return found
