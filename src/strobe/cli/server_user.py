"""`strobe server user`: who may use a server."""

from __future__ import annotations

from argparse import Namespace

from strobe.cli.parser import Subparsers, add_command, add_group
from strobe.cli.render import Screen, time_text
from strobe.cli.server_store import add_store_options, open_accounts_of
from strobe.store.accounts import Account


def register(verbs: Subparsers) -> None:
    group = add_group(
        verbs,
        "user",
        summary="who may use a server",
        examples=["strobe server user add ada --admin", "strobe server user ls"],
    )
    add = add_command(
        group,
        "add",
        _add,
        summary="make a user",
        examples=["strobe server user add ada --admin", "strobe server user add bob --email bob@example.com"],
        detail="The name is the entity of the user's own runs too. Users sign in with keys: `strobe server key add`.",
    )
    add.add_argument("name", metavar="NAME", help="the user's name")
    add.add_argument("--email", metavar="ADDRESS", default="", help="where to write to")
    add.add_argument("--admin", action="store_true", help="may see and change everything, with a key of scope admin")
    listing = add_command(
        group,
        "ls",
        _list,
        summary="list users",
        examples=["strobe server user ls", "strobe server user ls --json"],
    )
    change = add_command(
        group,
        "set",
        _set,
        summary="change a user",
        examples=["strobe server user set ada --entity lab", "strobe server user set bob --no-admin"],
    )
    change.add_argument("name", metavar="NAME", help="the user's name")
    change.add_argument("--email", metavar="ADDRESS", help="where to write to")
    change.add_argument("--entity", metavar="NAME", help="where runs go that name no entity: the user, or a team")
    rights = change.add_mutually_exclusive_group()
    rights.add_argument("--admin", action="store_true", default=None, help="may see and change everything")
    rights.add_argument("--no-admin", action="store_false", dest="admin", help="may no longer")
    disable = add_command(
        group,
        "disable",
        _disable,
        summary="refuse a user's keys from now on",
        examples=["strobe server user disable bob", "strobe server user disable bob --undo"],
        detail="Runs and memberships stay as they are.",
    )
    disable.add_argument("name", metavar="NAME", help="the user's name")
    disable.add_argument("--undo", action="store_true", help="take them again")
    for parser in (add, listing, change, disable):
        add_store_options(parser)


def _add(args: Namespace) -> int:
    with open_accounts_of(args) as accounts:
        made = accounts.add(args.name, email=args.email, is_admin=args.admin)
    return _show(args, made, f"{made.name} is a user; `strobe server key add {made.name}` makes a key")


def _set(args: Namespace) -> int:
    with open_accounts_of(args) as accounts:
        changed = accounts.change(args.name, email=args.email, is_admin=args.admin, default_entity=args.entity)
    return _show(args, changed, f"{changed.name} was changed")


def _disable(args: Namespace) -> int:
    with open_accounts_of(args) as accounts:
        changed = accounts.disable(args.name, undo=args.undo)
    return _show(args, changed, f"keys of {changed.name} are {'taken again' if args.undo else 'refused from now on'}")


def _list(args: Namespace) -> int:
    screen = Screen(args)
    with open_accounts_of(args) as accounts:
        found = accounts.all()
    if args.json:
        screen.json([_fields(account) for account in found])
    else:
        rows = [
            [
                account.name,
                "disabled" if account.disabled_ns else "admin" if account.is_admin else "user",
                account.default_entity,
                account.email,
                time_text(account.created_ns),
            ]
            for account in found
        ]
        screen.table(["USER", "STATE", "ENTITY", "EMAIL", "CREATED"], rows)
    return 0


def _show(args: Namespace, account: Account, text: str) -> int:
    screen = Screen(args)
    if args.json:
        screen.json(_fields(account))
    else:
        screen.note(text)
    return 0


def _fields(account: Account) -> dict[str, object]:
    return {name: getattr(account, name) for name in account.__struct_fields__}
