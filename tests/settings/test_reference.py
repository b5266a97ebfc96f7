"""Every setting and variable is documented, and the documentation is the present one."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.settings.names import KEYWORDS, VARIABLES
from strobe.settings.reference import with_reference
from strobe.settings.table import FIELDS, Table

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_page_holds_the_present_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_reference(page), "run: python -m strobe.settings.reference docs/settings.md"


@pytest.mark.parametrize("name", FIELDS)
def test_setting_is_documented(name: str) -> None:
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{name}` |"))
    assert FIELDS[name].doc in row
    assert len(FIELDS[name].doc) <= 120
    assert FIELDS[name].doc.endswith((".", "…"))


def test_every_variable_and_keyword_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    # WANDB__X and _x are the older spellings of WANDB_X_X and x_x; the page says so once.
    names = [name for name in (*VARIABLES, *KEYWORDS) if not name.startswith(("_", "WANDB__"))]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_every_setting_declares_the_type_it_reads_as() -> None:
    assert list(Table.__annotations__) == list(FIELDS)


def test_defaults_are_values_that_could_be_given() -> None:
    for name, field in FIELDS.items():
        if field.default is not None:
            assert field.kind.read(field.default, "/") == field.default, name
