"""The style sheets: what one page loads stays when another is shown, so only their spelling tells names apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "web" / "src"
#: the charts of a run are those of the workspace, and are styled as such
SHARED = {("pages/run", "workspace"), ("pages/run", "charts")}


def _owner(sheet: Path) -> str:
    """Return the folder that a sheet belongs to: a page, or a part that pages share."""
    parts = sheet.relative_to(SOURCES).parts
    return "/".join(parts[:2]) if parts[0] == "pages" else parts[0]


def _selectors() -> Iterator[tuple[str, str]]:
    """Yield each selector of each sheet, after whose it is."""
    for sheet in sorted(SOURCES.rglob("*.css")):
        rules = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        for heads in re.findall(r"([^{};]+)\{", rules):
            for head in heads.split(","):
                yield _owner(sheet), head.strip()


def test_a_class_that_a_page_styles_is_spoken_of_by_no_other_page() -> None:
    styled = {
        found[1]: owner
        for owner, selector in _selectors()
        if owner.startswith("pages/") and (found := re.fullmatch(r"\.([\w-]+)", selector))
    }
    assert len(styled) > 100
    taken = {
        f".{name} of {styled[name]} in {owner}"
        for owner, selector in _selectors()
        for name in re.findall(r"\.([a-zA-Z][\w-]*)", selector)
        if styled.get(name, owner) != owner and (owner, name) not in SHARED
    }
    assert taken == set()
