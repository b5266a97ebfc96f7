"""By which names a setting can be meant: keywords, `STROBE_*` and `WANDB_*` variables.

Made from the table once. It answers what a name stands for; it reads no environment and no file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from strobe.errors import SettingsError
from strobe.settings.field import Field
from strobe.settings.table import FIELDS


class Name:
    """A name for a setting. Of two names in one source that mean the same setting the lower rank wins."""

    __slots__ = ("field", "opposite", "rank")

    def __init__(self, field: Field, *, rank: int = 0, opposite: bool = False) -> None:
        self.field = field
        self.rank = rank
        self.opposite = opposite

    def spellings(self) -> list[str]:
        """Return every keyword that means the same setting."""
        return [keyword for keyword, name in KEYWORDS.items() if name.field is self.field]

    def read(self, value: Any, base: str, source: str) -> Any:
        """Return the typed value (None: not given), or raise SettingsError naming `source` and the value."""
        try:
            found = self.field.kind.read(value, base)
        except ValueError as exc:
            seen = "not usable" if self.field.secret else f"{value!r}"
            raise SettingsError(f"{source} is {seen}; {exc}") from None
        return not found if self.opposite else found


class Disabled(Name):
    """wandb's old switch `WANDB_DISABLED`: true means mode=disabled, false means nothing."""

    __slots__ = ()

    def read(self, value: Any, base: str, source: str) -> Any:
        try:
            found = FIELDS["silent"].kind.read(value, base)
        except ValueError as exc:
            raise SettingsError(f"{source} is {value!r}; {exc}") from None
        return "disabled" if found else None


def _keywords() -> dict[str, Name]:
    names: dict[str, Name] = {}
    for field in FIELDS.values():
        for rank, spelled in enumerate(field.keywords):
            bare = spelled.lstrip("!")
            names[bare] = Name(field, rank=rank, opposite=bare != spelled)
            if bare.startswith("x_"):  # wandb's older spelling: Settings(_disable_stats=True)
                names[bare[1:]] = names[bare]
    return names


def _variables() -> dict[str, Name]:
    names: dict[str, Name] = {}
    for field in FIELDS.values():
        for rank, spelled in enumerate((*field.strobe_variables, *field.wandb_variables)):
            bare = spelled.lstrip("!")
            names[bare] = Name(field, rank=2 * rank, opposite=bare != spelled)
            if bare.startswith("WANDB_X_"):
                names["WANDB__" + bare[8:]] = names[bare]
    # Stronger than WANDB_MODE, as in wandb's callbacks; weaker than STROBE_MODE, as everything of wandb's.
    names["WANDB_DISABLED"] = Disabled(FIELDS["mode"], rank=names["WANDB_MODE"].rank - 1)
    return names


KEYWORDS: dict[str, Name] = _keywords()
VARIABLES: dict[str, Name] = _variables()


def known_name(keyword: str) -> Name:
    """Return what a keyword means, or raise SettingsError with the nearest one."""
    known = KEYWORDS.get(keyword)
    if known is None:
        hint = suggestion(keyword, KEYWORDS) or "; `strobe config` lists all"
        raise SettingsError(f"there is no setting {keyword!r}{hint}")
    return known


def suggestion(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return "; did you mean X?" for the nearest known name, or nothing."""
    import difflib

    found = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"; did you mean {found[0]}?" if found else ""
