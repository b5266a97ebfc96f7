"""CUDA tensors in log(), against a device that runs only when told to and in the worst order (fake_torch.py)."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import strobe
from strobe.home import Home
from strobe.journal.value import Array
from strobe.sdk import cuda, pending
from strobe.sdk.run import Run
from tests.sdk.fake_torch import ElsewhereTensor, Tensor, Torch
from tests.sdk.scripts import column, replay_of


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    fake = Torch(num_devices=2)
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(cuda, "_lanes", {})
    monkeypatch.setattr(cuda, "_exchange", fake.exchange_capture_mode)
    return fake


@pytest.fixture
def run(home: Home, torch: Torch) -> Iterator[Run]:
    run = strobe.init(project="p", settings={"finish_timeout": 5})
    yield run
    torch.run()
    run.finish()


def finish(run: Run, torch: Torch, *, newest_first: bool = False) -> Any:
    torch.run(newest_first=newest_first)
    run.finish()
    return replay_of(run._recorder.run_dir)


def rows(run: Run) -> list[dict[str, Any]]:
    found = replay_of(run._recorder.run_dir)
    return [{key: value for key, value in row.items() if key[0] != "_"} for row in found.rows()]


# -- values


def test_log_returns_before_the_device_has_done_anything(run: Run, torch: Torch) -> None:
    run.log({"loss": torch.on_device(0.5), "plain": 1})
    assert rows(run) == [{"plain": 1}]
    assert column(finish(run, torch), "loss") == [0.5]


@pytest.mark.parametrize("newest_first", [False, True])
def test_an_update_in_place_does_not_change_what_was_logged(run: Run, torch: Torch, newest_first: bool) -> None:
    loss = torch.on_device(1.0)
    weights = torch.on_device([1.0, 2.0])
    for _ in range(3):
        run.log({"loss": loss, "weights": weights})
        loss.add_(1)
        weights.add_(1)
    replay = finish(run, torch, newest_first=newest_first)
    assert column(replay, "loss") == [1.0, 2.0, 3.0]
    assert [array.numpy().tolist() for array in column(replay, "weights")] == [[1, 2], [2, 3], [3, 4]]


@pytest.mark.parametrize("newest_first", [False, True])
def test_memory_that_the_training_frees_and_reuses_is_not_recorded(run: Run, torch: Torch, newest_first: bool) -> None:
    for number in range(20):
        run.log({"loss": torch.on_device(float(number))})  # gone after this line, its memory is the next one's
    assert column(finish(run, torch, newest_first=newest_first), "loss") == [float(number) for number in range(20)]


def test_the_stream_that_the_caller_computes_on_is_the_one_waited_for(run: Run, torch: Torch) -> None:
    other = torch.cuda.Stream(device="cuda:0")
    with torch.cuda.stream(other):
        loss = torch.on_device(1.0)
        loss.add_(1)
        run.log({"loss": loss})
        loss.add_(1)
    torch.devices["cuda:0"].default.advance()
    assert column(finish(run, torch, newest_first=True), "loss") == [2.0]


def test_the_copy_waits_on_a_stream_of_its_own_and_is_whole_when_it_is_ready(torch: Torch) -> None:
    value = cuda.copy_off(torch.on_device(1.0))
    assert value is not None
    compute, side = torch.devices["cuda:0"].streams
    compute.advance()
    assert value._landing.item() != 1.0  # the training's stream is done and has not copied anything
    while not value.is_ready():
        assert side.step()
    assert value.resolve() == 1.0


@pytest.mark.parametrize(
    ("value", "dtype", "stored"),
    [
        (2.5, "f8", 2.5),
        (0.5, "f2", 0.5),
        (-7, "i8", -7),
        (True, "?", True),
        (1 + 2j, "c16", {"real": 1.0, "imag": 2.0}),
        ([[3.0]], "f4", 3.0),
        (float("inf"), "f4", float("inf")),
    ],
)
def test_scalars_of_every_width(run: Run, torch: Torch, value: Any, dtype: str, stored: Any) -> None:
    run.log({"key": torch.on_device(value, dtype=dtype)})
    assert column(finish(run, torch), "key") == [stored]


def test_arrays_keep_dtype_and_shape(run: Run, torch: Torch) -> None:
    run.log({"a": torch.on_device([[1, 2], [3, 4]], dtype="<i4"), "nested": {"deep": [torch.on_device(1.5), 7]}})
    replay = finish(run, torch)
    (array,) = column(replay, "a")
    assert isinstance(array, Array)
    np.testing.assert_array_equal(array.numpy(), np.array([[1, 2], [3, 4]], "<i4"))
    assert column(replay, "nested") == [{"deep": [1.5, 7]}]


def test_many_threads_log_from_their_own_streams(run: Run, torch: Torch) -> None:
    def work(number: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream(device="cuda:0")):
            loss = torch.on_device(float(number))
            for _ in range(50):
                run.log({f"t{number}": loss})
                loss.add_(1)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    replay = finish(run, torch)
    for number in range(4):
        assert column(replay, f"t{number}") == [float(number + index) for index in range(50)]


class Distributed:
    """A DTensor, as far as `log()` looks at it."""

    def __init__(self, tensor: Tensor, *, is_whole: bool) -> None:
        self._tensor = tensor
        self.placements = [SimpleNamespace(is_replicate=lambda: is_whole)]

    def to_local(self) -> Tensor:
        return self._tensor


def test_of_a_distributed_tensor_only_the_own_part_is_touched(run: Run, torch: Torch) -> None:
    loss = torch.on_device(1.0)
    run.log({"loss": Distributed(loss, is_whole=True)})
    with pytest.raises(TypeError, match=r"'loss'.*full_tensor"):
        run.log({"loss": Distributed(loss, is_whole=False), "plain": 1})
    replay = finish(run, torch)
    assert (column(replay, "loss"), column(replay, "plain")) == ([1.0], [1])


# -- pinned memory


def test_pinned_memory_for_scalars_is_allocated_once(run: Run, torch: Torch) -> None:
    for number in range(100):
        run.log({f"k{key}": torch.on_device(number + key, dtype=dtype) for key, dtype in enumerate(("f4", "i8", "f2"))})
    finish(run, torch)
    assert torch.num_pinned == 1


def test_more_scalars_under_way_than_slots(run: Run, torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_SLOTS", 8)
    for number in range(50):
        run.log({"x": torch.on_device(float(number))})
    assert torch.num_pinned == 7
    assert column(finish(run, torch), "x") == [float(number) for number in range(50)]
    assert_slots_are_free(torch, 56)


def test_a_slot_is_released_exactly_once(torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_SLOTS", 4)
    value = cuda.copy_off(torch.on_device(1.0))
    assert value is not None
    torch.run()
    assert value.is_ready()
    assert value.resolve() == 1.0
    del value
    assert_slots_are_free(torch, 4)


def test_a_value_given_up_on_its_way_gives_its_slot_back(run: Run, torch: Torch) -> None:
    with pytest.raises(TypeError, match="object"):
        run.log({"pair": [torch.on_device(1.0), object()], "fine": 1})
    assert_slots_are_free(torch, cuda._SLOTS)
    run.log({"x": torch.on_device(2.0)})
    assert column(finish(run, torch), "x") == [2.0]


def assert_slots_are_free(torch: Torch, count: int) -> None:
    (lane,) = cuda._lanes.values()
    assert len(lane.free_slots) == count
    assert len({slot.array.ctypes.data for slot in lane.free_slots}) == count


# -- several devices


def test_each_device_has_a_lane_and_none_is_touched_in_vain(run: Run, torch: Torch) -> None:
    first, second = torch.on_device(1.0, "cuda:0"), torch.on_device(2.0, "cuda:1")
    run.log({"a": first, "b": second})
    run.log({"b": second})
    replay = finish(run, torch)
    assert (column(replay, "a"), column(replay, "b")) == ([1.0], [2.0, 2.0])
    assert torch.offences == []
    assert torch.cuda.current_device == "cuda:0"
    assert set(cuda._lanes) == {"cuda:0", "cuda:1"}


# -- CUDA graphs


def test_logging_inside_a_capture_is_refused_and_leaves_the_graph_alone(run: Run, torch: Torch) -> None:
    loss = torch.on_device(1.0)
    torch.captures_here = True
    with pytest.raises(TypeError, match=r"'loss'.*captured.*after a replay"):
        run.log({"loss": loss, "lr": 0.1})
    torch.captures_here = False
    assert torch.offences == []
    assert rows(run) == [{"lr": 0.1}]


@pytest.mark.parametrize("has_driver", [True, False])
def test_the_side_thread_does_not_spoil_a_capture_of_the_training(
    run: Run, torch: Torch, monkeypatch: pytest.MonkeyPatch, has_driver: bool
) -> None:
    """Without the driver's call there is no way to ask an event apart from captures: the stand-in must notice."""
    if not has_driver:
        monkeypatch.setattr(cuda, "_exchange", False)
    run.log({"loss": torch.on_device(1.0)})
    torch.captures_elsewhere = True
    torch.run()
    run.finish()
    assert torch.offences == [] if has_driver else "an event queried during a capture" in torch.offences


