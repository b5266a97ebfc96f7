"""Several nodes that measure together: node 0 says what comes, the others do it, and a row that fails is over for all.

Node 0 listens where `--master` says for as long as a session lasts. Which row is next, and whether there is time for
it, is for it alone to decide: clocks and failures of two nodes never agree by themselves. Before a repeat it names the
row and the ports at which the processes of this repeat meet. Who fails says so at once, and then all end the repeat
instead of waiting for processes that are gone; the next row begins afresh. How they talk is in `line`.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from strobe.bench.records import NOT_HERE
from strobe.bench.runner.group import free_ports_above, listen
from strobe.bench.runner.line import SEND_LIMIT_S, CallOff, Done, End, Gone, Hello, Line, Message, Turn
from strobe.bench.runner.message import Meeting, Outcome
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.process import Failure, join_ranks
from strobe.errors import Error, UsageError

#: how long nodes wait for each other at the beginning
_PATIENCE_S = 300.0
_RETRY_S = 0.1
#: what a node may take longer than its limit, for starting and ending its processes
_GRACE_S = 60.0
_LOOK_S = 0.05
_MAX_TEXT = 10_000
_CALLED_OFF = "called off"

#: measures this node's part, given where the processes meet and whom to ask whether another node has failed
Part = Callable[[Meeting, Callable[[], str | None]], Outcome | Failure]


@dataclass(slots=True)
class _Told:
    """What the others have said about the turn that is on: None is still at it, a text is how it failed."""

    number: int
    answers: dict[int, Outcome | str | None]

    @property
    def waiting(self) -> list[int]:
        return [node for node, answer in self.answers.items() if answer is None]

    @property
    def outcomes(self) -> list[Outcome]:
        return [answer for answer in self.answers.values() if isinstance(answer, Outcome)]

    def blame(self) -> str | None:
        """Return what went wrong elsewhere, by node; None if nothing did."""
        found = [
            _of_node(node, answer)
            for node, answer in self.answers.items()
            if isinstance(answer, str) and not answer.startswith(_CALLED_OFF)
        ]
        return "\n".join(found) or None


class Leader:
    """Node 0."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._host, port = _address(options)
        try:
            self._server = listen(self._host, port)
        except OSError as exc:
            raise UsageError(f"--master {options.master}: node 0 cannot listen there ({exc})") from exc
        self._port = port
        self._nodes: dict[int, Line] = {}
        self._number = 0
        self._patience_s = _PATIENCE_S

    def __enter__(self) -> Leader:
        return self

    def __exit__(self, *_: object) -> None:
        for node in list(self._nodes):
            self._send(node, End())
        for line in self._nodes.values():
            line.close()
        self._server.close()

    def run(self, cell: Cell, *, seal: str, repeat: int, part: Part) -> Outcome | Failure:
        """Let all nodes of a cell measure their part; what fails on one fails here, what is wrong on one is wrong."""
        others = range(1, cell.benchmark.nodes)
        if missing := self._gather(others):
            names = ", ".join(map(str, missing))
            return Failure(f"node {names} is not here; run the same command there, with --node {names}")
        self._number += 1
        port, own_port = free_ports_above(self._host, self._port, 2)
        turn = Turn(
            number=self._number,
            key=cell.benchmark.key,
            batch_size=cell.batch_size,
            seal=seal,
            repeat=repeat,
            meeting=Meeting(host=self._host, port=port, own_port=own_port),
        )
        told = _Told(self._number, dict.fromkeys(others))
        for node in others:
            if not self._send(node, turn):
                told.answers[node] = "is gone"

        def blame() -> str | None:
            self._listen(told)
            return told.blame()

        outcome = part(turn.meeting, blame)
        self._hear_out(told, is_failed=isinstance(outcome, Failure))
        elsewhere = told.blame()
        if elsewhere is None:
            return outcome if isinstance(outcome, Failure) else join_ranks([outcome, *told.outcomes])
        if isinstance(outcome, Failure) and not outcome.text.startswith(elsewhere):
            # Which of them came first cannot be told from here: a process whose peer dies fails, too.
            elsewhere = f"{outcome.text}\n{elsewhere}"
        return Failure(elsewhere)

    def _hear_out(self, told: _Told, *, is_failed: bool) -> None:
        """Wait until all have ended the turn; who does not within its time is given up."""
        deadline = time.monotonic() + self._options.timeout_s + _GRACE_S
        is_called_off = False
        while told.waiting:
            if not is_called_off and (is_failed or told.blame()):
                is_called_off = True
                deadline = time.monotonic() + _GRACE_S
                for node in told.waiting:
                    self._send(node, CallOff(told.number))
            self._listen(told, _LOOK_S)
            if time.monotonic() > deadline:
                for node in told.waiting:
                    self._lose(node)
                    told.answers[node] = "does not answer any more"

    def _listen(self, told: _Told, wait_s: float = 0.0) -> None:
        for node in told.waiting:
            try:
                message = self._nodes[node].receive(wait_s) if node in self._nodes else None
            except Gone as exc:
                self._lose(node)
                told.answers[node] = f"is gone ({exc})"
                continue
            if isinstance(message, Done) and message.number == told.number:
                told.answers[node] = message.found

    def _gather(self, wanted: range) -> list[int]:
        """Wait for nodes to come, also for those that come back; return who did not."""
        deadline = time.monotonic() + self._patience_s
        while True:
            missing = [node for node in wanted if node not in self._nodes]
            wait_s = max(0.0, deadline - time.monotonic()) if missing else 0.0
            if not select.select([self._server], [], [], wait_s)[0]:
                break
            self._welcome(Line(self._server.accept()[0]))
        if missing:
            self._patience_s = 0.0  # for the rows to come it need not be found out again
        return missing

    def _welcome(self, line: Line) -> None:
        try:
            message = line.receive(SEND_LIMIT_S)
        except Gone:
            message = None
        if isinstance(message, Hello) and message.node > 0:
            self._lose(message.node)
            self._nodes[message.node] = line
        else:
            line.close()

    def _send(self, node: int, message: Message) -> bool:
        try:
            self._nodes[node].send(message)
        except Gone:
            self._lose(node)
            return False
        return True

    def _lose(self, node: int) -> None:
        if node in self._nodes:
            self._nodes.pop(node).close()


