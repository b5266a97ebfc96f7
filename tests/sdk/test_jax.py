"""Real JAX on the CPU, which computes asynchronously: `log()` does not wait, and only a kill may take values.

`Gate` holds a computation up until the test lets it go on, so that "not computed yet" is a fact and not a matter of
speed. Only the first test measures time, and only as a ratio.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import strobe
from strobe.home import Home
from strobe.sdk.deferred import Deferred
from strobe.sdk.run import Run
from tests.sdk.scripts import await_ready, column, environment, execute, only_replay, replay_of, start

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]


@pytest.fixture
def jax(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    return pytest.importorskip("jax")


@pytest.fixture
def slow(jax: Any) -> Callable[..., Any]:
    """A jitted function of a number that returns it after a while."""
    jnp = jax.numpy

    def compute(number: Any, rounds: Any) -> Any:
        work = jax.lax.fori_loop(0, rounds, lambda _, a: jnp.sin(a) + 1e-3 * a, jnp.full((50_000,), number))
        return number + 0 * work.sum()

    jitted: Callable[..., Any] = jax.jit(compute)
    jitted(1.0, 1).block_until_ready()
    return jitted


class Gate:
    """Hands out arrays that stay pending until `open()`."""

    def __init__(self, jax: Any, slow: Callable[..., Any]) -> None:
        self._opened = threading.Event()
        self._caller = threading.get_ident()
        shape = jax.ShapeDtypeStruct((), np.float32)
        held_up = jax.jit(lambda number: jax.pure_callback(self._wait, shape, number))
        rounds = 1000
        while True:
            # JAX runs a callback at once in the caller, unless what it is given is still being computed.
            self._ran_at_once = False
            self._closed = held_up(slow(0.0, rounds))
            if not self._ran_at_once:
                break
            rounds *= 2

    def _wait(self, number: Any) -> Any:
        if threading.get_ident() == self._caller:
            self._ran_at_once = True
        else:
            self._opened.wait(60)
        return np.asarray(number)

    def hold(self, value: Any) -> Any:
        """Return `value` as an array that is not computed before the gate opens. At most some 20 at once."""
        array = self._closed + value
        assert not array.is_ready()
        return array

    def open(self) -> None:
        self._opened.set()


@pytest.fixture
def gate(jax: Any, slow: Callable[..., Any]) -> Iterator[Gate]:
    gate = Gate(jax, slow)
    yield gate
    gate.open()


@pytest.fixture
def run(home: Home, gate: Gate) -> Iterator[Run]:
    run = strobe.init(project="p", settings={"finish_timeout": 30})
    yield run
    gate.open()
    run.finish()


def replay(run: Run) -> Any:
    return replay_of(run._recorder.run_dir)


def rows(run: Run) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key[0] != "_"} for row in replay(run).rows()]


# -- in this process


def test_log_returns_long_before_a_slow_result_is_ready(home: Home, slow: Callable[..., Any]) -> None:
    rounds = 3000
    began = time.perf_counter()
    slow(1.0, rounds).block_until_ready()
    compute_s = time.perf_counter() - began
    with strobe.init(project="p") as run:
        run.log({"loss": slow(0.0, 10)})  # what is done once: the side thread, the modules
        log_s = 0.0
        loss = 0.0
        ready = []
        for _ in range(5):
            loss = slow(loss + 1, rounds)
            began = time.perf_counter()
            run.log({"loss": loss})
            log_s += time.perf_counter() - began
            ready.append(loss.is_ready())
    assert not any(ready)
    assert log_s / 5 < compute_s / 20
    assert column(replay(run), "loss") == [0, 1, 2, 3, 4, 5]


def test_rows_keep_values_and_order(run: Run, gate: Gate) -> None:
    for number in range(8):
        run.log({"loss": gate.hold(number), "twice": gate.hold(2 * number), "plain": number, "list": [1, 2]})
    assert rows(run) == [{"plain": number, "list": [1, 2]} for number in range(8)]
    gate.open()
    run.finish()
    assert rows(run) == [{"loss": number, "twice": 2 * number, "plain": number, "list": [1, 2]} for number in range(8)]
    assert [row["_step"] for row in replay(run).rows()] == list(range(8))
    assert replay(run).rejected == 0


def test_values_appear_without_finish(run: Run, gate: Gate) -> None:
    run.log({"loss": gate.hold(1)})
    gate.open()
    deadline = time.monotonic() + 20
    while rows(run) != [{"loss": 1}]:
        assert time.monotonic() < deadline


def test_nested_values_and_arrays(run: Run, gate: Gate, jax: Any) -> None:
    weights = jax.numpy.ones((2, 3)) * gate.hold(2)
    run.log({"train": {"loss": gate.hold(1), "lr": 0.1, "parts": [gate.hold(3), "a"]}, "weights": weights})
    assert rows(run) == [{}]
    gate.open()
    run.finish()
    (row,) = rows(run)
    assert row["train"] == {"loss": 1, "lr": 0.1, "parts": [3, "a"]}
    np.testing.assert_array_equal(row["weights"].numpy(), np.full((2, 3), 2.0, "f4"))
    assert replay(run).metrics["train.loss"].last == 1


def test_a_value_that_is_ready_is_written_at_once_on_the_fast_way(home: Home, jax: Any) -> None:
    loss = jax.numpy.float32(0.5).block_until_ready()
    with strobe.init(project="p") as run:
        run.log({"loss": loss})
        assert rows(run) == [{"loss": 0.5}]
        assert run._deferred is None


def test_values_from_several_threads(run: Run, gate: Gate) -> None:
    held = {thread: [gate.hold(10 * thread + index) for index in range(5)] for thread in range(4)}

    def work(thread: int) -> None:
        for value in held[thread]:
            run.log({f"t{thread}": value})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gate.open()
    run.finish()
    for number in range(4):
        assert column(replay(run), f"t{number}") == [10 * number + index for index in range(5)]


def test_memory_that_is_donated_or_deleted_before_the_value_is_computed(
    run: Run, gate: Gate, jax: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(run._recorder.terminal, "warn", warnings.append)
    donated, deleted = gate.hold(1), gate.hold(2)
    run.log({"donated": donated, "deleted": deleted, "fine": gate.hold(3)})
    jax.jit(lambda x: x + 1, donate_argnums=0)(donated)
    deleted.delete()
    run.log({"donated": donated, "deleted": deleted, "fine": 4})  # too late: never an exception into the training
    gate.open()
    run.finish()
    assert rows(run) == [{"fine": 3}, {"fine": 4}]
    assert replay(run).rejected == 4
    (text,) = warnings
    assert "'donated' at step 0 cannot be had" in text
    assert "log a copy" in text


def test_a_loop_is_held_back_at_the_bound(run: Run, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deferred.__init__, "__kwdefaults__", {"max_rows": 16, "max_bytes": 1 << 20})
    loss = gate.hold(1)
    logged: list[int] = []

    def train() -> None:
        for number in range(40):
            run.log({"loss": loss, "number": number})
            logged.append(number)

    thread = threading.Thread(target=train)
    thread.start()
    while len(logged) < 16:
        time.sleep(0.01)
    thread.join(0.2)
    assert logged == list(range(16))
    gate.open()
    thread.join(20)
    run.finish()
    assert rows(run) == [{"loss": 1, "number": number} for number in range(40)]


# -- in processes of their own

BEGIN = """
import os, sys, time
import jax, jax.numpy as jnp
import strobe

