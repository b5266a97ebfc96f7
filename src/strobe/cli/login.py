"""`strobe login`: check a key against a server and keep both in the user's settings."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any
from urllib.parse import urlsplit

from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen
from strobe.errors import CommError, SettingsError, UsageError
from strobe.settings import Resolved, resolve
from strobe.settings.settings import working_directory


def register(subparsers: Subparsers) -> None:
    login = add_command(
        subparsers,
        "login",
        _login,
        summary="check a key against a server and store it",
        examples=["strobe login --host https://strobe.example.com", "strobe login - --host http://127.0.0.1:7347"],
        detail="Asks for the key when it is left out. The key is sent only to a server that has said that it is a "
        "Strobe server, and kept in the user's settings file, which only the user can read.",
    )
    login.add_argument("key", metavar="KEY", nargs="?", help="the key; - reads it from stdin")
    login.add_argument("--host", metavar="URL", help="the server's address (default: the setting base_url)")


def _login(args: Namespace) -> int:
    from strobe.settings.change import remove_setting, write_setting

    screen, cwd = Screen(args), working_directory()
    settings = resolve({"base_url": args.host} if args.host else {})
    if args.key is not None and "://" in args.key:
        raise UsageError(f"{args.key} is an address, not a key; `strobe login --host {args.key}` asks for the key")
    if settings.base_url is None:
        raise UsageError("which server? give its address: `strobe login --host https://…`")
    key = _given(args.key)
    found = _greet(settings, key)
    if _is_exposed(settings.base_url):
        screen.warn(
            f"{settings.base_url} has no TLS: the key can be read on its way; put one in front (docs/server.md)"
        )
    # The key goes first and comes last: at no moment does the file pair it with another server.
    remove_setting("api_key", cwd=cwd)
    write_setting("base_url", settings.base_url, cwd=cwd)
    write_setting("login_entity", str(found["entity"]), cwd=cwd)
    kept = write_setting("api_key", key, cwd=cwd)
    if args.json:
        answer = {name: found.get(name) for name in ("user", "entity", "scopes", "version")}
        screen.json({"base_url": settings.base_url, **answer, "file": str(kept.path)})
    else:
        screen.note(f"signed in to {settings.base_url} as {found.get('user')}; the key is in {kept.path}")
    if kept.decided_by is not None:
        screen.warn(f"the key is decided by {kept.decided_by}, which is stronger than {kept.path}")
    return 0


def _given(key: str | None) -> str:
    if key is None:
        if not sys.stdin.isatty():
            raise SettingsError("no key given; write it after `strobe login`, or - to read it from stdin")
        import getpass

        key = getpass.getpass("key: ")
    elif key == "-":
        key = sys.stdin.readline()
    key = key.strip()
    if not key:
        raise SettingsError("the key is empty; `strobe server key add USER` on the server prints one")
    return key


def _greet(settings: Resolved, key: str) -> dict[str, Any]:
    """Return what the server says to the key's owner; raise CommError if it is none of ours, or refuses the key."""
    import msgspec

    from strobe.remote.answer import Ok
    from strobe.remote.link import Link
    from strobe.remote.target import target_of

    target = target_of(settings)
    assert target is not None
    link = Link(msgspec.structs.replace(target, api_key=key, key_file=None))
    try:
        answer = link.connect()
        if isinstance(answer, Ok):
            answer = link.request("GET", "/server")
    finally:
        link.close()
    if not isinstance(answer, Ok):
        raise CommError(f"not signed in to {settings.base_url}: {answer.why}")
    found: dict[str, Any] = answer.json()
    if found.get("user") is None:
        raise UsageError(f"{settings.base_url} needs no key: it serves one machine (`strobe ui`); nothing was stored")
    return found


def _is_exposed(base_url: str) -> bool:
    place = urlsplit(base_url)
    return place.scheme == "http" and (place.hostname or "") not in ("localhost", "127.0.0.1", "::1")
