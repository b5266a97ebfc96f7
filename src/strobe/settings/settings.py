"""`Settings`: what a caller asks for, by Strobe's names or by wandb's.

Holds only what was given; everything else reads as its default. Environment and files are not looked at here
(see resolve.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from strobe.errors import SettingsError
from strobe.settings import notice
from strobe.settings.field import Field
from strobe.settings.names import KEYWORDS, known_name
from strobe.settings.notice import warn_once
from strobe.settings.table import FIELDS, Table

HIDDEN = "****"


def working_directory() -> str:
    """Return the current directory, or the root if it was removed under us."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def read_keyword(name: str, value: Any, base: str | None = None) -> tuple[Field, Any] | None:
    """Return the setting that a keyword means and its typed value; None if it was not given or has no effect.

    Raises SettingsError for a name that neither Strobe nor wandb knows, and for a value that cannot be.
    """
    known = KEYWORDS.get(name)
    if known is None:
        _reject_or_warn(name, value)
        return None
    if value is None:
        return None
    typed = known.read(value, working_directory() if base is None else base, name)
    return None if typed is None else (known.field, typed)


def read_keywords(keywords: Mapping[str, Any], base: str | None = None) -> dict[str, Any]:
    """Return setting name → typed value; two names for one setting must agree."""
    values: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for name, value in keywords.items():
        if (found := read_keyword(name, value, base)) is None:
            continue
        field, typed = found
        if field.name in values and values[field.name] != typed:
            raise SettingsError(f"{spelled[field.name]} and {name} contradict each other; give one of them")
        values[field.name] = typed
        spelled[field.name] = name
    return values


def shown(field: Field, value: Any) -> Any:
    """Return the value as it may be shown: keys hidden, credentials cut out of addresses."""
    if value is None or value == ():
        return value
    if field.secret:
        return HIDDEN
    if isinstance(value, str) and "://" in value and "@" in value:
        scheme, _, rest = value.partition("://")
        return f"{scheme}://{HIDDEN}@{rest.rpartition('@')[2]}"
    return value


def _reject_or_warn(name: str, value: Any) -> None:
    from strobe.settings.foreign import reason

    why = reason(name, value)
    if why is None:
        known_name(name)  # raises
    if why and value is not None:
        warn_once(f"setting {name}", f"the wandb setting {name} has no effect: {why}")


class Settings(Table):
    """Settings for `strobe.init(settings=…)`, by keyword; names of wandb's Settings are understood too."""

    def __init__(self, **keywords: Any) -> None:
        notice.hold()
        try:
            vars(self).update(read_keywords(keywords))
        finally:
            notice.release(silent=self.silent or not self.show_warnings)

    def explicit(self) -> dict[str, Any]:
        """Return what was given: setting name → typed value."""
        return {name: value for name, value in vars(self).items() if name in FIELDS}

    def as_dict(self) -> dict[str, Any]:
        """Return every setting and its value; secrets are hidden."""
        return {name: shown(field, getattr(self, name)) for name, field in FIELDS.items()}

    def update(self, other: Settings | Mapping[str, Any] | None = None, **keywords: Any) -> None:
        """Take over what was given in `other` and in keywords."""
        given = other.explicit() if isinstance(other, Settings) else dict(other or {})
        for name, value in {**given, **keywords}.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if value is None and name in KEYWORDS:
            vars(self).pop(KEYWORDS[name].field.name, None)
        elif found := read_keyword(name, value):
            vars(self)[found[0].name] = found[1]

    if not TYPE_CHECKING:  # type checkers see the table only, so that a typo is one

        def __getattr__(self, name: str) -> Any:
            known = None if name.startswith("__") else KEYWORDS.get(name)
            if known is None:
                raise AttributeError(f"there is no setting {name!r}", name=name, obj=self)
            value = getattr(self, known.field.name)
            return not value if known.opposite else value

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self.as_dict().items())

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={shown(FIELDS[name], value)!r}" for name, value in self.explicit().items())
        return f"{type(self).__name__}({given})"
