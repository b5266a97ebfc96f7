"""`strobe swarm serve` and `status`: a server of experts on the command line, and what another one is doing.

Parses, calls strobe.swarm.experts, prints.
"""

from __future__ import annotations

import contextlib
import json
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from strobe.cli.parser import Subparsers, add_command, seconds
from strobe.cli.render import Screen
from strobe.cli.swarm_peer import HOST_HELP, log_into_run, open_peer, tell_address, until_stopped
from strobe.errors import MissingExtra

if TYPE_CHECKING:
    from strobe.swarm.experts import Server
    from strobe.swarm.net.address import Address
    from strobe.swarm.net.network import Payload

#: what of the command line is the configuration of its run
_CONFIG = ("expert", "expert_class", "hidden_dim", "max_batch_size", "optimizer")
_ASK_S = 10.0
#: names of more than a hundred thousand experts
_MAX_STATUS_BYTES = 8 << 20


def register(commands: Subparsers) -> None:
    """Add the commands about experts to the group `swarm`."""
    serve = add_command(
        commands,
        "serve",
        _serve,
        summary="serve experts to the peers of a swarm, until interrupted",
        detail="Prints its address first. Names of experts are numbers in a grid; a pattern names many of them.",
        examples=[
            "strobe swarm serve 'ffn.[0:4].[0:256]' --num-experts 16 --peer strobe://…@203.0.113.7:4000",
            "strobe swarm serve mine.0 mine.1 --module mine.py --class residual --checkpoints experts/",
            "strobe swarm serve ffn.0.0 --host 0.0.0.0 --peer strobe://…@203.0.113.7:4000 "
            "--relay strobe://…@203.0.113.7:4000",
        ],
    )
    serve.add_argument("expert", nargs="+", metavar="EXPERT", help="a pattern such as ffn.[0:4].[0:256], or names")
    experts = serve.add_argument_group("experts")
    experts.add_argument("--num-experts", type=int, metavar="N", help="how many of the pattern (default: all)")
    experts.add_argument("--class", dest="expert_class", default="ffn", metavar="NAME", help="kind (default: ffn)")
    experts.add_argument("--hidden-dim", type=int, default=1024, metavar="N", help="width (default: 1024)")
    experts.add_argument("--module", metavar="FILE", help="a Python file that registers kinds of experts")
    experts.add_argument("--max-batch-size", type=int, default=4096, metavar="N", help="rows (default: 4096)")
    experts.add_argument("--device", default="cpu", metavar="NAME", help="torch device (default: cpu)")
    experts.add_argument("--checkpoints", metavar="DIR", help="resume from here, and save here")
    training = serve.add_argument_group("training")
    training.add_argument("--optimizer", default="adam", choices=["adam", "sgd", "none"], help="default: adam")
    training.add_argument("--learning-rate", type=float, default=1e-3, metavar="RATE", help="default: 0.001")
    training.add_argument("--warmup-steps", type=int, default=0, metavar="N", help="raise the rate over N steps")
    training.add_argument("--total-steps", type=int, metavar="N", help="let it fall to nothing after N steps")
    training.add_argument("--clip-grad-norm", type=float, metavar="NORM", help="limit the norm of gradients")
    peer = serve.add_argument_group("peer")
    peer.add_argument("--host", action="append", metavar="HOST", help=HOST_HELP)
    peer.add_argument("--port", type=int, default=0, metavar="N", help="UDP and TCP port (default: a free one)")
    peer.add_argument("--announce", action="append", default=[], metavar="HOST", help="the host others reach us by")
    peer.add_argument("--identity", metavar="PATH", help="key file, made if missing (default: a new peer each time)")
    peer.add_argument("--peer", action="append", default=[], metavar="ADDRESS", help="join the swarm of this peer")
    peer.add_argument(
        "--relay", action="append", default=[], metavar="ADDRESS", help="be reached through this peer if need be"
    )
    peer.add_argument("--update-period", type=float, default=30.0, metavar="SECONDS", help="declare and save (30)")
    peer.add_argument("--max-waiting", type=int, default=2048, metavar="N", help="requests that may wait (2048)")
    serve.add_argument("--project", metavar="NAME", help="log how it is into a run of this project")
    serve.add_argument("--report", type=seconds, default=30.0, metavar="SECONDS", help="say how it is (default: 30)")
    status = add_command(
        commands,
        "status",
        _status,
        summary="ask a server of experts what it is doing",
        examples=[
            "strobe swarm status strobe://…@203.0.113.7:4000",
            "strobe swarm status strobe://…@[::1]:4000 --json",
        ],
    )
    status.add_argument("address", metavar="ADDRESS", help="the address that `strobe swarm serve` printed")


