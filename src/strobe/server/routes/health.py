"""Whether the process lives, whether it can do its work, and its figures.

The answers are a word, written here and not in a thread, which they might have to wait for.
"""

from __future__ import annotations

from typing import Literal

import anyio
import anyio.to_thread
import msgspec
from starlette.responses import Response

from strobe.errors import StoreError
from strobe.server.endpoint import Call, endpoint
from strobe.server.problem import Problem
from strobe.server.registry import CONTENT_TYPE

_PATIENCE_S = 5.0


class Health(msgspec.Struct):
    """A word for whoever watches."""

    status: Literal["ok"] = "ok"


@endpoint("GET", "/healthz", access="open", tag="health", returns=Health, is_free=True)
async def get_health(call: Call) -> Response:
    """Say that the process lives. It says nothing about the store: restarting would not mend that."""
    return call.json(Health())


@endpoint("GET", "/readyz", access="open", tag="health", returns=Health, is_free=True)
async def get_readiness(call: Call) -> Response:
    """Say whether requests should be sent here: the store answers, and the server is not about to stop."""
    if call.services.stopping:
        raise Problem(503, detail="the server is about to stop", kind="stopping", retry_after_s=5)
    try:
        with anyio.fail_after(_PATIENCE_S):
            await anyio.to_thread.run_sync(call.services.store.accounts.keys.has_live, abandon_on_cancel=True)
    except TimeoutError:
        raise Problem(503, detail=f"the store does not answer within {_PATIENCE_S:g} s", retry_after_s=5) from None
    except StoreError as error:
        call.services.log.warning("the store does not answer: %s", error)
        raise Problem(503, detail="the store does not answer; the log has the reason", retry_after_s=5) from error
    return call.json(Health())


@endpoint("GET", "/metrics", access="open", tag="health", produces=CONTENT_TYPE.partition(";")[0], is_free=True)
async def get_metrics(call: Call) -> Response:
    """Return the server's figures as OpenMetrics text; with any key, or without one if it was started so."""
    if not call.caller.is_known and not call.services.settings.is_metrics_open:
        raise Problem(401, detail="figures need a key (any scope), or a server started with --open-metrics")
    return Response(await call.in_thread(call.services.metrics.text), media_type=CONTENT_TYPE)


ENDPOINTS = [get_health, get_readiness, get_metrics]
