"""One batch through an expert: requests put together, the pass, and what came out handed to each.

A batch of one request is computed where it was received, without a copy; several requests are put together in memory
that is used again. Only so many batches are in experts at the same time (`num_parallel`), for torch brings its own
threads.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, TypeAlias

import numpy as np
import torch

from strobe.swarm.experts.meter import Meter
from strobe.swarm.experts.schema import are_rows, check_rows
from strobe.swarm.experts.work import Batch, Job, Slice, WorkQueue
from strobe.swarm.net.network import PeerRefused
from strobe.swarm.tensors import TensorSpec

_log = logging.getLogger("strobe.swarm.experts")

#: what became of a job: its tensors, or why there are none
Outcome: TypeAlias = "tuple[Job, list[torch.Tensor] | PeerRefused]"


class Engine:
    """Computes batches that a queue has given out, and tells the queue when each is done."""

    def __init__(self, queue: WorkQueue, meter: Meter, *, num_parallel: int = 1) -> None:
        self._queue = queue
        self._meter = meter
        #: held by those that are in an expert
        self._device = threading.Lock() if num_parallel == 1 else threading.Semaphore(num_parallel)

    def compute(self, batch: Batch, stage: Stage) -> list[Outcome]:
        """Return what became of the jobs that this batch completes."""
        outcomes: list[Outcome] = []
        elapsed_s = 0.0
        try:
            ready = _unpacked(batch, outcomes)
            if ready:
                inputs = stage.assemble(ready)
                outputs, elapsed_s = self._run(batch, inputs)
                _hand_out(ready, stage.owned(outputs), outcomes)
        except Exception:  # noqa: BLE001  # a module of the user's may raise anything; the others go on
            _log.exception("expert %s failed on a batch of %d rows", batch.pool.backend.uid, batch.rows)
            self._meter.failed += 1
            refusal = PeerRefused(f"expert {batch.pool.backend.uid} failed; its server's log says why")
            for part in batch.slices:
                if not part.job.has_failed:
                    part.job.has_failed = True
                    outcomes.append((part.job, refusal))
        finally:
            self._queue.done(batch, elapsed_s)
        self._meter.batch(batch.rows, elapsed_s)
        return outcomes

    def _run(self, batch: Batch, inputs: list[torch.Tensor]) -> tuple[list[torch.Tensor], float]:
        """Return the outputs, and how long the expert took."""
        pool = batch.pool
        backend = pool.backend
        with self._device, backend.lock:
            started = time.perf_counter()
            if pool.is_backward:
                num_inputs = len(backend.info.inputs)
                outputs = backend.backward(inputs[:num_inputs], inputs[num_inputs:])
            else:
                outputs = backend.forward(inputs)
            elapsed_s = time.perf_counter() - started
        # A module may change its mind about what it gives; its clients were told what to expect.
        if not are_rows(pool.gives, outputs) or outputs[0].shape[0] != inputs[0].shape[0]:
            given = {name: TensorSpec.of(output) for name, output in zip(pool.gives, outputs, strict=True)}
            check_rows(backend.uid, pool.gives, given, inputs[0].shape[0])
        return outputs, elapsed_s


class Stage:
    """One thread's memory for batches of several requests."""

    def __init__(self) -> None:
        self._buffers: dict[int, torch.Tensor] = {}

    def assemble(self, slices: list[Slice]) -> list[torch.Tensor]:
        """Return the inputs of a batch, valid until the next one."""
        columns = [_rows(part.job.tensors or [], part.start, part.stop, part.job.rows) for part in slices]
        if len(columns) == 1:
            return columns[0]
        return [self._stacked(place, list(pieces)) for place, pieces in enumerate(zip(*columns, strict=True))]

    def _stacked(self, place: int, pieces: list[torch.Tensor]) -> torch.Tensor:
        rows = sum(map(len, pieces))
        first = pieces[0]
        buffer = self._buffers.get(place)
        if buffer is None or buffer.dtype != first.dtype or buffer.shape[1:] != first.shape[1:] or len(buffer) < rows:
            buffer = self._buffers[place] = torch.empty((rows, *first.shape[1:]), dtype=first.dtype)
        # Not by torch, whose threads would spin on afterwards, while another thread's batch is in an expert.
        np.concatenate([_bytes(piece) for piece in pieces], out=_bytes(buffer[:rows]))
        return buffer[:rows]

    def owned(self, outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Return outputs that stay as they are when the next batch is put together: a module may return its input."""
        mine = {buffer.untyped_storage().data_ptr() for buffer in self._buffers.values()}
        if not mine:
            return outputs
        return [output.clone() if output.untyped_storage().data_ptr() in mine else output for output in outputs]


def _unpacked(batch: Batch, outcomes: list[Outcome]) -> list[Slice]:
    """Return the slices whose tensors are there and good; the others have their refusal."""
    ready = []
    for part in batch.slices:
        job = part.job
        if job.tensors is None and not job.has_failed:
            try:
                job.tensors = job.unpack()
            except PeerRefused as refusal:
                job.has_failed = True
                outcomes.append((job, refusal))
            except Exception:  # noqa: BLE001  # such as no memory left; the other requests of the batch go on
                _log.exception("a request to expert %s cannot be unpacked", job.pool.backend.uid)
                job.has_failed = True
                outcomes.append((job, PeerRefused("the request cannot be unpacked; its server's log says why")))
        if not job.has_failed:
            ready.append(part)
    return ready


def _hand_out(slices: list[Slice], outputs: list[torch.Tensor], outcomes: list[Outcome]) -> None:
    start = 0
    num_rows = sum([part.stop - part.start for part in slices])
    for job, first, last in slices:
        stop = start + last - first
        job.parts.append(_rows(outputs, start, stop, num_rows))
        start = stop
        if last == job.rows:
            job.tensors = None
            outcomes.append((job, _joined(job.parts)))


def _rows(tensors: list[torch.Tensor], start: int, stop: int, num_rows: int) -> list[torch.Tensor]:
    """Return these of their rows; themselves if that is all of them."""
    return tensors if stop - start == num_rows else [tensor[start:stop] for tensor in tensors]


def _joined(parts: list[list[torch.Tensor]]) -> list[torch.Tensor]:
    return parts[0] if len(parts) == 1 else [torch.cat(pieces) for pieces in zip(*parts, strict=True)]


def _bytes(tensor: torch.Tensor) -> Any:
    return tensor.reshape(-1).view(torch.uint8).numpy()
