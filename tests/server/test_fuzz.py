"""Anything may come in: never a 5xx, never a hang, and every error is a problem document."""

from __future__ import annotations

import string

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.server.rate import Rate
from strobe.server.services import RateLimits, Rates
from tests.server.conftest import Stage

PATHS = [
    "/api/v1/server", "/api/v1/login", "/api/v1/logout", "/api/v1/openapi.json", "/healthz", "/readyz", "/metrics",
    "/api/v1/keys", "/chart.svg",
]  # fmt: skip
HEADERS = [
    "Authorization", "Cookie", "Strobe-Protocol", "Content-Type", "Content-Encoding", "Content-Length", "Origin",
    "Sec-Fetch-Site", "X-Strobe-CSRF", "X-Request-ID", "If-None-Match", "Accept",
]  # fmt: skip
WORDS = [
    b"Bearer ", b"Basic ", b"strobe_session=", b"__Host-strobe_session=", b"gzip", b"application/json", b"1", b"",
    b"same-origin", b"http://localhost:8080", b"Bearer strobe_aaaaaaaaaaaa_" + b"a" * 43,
]  # fmt: skip

printable = st.binary(max_size=40).map(lambda raw: bytes(byte for byte in raw if byte >= 32 and byte != 127))
values = st.builds(lambda word, rest: word + rest, st.sampled_from(WORDS), printable)
paths = st.one_of(
    st.sampled_from(PATHS),
    st.builds(lambda path, rest: f"{path}/{rest}", st.sampled_from(PATHS), st.text(max_size=20)),
    st.text(max_size=30).map(lambda text: "/" + text),
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "BREW"]),
    path=paths,
    query=st.dictionaries(st.text(string.ascii_letters, max_size=8), st.text(max_size=8), max_size=2),
    headers=st.dictionaries(st.sampled_from(HEADERS), values, max_size=4),
    body=st.one_of(st.binary(max_size=200), st.just(b'{"key": "x"}')),
)
def test_anything(
    stage: Stage, method: str, path: str, query: dict[str, str], headers: dict[str, bytes], body: bytes
) -> None:
    object.__setattr__(stage.services, "rates", Rates(RateLimits(failure=Rate(per_s=1000, burst=100_000))))
    try:
        url = httpx.URL("http://localhost:8080").copy_with(path=path.encode("utf-8", "ignore").decode(), params=query)
    except httpx.InvalidURL:
        return
    sent = [(name.encode(), value) for name, value in headers.items()]
    answer = stage.run(lambda client: client.send(httpx.Request(method, url, headers=sent, content=body)))
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400 and method != "HEAD":
        document = answer.json()
        assert document["status"] == answer.status_code
        assert document["type"].startswith("urn:strobe:problem:")
        assert answer.headers["content-type"] == "application/problem+json"
