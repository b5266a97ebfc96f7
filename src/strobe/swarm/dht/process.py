"""A node in a process of its own: for programs that keep Python's one thread at a time to themselves.

The process is spawned, never forked. Jobs and results go through a private pipe to it, pickled, which is fine between
a parent and its own child and is never done with anything that another peer sent. When either end goes, so does the
other.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import pickle
import signal
import socket
import sys
import threading
import time
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from strobe.errors import Error, UsageError
from strobe.swarm.dht.host import DhtStopped, Job, Plan, ThreadHost
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.reply import Reply
from strobe.swarm.net.address import Address

_Result = TypeVar("_Result")
#: what pickling raises for what it cannot do
_UNPICKLABLE: Final = (AttributeError, TypeError, ValueError, pickle.PicklingError)

_WATCH_S: Final = 1.0


class ProcessHost:
    """A node in a process of its own, spawned."""

    def __init__(self, plan: Plan) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, self._far_pipe = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(self._far_pipe, plan, os.getpid()), name="strobe-dht", daemon=True
        )
        # One for the books, another for the pipe: who waits for room in it keeps nobody from taking replies out.
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._replies: dict[int, Reply[Any]] = {}
        self._num_jobs = 0
        self._is_stopped = False
        self._plan = plan
        self._receiver = threading.Thread(target=self._receive, name="strobe-dht-replies", daemon=True)

    def start(self) -> Reply[Address]:
        try:
            self._process.start()
        except _UNPICKLABLE as exc:
            raise _unsendable(self._plan, exc) from exc
        self._far_pipe.close()  # so that the end of the process is the end of the pipe
        ready: Reply[Address] = Reply()
        self._replies[0] = ready
        self._receiver.start()
        return ready

    def address(self) -> Address | None:
        try:
            return self.run(_address_of) if self._plan.may_move else None
        except DhtStopped:
            return None

    def submit(self, job: Job[_Result]) -> Reply[_Result]:
        try:
            packed = bytes(ForkingPickler.dumps(job))
        except _UNPICKLABLE as exc:
            raise _unsendable(job, exc) from exc
        reply: Reply[_Result] = Reply()
        with self._lock:
            if self._is_stopped:
                raise DhtStopped("this DHT was shut down, or its process died; make a new one")
            self._num_jobs += 1
            number = self._num_jobs
            self._replies[number] = reply
        if not self._send((number, packed)):
            self._take(number)
            raise DhtStopped("the DHT's process died; make a new one")
        reply.when_cancelled(lambda: self._cancel(number))
        return reply

    def run(self, job: Job[_Result]) -> _Result:
        return self.submit(job).result()

    def replies_here(self) -> bool:
        return threading.current_thread() is self._receiver

    def stop(self, timeout_s: float) -> None:
        with self._lock:
            is_first, self._is_stopped = not self._is_stopped, True
        if self._process.pid is None:
            return  # it could not be started
        deadline = time.monotonic() + timeout_s
        if is_first:
            self._send(None, timeout_s)
        self._process.join(max(0.0, deadline - time.monotonic()))
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def abandon(self) -> None:
        self._process.kill()  # no goodbye by the pipe: somebody may wait for room in it

    def _cancel(self, number: int) -> None:
        if self._take(number) is not None:
            self._send((number, None))

    def _take(self, number: int) -> Reply[Any] | None:
        with self._lock:
            return self._replies.pop(number, None)

    def _send(self, message: tuple[int, bytes | None] | None, timeout_s: float = -1) -> bool:
        """Return whether it is on its way; if it is not, the process has died, and `_receive` tells those who wait.

        Or it stands still, and somebody waited for room in the pipe for longer than `timeout_s` (-1: we do as well).
        """
        if not self._sending.acquire(timeout=timeout_s):
            return False
        try:
            self._pipe.send(message)
        except OSError:
            return False
        finally:
            self._sending.release()
        return True

    def _receive(self) -> None:
        while True:
            try:
                number, is_good, packed = self._pipe.recv()
            except (EOFError, OSError):
                break
            if (reply := self._take(number)) is not None:
                try:
                    outcome = pickle.loads(packed)
                except Exception as exc:  # noqa: BLE001  # whatever its own code raised: its caller must hear of it
                    is_good, outcome = False, Error(f"the result cannot be read in this process: {exc!r}")
                reply.resolve(outcome) if is_good else reply.fail(outcome)
        with self._lock:
            self._is_stopped = True
            left, self._replies = self._replies, {}
        for reply in left.values():
            reply.fail(DhtStopped("the DHT's process ended before this was done"))
        with self._sending:
            self._pipe.close()


def _unsendable(thing: object, exc: Exception) -> UsageError:
    return UsageError(
        f"{thing!r:.200} cannot be sent to the DHT's process ({exc}); use functions of a module, or functools.partial "
        "of them with arguments that can be pickled"
    )


async def _address_of(node: Node) -> Address:
    return node.network.address


def _serve(pipe: Connection, plan: Plan, parent: int) -> None:
    """The whole life of a node's process: a thread host that does what comes through the pipe."""
    # A terminal interrupts all processes of a program. What that means is for the program to say; if it ends, so do we.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        threading.Thread(target=_watch, args=(pipe, parent), name="strobe-dht-watch", daemon=True).start()
    host = ThreadHost(plan)
    running: dict[int, Reply[Any]] = {}
    outbox: SimpleQueue[tuple[int, Reply[Any]] | None] = SimpleQueue()
    # Another thread sends, so that this one always reads: else both ends could wait for each other with full pipes.
    sender = threading.Thread(target=_send_replies, args=(pipe, outbox), name="strobe-dht-replies", daemon=True)
    sender.start()

    def end(number: int, reply: Reply[Any]) -> None:
        running.pop(number, None)
        if not reply.cancelled():
            outbox.put((number, reply))

    try:
        ready = host.start()
        ready.add_done_callback(lambda _: end(0, ready))
        while (message := pipe.recv()) is not None:
            number, packed = message
            if packed is None:
                if (reply := running.get(number)) is not None:
                    reply.cancel()
                continue
            reply = running[number] = _submit(host, packed)
            reply.add_done_callback(functools.partial(end, number))
    except (EOFError, OSError, DhtStopped):
        pass  # the parent has gone, or wants us to
    finally:
        host.stop(timeout_s=5.0)
        outbox.put(None)
        sender.join(5.0)
        pipe.close()


