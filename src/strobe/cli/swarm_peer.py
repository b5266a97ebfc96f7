"""What commands share that run a peer until they are told to stop: opening it, saying where it is, logging into a run.

Ctrl-C and SIGTERM, a service manager's way to say the same, are how such a command is meant to end: `until_stopped`.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strobe.cli.render import Screen

if TYPE_CHECKING:
    from strobe.swarm.dht import DHT
    from strobe.swarm.telemetry import Source

HOST_HELP = "listen here; repeatable (default: where --peer reaches us, without any 127.0.0.1)"


def open_peer(stack: contextlib.ExitStack, args: Namespace, **relaying: Any) -> DHT:
    """Join the swarm as the command line says; the stack leaves it."""
    from strobe.swarm.dht import DHT

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return stack.enter_context(
        DHT(
            args.peer,
            hosts=args.host,
            port=args.port,
            announce=args.announce,
            identity_path=args.identity,
            **relaying,
        )
    )


def until_stopped() -> contextlib.AbstractContextManager[None]:
    """Take an interrupt for the end, not for a failure: neither of the command nor of its run."""
    return contextlib.suppress(KeyboardInterrupt)


def log_into_run(
    stack: contextlib.ExitStack,
    args: Namespace,
    *,
    job_type: str,
    config: Mapping[str, Any],
    sources: Mapping[str, Source],
) -> None:
    """Log figures into a run of `--project`, if there is one."""
    if not args.project:
        return
    import strobe
    from strobe.swarm.telemetry import Telemetry

    run = stack.enter_context(
        strobe.init(project=args.project, job_type=job_type, config=dict(config), dir=args.home or None)
    )
    stack.enter_context(Telemetry(run, sources, period_s=min(args.report, 10.0)))


def tell_address(screen: Screen, args: Namespace, dht: DHT, **more: Any) -> None:
    """Print where the peer is, first of all and at once: whoever waits for it reads a pipe."""
    if args.json:
        screen.json({"address": str(dht.address), **more})
    else:
        screen.out(str(dht.address))
    sys.stdout.flush()
