"""Makes the picture of the workspace in the README: a real `strobe demo`, looked at by a real Chromium.

    python web/picture.py [docs/images/workspace.png]

Needs what `make test` installs (playwright, Pillow) and Debian's chromium, or another that PATH has.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "workspace.png"
SIZE: ViewportSize = {"width": 1280, "height": 800}
MAX_BYTES = 300_000
#: what a page may take to show something, and a demo to train its runs
_PATIENCE_MS = 120_000


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "strobe", "demo", "--no-browser", "--port", "0", "--home", home]
        demo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "CI": ""})
        try:
            assert demo.stdout is not None
            address = next(found[0] for line in demo.stdout if (found := re.search(r"http://\S+", line)))
            taken = _take(address)
        finally:
            demo.terminate()
            demo.wait(timeout=30)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_smaller(taken))
    print(f"{path}: {path.stat().st_size:,} bytes")


def _take(address: str) -> bytes:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"], env={**os.environ, "LANG": "en_US.UTF-8"}
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(f"{address}/local/demo?smooth=ema:0.8")
        page.get_by_text("9 runs").first.wait_for(timeout=_PATIENCE_MS)
        page.wait_for_timeout(30_000)  # the live run goes on beside those that are over
        _point(page)
        taken = page.screenshot()
        browser.close()
    return taken


def _point(page: Page) -> None:
    """Put the pointer on a chart, so that the crosshair and the values beside the runs are in the picture."""
    place = page.locator("canvas").nth(2).bounding_box()
    if place is not None:
        page.mouse.move(place["x"] + place["width"] * 0.4, place["y"] + place["height"] * 0.6)
        page.wait_for_timeout(500)


def _smaller(taken: bytes) -> bytes:
    """Return the picture in 256 colours, which is enough for lines and letters."""
    stream = io.BytesIO()
    Image.open(io.BytesIO(taken)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        stream, "PNG", optimize=True
    )
    if stream.tell() > MAX_BYTES:
        raise SystemExit(f"the picture has {stream.tell():,} bytes, it may have {MAX_BYTES:,}")
    return stream.getvalue()


if __name__ == "__main__":
    main()