def _watch(pipe: Connection, parent: int) -> None:
    """Close the pipe when the parent is gone: processes that it forked may hold its end of the pipe for long.

    No event tells of that: our parent is then another, and one has to look.
    """
    while os.getppid() == parent:
        time.sleep(_WATCH_S)
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(pipe.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)  # wakes whoever reads from it, which closing does not


def _submit(host: ThreadHost, packed: bytes) -> Reply[Any]:
    try:
        job = pickle.loads(packed)
    except Exception as exc:  # noqa: BLE001  # a job that only its own program can read must not end this process
        unread: Reply[Any] = Reply()
        unread.fail(Error(f"the DHT's process cannot read this job: {exc!r}; use a function of a module"))
        return unread
    return host.submit(job)


def _send_replies(pipe: Connection, outbox: SimpleQueue[tuple[int, Reply[Any]] | None]) -> None:
    while (ended := outbox.get()) is not None:
        number, reply = ended
        error = reply.exception()
        try:
            packed = bytes(ForkingPickler.dumps(reply.result() if error is None else error))
        except Exception as exc:  # noqa: BLE001  # a result that cannot be pickled must not hang its caller
            error = Error(f"the result cannot be sent to this process: {exc}")
            packed = pickle.dumps(error)
        try:
            pipe.send((number, error is None, packed))
        except OSError:
            return  # the parent is gone