@jax.jit
def slow(number, rounds):
    work = jax.lax.fori_loop(0, rounds, lambda _, a: jnp.sin(a) + 1e-3 * a, jnp.full((50_000,), number))
    return number + 0 * work.sum()

LONG = 10_000_000
slow(0.0, 1).block_until_ready()
"""


def jax_environment(home: Home, **more: str) -> dict[str, str]:
    return environment(home, JAX_PLATFORMS="cpu", **more)


def test_a_kill_loses_only_what_was_not_computed(home: Home) -> None:
    code = (
        BEGIN
        + """
run = strobe.init(project="p")
for number in range(3):
    run.log({"loss": slow(float(number), 2), "plain": number})
while run._deferred and run._deferred._rows:  # a fast machine may have had nothing to defer
    time.sleep(0.01)
run.log({"loss": slow(3.0, LONG), "plain": 3, "text": "x"})
run.log({"plain": 4})
print("ready", flush=True)
time.sleep(60)
"""
    )
    process = start(code, home, env=jax_environment(home))
    await_ready(process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    found = only_replay(home)
    assert column(found, "plain") == [0, 1, 2, 3, 4]
    assert column(found, "loss") == [0, 1, 2]
    assert column(found, "text") == ["x"]
    assert found.state == "crashed"


@pytest.mark.parametrize("jax_first", [True, False])
def test_the_end_of_the_interpreter_waits_for_the_values(home: Home, jax_first: bool) -> None:
    code = ("" if jax_first else "import strobe; run = strobe.init(project='p')\n") + BEGIN
    if jax_first:
        code += "run = strobe.init(project='p')\n"
    code += "run.log({'loss': slow(5.0, 2000), 'plain': 1})\nrun.log({'loss': slow(6.0, 2000)})"
    done = execute(code, home, env=jax_environment(home))
    assert (done.returncode, done.stderr) == (0, "")
    assert column(only_replay(home), "loss") == [5, 6]


def test_a_value_that_is_late_at_the_end_changes_neither_exit_code_nor_output(home: Home) -> None:
    """A side thread that waits inside JAX is torn out of it when the interpreter ends, which aborts the process."""
    code = (
        BEGIN
        + """