class Follower:
    """Any other node."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._line = Line(_connect(*_address(options)))
        self._number = 0
        self._is_over = False

    def __enter__(self) -> Follower:
        self._line.send(Hello(self._options.node))
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def turns(self) -> Iterator[Turn]:
        """Yield what node 0 wants, until it wants nothing more; raises strobe.Error when it is gone."""
        while not self._is_over:
            message = self._receive(None)
            if isinstance(message, Turn):
                self._number = message.number
                yield message
            self._is_over = self._is_over or isinstance(message, End)

    def blame(self) -> str | None:
        """Return why the turn that is on has to end, if it has to."""
        while (message := self._receive()) is not None:
            self._is_over = self._is_over or isinstance(message, End)
            if self._is_over or (isinstance(message, CallOff) and message.number == self._number):
                return _CALLED_OFF
        return None

    def done(self, outcome: Outcome | Failure) -> None:
        """Say how the turn ended here."""
        found = outcome.text[:_MAX_TEXT] if isinstance(outcome, Failure) else outcome
        try:
            self._line.send(Done(number=self._number, found=found))
        except Gone as exc:
            raise self._alone(exc) from exc

    def _receive(self, wait_s: float | None = 0.0) -> Message | None:
        try:
            return self._line.receive(wait_s)
        except Gone as exc:
            raise self._alone(exc) from exc

    def _alone(self, exc: Gone) -> Error:
        return Error(f"node 0 at {self._options.master} is gone ({exc}); start this node again when it is back")


def _of_node(node: int, text: str) -> str:
    if text.startswith(NOT_HERE):
        return f"{NOT_HERE}node {node}: {text.removeprefix(NOT_HERE)}"
    return f"node {node}: {text}"


def _address(options: Options) -> tuple[str, int]:
    host, _, port = (options.master or "").rpartition(":")
    return host, int(port)


def _connect(host: str, port: int) -> socket.socket:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return socket.create_connection((host, port), timeout=SEND_LIMIT_S)
        except OSError as exc:  # node 0 has not got so far yet
            if time.monotonic() > deadline:
                raise Error(f"node 0 does not answer at {host}:{port} ({exc}); run the same command there") from exc
            time.sleep(_RETRY_S)