def _serve(args: Namespace) -> int:
    _require_torch()
    from strobe.swarm.experts import Server, ServerOptions, Training, load_experts
    from strobe.swarm.telemetry import dht_figures

    if args.module:
        load_experts(args.module)
    is_pattern = len(args.expert) == 1 and "[" in args.expert[0]
    screen = Screen(args)
    with contextlib.ExitStack() as stack:
        dht = open_peer(stack, args, relays=args.relay)
        server = Server.create(
            dht,
            expert_class=args.expert_class,
            hidden_dim=args.hidden_dim,
            uids=() if is_pattern else args.expert,
            pattern=args.expert[0] if is_pattern else None,
            num_experts=args.num_experts,
            max_batch_size=args.max_batch_size,
            device=args.device,
            training=Training(
                optimizer=args.optimizer,
                learning_rate=args.learning_rate,
                warmup_steps=args.warmup_steps,
                total_steps=args.total_steps,
                clip_grad_norm=args.clip_grad_norm,
            ),
            checkpoint_dir=args.checkpoints,
            options=ServerOptions(update_period_s=args.update_period, max_waiting=args.max_waiting),
        )
        stack.enter_context(server)
        with until_stopped():
            log_into_run(
                stack,
                args,
                job_type="swarm-server",
                config={key: getattr(args, key) for key in _CONFIG},
                sources={"server": server.figures, "dht": dht_figures(dht)},
            )
            _tell(server, screen, args)
    return 0


def _tell(server: Server, screen: Screen, args: Namespace) -> None:
    """Say where the server is, then now and then how it is, until it ends."""
    address = server.dht.address
    tell_address(screen, args, server.dht, experts=server.uids)
    screen.note(f"serving {len(server.uids)} experts, such as {server.uids[0]}. Stop with Ctrl-C")
    while not server.join(args.report):
        screen.note(_line(server.figures()))
        if server.dht.address != address:
            address = server.dht.address
            screen.note(f"reached through another relay now: {address}")


def _status(args: Namespace) -> int:
    from strobe.swarm.net.network import PeerRefused

    screen = Screen(args)
    status = _asked(args.address)
    if args.json:
        screen.json(status)
        return 0
    try:
        # A stranger's words: nothing that a terminal would obey.
        uids = [str(uid) for uid in status["uids"] if str(uid).isprintable()]
        lines = [f"{status['experts']:d} experts: {', '.join(uids[:8])}{' …' if len(uids) > 8 else ''}", _line(status)]
    except (KeyError, TypeError, ValueError) as exc:
        raise PeerRefused(f"{args.address} tells something that is no status: {exc!r}") from exc
    for line in lines:
        screen.out(line)
    return 0


def _asked(text: str) -> dict[str, Any]:
    import asyncio

    from strobe.swarm.net.address import Address
    from strobe.swarm.net.network import PeerRefused

    address = Address.parse(text)
    try:
        payload = asyncio.run(_told(address))
    except PeerRefused as exc:
        raise PeerRefused(f"{address} serves no experts, or does not tell: {exc}") from exc
    try:
        return dict(json.loads(bytes(payload)))
    except (ValueError, TypeError) as exc:
        raise PeerRefused(f"{address} tells something that is no status: {exc!r:.80}") from exc


async def _told(address: Address) -> Payload:
    """Ask a peer where it is heard."""
    from strobe.swarm.net.hosts import heard_at
    from strobe.swarm.net.identity import Identity
    from strobe.swarm.net.peer_network import PeerNetwork

    network = await PeerNetwork.listen(Identity.generate(), peers=[address])
    try:
        contact = await heard_at(network, address, timeout_s=_ASK_S)
        return await network.call(contact, "expert.status", b"", timeout_s=_ASK_S, max_reply=_MAX_STATUS_BYTES)
    finally:
        await network.close()


def _line(figures: dict[str, Any]) -> str:
    return (
        f"{figures['samples_per_s']:,.0f} samples/s in batches of {figures['samples_per_batch']:,.0f}, "
        f"{figures['queue_requests']:d} requests wait, latency {figures['latency_p50_ms']:.1f} ms "
        f"(p99 {figures['latency_p99_ms']:.1f}), {figures['steps']:d} steps, {figures['peers']:d} peers known, "
        f"{figures['refused']:d} refused, {figures['failed']:d} failed"
    )


def _require_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError as exc:
        raise MissingExtra("experts need torch; install it with `pip install torch`") from exc
