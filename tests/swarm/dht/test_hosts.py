"""Where a node lives: whatever happens to it, whoever waits for a job hears of it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import gc
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from strobe.errors import Error, UsageError
from strobe.swarm.dht import (
    DHT,
    BootstrapFailed,
    DhtStopped,
    Node,
    Options,
    RecordValidator,
    Reply,
    SchemaValidator,
    SignatureValidator,
    get_dht_time,
)
from strobe.swarm.dht import host as host_module
from strobe.swarm.dht.host import Plan, ThreadHost
from strobe.swarm.net.address import Address
from strobe.swarm.net.identity import Identity

_QUICK = Options(timeout_s=0.3)


async def _nothing(node: Node) -> None:
    pass


async def _wait_long(node: Node) -> None:
    await asyncio.sleep(1000)


async def _echo(node: Node, content: bytes) -> bytes:
    return content


def test_who_waits_for_a_job_gets_its_result_or_its_error() -> None:
    async def _fail(node: Node) -> NoReturn:
        raise BootstrapFailed("nobody")

    with DHT() as dht:
        assert dht.run_coroutine(functools.partial(_echo, content=b"x")) == b"x"
        with pytest.raises(BootstrapFailed, match="nobody"):
            dht.run_coroutine(_fail)
        waiting = concurrent.futures.ThreadPoolExecutor(1).submit(dht.run_coroutine, _wait_long)
        dht.run_coroutine(_nothing)
        dht.shutdown()
        with pytest.raises(DhtStopped):
            waiting.result(10.0)


def test_a_job_that_comes_after_the_last_turn_of_the_loop_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    late: list[Reply[None] | DhtStopped] = []

    class _Loop(asyncio.SelectorEventLoop):
        """Between two turns, and before it is closed, somebody submits another job."""

        def run_until_complete(self, future: Any) -> Any:
            result = super().run_until_complete(future)
            try:
                late.append(host.submit(_nothing))
            except DhtStopped as exc:
                late.append(exc)
            return result

    monkeypatch.setattr(host_module, "new_event_loop", _Loop)
    host = ThreadHost(Plan(options=Options()))
    host.start().result(10)
    host.stop(10)
    assert len(late) == 2
    for each in late:
        assert isinstance(each.exception(10) if isinstance(each, Reply) else each, DhtStopped)
    with pytest.raises(DhtStopped):
        host.submit(_nothing)


def test_jobs_of_many_threads_all_end_when_the_dht_does() -> None:
    dht = DHT()
    replies: list[Reply[None]] = []

    def submit() -> None:
        try:
            while True:
                replies.append(reply := dht.run_coroutine(_nothing, return_future=True))
                if not len(replies) % 10:
                    reply.exception()  # so that they do not run away from it
        except DhtStopped:
            pass

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    dht.shutdown()
    for thread in threads:
        thread.join()
    for reply in replies:
        assert reply.exception(10) is None or isinstance(reply.exception(), DhtStopped)


def test_a_start_that_failed_can_be_tried_again(tmp_path: Path) -> None:
    with DHT(identity_path=tmp_path / "key") as first:
        address = first.address
    dht = DHT([address], options=_QUICK, start=False)
    for _ in range(2):
        with pytest.raises(BootstrapFailed):
            dht.start()
    with DHT(identity_path=tmp_path / "key", port=address.port), dht:
        assert dht.store("k", 1, get_dht_time() + 60)


def test_a_start_that_takes_too_long_is_given_up_and_says_so() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
        mute.bind(("127.0.0.1", 0))
        absent = Address(Identity.generate().peer_id, ("127.0.0.1",), mute.getsockname()[1])
        dht = DHT([absent], options=Options(timeout_s=60.0), start=False)
        with pytest.raises(concurrent.futures.TimeoutError):
            dht.start(timeout_s=0.2)
    assert not any(thread.name == "strobe-dht" for thread in threading.enumerate())


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@pytest.mark.parametrize("process", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_dht_that_was_dropped_ends_by_itself(process: bool) -> None:
    dht = DHT(process=process)
    port = dht.address.port
    assert not _is_free(port)
    del dht
    gc.collect()
    deadline = time.monotonic() + 10.0
    while not (is_free := _is_free(port)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert is_free


def test_a_get_under_way_ends_with_its_dht() -> None:
    with DHT() as first, DHT([first.address]) as second:
        first.shutdown()  # so that nobody answers
        reply = second.get("k", latest=True, return_future=True)
        second.shutdown()
        with pytest.raises(DhtStopped):
            reply.result(10)


def _explode() -> NoReturn:
    raise ZeroDivisionError("on purpose")


class _Unreadable:
    """Can be pickled, and not be read again."""

    def __reduce__(self) -> tuple[Callable[[], NoReturn], tuple[()]]:
        return _explode, ()

    async def __call__(self, node: Node) -> None:
        pass


async def _unreadable(node: Node) -> _Unreadable:
    return _Unreadable()


async def _unsendable(node: Node) -> Any:
    return threading.Lock()


def _called_back(reply: Reply[Any], function: Callable[[], Any]) -> Any:
    """Return what `function` does in the thread that replies come from."""
    result: Reply[Any] = Reply()

    def call(_: Any) -> None:
        try:
            result.resolve(function())
        except BaseException as exc:  # noqa: BLE001  # handed on
            result.fail(exc)

    reply.add_done_callback(call)
    return result.result(5)


@pytest.mark.slow
def test_jobs_for_another_process() -> None:
    with DHT(process=True) as dht:
        books: Any = dht._host
        with pytest.raises(UsageError, match=r"cannot be sent .* functools\.partial"):
            dht.run_coroutine(lambda node: _echo(node, b""))
        assert books._replies == {}
        with pytest.raises(Error, match="cannot read this job"):
            dht.run_coroutine(_Unreadable())
        with pytest.raises(Error, match="cannot be read in this process"):
            dht.run_coroutine(_unreadable)
        with pytest.raises(Error, match="cannot be sent to this process"):
            dht.run_coroutine(_unsendable)
        reply = dht.run_coroutine(_wait_long, return_future=True)
        assert reply.cancel()
        assert books._replies == {}, "nobody waits for it any more"
        with pytest.raises(UsageError, match="return_future=True"):
            _called_back(dht.run_coroutine(_nothing, return_future=True), lambda: dht.get("k"))
        # More than fits in the pipes, both ways at a time.
        contents = [bytes([number]) * 1_000_000 for number in range(60)]
        echoes = [dht.run_coroutine(functools.partial(_echo, content=each), return_future=True) for each in contents]
        assert [echo.result(60) for echo in echoes] == contents
        assert books._replies == {}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")
def test_an_interrupt_is_for_the_program_not_for_the_process_of_its_dht() -> None:
    with DHT(process=True) as dht:
        books: Any = dht._host
        os.kill(books._process.pid, signal.SIGINT)  # as a terminal sends it to all processes of the program
        assert dht.store("k", 1, get_dht_time() + 60)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")
def test_a_process_that_stands_still_is_ended_in_time() -> None:
    dht = DHT(process=True)
    books: Any = dht._host
    os.kill(books._process.pid, signal.SIGSTOP)

    def fill_the_pipe() -> None:
        with contextlib.suppress(DhtStopped):
            dht.run_coroutine(functools.partial(_echo, content=bytes(10_000_000)), return_future=True)

    sender = threading.Thread(target=fill_the_pipe, daemon=True)
    sender.start()
    while not books._sending.locked():
        time.sleep(0.001)
    stopper = threading.Thread(target=dht.shutdown, args=(0.2,), daemon=True)
    stopper.start()
    stopper.join(5.0)
    is_in_time = not stopper.is_alive()
    books._process.kill()
    for thread in (sender, stopper):
        thread.join(5.0)
    assert is_in_time


_PARENT = """
    import os, time
    from strobe.swarm.dht import DHT

    if __name__ == "__main__":
        dht = DHT(process=True)
        if os.fork() == 0:
            time.sleep(60)  # as a worker of a data loader does, which holds all that its parent has open
            os._exit(0)
        print(dht.address.port, flush=True)
        time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked there")
