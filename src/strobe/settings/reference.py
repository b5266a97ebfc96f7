"""The table of settings as it stands in docs/settings.md, made from the one in table.py.

    python -m strobe.settings.reference docs/settings.md     puts the present table into the page

A test compares the two, so that the page cannot go stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

from strobe.settings.field import Field
from strobe.settings.table import FIELDS

BEGIN = "<!-- settings: begin (python -m strobe.settings.reference docs/settings.md) -->"
END = "<!-- settings: end -->"


def reference() -> str:
    """Return the Markdown table of all settings."""
    rows = ["| setting | values | default | meaning | variables | other keywords |", "|---|---|---|---|---|---|"]
    rows += [_row(field) for field in FIELDS.values()]
    return "\n".join(rows) + "\n"


def with_reference(page: str) -> str:
    """Return the page with the present table between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{reference()}{END}{after}"


def _row(field: Field) -> str:
    variables = [*field.strobe_variables, *field.wandb_variables]
    if field.name == "mode":
        variables.append("WANDB_DISABLED")
    cells = [
        f"`{field.name}`",
        field.kind.shown,
        _default(field),
        field.doc,
        _names(variables),
        _names(field.keywords[1:]),
    ]
    return "| " + " | ".join(cells) + " |"


def _default(field: Field) -> str:
    if field.default_shown is not None:
        return field.default_shown
    if field.default is None or field.default == ():
        return "–"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


def _names(names: list[str] | tuple[str, ...]) -> str:
    """Name them all; those that mean the opposite say so."""
    return " ".join(f"`{name.lstrip('!')}`" + (" (opposite)" if name.startswith("!") else "") for name in names)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(with_reference(target.read_text(encoding="utf-8")), encoding="utf-8")
