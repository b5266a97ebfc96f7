"""Where a node lives: whatever happens to it, whoever waits for a job hears of it."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from strobe.errors import Error, UsageError
from strobe.swarm.dht import DHT, BootstrapFailed, DhtStopped, Node, Options, Reply, SchemaValidator, get_dht_time
from strobe.swarm.dht import host as host_module
from strobe.swarm.dht.host import Plan, ThreadHost

_QUICK = Options(timeout_s=0.3)


async def _nothing(node: Node) -> None:
    pass


async def _wait_long(node: Node) -> None:
    await asyncio.sleep(1000)


async def _echo(node: Node, content: bytes) -> bytes:
    return content


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
        # More than fits in the pipes, both ways at a time.
        contents = [bytes([number]) * 1_000_000 for number in range(60)]
        echoes = [dht.run_coroutine(functools.partial(_echo, content=each), return_future=True) for each in contents]
        assert [echo.result(60) for echo in echoes] == contents
        assert books._replies == {}


def test_rules_that_cannot_be_sent_to_another_process_are_told() -> None:
    rule = SchemaValidator({"k": lambda value: True})
    with pytest.raises(UsageError, match=r"cannot be sent .* functools\.partial"):
        DHT(process=True, validators=[rule])


@pytest.mark.slow
def test_experts_are_declared_from_another_process() -> None:
    # Not above: the processes of the other tests read this module, and would load tensors for nothing.
    from strobe.swarm.experts.directory import declare_experts, find_experts

    with DHT() as first, DHT([first.address], process=True) as dht:
        assert declare_experts(dht, ["ffn.1.2"], get_dht_time() + 60) == {"ffn.1.2": True}
        found = find_experts(first, ["ffn.1.2"])["ffn.1.2"]
        assert found is not None
        assert found.address == dht.address
