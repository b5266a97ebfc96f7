"""What axe finds on a page: rules of WCAG 2.2 A and AA, and good practice."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import axe_playwright_python  # type: ignore[import-untyped]  # only its script is used
from playwright.sync_api import Page


@cache
def _script() -> str:
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


def violations(page: Page, *, within: str = "html") -> list[str]:
    """Return the serious and critical ones as text: the rule, what it says, and the elements."""
    # Evaluated rather than put into the page: its policy allows no scripts but its own.
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(_script())
    found: dict[str, Any] = page.evaluate("within => window.axe.run(within, {resultTypes: ['violations']})", within)
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {[node['html'][:160] for node in one['nodes']]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
