"""`strobe server team`: entities that several users share."""

from __future__ import annotations

from argparse import Namespace

from strobe.cli.parser import Subparsers, add_command, add_group
from strobe.cli.render import Screen
from strobe.cli.server_store import add_store_options, open_accounts_of
from strobe.store.accounts import Member


def register(verbs: Subparsers) -> None:
    group = add_group(
        verbs,
        "team",
        summary="entities that several users share",
        examples=["strobe server team add lab --owner ada", "strobe server team set lab bob --role viewer"],
        detail="A viewer reads the team's private projects, a member writes too, an owner decides too.",
    )
    add = add_command(
        group,
        "add",
        _add,
        summary="make a team",
        examples=["strobe server team add lab --owner ada", "strobe server team add ops --owner bob --json"],
    )
    add.add_argument("team", metavar="TEAM", help="its name, which becomes an entity")
    add.add_argument("--owner", metavar="USER", required=True, help="its first member")
    listing = add_command(
        group,
        "ls",
        _list,
        summary="list teams and who is in them",
        examples=["strobe server team ls", "strobe server team ls --json"],
    )
    place = add_command(
        group,
        "set",
        _set,
        summary="put a user into a team, or change the role there",
        examples=["strobe server team set lab bob", "strobe server team set lab eve --role viewer"],
    )
    place.add_argument("team", metavar="TEAM", help="the team")
    place.add_argument("user", metavar="USER", help="the user")
    place.add_argument("--role", choices=["viewer", "member", "owner"], default="member", help="what for (member)")
    remove = add_command(
        group,
        "rm",
        _remove,
        summary="take a user out of a team",
        examples=["strobe server team rm lab bob", "strobe server team rm lab eve --json"],
    )
    remove.add_argument("team", metavar="TEAM", help="the team")
    remove.add_argument("user", metavar="USER", help="the user")
    for parser in (add, listing, place, remove):
        add_store_options(parser)


def _add(args: Namespace) -> int:
    with open_accounts_of(args) as accounts:
        return _show(args, accounts.add_team(args.team, owner=args.owner))


def _set(args: Namespace) -> int:
    with open_accounts_of(args) as accounts:
        return _show(args, accounts.set_member(args.team, args.user, args.role))


def _remove(args: Namespace) -> int:
    screen = Screen(args)
    with open_accounts_of(args) as accounts:
        accounts.remove_member(args.team, args.user)
    if args.json:
        screen.json({"team": args.team, "account": args.user, "role": None})
    else:
        screen.note(f"{args.user} is no longer in {args.team}")
    return 0


def _list(args: Namespace) -> int:
    screen = Screen(args)
    with open_accounts_of(args) as accounts:
        teams = accounts.teams()
    if args.json:
        screen.json([{"team": name, "members": [_fields(one) for one in members]} for name, members in teams.items()])
    else:
        rows = [[member.team, member.account, member.role] for members in teams.values() for member in members]
        screen.table(["TEAM", "USER", "ROLE"], rows)
    return 0


def _show(args: Namespace, member: Member) -> int:
    screen = Screen(args)
    if args.json:
        screen.json(_fields(member))
    else:
        screen.note(f"{member.account} is {member.role} of {member.team}")
    return 0


def _fields(member: Member) -> dict[str, object]:
    return {name: getattr(member, name) for name in member.__struct_fields__}