run = strobe.init(project="p", settings={"finish_timeout": 0.2})
run.log({"loss": slow(5.0, 10_000), "plain": 1})
"""
    )
    done = execute(code, home, env=jax_environment(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = only_replay(home)
    assert (column(found, "plain"), column(found, "loss"), found.rejected) == ([1], [], 1)
    assert found.state == "finished"


def test_a_fork_leaves_the_pending_values_to_the_parent(home: Home) -> None:
    code = (
        BEGIN
        + """
import warnings
warnings.simplefilter("ignore")  # JAX does not like forks; this child does nothing with it
run = strobe.init(project="p")
gone = jnp.ones(3)
gone.delete()
run.log({"gone": gone}, step=9)
while run._deferred._rows:
    time.sleep(0.01)
run.log({"loss": slow(7.0, 3000), "plain": 1}, step=0)
pid = os.fork()
if pid == 0:
    run.log({"child": 1}, step=5)
    assert not run._deferred._rows
    assert run._deferred._thread is None
    run.finish()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
run.log({"loss": 8.0}, step=1)
"""
    )
    done = execute(code, home, env=jax_environment(home))
    assert done.returncode == 0, done.stderr
    found = only_replay(home)
    assert (column(found, "loss"), column(found, "child")) == ([7, 8], [1])
    assert found.rejected == 1  # "gone", by the parent alone
    assert found.state == "finished"


def test_a_computation_that_fails_is_counted_and_said_once(home: Home) -> None:
    code = (
        BEGIN
        + """
def fail(number):
    raise ValueError("bad luck")
failing = jax.jit(lambda number: jax.pure_callback(fail, jax.ShapeDtypeStruct((), jnp.float32), number))
run = strobe.init(project="p", settings={"quiet": True})
for number in range(3):
    run.log({"loss": failing(slow(float(number), 500)), "other": slow(float(number), 10), "plain": number})
run.finish()
sys.stderr.flush()
os._exit(0)  # JAX complains of the failure once more when it ends
"""
    )
    done = execute(code, home, env=jax_environment(home, STROBE_SILENT="false"))
    assert done.returncode == 0, done.stderr
    found = only_replay(home)
    assert (column(found, "plain"), column(found, "other"), column(found, "loss")) == ([0, 1, 2], [0, 1, 2], [])
    assert found.rejected == 3
    assert done.stderr.count("cannot be had") == 1


def test_arrays_spread_over_devices(home: Home) -> None:
    code = (
        BEGIN
        + """
from jax.sharding import Mesh, NamedSharding, PartitionSpec
mesh = Mesh(jax.devices(), ("x",))
run = strobe.init(project="p")
for name, spec in (("parted", PartitionSpec("x")), ("copied", PartitionSpec())):
    value = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, spec)) + slow(1.0, 300)
    assert len(value.sharding.device_set) == 2
    run.log({name: value, "sum": value.sum()})
"""
    )
    flags = "--xla_force_host_platform_device_count=2"
    done = execute(code, home, env=jax_environment(home, XLA_FLAGS=flags))
    assert (done.returncode, done.stderr) == (0, "")
    found = only_replay(home)
    assert column(found, "sum") == [10, 10]
    assert [array.numpy().tolist() for array in (*column(found, "parted"), *column(found, "copied"))] == [
        [1, 2, 3, 4]
    ] * 2
