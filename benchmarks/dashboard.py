"""The dashboard's charts in a real Chromium, against a bare uPlot page that draws the same arrays in the same browser.

The pages of `web/bench` are built from the dashboard's own modules and opened headless, in turns, so that a busy
machine slows both; medians count. A ratio is ours / bare uPlot.

    first draw    panels of runs of points, all on the screen: from nothing to the frame after the last one is drawn;
                  against uPlot's own default lines (1 px), and against lines as wide as ours (1.5 px)
    hover         one move of the mouse over a panel: the crosshair in all panels, the values of all runs of that one
    zoom          one run of raw points, another range of x: until it is drawn
    scrolling     a list of 100,000 runs, against one of 100: work per frame
    search        100,000 metrics for words that fit all, many and one: until the panels found are shown
    brush         500 runs in parallel coordinates, scatter, bars and table: one move of a brush, until all show it
    off screen    canvases of panels that are far from the window (none)
    size          JavaScript that one page of the built dashboard loads, gzip

Prints a table and, as the last line, JSON; exits with 1 if a bar is missed. Needs Node with `npm ci` done in `web`, and
Debian's chromium or one named by CHROMIUM.

    python benchmarks/dashboard.py [--panels 40] [--runs 20] [--points 1000] [--many 1_000_000] [--repeat 7]
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

WEB = Path(__file__).resolve().parent.parent / "web"
MOST_TIMES_BARE = 1.5
#: "the same", on a machine that does other things too
MOST_TIMES_FEW_RUNS = 1.3
HOVER_MS = 33.0
SEARCH_MS = 100.0
BRUSH_MS = 33.0
SIZE_BYTES = 150_000
#: all panels of the default ask fit into it
WINDOW = {"width": 1920, "height": 2000}
_HOVER_MOVES = 60
_ZOOMS = 12
_SCROLLS = 80
_FEW_RUNS, _MANY_RUNS = 100, 100_000
_METRICS = 100_000
_SEARCHES = ("norm", "layer9 block7", "norm_99999")
_BRUSHED_RUNS = 500
_BRUSHES = 40
#: what uPlot draws if nobody says how wide, in pixels
_DEFAULT_WIDTH = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One line of the table: a figure and the most that it may be."""

    name: str
    value: float
    bar: float
    detail: str

    @property
    def is_met(self) -> bool:
        return self.value <= self.bar


def build(config: list[str], out: Path) -> None:
    """Build with Vite into a directory of our own: neither the served app nor the work tree is touched."""
    command = ["npx", "vite", "build", *config, "--outDir", str(out), "--emptyOutDir", "--logLevel", "error"]
    subprocess.run(command, cwd=WEB, check=True)


def largest_page(directory: Path) -> tuple[int, str]:
    """Return the gzip bytes of all JavaScript that one page loads, at most, and which page that is.

    Parts that a page loads when they are needed (a tab, the export) are counted one at a time, with what they need.
    """
    manifest = json.loads((directory / ".vite" / "manifest.json").read_text())
    size = functools.cache(lambda name: len(gzip.compress((directory / manifest[name]["file"]).read_bytes(), 9)))

    def needed(name: str, known: frozenset[str]) -> frozenset[str]:
        if name in known:
            return known
        known |= {name}
        for other in manifest[name].get("imports", ()):
            known = needed(other, known)
        return known

    def walk(name: str, before: frozenset[str], way: tuple[str, ...]) -> Iterator[tuple[int, str]]:
        loaded = needed(name, before)
        yield sum(map(size, loaded)), " > ".join(Path(step).parent.name for step in way)
        for one in loaded - before:
            for part in manifest[one].get("dynamicImports", ()):
                if part not in loaded:
                    yield from walk(part, loaded, (*way, part))

    (entry,) = (name for name, chunk in manifest.items() if chunk.get("isEntry"))
    return max(walk(entry, frozenset(), ()))


