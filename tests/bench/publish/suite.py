"""A small suite's results on two systems over several sessions, made up: every kind of row that the page can show.

`with_card` has a third system besides, with a card.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import cache

import msgspec

from strobe.bench import latency
from strobe.bench.records import NOT_HERE, Correct, Environment, Record, Repeat, Roofline
from strobe.bench.spec import Latency as Limit

NUM_SESSIONS = 14
#: session from which RegNetY is slower
STEP_AT = 8

LAPTOP = {"cpu": "Intel Xeon Platinum 8370C", "cores": "2", "memory": "24 GiB", "flags": "avx512f avx512_vnni"}
SERVER = {"cpu": "AMD EPYC 9654", "cores": "16", "memory": "126 GiB", "flags": "avx512f avx512_bf16"}
CARD = {**SERVER, "accelerators": "NVIDIA H100 80GB HBM3"}
#: root mean square of the output's error, and what is allowed, by how exactly a configuration computes
ERRORS = {"int8": (0.12, 0.3), "fp32": (2.4e-6, 1e-3), "tiny-100k": (0.0, 1e-3)}
#: model, implementation, mode, config, step time of one example, spread
ROWS = [
    ("DLRM", "OOTB", "Inference", "tiny-100k", 1.3e-4, 0.01),
    ("DLRM", "Optimized", "Inference", "tiny-100k-fp32", 0.9e-4, 0.01),
    ("DLRM", "Optimized", "Inference", "tiny-100k-embed8-int8", 0.6e-4, 0.01),
    ("RegNetY", "OOTB", "Inference", "400MF-fp32", 0.024, 0.02),
    ("RegNetY", "Optimized", "Inference", "400MF-fp32", 0.014, 0.02),
    ("RegNetY", "Optimized", "Inference", "400MF-int8", 0.0065, 0.02),
    ("XLM-R", "OOTB", "Training", "base-s32-fp32", 0.19, 0.18),
    ("XLM-R", "Optimized", "Training", "base-s32-fp32", 0.187, 0.02),
    ("Linear", "Micro", "Linear", "mlp_A", 2e-4, 0.01),
]


@cache
def records() -> list[Record]:
    """Return everything, oldest first."""
    rng = random.Random(11)
    made = [record for number in range(NUM_SESSIONS) for record in _session(number, rng)]
    return [*made, *_server(rng), _failed(), _left_out(), _correct(rng), _incorrect(rng)]


@cache
def with_card() -> list[Record]:
    """Return everything, and a part of it measured on a card."""
    rng = random.Random(12)
    place = _environment(NUM_SESSIONS, CARD)
    rows = [(row[:4], row[4] / 40) for row in ROWS if row[0] in ("RegNetY", "XLM-R")]
    made = [_record(f"95{index}", place, rng, name, 8, cost, 0.01) for index, (name, cost) in enumerate(rows)]
    return [*records(), *map(_on_card, made)]


def _on_card(record: Record) -> Record:
    repeats = tuple(msgspec.structs.replace(repeat, peak_card_bytes=2_345_000_000) for repeat in record.repeats)
    return msgspec.structs.replace(record, repeats=repeats, device="cuda")


def _environment(number: int, hardware: dict[str, str]) -> Environment:
    return Environment(
        host=f"bench-{1 + [LAPTOP, SERVER, CARD].index(hardware)}",
        cpu=hardware["cpu"],
        cpu_count=int(hardware["cores"]),
        memory_bytes=int(hardware["memory"].split()[0]) * 2**30,
        hardware=hardware,
        software={"torch": "2.12.0" if number < 10 else "2.13.0", "python": "3.11.7", "threads": hardware["cores"]},
        git_commit=f"{number + 10:02x}a7f3c9{number:032}",
        started_at=f"2026-11-{number + 1:02}T06:00:00+00:00",
    )


def _session(number: int, rng: random.Random) -> Iterator[Record]:
    place = _environment(number, LAPTOP)
    for index, (model, implementation, mode, config, cost, spread) in enumerate(ROWS):
        slower = 1.09 if model == "RegNetY" and config.endswith("int8") and number >= STEP_AT else 1.0
        for batch in (8, 64, 512) if model == "DLRM" else (8,):
            yield _record(
                f"{number:03}{index:02}{batch:03}", place, rng, (model, implementation, mode, config), batch,
                cost * slower, spread,
            )  # fmt: skip


def _server(rng: random.Random) -> Iterator[Record]:
    place = _environment(NUM_SESSIONS, SERVER)
    for index, (model, implementation, mode, config, cost, _) in enumerate(ROWS):
        name = (model, implementation, mode, config)
        yield _record(f"900{index:02}", place, rng, name, 8, cost * rng.uniform(0.2, 0.5), 0.01)


def _record(
    number: str, place: Environment, rng: random.Random, name: tuple[str, str, str, str], batch: int, cost: float,
    spread: float,
) -> Record:  # fmt: skip
    model, implementation, mode, config = name
    session = math.exp(rng.gauss(0, 0.004))
    repeats = []
    for _ in range(5):
        middle = (3e-4 + cost * batch) * session * math.exp(rng.gauss(0, spread))
        tail = (rng.paretovariate(4) for _ in range(120))
        wall = tuple(middle * (0.97 + 0.03 * factor) for factor in tail)
        repeats.append(
            Repeat(
                wall_s=wall,
                cpu_s=wall,
                setup_s=1.2,
                compile_s=8.0,
                peak_rss_bytes=900_000_000,
                load_before=0.42,
                steal_percent=0.0,
            )
        )
    if spread > 0.1:
        repeats[0] = msgspec.structs.replace(
            repeats[0], load_before=3.1, steal_percent=12.04, noisy=("load 3.1 on 2 CPUs", "steal 12 %")
        )
    is_micro = implementation == "Micro"
    scores = [batch / sorted(repeat.wall_s)[60] / (1e4 if is_micro else 1) for repeat in repeats]
    wall_s = [value for repeat in repeats for value in repeat.wall_s]
    error, tolerance = ERRORS.get(config.rsplit("-", 1)[-1]) or ERRORS.get(config) or (3e-7, 1e-3)
    return Record(
        id=number,
        benchmark=f"{model.lower()}/{implementation.lower()}/{mode.lower()}/{config}",
        subject=implementation,
        metric="throughput",
        unit="TF/s" if is_micro else "ex/s",
        better="more",
        samples=tuple(scores),
        environment=place,
        command=f"strobe bench run {model.lower()}/{implementation.lower()}/{mode.lower()}/{config} --batch {batch}",
        model=model,
        mode=mode,
        config=config,
        version=1,
        seal="5c9430b0aa",
        batch_size=batch,
        repeats=tuple(repeats),
        latency=latency.judge(wall_s, Limit(limit_ms=60, percentile=99)) if mode == "Inference" else None,
        correctness=Correct(
            is_correct=True, error=error, max_error=3 * error, tolerance=tolerance, reference="OOTB float64"
        ),
        roofline=Roofline(peak_flops=2.8e11, peak_bytes_per_s=2e10, fraction=0.71, bound="compute")
        if is_micro
        else None,
        changes=("batch norms folded into convolutions", "channels last") if implementation == "Optimized" else (),
    )


def _failed() -> Record:
    return Record(
        id="990", benchmark="cvt/ootb/training/cvt-13", subject="OOTB", metric="throughput", unit="ex/s", better="more",
        model="CvT", mode="Training", config="cvt-13", version=1, batch_size=64,
        error="out of memory: needs 31 GB, the limit is 21 GB", environment=_environment(NUM_SESSIONS - 1, LAPTOP),
        command="strobe bench run cvt/ootb/training/cvt-13 --batch 64",
    )  # fmt: skip


def _left_out() -> Record:
    return msgspec.structs.replace(
        _failed(), id="9901", benchmark="cvt/ootb/training/cvt-21", config="cvt-21", error=f"{NOT_HERE}needs CUDA"
    )


def _correct(rng: random.Random) -> Record:
    place = _environment(NUM_SESSIONS - 1, LAPTOP)
    return _record("9902", place, rng, ("CvT", "OOTB", "Inference", "cvt-13-fp32"), 8, 0.02, 0.01)


def _incorrect(rng: random.Random) -> Record:
    place = _environment(NUM_SESSIONS - 1, LAPTOP)
    good = _record("991", place, rng, ("CvT", "Optimized", "Inference", "cvt-13-int8"), 8, 0.01, 0.01)
    return msgspec.structs.replace(
        good, correctness=Correct(is_correct=False, error=0.4, max_error=2.0, tolerance=0.05, reference="OOTB float64")
    )
