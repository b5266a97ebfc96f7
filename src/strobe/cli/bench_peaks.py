"""`strobe bench peaks`: what this machine can do at best, measured once and kept in the home for the rooflines.

Parses, calls strobe.bench.roofline, prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from strobe.cli.bench_plan import require_torch
from strobe.cli.parser import Subparsers, add_command

if TYPE_CHECKING:
    from strobe.bench.records import Record
    from strobe.bench.roofline import Peaks
    from strobe.bench.runner.options import Cell, Options
    from strobe.cli.render import Screen


def register(commands: Subparsers) -> None:
    """Add the command."""
    peaks = add_command(
        commands,
        "peaks",
        _peaks,
        summary="print what this machine can do at best, which rooflines are drawn from",
        examples=["strobe bench peaks", "strobe bench peaks --again"],
    )
    peaks.add_argument("--again", action="store_true", help="measure anew, though they are known")
    peaks.add_argument("--threads", type=int, metavar="N", help="default: all CPUs")
    peaks.add_argument("--device", default="cpu", help="default: cpu")


def known_peaks(args: argparse.Namespace, cells: Sequence[Cell], options: Options, screen: Screen) -> Peaks | None:
    """Return the machine's peaks, measured first if they are not known; None where they cannot be.

    Those that were disturbed are measured again for the suite: rows of one's own, often short, do not wait for that.
    """
    from importlib.util import find_spec

    from strobe.bench.spec import is_builtin
    from strobe.errors import Error

    if find_spec("torch") is None:
        return None
    try:
        are_noisy_enough = not any(is_builtin(cell.benchmark) for cell in cells)
        peaks = _find_peaks(args, options, screen, again=False, are_noisy_enough=are_noisy_enough)
    except Error as exc:
        # Rows without "of peak" are better than none.
        screen.warn(f"{exc}; measured without rooflines")
        return None
    if peaks.noisy:
        reasons = ", ".join(peaks.noisy)
        screen.note(
            f"the peaks behind `of peak` were disturbed ({reasons}); when it is quiet: strobe bench peaks --again"
        )
    return peaks


def _find_peaks(
    args: argparse.Namespace, options: Options, screen: Screen, *, again: bool, are_noisy_enough: bool = False
) -> Peaks:
    import os

    from strobe.bench import machine, roofline
    from strobe.bench.runner.device import names_of
    from strobe.bench.runner.software import compiler_name, switches, version_of
    from strobe.cli.target import home_of

    store = roofline.store_at(home_of(args).path)
    here = machine.on_cards(machine.describe(), names_of(options.device, 1, options.python))
    system = roofline.system_name(
        here.fingerprint,
        version_of("torch"),
        options.device,
        options.threads,
        switches(os.environ),
        compiler=compiler_name(),
    )
    known = None if again else store.read(system)
    if known is None or (known.noisy and not are_noisy_enough):
        screen.note("measuring the machine's peaks; once they are undisturbed, they are kept …")
        known = roofline.measure_peaks(options.python, options.device, options.threads)
        store.write(system, known)
    return known


def with_rooflines(records: Sequence[Record], peaks: Peaks | None) -> list[Record]:
    """Return the records with how near they come to the peaks; as they are where there are none."""
    import msgspec

    from strobe.bench import roofline

    if peaks is None:
        return list(records)
    return [msgspec.structs.replace(record, roofline=roofline.judge(record, peaks)) for record in records]


def _peaks(args: argparse.Namespace) -> int:
    import msgspec

    from strobe.bench import registry
    from strobe.bench.machine import usable_cpus
    from strobe.bench.runner.device import refuse_missing
    from strobe.bench.runner.options import Options
    from strobe.bench.table import number_text
    from strobe.cli import OK
    from strobe.cli.render import Screen

    screen = Screen(args)
    require_torch(registry.builtin())
    options = Options(device=args.device, threads=usable_cpus() if args.threads is None else args.threads)
    refuse_missing(options.device, options.python)
    peaks = _find_peaks(args, options, screen, again=args.again)
    if args.json:
        screen.json(msgspec.to_builtins(peaks))
        return OK
    rows = [(f"matrix product {name}", number_text(value / 1e12), "TF/s") for name, value in peaks.flops.items()]
    screen.table(
        ("PEAK", "BEST", "UNITS"), [*rows, ("memory", number_text(peaks.bytes_per_s / 1e9), "GB/s")], right=("BEST",)
    )
    for reason in peaks.noisy:
        screen.note(f"noisy: {reason}")
    return OK
