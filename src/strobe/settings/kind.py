"""What kinds of values settings have: how a keyword, a variable or a TOML value is read into one.

A kind turns whatever it is given (text from the environment, values from Python or TOML) into its one Python
type, or raises ValueError saying what to write instead. None means "not given". It knows no setting by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})
_UNITS = {
    "": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
    "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40,
}  # fmt: skip


class Kind:
    """One kind of value. `shown` is how the documentation names it."""

    shown = ""

    def read(self, value: Any, base: str) -> Any:
        """Return the typed value; relative paths start at `base`."""
        raise NotImplementedError


class Flag(Kind):
    """true or false, in the spellings people use."""

    shown = "true, false"

    def read(self, value: Any, base: str) -> bool:
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower() if isinstance(value, (str, int)) else ""
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise ValueError("write true or false (also 1/0, yes/no, on/off)")


class Text(Kind):
    """Any text; an empty one means "not given"."""

    shown = "text"

    def read(self, value: Any, base: str) -> str | None:
        if not isinstance(value, str):
            raise ValueError("it must be text")  # noqa: TRY004  every fault of a kind is a ValueError
        return value.strip() or None


class Url(Text):
    """An address of a server, without the slash at its end."""

    shown = "http(s)://host[:port]"

    def read(self, value: Any, base: str) -> str | None:
        text = super().read(value, base)
        if text is not None and not text.startswith(("http://", "https://")):
            raise ValueError("write it with http:// or https://")
        return text.rstrip("/") if text else None


class Number(Kind):
    """A number, of at least `least` (or more than `above`)."""

    def __init__(self, *, least: float | None = None, above: float | None = None, whole: bool = False) -> None:
        self._least, self._above, self._whole = least, above, whole
        bound = f" ≥ {least:g}" if least is not None else f" > {above:g}" if above is not None else ""
        self.shown = ("whole number" if whole else "number") + bound

    def read(self, value: Any, base: str) -> float | int:
        try:
            if isinstance(value, bool):
                raise TypeError
            number = float(value)
            if self._whole and number != int(number):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"write a {self.shown}") from None
        too_small = self._least is not None and number < self._least
        if number != number or too_small or (self._above is not None and number <= self._above):
            raise ValueError(f"write a {self.shown}")
        return int(number) if self._whole else number


class Size(Kind):
    """A number of bytes; text may carry a unit."""

    shown = "bytes, or 500MB, 2GiB"

    def read(self, value: Any, base: str) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if isinstance(value, str):
            text = value.strip().lower()
            digits = text.rstrip("bkmgti ")
            unit = text[len(digits) :].strip()
            factor = _UNITS.get(unit[:-1] if len(unit) > 1 and unit.endswith("b") else unit)
            if factor is not None and digits.replace(".", "", 1).isdecimal():
                return int(float(digits) * factor) if "." in digits else int(digits) * factor
        raise ValueError("write a number of bytes, or for example 500MB or 2GiB")


class Choice(Kind):
    """One word of a few. `synonyms` maps other accepted values to one of them, or to None for "not given"."""

    def __init__(self, *words: str, synonyms: Mapping[Any, str | None] | None = None) -> None:
        self._words = words
        self._synonyms = synonyms or {}
        self.shown = ", ".join(words)

    def read(self, value: Any, base: str) -> str | None:
        word = value.strip().lower() if isinstance(value, str) else value
        if isinstance(word, str) and word in self._words:
            return word
        if isinstance(word, (str, bool)) and word in self._synonyms:
            return self._synonyms[word]
        raise ValueError(f"write one of {', '.join(self._words)}")


class Words(Kind):
    """Several words: a list, or text with commas between them."""

    shown = "list; a,b,c"

    def read(self, value: Any, base: str) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(word for part in value.split(",") if (word := part.strip()))
        if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)):
            words = tuple(value)
            if all(isinstance(word, str) for word in words):
                return words
        raise ValueError("write a list of words, or a,b,c")


class Integers(Kind):
    """Several whole numbers: a list, or text with commas between them."""

    shown = "list of whole numbers; 0,1"

    def read(self, value: Any, base: str) -> tuple[int, ...]:
        parts = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value
        try:
            return tuple(int(part) for part in parts)
        except (TypeError, ValueError):
            raise ValueError("write a list of whole numbers, or 0,1,2") from None


class Directory(Kind):
    """A directory. `~` is the user's home, a relative one starts where it was written down."""

    shown = "path"

    def read(self, value: Any, base: str) -> Path | None:
        if not isinstance(value, (str, os.PathLike)):
            raise ValueError("it must be a path")  # noqa: TRY004  every fault of a kind is a ValueError
        text = os.fspath(value)
        if not isinstance(text, str):
            raise ValueError("it must be a path of text, not bytes")  # noqa: TRY004  as above
        if not text.strip():
            return None
        # Not Path.resolve(): it would follow links and touch a file system that may be slow.
        return Path(os.path.normpath(os.path.join(base, os.path.expanduser(text))))


class Moment(Text):
    """A point in another run: `<run>?_step=<number>`."""

    shown = "RUN?_step=N"

    def read(self, value: Any, base: str) -> str | None:
        # wandb's own RunMoment objects say the same in three attributes.
        if not isinstance(value, str) and hasattr(value, "run") and hasattr(value, "value"):
            value = f"{value.run}?_step={value.value}"
        text = super().read(value, base)
        if text is None:
            return None
        run, _, step = text.partition("?_step=")
        if not run or not step.isdecimal():
            raise ValueError("write it as RUN?_step=N, for example ans3bsax?_step=100")
        return text
