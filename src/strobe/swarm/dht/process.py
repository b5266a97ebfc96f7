"""A node in a process of its own: for programs that keep Python's one thread at a time to themselves.

The process is spawned, never forked. Jobs and results go through a private pipe to it, pickled, which is fine between
a parent and its own child and is never done with anything that another peer sent. When either end goes, so does the
other.
"""

from __future__ import annotations

import functools
import multiprocessing
import threading
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from strobe.errors import Error
from strobe.swarm.dht.host import DhtStopped, Job, Plan, ThreadHost
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.reply import Reply
from strobe.swarm.net.address import Address

_Result = TypeVar("_Result")


class ProcessHost:
    """A node in a process of its own, spawned."""

    def __init__(self, plan: Plan) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, self._far_pipe = context.Pipe()
        self._process = context.Process(target=_serve, args=(self._far_pipe, plan), name="strobe-dht", daemon=True)
        self._lock = threading.Lock()
        self._replies: dict[int, Reply[Any]] = {}
        self._num_jobs = 0
        self._is_stopped = False
        self._may_move = plan.may_move

    def start(self) -> Reply[Address]:
        self._process.start()
        self._far_pipe.close()  # so that the end of the process is the end of the pipe
        ready: Reply[Address] = Reply()
        self._replies[0] = ready
        threading.Thread(target=self._receive, name="strobe-dht-replies", daemon=True).start()
        return ready

    def address(self) -> Address | None:
        try:
            return self.submit(_address_of).result() if self._may_move else None
        except DhtStopped:
            return None

    def submit(self, job: Job[_Result]) -> Reply[_Result]:
        reply: Reply[_Result] = Reply()
        with self._lock:
            if self._is_stopped:
                raise DhtStopped("this DHT was shut down, or its process died; make a new one")
            self._num_jobs += 1
            number = self._num_jobs
            self._replies[number] = reply
            try:
                self._pipe.send((number, job))
            except OSError as exc:
                del self._replies[number]
                raise DhtStopped("the DHT's process died; make a new one") from exc
        reply.when_cancelled(lambda: self._cancel(number))
        return reply

    def stop(self, timeout_s: float) -> None:
        with self._lock:
            if not self._is_stopped:
                self._is_stopped = True
                self._send_quietly(None)
        self._process.join(timeout_s)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _cancel(self, number: int) -> None:
        with self._lock:
            self._send_quietly((number, None))

    def _send_quietly(self, message: object) -> None:
        try:
            self._pipe.send(message)
        except OSError:
            self._is_stopped = True  # the process has died: `_receive` tells those who wait

    def _receive(self) -> None:
        while True:
            try:
                number, is_good, outcome = self._pipe.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                reply = self._replies.pop(number, None)
            if reply is not None:
                reply.resolve(outcome) if is_good else reply.fail(outcome)
        with self._lock:
            self._is_stopped = True
            left, self._replies = self._replies, {}
        for reply in left.values():
            reply.fail(DhtStopped("the DHT's process ended before this was done"))
        self._pipe.close()


async def _address_of(node: Node) -> Address:
    return node.network.address


def _serve(pipe: Connection, plan: Plan) -> None:
    """The whole life of a node's process: a thread host that does what comes through the pipe."""
    host = ThreadHost(plan)
    lock = threading.Lock()
    running: dict[int, Reply[Any]] = {}

    def send(number: int, reply: Reply[Any]) -> None:
        running.pop(number, None)
        if reply.cancelled():
            return
        error = reply.exception()
        with lock:
            try:
                pipe.send((number, error is None, reply.result() if error is None else error))
            except OSError:
                return  # the parent is gone; the loop below ends too
            except Exception as exc:  # noqa: BLE001  # a result that cannot be pickled must not hang its caller
                pipe.send((number, False, Error(f"the result cannot be sent to this process: {exc}")))

    try:
        ready = host.start()
        ready.add_done_callback(lambda _: send(0, ready))
        while (message := pipe.recv()) is not None:
            number, job = message
            if job is None:
                if (reply := running.get(number)) is not None:
                    reply.cancel()
                continue
            reply = running[number] = host.submit(job)
            reply.add_done_callback(functools.partial(lambda number, reply, _: send(number, reply), number, reply))
    except (EOFError, OSError, KeyboardInterrupt, DhtStopped):
        pass  # the parent has gone, or wants us to
    finally:
        host.stop(timeout_s=5.0)
        pipe.close()
