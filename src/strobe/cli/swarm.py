"""`strobe swarm`: a peer of a swarm on the command line: run one, ask one, read and write records.

Experts are in `swarm_serve`.

Parses, calls strobe.swarm, prints; knows nothing of how peers find each other.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import time
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from strobe.api.jsonable import jsonable
from strobe.cli import swarm_serve
from strobe.cli.parser import Subparsers, add_command, add_group
from strobe.cli.render import Screen
from strobe.cli.swarm_peer import HOST_HELP, log_into_run, open_peer, tell_address, until_stopped
from strobe.errors import UsageError

if TYPE_CHECKING:
    from strobe.swarm.dht import DHT, Node
    from strobe.swarm.net.address import Address


def register(subparsers: Subparsers) -> None:
    """Add the group `swarm`."""
    commands = add_group(
        subparsers,
        "swarm",
        summary="peers without a server: a DHT node, its records, and experts",
        examples=["strobe swarm dht --host 0.0.0.0 --port 4000", "strobe swarm get key --peer strobe://…"],
    )
    dht = add_command(
        commands,
        "dht",
        _dht,
        summary="run a DHT peer that others join through, until interrupted",
        detail=(
            "Prints its address first: what others pass as --peer, or as an initial peer in Python.\n"
            "Ctrl-C or SIGTERM end it, and finish its run if it has one; the exit code is then 0."
        ),
        examples=[
            "strobe swarm dht",
            "strobe swarm dht --host 0.0.0.0 --port 4000 --announce 203.0.113.7",
            "strobe swarm dht --host 0.0.0.0 --port 4000 --announce 203.0.113.7 --relay",
        ],
    )
    dht.add_argument("--host", action="append", metavar="HOST", help=HOST_HELP)
    dht.add_argument("--port", type=int, default=0, metavar="N", help="UDP and TCP port (default: a free one)")
    dht.add_argument(
        "--announce", action="append", default=[], metavar="HOST", help="the host others reach this machine by"
    )
    dht.add_argument("--identity", metavar="PATH", help="key file, made if missing (default: a new peer each time)")
    dht.add_argument("--peer", action="append", default=[], metavar="ADDRESS", help="join the swarm of this peer")
    dht.add_argument("--relay", action="store_true", help="pass on what is for peers that cannot be reached")
    dht.add_argument("--project", metavar="NAME", help="log how it is into a run of this project")
    dht.add_argument("--report", type=_period, default=30.0, metavar="SECONDS", help="say how it is (default: 30)")
    probe = add_command(
        commands,
        "probe",
        _probe,
        summary="ask a peer whether it is there, how far away, and what time it has",
        examples=["strobe swarm probe strobe://…@203.0.113.7:4000", "strobe swarm probe strobe://…@[2001:db8::7]:4000"],
    )
    probe.add_argument("address", metavar="ADDRESS", help="the address that `strobe swarm dht` printed")
    get = add_command(
        commands,
        "get",
        _get,
        summary="read records of a swarm",
        examples=[
            "strobe swarm get key --peer strobe://…@203.0.113.7:4000",
            "strobe swarm get a.key '[\"a tuple\", 7]' --json --peer strobe://…@203.0.113.7:4000",
        ],
    )
    get.add_argument("key", nargs="+", metavar="KEY", help="JSON, or else text: 7 is a number, seven is text")
    _add_peers(get)
    store = add_command(
        commands,
        "store",
        _store,
        summary="write a record into a swarm",
        examples=[
            "strobe swarm store key '{\"lr\": 0.1}' --for 600 --peer strobe://…@203.0.113.7:4000",
            "strobe swarm store key 7 --subkey mine --peer strobe://…@203.0.113.7:4000",
        ],
    )
    store.add_argument("key", metavar="KEY", help="JSON, or else text")
    store.add_argument("value", metavar="VALUE", help="JSON, or else text")
    store.add_argument("--subkey", metavar="SUBKEY", help="make it one entry of a dictionary; JSON, or else text")
    store.add_argument("--for", dest="life_s", type=float, default=300.0, metavar="SECONDS", help="life (default: 300)")
    _add_peers(store)
    swarm_serve.register(commands)


def _add_peers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--peer", action="append", default=[], metavar="ADDRESS", help="a peer of the swarm; repeatable"
    )


def _dht(args: Namespace) -> int:
    from strobe.swarm.telemetry import dht_figures

    screen = Screen(args)
    with contextlib.ExitStack() as stack:
        dht = open_peer(stack, args, relay=args.relay)
        with until_stopped():
            log_into_run(
                stack,
                args,
                job_type="swarm-dht",
                config={"address": str(dht.address), "relay": args.relay},
                sources={"dht": dht_figures(dht)},
            )
            tell_address(screen, args, dht)
            screen.note("serving; others join with --peer and this address. Stop with Ctrl-C")
            while True:
                time.sleep(args.report)
                num_peers, num_records = dht.run_coroutine(_state)
                screen.note(f"{num_peers} peers known, {num_records} records held")
    return 0


async def _state(node: Node) -> tuple[int, int]:
    node.storage.expire(node.clock())
    return len(node.peers.table), len(node.storage)


def _probe(args: Namespace) -> int:
    import asyncio

    from strobe.swarm.net.address import Address

    screen = Screen(args)
    address = Address.parse(args.address)
    found = asyncio.run(_ask(address))
    if args.json:
        screen.json(found)
    else:
        screen.out(
            f"there  {found['rtt_ms']:.1f} ms, its clock is {found['skew_s']:+.3f} s from ours, "
            f"it knows {found['peers']} peers near itself and sees us at {found['seen_at']}"
        )
    return 0


async def _ask(address: Address) -> dict[str, Any]:
    from strobe.swarm.dht import Node, Options
    from strobe.swarm.dht.greeting import ONLY_ASKS
    from strobe.swarm.dht.names import in_numbers
    from strobe.swarm.net.identity import Identity
    from strobe.swarm.net.network import PeerBusy, PeerRefused, PeerUnreachable
    from strobe.swarm.net.peer_network import PeerNetwork

    network = await PeerNetwork.listen(Identity.generate(), peers=[address])
    node = Node(network, Options(client_mode=True))
    try:
        for contact in (await in_numbers(address.contacts, node.options.timeout_s))[0]:
            try:
                await node.greeting.hail(contact)  # the first one pays for the handshake
            except PeerUnreachable:
                continue
            except PeerBusy:
                raise
            except PeerRefused as exc:
                raise PeerRefused(f"{address} is {ONLY_ASKS}") from exc
            before, started = time.time(), time.perf_counter()
            pong = await node.greeting.ping(contact)
            if pong is not None:
                rtt_s = time.perf_counter() - started
                await node.reader.explore(address.id, node.options.bucket_size, [contact])
                return {
                    "address": str(address),
                    "rtt_ms": rtt_s * 1000,
                    "skew_s": pong.time - before - rtt_s / 2,
                    "peers": len(node.peers.table) - 1,
                    "seen_at": f"{pong.host}:{pong.port}",
                }
        raise PeerUnreachable(f"{address} did not answer; check that it runs and that UDP and its port get through")
    finally:
        await node.close()


def _get(args: Namespace) -> int:
    screen = Screen(args)
    keys = [_key(text) for text in args.key]
    with _client(args.peer) as dht:
        got = dht.get_many(keys, latest=True)
    if args.json:
        screen.json([None if (value := got[key]) is None else _plain(value) for key in keys])
    else:
        for text, key in zip(args.key, keys, strict=True):
            value = got[key]
            screen.out(f"{text}\t{'-' if value is None else json.dumps(jsonable(_plain(value)))}")
    return 0 if all(got[key] is not None for key in keys) else 1


def _store(args: Namespace) -> int:
    screen = Screen(args)
    if not args.life_s > 0:
        raise UsageError(f"--for {args.life_s:g}: a record lives for some seconds, more than 0")
    subkey = None if args.subkey is None else _key(args.subkey)
    with _client(args.peer) as dht:
        accepted = dht.store(_key(args.key), _parsed(args.value), time.time() + args.life_s, subkey)
    if args.json:
        screen.json({"accepted": accepted})
    else:
        screen.out("stored" if accepted else "refused  the swarm has a value that expires later")
    return 0 if accepted else 1


def _client(peers: Sequence[str]) -> DHT:
    from strobe.swarm.dht import DHT

    if not peers:
        raise UsageError("name a peer of the swarm: --peer ADDRESS, as `strobe swarm dht` prints it")
    return DHT(peers, client_mode=True)


def _parsed(text: str) -> Any:
    """Return JSON as what it stands for, arrays as tuples, and all else as text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return tuple(value) if isinstance(value, list) else value


def _key(text: str) -> Any:
    """Return what a key or subkey stands for: arrays in arrays are tuples too, or nothing could be found by it."""
    return _as_tuples(_parsed(text))


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, (list, tuple)) else value


def _period(text: str) -> float:
    """Return how often to report."""
    if not 0 < (seconds := float(text)) < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")
    return seconds


def _plain(value: Any) -> dict[str, Any]:
    """Return a value with its expiration; subkeys become text, in quotes if it is that of another one."""
    content, expires = value
    if isinstance(content, dict) and content and all(hasattr(item, "expiration_time") for item in content.values()):
        others = {str(subkey) for subkey in content if not isinstance(subkey, str)}
        named = {subkey: json.dumps(subkey) if subkey in others else str(subkey) for subkey in content}
        content = {named[subkey]: _plain(item) for subkey, item in content.items()}
    return {"value": content, "expires": expires}
