"""Running `strobe ui`: the lease on the home's index, the tail as a chore, the server, in this order."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable

from strobe.home import Home
from strobe.server.alerts import read_alert_settings
from strobe.server.chores import Chore
from strobe.server.endpoint import Endpoint
from strobe.server.local.home_tail import HomeTail, forget_runs
from strobe.server.local.index import IndexPlace
from strobe.server.local.store import LocalStore
from strobe.server.serve import Listen, serve
from strobe.server.services import ServerSettings, open_services

#: how soon a row that was logged is in the index
_TAIL_S = 0.2


def serve_home(
    home: Home,
    listen: Listen,
    log: logging.Logger,
    on_ready: Callable[[str], None],
    *,
    rebuild: bool = False,
    extra: Iterable[Endpoint] = (),
) -> str | None:
    """Serve the runs of a home until a signal says stop; return at once with the address if another process does."""
    place = IndexPlace(home)
    if not place.take():
        return place.read_address() or ""
    try:
        store = LocalStore(home, place.database)
        try:
            if rebuild:
                store.database.write(forget_runs)
            alerts = read_alert_settings(os.environ, is_local=True)
            settings = ServerSettings(mode="local", allowed_hosts=(listen.host,), alerts=alerts)
            services = open_services(store, settings, log)
            tail = HomeTail(home, store, time.time_ns, log.warning)

            def ready(url: str) -> None:
                place.note_address(url)
                on_ready(url)

            serve(services, listen, ready, chores=[Chore("tail", _TAIL_S, tail.poll)], extra=extra)
        finally:
            store.close()
    finally:
        place.release()
    return None
