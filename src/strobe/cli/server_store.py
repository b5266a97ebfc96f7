"""The store that `strobe server …` works on, by its options, its variables, or in the home."""

from __future__ import annotations

import argparse
import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from strobe.cli.parser import Subparsers
from strobe.cli.target import home_of
from strobe.errors import MissingExtra
from strobe.store.accounts import Accounts

if TYPE_CHECKING:
    from strobe.store.store import Store

_INHERITED = frozenset({"home", "verbose", "quiet", "store", "blobs"})


def add_store_options(parser: argparse.ArgumentParser) -> None:
    """Add --store and --blobs."""
    group = parser.add_argument_group("store")
    group.add_argument(
        "--store",
        metavar="ADDRESS",
        help="sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME ($STROBE_SERVER_STORE, else a file in the home)",
    )
    group.add_argument(
        "--blobs", metavar="PLACE", help="a directory or s3://BUCKET/PREFIX for files ($STROBE_SERVER_BLOBS)"
    )


def inherit(verbs: Subparsers) -> None:
    """Let `strobe server --store X user ls` mean `strobe server user ls --store X`."""
    for parser in verbs.choices.values():
        for action in list(parser._actions):  # argparse has no public way to them
            if isinstance(action, argparse._SubParsersAction):
                inherit(action)
            elif action.dest in _INHERITED:
                action.default = argparse.SUPPRESS


def addresses_of(args: Namespace) -> tuple[str, str]:
    """Return where the database and the files are."""
    directory = home_of(args).path / "server"
    store = args.store or os.environ.get("STROBE_SERVER_STORE") or f"sqlite:///{directory / 'strobe.db'}"
    blobs = args.blobs or os.environ.get("STROBE_SERVER_BLOBS") or str(directory / "blobs")
    return store, blobs


@contextmanager
def open_store_of(args: Namespace) -> Iterator[Store]:
    """Open the store, files and all."""
    try:
        from strobe.store.store import open_store
    except ModuleNotFoundError as error:
        raise MissingExtra(f"the store needs {error.name}; pip install 'strobe[server]'") from error
    store = open_store(*addresses_of(args))
    try:
        yield store
    finally:
        store.close()


@contextmanager
def open_accounts_of(args: Namespace) -> Iterator[Accounts]:
    """Open the store's accounts; its files are not needed for that."""
    from strobe.store.address import open_database

    database = open_database(addresses_of(args)[0])
    try:
        yield Accounts(database)
    finally:
        database.close()
