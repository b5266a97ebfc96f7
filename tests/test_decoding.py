"""Types that threads decode are known to msgspec before the threads are: it crashes when they are the first, together.

(msgspec 0.22 shows a half-made description of a struct to the second thread that asks for it.) So code that may run in
threads has its decoders made when its module is imported, and no `decode(…, type=…)` inside of a function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import strobe

ROOT = Path(strobe.__file__).parent
THREADED = ("agent/upload", "remote", "api/server", "artifact", "store", "server", "swarm")
#: on the thread of the event loop, or of a command, alone; of no struct; or of types made known to msgspec before
ALONE = {
    "remote/marker.py",
    "server/endpoint.py",
    "server/routes/links.py",
    "server/signing.py",
    "store/alerts/sinks.py",
    "store/backup.py",
    "artifact/record.py",
}


def _late(path: Path) -> Iterator[int]:
    """Yield the lines of calls such as msgspec.json.decode(body, type=Kind)."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    for call in calls:
        is_decode = isinstance(call.func, ast.Attribute) and call.func.attr == "decode"
        if is_decode and any(keyword.arg == "type" for keyword in call.keywords):
            yield call.lineno


def test_threads_find_their_decoders_made() -> None:
    files = [path for name in THREADED for path in sorted((ROOT / name).rglob("*.py"))]
    assert files
    late = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files
        if str(path.relative_to(ROOT)) not in ALONE
        for line in _late(path)
    ]
    assert late == []


def test_what_is_allowed_is_still_there() -> None:
    assert [name for name in sorted(ALONE) if not list(_late(ROOT / name))] == []
