"""`strobe bench swarm`: hivemind's benchmarks for our swarm, and for hivemind beside it.

Parses, calls strobe.bench.swarm, prints; measures nothing itself. Flags have hivemind's names, underscores included.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from strobe.cli.bench_keep import add_keeping, keep, upload
from strobe.cli.bench_table import results_of
from strobe.cli.parser import Subparsers, add_command, add_group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strobe.bench.records import Record
    from strobe.bench.swarm.benchmark import Case, Metric
    from strobe.bench.swarm.dht import Job as DhtJob
    from strobe.cli.render import Screen
    from strobe.home import RunDir


def register(subparsers: Subparsers) -> None:
    """Add the group `swarm` to those of `bench`."""
    commands = add_group(
        subparsers,
        "swarm",
        summary="the swarm under hivemind's benchmarks, with hivemind beside it if wanted",
        examples=[
            "strobe bench swarm dht --num_peers 64 --peer hivemind",
            "strobe bench swarm throughput --preset minimalistic --peer hivemind",
        ],
    )
    _register_dht(commands)
    _register_throughput(commands)
    _register_compression(commands)
    _register_averaging(commands)


def _register_dht(commands: Subparsers) -> None:
    dht = add_command(
        commands,
        "dht",
        _dht,
        summary="peers join, one declares experts, another finds them",
        detail=(
            "The workload, the parameters and the result lines of hivemind's benchmark_dht. Several\n"
            "numbers of peers are measured one after the other. See docs/bench-swarm.md."
        ),
        examples=[
            "strobe bench swarm dht --num_peers 1024 --num_experts 16384 --expert_batch_size 64 --expiration 99999 "
            "--increase_file_limit",
            "strobe bench swarm dht --num_peers 16 64 --processes all --peer hivemind",
            "strobe bench swarm dht --num_peers 256 --failure_rate 0.2 --loss 0.05",
        ],
    )
    dht.add_argument("--num_peers", type=int, nargs="+", default=[32], metavar="N", help="default: 32")
    dht.add_argument("--initial_peers", type=int, default=1, metavar="N", help="that a new peer knows (default: 1)")
    dht.add_argument("--num_experts", type=int, default=256, metavar="N", help="default: 256")
    dht.add_argument("--expert_batch_size", type=int, default=32, metavar="N", help="per call (default: 32)")
    dht.add_argument("--expiration", type=float, default=300.0, metavar="S", help="of records (default: 300)")
    dht.add_argument("--wait_after_request", type=float, default=0.0, metavar="S", help="pause after each batch")
    dht.add_argument("--wait_before_read", type=float, default=0.0, metavar="S", help="pause before the first get")
    dht.add_argument("--wait_timeout", type=float, default=5.0, metavar="S", help="of a request (default: 5)")
    dht.add_argument("--random_seed", type=int, default=30, metavar="N", help="default: 30")
    dht.add_argument("--increase_file_limit", action="store_true", help="raise the limit of open files to 32768")
    dht.add_argument(
        "--failure_rate", type=float, default=0.0, metavar="SHARE", help="of peers killed on the way (default: 0)"
    )
    dht.add_argument("--loss", type=float, default=0.0, metavar="SHARE", help="of datagrams lost (default: 0)")
    dht.add_argument("--latency", type=float, default=0.0, metavar="MS", help="that a datagram takes (default: 0)")
    dht.add_argument(
        "--processes",
        default="0",
        metavar="N",
        help="that share the peers; `all`: one per peer (default: 0, one in all)",
    )
    dht.add_argument("--plain", action="store_true", help="without encryption")
    _add_shared(dht)


def _register_throughput(commands: Subparsers) -> None:
    throughput = add_command(
        commands,
        "throughput",
        _throughput,
        summary="a server of experts, loaded by clients",
        detail=(
            "The presets, the parameters and the result lines of hivemind's benchmark_throughput; what is\n"
            "given beside a preset replaces a part of it. See docs/bench-swarm.md."
        ),
        examples=[
            "strobe bench swarm throughput --preset minimalistic --peer hivemind --peer local",
            "strobe bench swarm throughput --preset nop --num_clients 4 --plain --peer hivemind",
        ],
    )
    throughput.add_argument(
        "--preset", default="default", metavar="NAME", help="such as ffn_forward (default: default)"
    )
    for flag, text in (
        ("--num_experts", "16, unless the preset says otherwise"),
        ("--num_handlers", "connection handlers of hivemind's (half of the clients)"),
        ("--num_clients", "128"),
        ("--num_batches_per_client", "16"),
        ("--hid_dim", "1024"),
        ("--batch_size", "2048"),
        ("--max_batch_size", "4 times the batch"),
        ("--client_processes", "that our clients share at most (8)"),
    ):
        throughput.add_argument(flag, type=int, default=None, metavar="N", help=text)
    throughput.add_argument("--expert_cls", default=None, metavar="NAME", help="ffn")
    throughput.add_argument(
        "--backprop", action=argparse.BooleanOptionalAction, default=None, help="with backward passes"
    )
    throughput.add_argument("--device", default=None, metavar="NAME", help="such as cuda (default: cpu)")
    throughput.add_argument("--plain", action="store_true", default=None, help="without encryption")
    _add_shared(throughput)


def _register_compression(commands: Subparsers) -> None:
    compression = add_command(
        commands,
        "compression",
        _compression,
        summary="tensors packed for the wire and unpacked: time, error, size",
        detail="The parameters and the result lines of hivemind's benchmark_tensor_compression.",
        examples=[
            "strobe bench swarm compression",
            "strobe bench swarm compression --size 1000000 --num_iters 3 --peer hivemind",
        ],
    )
    compression.add_argument("--size", type=int, default=10_000_000, metavar="N", help="values (default: 10000000)")
    compression.add_argument("--seed", type=int, default=7348, metavar="N", help="default: 7348")
    compression.add_argument("--num_iters", type=int, default=30, metavar="N", help="default: 30")
    _add_shared(compression)


def _register_averaging(commands: Subparsers) -> None:
    averaging = add_command(
        commands,
        "averaging",
        _averaging,
        summary="peers average tensors in groups, round after round",
        detail=(
            "The workload, the parameters and the result lines of hivemind's benchmark_averaging.\n"
            "See docs/bench-swarm.md."
        ),
        examples=[
            "strobe bench swarm averaging --peer hivemind",
            "strobe bench swarm averaging --num_peers 8 --num_rounds 2 --hid_size 64",
        ],
    )
    averaging.add_argument("--num_peers", type=int, default=16, metavar="N", help="default: 16")
    averaging.add_argument("--target_group_size", type=int, default=4, metavar="N", help="default: 4")
    averaging.add_argument("--num_rounds", type=int, default=5, metavar="N", help="of each peer (default: 5)")
    averaging.add_argument("--hid_size", type=int, default=256, metavar="N", help="of the tensors (default: 256)")
    averaging.add_argument("--num_layers", type=int, default=3, metavar="N", help="of tensors (default: 3)")
    averaging.add_argument(
        "--min_matchmaking_time", type=float, default=5.0, metavar="S", help="for a group to be found (default: 5)"
    )
    averaging.add_argument("--round_timeout", type=float, default=15.0, metavar="S", help="of a step (default: 15)")
    averaging.add_argument("--request_timeout", type=float, default=1.0, metavar="S", help="default: 1")
    averaging.add_argument("--spawn_dtime", type=float, default=0.1, metavar="S", help="between two peers' starts")
    averaging.add_argument("--increase_file_limit", action="store_true", help="raise the limit of open files to 32768")
    averaging.add_argument("--plain", action="store_true", help="without encryption")
    _add_shared(averaging)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME",
        help="also measure `hivemind`, which is installed for it at the first use, or `local`: torch without a swarm",
    )
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="of the whole, interleaved (default: 1)")
    parser.add_argument("--timeout", type=float, default=3600.0, metavar="S", help="of one run (default: 3600)")
    add_keeping(parser, "--records")
    parser.add_argument("--venvs", metavar="DIR", help="where environments are kept (default: $STROBE_BENCH_VENVS)")


def _dht(args: argparse.Namespace) -> int:
    from functools import partial

    from strobe.bench.swarm import dht, file_limit
    from strobe.bench.swarm.bar import Bar
    from strobe.bench.swarm.benchmark import Case
    from strobe.cli.render import Screen

    screen = Screen(args)
    out = screen.note if args.json else screen.out
    jobs = [_dht_job(args, num_peers) for num_peers in args.num_peers]
    for job in jobs:
        job.check(has_others=bool(args.peer))
    if args.increase_file_limit:
        out(file_limit.increase())
    file_limit.check(max(job.num_files for job in jobs))
    bar = None if screen.quiet else Bar
    cases = [Case(f"{job.num_peers} peers", job, job.variant, partial(dht.Lines, job, out, bar)) for job in jobs]
    return _run(args, screen, "dht", dht.METRICS, cases)


def _dht_job(args: argparse.Namespace, num_peers: int) -> DhtJob:
    from strobe.bench.swarm.dht import Job
    from strobe.errors import UsageError

    if args.processes != "all" and not args.processes.isdigit():
        raise UsageError(f"--processes {args.processes!r} is neither a number nor `all`")
    processes = num_peers if args.processes == "all" else int(args.processes)
    given = {name: getattr(args, name) for name in Job.__struct_fields__}
    return Job(**{**given, "num_peers": num_peers, "processes": processes})


def _throughput(args: argparse.Namespace) -> int:
    from functools import partial

    from strobe.bench.swarm import throughput
    from strobe.bench.swarm.benchmark import Case
    from strobe.cli.render import Screen

    screen = Screen(args)
    names = throughput.Job.__struct_fields__
    given = {name: value for name in names if (value := getattr(args, name)) is not None}
    job = throughput.make_job(args.preset, **given)
    listen = partial(throughput.Lines, job, screen.note if args.json else screen.out)
    cases = [Case(args.preset, job, job.variant, listen)]
    return _run(args, screen, "throughput", throughput.METRICS, cases, ("hivemind", "local"))


def _compression(args: argparse.Namespace) -> int:
    from functools import partial

    from strobe.bench.swarm import compression
    from strobe.bench.swarm.benchmark import Case
    from strobe.cli.render import Screen

    screen = Screen(args)
    job = compression.Job(size=args.size, seed=args.seed, num_iters=args.num_iters)
    listen = partial(compression.Lines, screen.note if args.json else screen.out)
    cases = [Case(f"{job.size} values", job, job.variant, listen)]
    return _run(args, screen, "compression", compression.METRICS, cases)


def _averaging(args: argparse.Namespace) -> int:
    from functools import partial

    from strobe.bench.swarm import averaging, file_limit
    from strobe.bench.swarm.benchmark import Case
    from strobe.cli.render import Screen

    screen = Screen(args)
    out = screen.note if args.json else screen.out
    job = averaging.Job(**{name: getattr(args, name) for name in averaging.Job.__struct_fields__})
    if args.increase_file_limit:
        out(file_limit.increase())
    file_limit.check(job.num_files)
    cases = [Case(f"{job.num_peers} peers", job, job.variant, partial(averaging.Lines, out))]
    return _run(args, screen, "averaging", averaging.METRICS, cases)


def _run(
    args: argparse.Namespace,
    screen: Screen,
    name: str,
    metrics: Sequence[Metric],
    cases: Sequence[Case],
    allowed: Sequence[str] = ("hivemind",),
) -> int:
    """Measure all cases on all subjects, print the tables, keep the records."""
    from pathlib import Path

    from strobe.bench.swarm import benchmark, subject
    from strobe.cli import code_for

    others = subject.peers(args.peer, allowed, screen.note, Path(args.venvs) if args.venvs else None)
    subjects = [subject.STROBE, *others]
    records: list[Record] = []
    kept: list[RunDir] = []
    for case in cases:
        measured = benchmark.run(
            name, case, metrics, subjects, repeat=args.repeat, timeout_s=args.timeout, say=screen.note
        )
        kept += keep(args, measured)
        records += measured
        if not args.json:
            screen.out(f"\n{case.title}\n\n{benchmark.table(measured, metrics)}")
    if args.json:
        import msgspec

        screen.json(msgspec.to_builtins(records))
    screen.note(f"records: {results_of(args)}")
    upload(args, kept, screen)
    failed = {record.subject for record in records if record.error}
    return code_for(len(failed), len(subjects))
