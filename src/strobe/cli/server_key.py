"""`strobe server key`: what users sign in with."""

from __future__ import annotations

import time
from argparse import Namespace

from strobe.cli.parser import Subparsers, add_command, add_group
from strobe.cli.render import Screen, time_text
from strobe.cli.server_store import add_store_options, open_accounts_of
from strobe.errors import UsageError
from strobe.store.keys import Key

_DAY_NS = 86_400 * 10**9
#: a century, which the store's moments still hold
_MAX_DAYS = 36_500


def register(verbs: Subparsers) -> None:
    group = add_group(
        verbs,
        "key",
        summary="what users sign in with",
        examples=["strobe server key add ada --label laptop", "strobe server key ls"],
    )
    add = add_command(
        group,
        "add",
        _add,
        summary="make a key and print it, this once",
        examples=["strobe server key add ada --label laptop", "strobe server key add ci --scope write --expires 90"],
        detail="Only the key goes to stdout. The store keeps no more than a hash of it.",
    )
    add.add_argument("user", metavar="USER", help="whose key")
    add.add_argument(
        "--scope", choices=["read", "write", "admin"], default="write", help="what it allows at most (write)"
    )
    add.add_argument("--label", metavar="TEXT", default="", help="what it is for, for lists")
    add.add_argument("--expires", metavar="DAYS", type=float, help="refuse it after so many days (never)")
    listing = add_command(
        group,
        "ls",
        _list,
        summary="list keys, without their secret part",
        examples=["strobe server key ls", "strobe server key ls ada --json"],
    )
    listing.add_argument("user", metavar="USER", nargs="?", help="only this user's")
    revoke = add_command(
        group,
        "revoke",
        _revoke,
        summary="refuse a key from now on",
        examples=["strobe server key revoke 4uGzV3kQp1aB", "strobe server key revoke 4uGzV3kQp1aB --json"],
        detail="Sessions that were opened with it end too.",
    )
    revoke.add_argument("id", metavar="ID", help="the key's public part (`strobe server key ls`), or all of it")
    for parser in (add, listing, revoke):
        add_store_options(parser)


def _add(args: Namespace) -> int:
    screen = Screen(args)
    if args.expires is not None and not 0 < args.expires <= _MAX_DAYS:
        raise UsageError(f"--expires is {args.expires:g}; give a number of days above 0, up to {_MAX_DAYS}")
    expires_ns = None if args.expires is None else time.time_ns() + int(args.expires * _DAY_NS)
    with open_accounts_of(args) as accounts:
        key, text = accounts.keys.add(args.user, scope=args.scope, label=args.label, expires_ns=expires_ns)
    if args.json:
        screen.json({**_fields(key), "key": text})
    else:
        screen.out(text)
        screen.note(f"this key of {key.account} is not shown again; `strobe login KEY --host URL` stores it")
    return 0


def _list(args: Namespace) -> int:
    screen = Screen(args)
    with open_accounts_of(args) as accounts:
        found = accounts.keys.all(args.user)
    if args.json:
        screen.json([_fields(key) for key in found])
    else:
        rows = [
            [key.id, key.account, key.scope, _state(key), key.label, time_text(key.created_ns), time_text(key.used_ns)]
            for key in found
        ]
        screen.table(["KEY", "USER", "SCOPE", "STATE", "LABEL", "CREATED", "USED"], rows, whole=("KEY", "STATE"))
    return 0


def _revoke(args: Namespace) -> int:
    from strobe.store.keys import split

    screen = Screen(args)
    with open_accounts_of(args) as accounts:
        key = accounts.keys.revoke(split(args.id)[0] or args.id)
    if args.json:
        screen.json(_fields(key))
    else:
        screen.note(f"key {key.id} of {key.account} is refused from now on")
    return 0


def _state(key: Key) -> str:
    if key.revoked_ns is not None:
        return "revoked"
    return "live" if key.is_live(time.time_ns()) else "expired"


def _fields(key: Key) -> dict[str, object]:
    return {name: getattr(key, name) for name in key.__struct_fields__}
