"""Class names for masks, boxes and table columns: a set of {"id": number, "name": text}."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from strobe.data.media import Media, MediaFiles


class Classes(Media):
    """Names of the classes that numbers in masks, boxes or a table column stand for."""

    _log_type = "classes"

    def __init__(self, class_set: Iterable[Mapping[str, Any]]) -> None:
        self._class_set = [dict(entry) for entry in class_set]
        for entry in self._class_set:
            if not isinstance(entry.get("id"), int) or not isinstance(entry.get("name"), str):
                raise TypeError(f"a class is {{'id': whole number, 'name': text}}, got {entry!r}")

    @property
    def names(self) -> dict[int, str]:
        """Class names by id."""
        return {entry["id"]: entry["name"] for entry in self._class_set}

    def get_type(self) -> Classes:
        """Return what `Table.cast` takes to say that a column holds ids of this set."""
        return self

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        return {"_type": self._log_type, "class_set": self._class_set}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Classes) and self._class_set == other._class_set

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.names.items())))


def check_labels(labels: object, owner: str) -> dict[int, str]:
    """Return a mapping of class numbers to names, or raise TypeError naming `owner`."""
    if not isinstance(labels, Mapping):
        raise TypeError(f"class_labels of {owner} must be a dict of number to name, got {type(labels).__name__}")
    checked = {}
    for given, name in labels.items():
        # JSON makes text of numbers that are keys
        number = int(given) if isinstance(given, str) and given.lstrip("-").isdigit() else given
        if not hasattr(number, "__index__") or not isinstance(name, str):
            raise TypeError(f"class_labels of {owner} must map whole numbers to names, got {number!r}: {name!r}")
        checked[int(number)] = name
    return checked


def label_record(labels: Mapping[int, str]) -> dict[str, str]:
    """Return labels with text keys, as JSON readers need them."""
    return {str(number): name for number, name in labels.items()}