def gzip_size(directory: Path) -> int:
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in directory.rglob("*.js"))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the table is what is printed."""


@contextmanager
def served(directory: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(directory)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("no chromium found: apt-get install chromium, or name one by CHROMIUM=/path")
    # uPlot wants a language that exists, which the POSIX locale is not
    env: dict[str, str | float | bool] = {**os.environ, "LANG": "en_US.UTF-8"}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], env=env)
        try:
            yield browser
        finally:
            browser.close()


def call(page: Page, what: str, *arguments: object) -> Any:
    """Call one function of the page's `bench`."""
    return page.evaluate(f"(given) => window.bench.{what}(...given)", list(arguments))


def first_draw(page: Page, repeat: int) -> list[Measure]:
    """Draw all panels by each way in turns; the first round warms up."""
    ours, default, wide = [], [], []
    for _ in range(repeat + 1):
        default.append(call(page, "bare", _DEFAULT_WIDTH))
        ours.append(call(page, "ours"))
        wide.append(call(page, "bare"))
    return [
        _ratio("first draw", ours[1:], default[1:]),
        _ratio("as wide", ours[1:], wide[1:]),
    ]


def hover(page: Page) -> list[Measure]:
    call(page, "bare")
    bare = call(page, "hover", _HOVER_MOVES, False)
    call(page, "ours")
    ours = call(page, "hover", _HOVER_MOVES, True)
    panels, crosshairs, readings = (call(page, name) for name in ("panels", "crosshairs", "readings"))
    if crosshairs != panels or readings == 0:
        raise SystemExit(
            f"hovering moved {crosshairs} crosshairs of {panels} and read {readings} values: nothing to measure"
        )
    detail = f"p95 {_p95(ours):.0f} ms; bare uPlot, synced: {statistics.median(bare):.0f} ms, p95 {_p95(bare):.0f} ms"
    return [Measure(name="hover, ms", value=statistics.median(ours), bar=HOVER_MS, detail=detail)]


