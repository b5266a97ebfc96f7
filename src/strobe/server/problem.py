"""Errors as answers: `application/problem+json` (RFC 9457), for people and programs alike.

A handler raises `Problem`, or lets what the store raises go through; `problem_of` says what each of them means in HTTP.
What nobody expected is a 500 with an incident number: its traceback is in the log under that number and nowhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from strobe.errors import CommError, NotInStore, StoreBusy, StoreChanged, StoreConflict, StoreFull, UsageError

PROBLEM_JSON = "application/problem+json"

#: seconds after which the same request may work again
_BUSY_RETRY_S = 2
_FULL_RETRY_S = 60

#: status → (the last word of the problem's type, its title)
_KINDS: dict[int, tuple[str, str]] = {
    400: ("bad-request", "The request makes no sense"),
    401: ("unauthenticated", "Not signed in"),
    403: ("forbidden", "Not allowed"),
    404: ("not-found", "There is no such thing"),
    405: ("method-not-allowed", "Not with this method"),
    408: ("timeout", "Nothing came any more"),
    406: ("not-acceptable", "Not in this form"),
    409: ("conflict", "It contradicts what is there"),
    410: ("gone", "It is gone"),
    412: ("precondition-failed", "It has changed meanwhile"),
    413: ("too-large", "Too large"),
    415: ("media-type", "Not of a kind that is taken here"),
    416: ("range", "No such range"),
    421: ("host", "Not this host"),
    422: ("invalid", "A value cannot be"),
    426: ("protocol", "Another version of the protocol is needed"),
    429: ("rate-limited", "Too many requests"),
    431: ("headers-too-large", "The headers are too large"),
    500: ("internal", "A fault of the server"),
    503: ("busy", "Not now"),
    507: ("full", "No room"),
}

#: how msgspec says that a text has a NUL in it, for which a pattern has to be declared
_ENUM = "Invalid enum value"
_NO_NUL = re.compile(r"`str` matching regex '\^\[\^\\+x00\]\*\\+Z'")


class Problem(Exception):
    """An answer other than the one that was asked for. `detail` says what happened, the value seen, what to do next."""

    def __init__(
        self,
        status: int,
        title: str = "",
        detail: str = "",
        *,
        kind: str = "",
        headers: Mapping[str, str] | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        known_kind, known_title = _KINDS.get(status, ("error", "Error"))
        self.status = status
        self.kind = kind or known_kind
        self.title = title or known_title
        self.detail = detail
        self.headers = dict(headers or {})
        if status == 401:
            self.headers.setdefault("WWW-Authenticate", 'Bearer realm="strobe"')
        if retry_after_s is not None:
            self.headers["Retry-After"] = str(max(1, math.ceil(retry_after_s)))
        super().__init__(f"{status} {self.title}: {detail}" if detail else f"{status} {self.title}")


class ProblemDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The body of an answer with an error."""

    #: a URN that programs compare
    type: str
    title: str
    status: int
    #: what happened, the value seen, what to do next
    detail: str = ""
    #: the request's id, which is in the server's log too
    request: str = ""


def problem_of(error: BaseException) -> Problem | None:
    """Return what an exception means in HTTP; None if it is a fault of ours."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):  # what Starlette's router and its parsers raise
        return Problem(error.status_code, detail=_detail_of(error), headers=error.headers)
    if isinstance(error, StoreBusy):
        return Problem(503, detail=str(error), retry_after_s=_BUSY_RETRY_S)
    if isinstance(error, StoreFull):
        return Problem(507, detail=str(error), retry_after_s=_FULL_RETRY_S)
    if isinstance(error, StoreChanged):
        return Problem(412, detail=str(error))
    if isinstance(error, StoreConflict):
        return Problem(409, detail=str(error))
    if isinstance(error, NotInStore):
        return Problem(404, detail=str(error))
    if isinstance(error, msgspec.ValidationError):
        return Problem(422, detail=_said_by_msgspec(error))
    if isinstance(error, RecursionError):
        return Problem(422, detail="something here is nested deeper than can be handled; make it flatter")
    if isinstance(error, (UsageError, CommError, msgspec.DecodeError)):
        return Problem(400, detail=str(error))
    return None


def fault(incident: str) -> Problem:
    """Return the answer to a request on which the server failed."""
    detail = f"the server failed; its log has the reason under {incident}, please tell whoever runs it"
    return Problem(500, detail=detail)


def problem_response(problem: Problem, request_id: str = "") -> Response:
    """Return the problem as an answer."""
    document = ProblemDocument(
        type=f"urn:strobe:problem:{problem.kind}",
        title=problem.title,
        status=problem.status,
        detail=problem.detail,
        request=request_id,
    )
    body = msgspec.json.encode(document)
    return Response(body, status_code=problem.status, headers=problem.headers, media_type=PROBLEM_JSON)


def _detail_of(error: HTTPException) -> str:
    from http import HTTPStatus

    if error.status_code == 405 and error.headers:
        return f"this address takes {error.headers['Allow']}"
    return "" if error.detail == HTTPStatus(error.status_code).phrase else error.detail


def _said_by_msgspec(error: msgspec.ValidationError) -> str:
    text = _NO_NUL.sub("`str` without NUL characters", str(error))
    # It names the word that was sent, but not those that there are.
    return f"{text}; /api/v1/openapi.json names the words that there are" if text.startswith(_ENUM) else text
