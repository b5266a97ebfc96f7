"""What a command works on: the home that its options and the settings name, or a server that it reads."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from strobe.api.client import Api
from strobe.home import Home
from strobe.settings import Resolved, resolve


def settings_of(args: Namespace) -> Resolved:
    """Return the settings in force, with `--home` on top."""
    home = getattr(args, "home", None)
    return resolve({"home": home} if home else {})


def home_of(args: Namespace) -> Home:
    return Home(settings_of(args).home)


def api_of(args: Namespace) -> Api:
    return Api(home_of(args))


def add_host(parser: ArgumentParser) -> None:
    """Let a command that reads runs read them from a server."""
    parser.add_argument("--host", metavar="URL", help="read from this server instead of the home")


def reader_of(args: Namespace) -> Api:
    """Return what a command with `add_host` reads. `strobe login` keeps the key for a server."""
    return Api(base_url=args.host) if args.host else api_of(args)