def zoom(page: Page, repeat: int) -> Measure:
    ours, bare = [], []
    for _ in range(max(2, repeat // 2)):
        bare += call(page, "zoomBare", _ZOOMS)
        ours += call(page, "zoomOurs", _ZOOMS)
    return _ratio("zoom", ours, bare)


def off_screen(page: Page) -> Measure:
    """Draw many panels in a small window: those below it hold no canvas, before and after scrolling."""
    page.set_viewport_size({"width": 800, "height": 500})
    call(page, "ours", False)
    far = 0
    for place in ("0", "document.body.scrollHeight"):
        page.evaluate(f"window.scrollTo(0, {place})")
        far += _settled(page)
    page.set_viewport_size({"width": WINDOW["width"], "height": WINDOW["height"]})
    return Measure(name="off screen, canvases", value=far, bar=0, detail=f"of {call(page, 'panels')} panels")


def _settled(page: Page) -> int:
    """Return how many canvases are left far from the window once the page has had time to let them go."""
    far = 0
    for _ in range(20):
        page.wait_for_timeout(200)
        far = call(page, "farCanvases")
        if far == 0:
            break
    return far


def scrolling(browser: Browser, url: str, repeat: int) -> Measure:
    page = browser.new_page(viewport={"width": 1280, "height": 920})
    page.goto(f"{url}/runs.html")
    few: list[float] = []
    many: list[float] = []
    for _ in range(max(2, repeat // 2)):
        for count, costs in ((_FEW_RUNS, few), (_MANY_RUNS, many)):
            call(page, "show", count)
            page.wait_for_timeout(500)
            if not 10 < (shown := call(page, "rows")) < 100:
                raise SystemExit(f"{shown} rows are in the document for {count} runs: nothing to measure")
            costs.extend(call(page, "scroll", _SCROLLS))
    page.close()
    a, b = statistics.median(many), statistics.median(few)
    return Measure(
        name="scrolling, x 100 runs",
        value=a / b,
        bar=MOST_TIMES_FEW_RUNS,
        detail=f"{a:.1f} ms a frame, p95 {_p95(many):.0f}; with {_FEW_RUNS} runs {b:.1f} ms, p95 {_p95(few):.0f}",
    )


def search(browser: Browser, url: str, repeat: int) -> Measure:
    """Search for one word after the other; the slowest of their medians counts."""
    page = browser.new_page(viewport={"width": 1280, "height": 920})
    page.goto(f"{url}/search.html")
    call(page, "show", _METRICS)
    took: dict[str, list[float]] = {text: [] for text in _SEARCHES}
    for _ in range(max(3, repeat)):
        for text, times in took.items():
            call(page, "search", "")
            page.wait_for_timeout(200)
            times.append(call(page, "search", text))
            if not call(page, "found"):
                raise SystemExit(f"nothing is said to be found for {text!r}: nothing to measure")
    page.close()
    medians = {text: statistics.median(times) for text, times in took.items()}
    told = ", ".join(f"{text!r} {medians[text]:.0f} ms (least {min(took[text]):.0f})" for text in _SEARCHES)
    return Measure(name="search, ms", value=max(medians.values()), bar=SEARCH_MS, detail=told)


def brush(browser: Browser, url: str) -> Measure:
    page = browser.new_page(viewport={"width": 1440, "height": 1400})
    page.goto(f"{url}/explore.html?tab=explore")
    call(page, "show", _BRUSHED_RUNS)
    page.wait_for_function(f"window.bench.strands() === {_BRUSHED_RUNS}")
    page.get_by_text("Computing importance").wait_for(state="detached")
    took = call(page, "brush", _BRUSHES)
    if not 0 < (dim := call(page, "dim")) < _BRUSHED_RUNS:
        raise SystemExit(f"{dim} of {_BRUSHED_RUNS} runs are dim while brushing: nothing to measure")
    page.close()
    detail = f"{_BRUSHED_RUNS} runs; p95 {_p95(took):.0f} ms, least {min(took):.0f} ms"
    return Measure(name="brush, ms", value=statistics.median(took), bar=BRUSH_MS, detail=detail)


def measure(browser: Browser, url: str, options: argparse.Namespace) -> list[Measure]:
    page = browser.new_page(viewport={"width": WINDOW["width"], "height": WINDOW["height"]})
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{url}/charts.html")
    call(page, "prepare", options.panels, options.runs, options.points)
    measures = [*first_draw(page, options.repeat), *hover(page), off_screen(page)]
    call(page, "prepare", 1, 1, options.many)
    measures.append(zoom(page, options.repeat))
    if problems:
        raise SystemExit(f"the page failed: {problems[0]}")
    return measures


def _ratio(name: str, ours: list[float], bare: list[float]) -> Measure:
    a, b = statistics.median(ours), statistics.median(bare)
    detail = f"{a:.0f} ms (least {min(ours):.0f}), bare uPlot {b:.0f} ms (least {min(bare):.0f})"
    return Measure(name=f"{name}, x bare", value=a / b, bar=MOST_TIMES_BARE, detail=detail)


def _p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panels", type=int, default=40)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--many", type=int, default=1_000_000, help="points of the one run that is zoomed")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="strobe-dashboard-") as scratch:
        pages, app = Path(scratch, "pages"), Path(scratch, "app")
        build(["--config", "bench/vite.config.ts"], pages)
        build(["--manifest"], app)
        (size, page), whole = largest_page(app), gzip_size(app)
        with served(pages) as url, chromium() as browser:
            measures = measure(browser, url, options)
            measures += [scrolling(browser, url, options.repeat), search(browser, url, options.repeat)]
            measures.append(brush(browser, url))
    told = f"JavaScript of the largest page ({page}); of all pages {whole / 1000:.0f} kB"
    measures.append(Measure(name="size, kB gzip", value=size / 1000, bar=SIZE_BYTES / 1000, detail=told))
    for one in measures:
        verdict = "ok" if one.is_met else "MISSED"
        print(f"{one.name:22} {one.value:8.2f}   at most {one.bar:6.1f}   {verdict:6}   {one.detail}")
    print(json.dumps({one.name: {"value": round(one.value, 3), "bar": one.bar} for one in measures}))
    return 0 if all(one.is_met for one in measures) else 1


if __name__ == "__main__":
    sys.exit(main())
