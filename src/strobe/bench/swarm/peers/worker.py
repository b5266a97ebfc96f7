"""A colony in a process of its own that does what comes through a pipe.

Colonies must find each other, so a worker first says that it is up and then waits for whom its peers are to know.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from strobe.bench.swarm.peers.colony import Colony, Conditions
from strobe.errors import Error
from strobe.swarm.net.loop import new_event_loop

_STOP_S = 10.0


class Worker:
    """The parent's side of one process. `tell` and `hear` go in turns."""

    def __init__(self, conditions: Conditions, seed: int, num_peers: int) -> None:
        context = _context()
        self.pipe: Connection
        self.pipe, far = context.Pipe()
        self.num_peers = num_peers
        self._process: BaseProcess = context.Process(target=serve, args=(far, conditions, seed), daemon=True)
        self._process.start()
        far.close()

    def tell(self, method: str, *arguments: Any) -> None:
        """Begin a call of a method of the colony."""
        self.pipe.send((method, arguments))

    def hear(self) -> Any:
        """Return what came of it."""
        try:
            is_good, outcome = self.pipe.recv()
        except EOFError as exc:
            raise Error(f"a process with {self.num_peers} peers died") from exc
        if not is_good:
            raise Error(f"a process with peers failed: {outcome}")
        return outcome

    def ask(self, method: str, *arguments: Any) -> Any:
        self.tell(method, *arguments)
        return self.hear()

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """End the process, with all its peers, at once."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def stop(self) -> None:
        """End the process in peace."""
        if self._process.is_alive():
            self.pipe.send(None)
            self._process.join(_STOP_S)
            if self._process.is_alive():
                self.kill()


def _context() -> Any:
    """Return the way to start processes: forked by one that has imported everything, as hivemind's are, if possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def serve(pipe: Connection, conditions: Conditions, seed: int) -> None:
    """The life of a worker."""
    loop = new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(_serve(pipe, Colony(conditions, random.Random(seed))))
    finally:
        loop.close()


async def _serve(pipe: Connection, colony: Colony) -> None:
    pipe.send((True, None))
    try:
        # In a thread, because not every system's loop can wait for a pipe.
        while (message := await asyncio.to_thread(pipe.recv)) is not None:
            method, arguments = message
            try:
                outcome = getattr(colony, method)(*arguments)
                if asyncio.iscoroutine(outcome):
                    outcome = await outcome
            except Exception as exc:  # noqa: BLE001  # told to the one who asked, who raises it
                pipe.send((False, f"{type(exc).__name__}: {exc}"))
            else:
                pipe.send((True, outcome))
    except (EOFError, OSError):
        pass  # the parent is gone
    finally:
        await colony.close()
