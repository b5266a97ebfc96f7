"""Looks at the demo in the place of a person: the page answers, the runs are there, a point arrives while one looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, urlencode
from urllib.request import urlopen

import msgspec

from strobe.demo.training import PROJECT
from strobe.errors import Error

_REQUEST_S = 30.0
_POLL_S = 0.3
_KEY = "train/loss"


class DemoFailed(Error):
    """What the demo shows is not what it should be."""


def check(url: str, failed: Callable[[], str], *, num_past: int, timeout_s: float = 300.0) -> str:
    """Return what was seen, in a sentence; raise DemoFailed if it is not all there in time."""
    base = url.rstrip("/")
    page = _get(f"{base}/")
    if "<html" not in page.lower():
        raise DemoFailed(f"{base}/ answers, but not with a page: {page[:80]!r}")
    runs: list[dict[str, Any]] = []
    first: dict[str, int] = {}
    deadline = time.monotonic() + timeout_s

    def missing() -> str:
        return f"{num_past} runs should be over and one should grow, but there are {_names(runs)}"

    for _ in _until(deadline, failed, missing):
        listed = f"{base}/api/v1/projects/local/{PROJECT}/runs?limit=200"
        runs[:] = msgspec.json.decode(_get(listed, absent='{"items": []}'))["items"]
        over = [run for run in runs if run["state"] in ("finished", "failed")]
        # Of those that seem to go on, some may have ended with the demo before this one: one that grows is alive.
        counts = {
            run["id"]: _count(base, run["id"]) for run in runs if run["state"] == "running" and "live" in run["tags"]
        }
        growing = [name for name, count in counts.items() if count > first.setdefault(name, count)]
        if len(over) >= num_past and growing:
            break
    name = growing[0]
    chart = _get(f"{base}/chart.svg?{urlencode({'run': f'local/{PROJECT}/{name}', 'key': _KEY})}")
    if not chart.startswith("<svg"):
        raise DemoFailed(f"the chart of the run is no SVG: {chart[:80]!r}")
    came = counts[name] - first[name]
    return f"the page answers, {len(over)} runs are over, and {came} points came in while one was watched"


def _until(deadline: float, failed: Callable[[], str], missing: Callable[[], str]) -> Iterator[None]:
    while True:
        if trouble := failed():
            raise DemoFailed(trouble)
        if time.monotonic() > deadline:
            raise DemoFailed(f"the demo did not get so far in time: {missing()}")
        yield
        time.sleep(_POLL_S)


def _count(base: str, run: str) -> int:
    address = f"{base}/api/v1/runs/local/{PROJECT}/{quote(run)}/digests?{urlencode({'keys': _KEY})}"
    digests = msgspec.json.decode(_get(address))["digests"]
    return int(digests[_KEY]["count"]) if _KEY in digests else 0


def _names(runs: list[dict[str, Any]]) -> str:
    return ", ".join(f"{run['name']} ({run['state']})" for run in runs) or "none"


def _get(address: str, *, absent: str | None = None) -> str:
    try:
        with urlopen(address, timeout=_REQUEST_S) as answer:
            found: str = answer.read().decode()
            return found
    except URLError as error:  # of which an HTTPError is one
        if absent is not None and getattr(error, "code", None) == 404:
            return absent
        raise DemoFailed(f"{address}: {error}") from error
