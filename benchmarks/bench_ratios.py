"""How many times faster Optimized is than OOTB, held against the bars: `python benchmarks/bench_ratios.py`.

Every Optimized row that has a bar is measured by `strobe bench run ROWS --pairs`, model by model: fresh processes of it
and of its OOTB row in turns, outputs checked. A ratio is that of the scores, with bounds of 95 %. A bar is met if the
ratio reaches it, and in doubt while the lower bound does not. Where several precisions may meet a bar, the best counts;
training must reach its bar in four models. Linear layers are held against the machine's own matrix product, like with
like: their best step against its best, since a peak is a best; what their median step reaches, which says as much about
who else had the processor, stands beside it. EmbeddingBag's share of the measured bandwidth is stated.

Prints one table and, as the last line, JSON; exits with 1 when a bar is missed, or has no result. Compiling takes most
of the time; keep the machine otherwise idle. What a missed row spends its time on: `python benchmarks/bench_profile.py
ROW`.

    python benchmarks/bench_ratios.py [--only regnety,dlrm] [--repeats 5] [--seconds 1] [--threads N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from strobe.bench import machine, registry
from strobe.bench.compare.estimate import Estimate, estimate
from strobe.bench.compare.pairing import Pair, pair_implementations
from strobe.bench.records import Record, Roofline, read_records
from strobe.bench.stats import median
from strobe.bench.table import markdown, signs

LINEAR, BAG = "dlrm/micro/mlp-linear/mlp_A-1024-fp32", "dlrm/micro/embeddingbag/emb-1M-d128-l30"


@dataclass(frozen=True, slots=True)
class Bar:
    """What the best of some rows must reach."""

    keys: tuple[str, ...]
    least: float


INFERENCE = (
    Bar(("regnety/optimized/inference/400MF-fp32",), 1.5),
    Bar(("regnety/optimized/inference/400MF-int8",), 3.0),
    Bar(("xlm-r/optimized/inference/base-s32-fp32",), 1.1),
    Bar(("xlm-r/optimized/inference/base-s32-int8",), 2.0),
    Bar(("dlrm/optimized/inference/tiny-100k-fp32",), 1.3),
    Bar(("dlrm/optimized/inference/tiny-100k-embed8-int8",), 1.8),
    Bar(
        ("cvt/optimized/inference/cvt-13-224x224-fp32", "cvt/optimized/inference/cvt-13-224x224-int8"),
        1.3,
    ),
    Bar(("oscar/optimized/inference/base-vqa-fp32", "oscar/optimized/inference/base-vqa-int8"), 1.3),
    Bar(("rnn-t/optimized/inference/mlperf-inference-3s-fp32",), 1.3),
    Bar(
        ("resnext3d/optimized/inference/101-32x4d-4x56-fp32", "resnext3d/optimized/inference/101-32x4d-4x56-int8"),
        1.3,
    ),
)
TRAINING = (
    "dlrm/optimized/training/tiny-100k",
    "xlm-r/optimized/training/base-s32-fp32",
    "regnety/optimized/training/400MF-fp32",
    "cvt/optimized/training/cvt-13-224x224-fp32",
    "oscar/optimized/training/base-vqa-fp32",
    "rnn-t/optimized/training/mlperf-training-3s-fp32",
    "resnext3d/optimized/training/101-32x4d-4x56-fp32",
)
TRAINING_LEAST, TRAINING_MODELS, LINEAR_LEAST = 1.15, 4, 0.85
MODELS = tuple(dict.fromkeys(bar.keys[0].partition("/")[0] for bar in INFERENCE))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table; `is_met` is None where nothing is asked."""

    row: str
    value: str
    bounds: str
    bar: str
    verdict: str
    is_met: bool | None


def judge(records: Sequence[Record], models: Sequence[str] = MODELS) -> list[Line]:
    """Hold results against the bars of these models; what was not measured meets none."""
    found = pair_implementations(records)
    ratios: dict[str, Estimate | str] = {one.name.partition(" ")[0]: one.reason for one in found.left_out}
    ratios |= {pair.b.benchmark: _ratio(pair) for pair in found.pairs}
    lines = [_judge_bar(bar, ratios) for bar in INFERENCE if _is_of(models, bar.keys[0])]
    lines += _judge_training(ratios, [key for key in TRAINING if _is_of(models, key)])
    return lines + [line for key in (LINEAR, BAG) if _is_of(models, key) for line in _judge_micro(key, records)]


def _is_of(models: Sequence[str], key: str) -> bool:
    return key.partition("/")[0] in models


def _ratio(pair: Pair) -> Estimate | str:
    """Return the ratio of two rows, or why there is none."""
    for record in (pair.a, pair.b):
        if fault := _fault(record) or (None if record.samples else "no samples"):
            return f"{record.benchmark}: {fault}"
    return estimate(pair.a.samples, pair.b.samples, pair.b.better, is_interleaved=pair.is_interleaved)


def _fault(record: Record) -> str | None:
    """Return why the score of a row is none."""
    if record.error is not None:
        return (record.error.splitlines() or ["it failed"])[0]
    return "its output is wrong" if "!" in signs(record) else None


