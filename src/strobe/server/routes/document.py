"""`GET /api/v1/openapi.json`: every endpoint, in words that other programs understand."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from strobe.server.endpoint import Call, endpoint
from strobe.server.openapi import document


@endpoint("GET", "/api/v1/openapi.json", access="open", tag="server", returns=dict, is_free=True)
async def get_document(call: Call) -> Response:
    """Return the OpenAPI document of this server."""
    state = call.request.app.state
    if not hasattr(state, "document"):
        state.document = msgspec.json.encode(document(state.endpoints))
    return Response(state.document, media_type="application/json")


ENDPOINTS = [get_document]
