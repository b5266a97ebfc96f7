"""Figures of peers into Strobe runs: whatever can be asked for numbers is asked every few seconds.

    with Telemetry(run, {"server": server.figures, "dht": dht_figures(dht), "experts": layer.stats.read}):
        ...

Works for servers, clients and DHT nodes alike; knows none of them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from strobe.errors import Error, RunFinished
from strobe.swarm.dht import DHT, Node
from strobe.swarm.net.peer_network import PeerNetwork

if TYPE_CHECKING:
    from strobe.sdk.run import Run

Source: TypeAlias = Callable[[], Mapping[str, float]]
_log = logging.getLogger("strobe.swarm")


class Telemetry:
    """Logs figures under `swarm/<name of the source>/<name of the figure>` until it is stopped.

    With `commit=False` they go with the next step that the run logs, for runs that have steps of their own.
    """

    def __init__(self, run: Run, sources: Mapping[str, Source], *, period_s: float = 10.0, commit: bool = True) -> None:
        self._run = run
        self._commit = commit
        self._sources = dict(sources)
        self._period_s = period_s
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="strobe-swarm-telemetry", daemon=True)

    def __enter__(self) -> Telemetry:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self.log()

    def log(self) -> None:
        """Ask all sources and log what they say now."""
        figures: dict[str, float] = {}
        for name, source in self._sources.items():
            try:
                figures.update((f"swarm/{name}/{key}", value) for key, value in source().items())
            except Error as exc:  # such as a DHT that was shut down: the others still have something to say
                _log.warning("no figures of %s: %s", name, exc)
            except Exception:  # noqa: BLE001  # what a source of the user's raises is no reason to log nothing any more
                _log.exception("no figures of %s", name)
        if figures:
            self._run.log(figures, commit=self._commit)

    def _work(self) -> None:
        while not self._stopping.wait(self._period_s):
            try:
                self.log()
            except RunFinished as exc:
                _log.warning("figures are not logged any more: %s", exc)
                return
            except Exception:  # noqa: BLE001  # figures that no run takes, once, must not be the last ones
                _log.exception("figures could not be logged; trying again in %g s", self._period_s)


def dht_figures(dht: DHT) -> Source:
    """Return what tells the figures of a peer of the DHT."""
    return lambda: dht.run_coroutine(_figures_of)


async def _figures_of(node: Node) -> dict[str, float]:
    node.storage.expire(node.clock())
    figures: dict[str, float] = {
        "peers": len(node.peers.table),
        "records": len(node.storage),
        "cached_records": len(node.cache),
        "requests": node.exchange.num_requests,
    }
    network = node.network
    if isinstance(network, PeerNetwork):
        figures.update(
            sessions=network.num_sessions,
            served=network.serving.served,
            refused=network.serving.refused,
            resends=network.calls.resends,
        )
    return figures