def test_the_process_ends_with_its_program_whoever_holds_the_pipe(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(_PARENT))
    arguments = [sys.executable, str(tmp_path / "program.py")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, start_new_session=True) as program:
        try:
            assert program.stdout is not None
            port = int(program.stdout.readline())
            program.kill()
            deadline = time.monotonic() + 10.0
            while (is_open := _is_open(port)) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not is_open
        finally:
            os.killpg(program.pid, signal.SIGKILL)


def _is_open(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def test_rules_that_cannot_be_sent_to_another_process_are_told() -> None:
    rule = SchemaValidator({"k": lambda value: True})
    with pytest.raises(UsageError, match=r"cannot be sent .* functools\.partial"):
        DHT(process=True, validators=[rule])


@pytest.mark.slow
def test_built_in_rules_are_kept_in_another_process() -> None:
    mine = SignatureValidator(Identity.generate())
    rules: list[RecordValidator] = [SchemaValidator({"step": int}), mine]
    with DHT(validators=rules) as first, DHT([first.address], process=True, validators=rules) as dht:
        now = get_dht_time()
        assert dht.store("step", 1, now + 60)
        assert not dht.store("step", "one", now + 90)
        assert dht.store("progress", 7, now + 60, subkey="me" + mine.mark)
        found = first.get("progress", latest=True)
        assert found is not None
        assert found.value == {"me" + mine.mark: (7, now + 60)}


@pytest.mark.slow
def test_experts_are_declared_from_another_process() -> None:
    # Not above: the processes of the other tests read this module, and would load tensors for nothing.
    from strobe.swarm.experts.directory import declare_experts, find_experts

    with DHT() as first, DHT([first.address], process=True) as dht:
        assert declare_experts(dht, ["ffn.1.2"], get_dht_time() + 60) == {"ffn.1.2": True}
        found = find_experts(first, ["ffn.1.2"])["ffn.1.2"]
        assert found is not None
        assert found.address == dht.address