def _judge_bar(bar: Bar, ratios: dict[str, Estimate | str]) -> Line:
    found = {key: one for key in bar.keys if isinstance(one := ratios.get(key, "not measured"), Estimate)}
    if not found:
        reasons = "; ".join(str(ratios.get(key, "not measured")) for key in bar.keys)
        return Line(bar.keys[0], "", "", f"≥ {bar.least:g}", f"MISSED: {reasons}", False)
    key, best = max(found.items(), key=lambda item: item[1].value)
    is_met = best.value >= bar.least
    is_sure = best.low is not None and best.low >= bar.least
    verdict = "MISSED" if not is_met else "met" if is_sure else "met, in doubt"
    return Line(key, f"{best.value:.2f}", _bounds(best), f"≥ {bar.least:g}", verdict, is_met)


def _judge_training(ratios: dict[str, Estimate | str], keys: Sequence[str]) -> list[Line]:
    judged = [_judge_bar(Bar((key,), TRAINING_LEAST), ratios) for key in keys]
    # No model has to, as long as enough of them do; with few of them measured, nobody can tell.
    lines = [Line(one.row, one.value, one.bounds, "", one.verdict.replace("MISSED", "below"), None) for one in judged]
    if len(keys) < TRAINING_MODELS:
        return lines
    num_met = sum(one.is_met is True for one in judged)
    is_met = num_met >= TRAINING_MODELS
    title, bar = f"training of {len(keys)} models, ≥ {TRAINING_LEAST:g}", f"≥ {TRAINING_MODELS} models"
    return [*lines, Line(title, str(num_met), "", bar, "met" if is_met else "MISSED", is_met)]


def _judge_micro(key: str, records: Iterable[Record]) -> Iterator[Line]:
    least = LINEAR_LEAST if key == LINEAR else None
    bar = "stated" if least is None else f"≥ {100 * least:.0f} % of peak"
    found = [record for record in records if record.benchmark == key]
    for record in found:
        if record.roofline is None or _fault(record):
            reason = _fault(record) or "no roofline"
            yield Line(key, "", "", bar, f"no figure: {reason}", None if least is None else False)
            continue
        share, best = record.roofline.fraction, _best_share(record, record.roofline)
        is_met = None if least is None else best >= least
        verdict = "" if is_met is None else "met" if is_met else "MISSED"
        value = f"{100 * best:.0f} % {record.roofline.bound}"
        yield Line(key, value, f"median {100 * share:.0f} %", bar, verdict, is_met)
    if not found:
        yield Line(key, "", "", bar, "no figure: not measured", None if least is None else False)


def _best_share(record: Record, roofline: Roofline) -> float:
    """Return how near the quickest step comes to the limit that the median step was held against."""
    middle_s = median([median(repeat.wall_s) for repeat in record.repeats])
    return roofline.fraction * middle_s / min(min(repeat.wall_s) for repeat in record.repeats)


def _bounds(found: Estimate) -> str:
    limits = "" if found.low is None or found.high is None else f"{found.low:.2f} to {found.high:.2f}, "
    return f"{limits}n={found.n}"


def measure(models: Sequence[str], options: Sequence[str]) -> list[Record]:
    """Measure what has a bar, model by model at the first of the declared batch sizes; what fails is a record, too."""
    sessions: dict[tuple[str, bool, int], list[str]] = {}
    for key in (*(key for bar in INFERENCE for key in bar.keys), *TRAINING, LINEAR, BAG):
        one = registry.find_one(key)
        session = (key.partition("/")[0], one.implementation == "Micro", one.batch_sizes[0])
        sessions.setdefault(session, []).append(key)
    with tempfile.TemporaryDirectory(prefix="strobe-ratios-") as directory:
        path = Path(directory, "results.jsonl")
        for (model, is_micro, batch_size), rows in sessions.items():
            if model in models:
                words = [*rows, *([] if is_micro else ["--pairs"]), "--batch", str(batch_size), *options]
                print(f"strobe bench run {' '.join(words)}", file=sys.stderr, flush=True)
                command = [sys.executable, "-m", "strobe", "bench", "run", *words, "--results", str(path), "--no-track"]
                subprocess.run(command, check=False, stdout=sys.stderr)
        return list(read_records(path)) if path.exists() else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="MODELS", default=",".join(MODELS), help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=5, help="processes of each row (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring in each (default: %(default)s)")
    parser.add_argument("--threads", type=int, help="default: all CPUs")
    args = parser.parse_args()
    models = args.only.split(",")
    if unknown := [name for name in models if name not in MODELS]:
        parser.error(f"--only: no bar for {', '.join(map(repr, unknown))}; there are {', '.join(MODELS)}")
    options = ["--repeats", str(args.repeats), "--seconds", str(args.seconds)]
    options += ["--threads", str(args.threads)] if args.threads else []
    lines = judge(measure(models, options), models)
    header = ("row", "ratio", "bounds", "bar", "verdict")
    print(markdown(header, [(one.row, one.value, one.bounds, one.bar, one.verdict) for one in lines]))
    here = machine.describe()
    load = "" if here.load_average is None else f", load average {here.load_average:.1f}"
    print(f"\n{here.started_at}, {here.cpu}, {args.threads or here.cpu_count} threads{load}")
    print(json.dumps([asdict(one) for one in lines]))
    return 0 if all(one.is_met is not False for one in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
