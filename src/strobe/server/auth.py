"""Finding out who asks: a key in the `Authorization` header, a session cookie, or being the person at this machine.

A key is explicit: no browser sends it by itself. A cookie and the loopback address are not, so a page of somebody else
could use them through the user's browser; `check_origin` refuses that.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import secrets
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from strobe.errors import StoreError
from strobe.server.caller import LOCAL, STRANGER, Caller
from strobe.server.problem import Problem
from strobe.server.services import Services
from strobe.store.keys import Holder, split

T = TypeVar("T")

CSRF_HEADER = "X-Strobe-CSRF"
SESSION_S = 30 * 24 * 3600
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PURPOSE = "session"
_SEPARATOR = ":"


async def identify(request: Request, services: Services) -> Caller:
    """Return who asks; raise a 401 for a key or a session that is not valid, a 429 after too many such."""
    if services.settings.mode == "local":
        if not _is_loopback(request):
            raise Problem(403, detail="`strobe ui` answers this machine only; for others, start `strobe server`")
        return LOCAL
    if (given := request.headers.get("authorization")) is not None:
        return await _by_key(_key_in(given), request, services)
    if (token := request.cookies.get(cookie_name(request))) is not None:
        holder = await _in_thread(_check_session, services, token)
        # An old cookie is no attempt at anything: whoever has one reads what is public, and is asked to sign in.
        return STRANGER if holder is None else _caller(holder, "cookie")
    return STRANGER


async def sign_in(request: Request, services: Services, key: str, response: Response) -> Caller:
    """Put a session for the key's owner on the response."""
    caller = await _by_key(key, request, services)
    text = f"{caller.key}{_SEPARATOR}{secrets.token_hex(16)}"
    token = services.signer.sign(_PURPOSE, text, expires_ns=services.clock() + SESSION_S * 10**9)
    response.set_cookie(
        cookie_name(request), token, max_age=SESSION_S, httponly=True, samesite="strict", secure=_is_secure(request)
    )
    return caller


async def sign_out(request: Request, services: Services, response: Response) -> None:
    """End the session, so that copies of its cookie are of no use either, and take it off the browser."""
    if token := request.cookies.get(cookie_name(request)):
        _, session_id = _session_in(services, token)
        if session_id:
            expires_ns = services.clock() + SESSION_S * 10**9
            await _in_thread(lambda: services.store.accounts.sessions.end(session_id, expires_ns=expires_ns))
    response.delete_cookie(cookie_name(request), httponly=True, samesite="strict", secure=_is_secure(request))


def cookie_name(request: Request) -> str:
    """Return the session's name; with TLS one that a browser takes from this very host only."""
    return "__Host-strobe_session" if _is_secure(request) else "strobe_session"


def check_origin(request: Request, caller: Caller) -> None:
    """Raise a 403 if something is asked for with what a browser sends by itself, and not from our own pages.

    That is about changes; `strobe ui`, which knows nobody, does not even do work for other sites, who could tell from
    the time it takes what there is. Following a link to it is fine. A browser sends keys by itself, too, if they were
    once part of an address.
    """
    is_safe = request.method in _SAFE
    if is_safe and (not caller.is_local or request.headers.get("sec-fetch-mode") == "navigate"):
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None and site != "same-origin" and not (is_safe and site == "none"):
        raise Problem(403, detail=f"the request comes from another site (Sec-Fetch-Site: {site})")
    if caller.via == "key":
        return
    if origin is not None and urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower():
        raise Problem(403, detail=f"the request comes from {origin[:200]}, which is another site")
    if caller.via == "cookie":
        if site is None and origin is None:
            raise Problem(403, detail="a session needs a browser that says where a request comes from; use a key")
        if not request.headers.get(CSRF_HEADER):
            raise Problem(403, detail=f"changes with a session need the header {CSRF_HEADER}: 1")


def _session_in(services: Services, token: str) -> tuple[str, str]:
    """Return the key that a session was opened with, and the session's own id; both empty if it is none, or over."""
    text = services.signer.read(_PURPOSE, token, now_ns=services.clock()) or ""
    key_id, _, session_id = text.partition(_SEPARATOR)
    return (key_id, session_id) if session_id else ("", "")


def _check_session(services: Services, token: str) -> Holder | None:
    key_id, session_id = _session_in(services, token)
    accounts = services.store.accounts
    if not session_id or accounts.sessions.has_ended(session_id):
        return None
    return accounts.keys.check_id(key_id)


async def _by_key(key: str, request: Request, services: Services) -> Caller:
    holder = await _in_thread(_check, services, key)
    if holder is None:
        # Counted where a key is wrong only: nobody guesses 256 bits, but many people share an address with somebody
        # whose old key is tried again and again.
        address = address_of(request)
        if wait_s := services.rates.failures.take(address):
            raise Problem(429, detail=f"too many wrong keys from {address}; wait", retry_after_s=wait_s)
        shown = split(key)[0]
        named = f"the key {shown!r}" if shown else "the key"
        raise Problem(
            401, detail=f"{named} is unknown, expired or revoked; make another with `strobe server key add`",
            headers={"WWW-Authenticate": 'Bearer realm="strobe", error="invalid_token"'},
        )  # fmt: skip
    return _caller(holder, "key")


def _check(services: Services, key: str) -> Holder | None:
    keys = services.store.accounts.keys
    holder = keys.check(key)
    if holder is not None:
        try:
            keys.note_use(holder.key)
        except StoreError as error:  # that a key was used is worth less than what it was used for
            services.log.warning("the use of key %s could not be noted: %s", holder.key.id, error)
    return holder


def _key_in(header: str) -> str:
    scheme, _, rest = header.strip().partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            user, _, password = base64.b64decode(rest.strip(), validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            user, password = "", ""
        if user == "api":  # as wandb's client sends its key
            return password
    raise Problem(401, detail="the Authorization header is of a kind that is not understood; send `Bearer <key>`")


def _caller(holder: Holder, via: str) -> Caller:
    return Caller(
        user=holder.account,
        entity=holder.default_entity,
        scope=holder.key.scope,
        is_admin=holder.is_admin,
        key=holder.key.id,
        expires_ns=holder.key.expires_ns,
        via="cookie" if via == "cookie" else "key",
    )


def address_of(request: Request) -> str:
    """Return the sender's address, as far as it is known."""
    return request.client.host if request.client else "unknown"


def _is_loopback(request: Request) -> bool:
    if request.client is None:  # a Unix socket: its file's permissions say who
        return True
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"


async def _in_thread(blocking: Callable[..., T], *arguments: object) -> T:
    return await anyio.to_thread.run_sync(blocking, *arguments)
