"""`strobe server`: serve runs to many machines, and look after its users, keys and teams."""

from __future__ import annotations

import argparse
import ipaddress
import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from strobe.cli import server_key, server_team, server_upkeep, server_user
from strobe.cli.parser import Parser, Subparsers, add_command
from strobe.cli.server_store import add_store_options, inherit, open_store_of
from strobe.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from strobe.server.serve import Listen
    from strobe.server.services import ServerSettings
    from strobe.store.store import Store

#: what `strobe server` listens on when nothing is said
PORT = 7347


def register(subparsers: Subparsers) -> None:
    server = add_command(
        subparsers,
        "server",
        _serve,
        summary="receive runs from many machines and answer questions about them",
        examples=["strobe server", "strobe server --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem"],
        detail="Reads and writes a store: a SQLite file, or PostgreSQL and S3. On an address that others can reach it "
        "needs a user with a key first. See docs/server.md.",
        json=False,
    )
    _add_listening(server)
    _add_running(server)
    add_store_options(server)
    verbs = server.add_subparsers(metavar="COMMAND", title="commands", parser_class=Parser)
    for module in (server_user, server_key, server_team, server_upkeep):
        module.register(verbs)
    inherit(verbs)


def _add_listening(server: argparse.ArgumentParser) -> None:
    group = server.add_argument_group("listening")
    group.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    group.add_argument("--port", metavar="N", type=int, default=PORT, help=f"port, 0 for any that is free ({PORT})")
    group.add_argument("--tls-cert", metavar="FILE", type=Path, help="certificate, PEM, with its chain")
    group.add_argument("--tls-key", metavar="FILE", type=Path, help="the certificate's key, PEM")
    group.add_argument(
        "--allowed-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name that the server is called by, besides this machine's; *.example.com, or * for any",
    )
    group.add_argument(
        "--forwarded-allow-ips",
        metavar="LIST",
        default="127.0.0.1",
        help="proxies whose X-Forwarded-For and -Proto are believed, with commas (127.0.0.1)",
    )


def _add_running(server: argparse.ArgumentParser) -> None:
    group = server.add_argument_group("running")
    group.add_argument(
        "--log-format", choices=["auto", "json", "text"], default="auto", help="text on a terminal, else JSON lines"
    )
    group.add_argument("--open-metrics", action="store_true", help="answer /metrics without a key")
    group.add_argument(
        "--drain", metavar="SECONDS", type=float, default=0.0, help="go on that long after SIGTERM, as not ready (0)"
    )
    group.add_argument(
        "--grace", metavar="SECONDS", type=int, default=30, help="wait that long for requests at the end (30)"
    )


def _serve(args: Namespace) -> int:
    try:
        from strobe.bench.dashboard import endpoints
        from strobe.server.log import open_log
        from strobe.server.serve import serve
        from strobe.server.services import open_services
    except ModuleNotFoundError as error:
        raise MissingExtra(f"`strobe server` needs {error.name}; pip install 'strobe[server]'") from error
    settings, listen = settings_of(args), listen_of(args)
    log = open_log(args.log_format)
    with open_store_of(args) as store:
        check_exposure(listen.host, store)
        serve(open_services(store, settings, log), listen, extra=endpoints())
    return 0


def settings_of(args: Namespace) -> ServerSettings:
    from strobe.server.alerts import read_alert_settings
    from strobe.server.services import ServerSettings

    return ServerSettings(
        allowed_hosts=(args.host, *args.allowed_host),
        is_metrics_open=args.open_metrics,
        alerts=read_alert_settings(os.environ),
    )


def listen_of(args: Namespace) -> Listen:
    from strobe.server.serve import Listen

    if not 0 <= args.port < 65536:
        raise UsageError(f"--port is {args.port}; it can be 0 to 65535")
    return Listen(
        host=args.host,
        port=args.port,
        tls_cert=args.tls_cert,
        tls_key=args.tls_key,
        forwarded_allow_ips=args.forwarded_allow_ips,
        drain_s=max(0.0, args.drain),
        grace_s=max(0, args.grace),
    )


def check_exposure(host: str, store: Store) -> None:
    """Raise UsageError if others can reach that address and nobody has a key."""
    if not is_loopback(host) and not store.accounts.keys.has_live():
        raise UsageError(
            f"{host} can be reached from other machines, and nobody has a key; make one first: "
            "`strobe server user add NAME --admin`, then `strobe server key add NAME --scope admin`"
        )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