def test_the_capture_mode_of_a_thread_is_restored(torch: Torch) -> None:
    with cuda._apart_from_captures():
        assert torch.local.capture_mode == 1
    assert torch.local.capture_mode == 0


def test_the_driver_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def load(name: str) -> Any:
        asked.append(name)
        return SimpleNamespace(cuThreadExchangeStreamCaptureMode=lambda mode: 0)

    monkeypatch.setattr(cuda, "_exchange", None)
    monkeypatch.setattr(ctypes, "CDLL", load)
    assert cuda._find_exchange() is cuda._find_exchange()
    assert len(asked) == 1


def test_a_machine_without_the_driver_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> Any:
        raise OSError(name)

    monkeypatch.setattr(cuda, "_exchange", None)
    monkeypatch.setattr(ctypes, "CDLL", load)
    assert cuda._find_exchange() is None
    with cuda._apart_from_captures():
        pass


# -- troubles


def test_a_device_that_fails_is_counted_and_not_raised(run: Run, torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(run._recorder.terminal, "warn", warnings.append)
    run.log({"loss": torch.on_device(1.0), "plain": 1})
    torch.failure = "CUDA error: an illegal memory access was encountered"
    run.log({"loss": torch.on_device(1.0), "plain": 2})
    replay = finish(run, torch)
    assert column(replay, "plain") == [1, 2]
    assert column(replay, "loss") == []
    assert replay.rejected == 2
    assert [text for text in warnings if "illegal memory access" in text and "'loss'" in text] == warnings[:1]


def test_no_memory_for_the_copy_is_counted_and_not_raised(
    run: Run, torch: Torch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Tensor, memory_format: str) -> Tensor:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(Tensor, "clone", fail)
    run.log({"loss": torch.on_device(1.0), "plain": 1})
    replay = finish(run, torch)
    assert (column(replay, "plain"), replay.rejected) == ([1], 1)


def test_a_device_that_never_answers_does_not_hold_up_the_end(home: Home, torch: Torch) -> None:
    with strobe.init(project="p", settings={"finish_timeout": 0.05}) as run:
        run.log({"loss": torch.on_device(1.0), "plain": 1})
    replay = replay_of(run._recorder.run_dir)
    assert (column(replay, "plain"), column(replay, "loss"), replay.rejected) == ([1], [], 1)


@pytest.mark.parametrize(
    ("attribute", "value"), [("layout", "sparse_coo"), ("is_quantized", True), ("is_nested", True)]
)
def test_what_is_no_plain_array_is_left_to_the_ordinary_way(torch: Torch, attribute: str, value: Any) -> None:
    tensor = torch.on_device([1.0, 2.0])
    setattr(tensor, attribute, value)
    assert pending.find_pending(tensor) is None


def test_after_a_fork_the_child_keeps_what_it_inherited(run: Run, torch: Torch) -> None:
    run.log({"loss": torch.on_device(1.0)})
    deferred = run._deferred
    assert deferred is not None
    deferred.close(0)
    (inherited,) = [rows for rows, _ in deferred._rows.values()]
    deferred.after_fork()
    assert deferred._inherited[0]
    assert inherited.pending  # neither filled nor dropped: no finalizer touches the device here
    assert deferred.close(0) == 0


# -- other devices


@pytest.mark.parametrize("device", ["mps", "xpu:0", "xla:0"])
def test_other_devices_are_read_at_once(run: Run, torch: Torch, device: str) -> None:
    scalar, array = ElsewhereTensor(torch, 0.5, device), ElsewhereTensor(torch, [0.0, 1.0], device)
    run.log({"scalar": scalar, "array": array})
    (row,) = rows(run)  # there before finish
    assert row["scalar"] == 0.5
    assert row["array"].numpy().tolist() == [0, 1]
    assert scalar.num_waits >= 1
    assert array.num_waits == 1
    assert run._deferred is None
