"""Teams by HTTP: who shares an entity with whom. Admins make them; their owners decide who is in them."""

from __future__ import annotations

import msgspec

from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import Name
from strobe.server.routes.users import refuse_at_home
from strobe.store.accounts import Member, Role

_TEAMS = "/api/v1/teams"
_MEMBER = _TEAMS + "/{team}/members/{user}"


class MemberPlace(msgspec.Struct):
    """A user's place in a team."""

    team: Name
    user: Name


class Team(msgspec.Struct, kw_only=True):
    """A team and who is in it."""

    name: str
    members: list[Member]


class TeamList(msgspec.Struct, kw_only=True):
    """Teams, by name."""

    items: list[Team]
    cursor: str | None = None


class NewTeam(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A team to be made; the name becomes an entity."""

    name: Name
    owner: Name


class Place(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a user is in a team."""

    role: Role = "member"


@endpoint("GET", _TEAMS, access="account", tag="teams", returns=TeamList)
async def list_teams(call: Call) -> TeamList:
    """List the teams that the caller is in; admins see all."""
    refuse_at_home(call)
    found = await call.in_thread(call.services.store.accounts.teams)
    is_all = call.caller.is_admin and call.caller.allows("admin")
    teams = [Team(name=name, members=members) for name, members in found.items()]
    return TeamList(items=[team for team in teams if is_all or _has(team, call.caller.user)])


@endpoint("POST", _TEAMS, access="admin", tag="teams", body=NewTeam, returns=Team, status=201)
async def add_team(call: Call, body: NewTeam) -> Team:
    """Make a team with its first owner."""
    refuse_at_home(call)
    first = await call.in_thread(call.services.store.accounts.add_team, body.name, owner=body.owner)
    return Team(name=body.name, members=[first])


@endpoint("PUT", _MEMBER, access="account", tag="teams", path=MemberPlace, body=Place, returns=Member)
async def set_member(call: Call, path: MemberPlace, body: Place) -> Member:
    """Put a user into a team, or change the role there.

    For owners of the team and for admins of the server, with a key of scope admin.
    """
    refuse_at_home(call)
    await call.require("admin", path.team)
    placed: Member = await call.in_thread(call.services.store.accounts.set_member, path.team, path.user, body.role)
    return placed


@endpoint("DELETE", _MEMBER, access="account", tag="teams", path=MemberPlace, status=204)
async def remove_member(call: Call, path: MemberPlace) -> None:
    """Take a user out of a team; runs that went there by default go to the user's own name from now on."""
    refuse_at_home(call)
    await call.require("admin", path.team)
    await call.in_thread(call.services.store.accounts.remove_member, path.team, path.user)


def _has(team: Team, user: str | None) -> bool:
    return any(member.account == user for member in team.members)


ENDPOINTS = [list_teams, add_team, set_member, remove_member]
