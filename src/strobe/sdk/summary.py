"""`run.summary`: one value per key, the last logged or what `define_metric` asks for, or what the user sets by hand.

Nothing is computed while logging: what the summary holds is read when somebody asks. It does not know where from, nor
how a change is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import Any


class Summary(MutableMapping[str, Any]):
    """A dict-like view; also readable and writable by attribute. Nested dicts record what is assigned to them.

    `read` returns what there is, `record` takes changes and removed keys, `plain` makes a value storable, or raises
    OSError where the disk does not take it: that key is left out then.
    """

    def __init__(
        self,
        read: Callable[[], dict[str, Any]],
        record: Callable[[dict[str, Any], list[str]], None],
        plain: Callable[[str, Any], Any],
    ) -> None:
        # The names start with "_", so that __setattr__ lets them through.
        self._read = read
        self._record = record
        self._plain = plain

    def _load(self) -> dict[str, Any]:
        return {key: self._wrapped(key, value) for key, value in self._read().items()}

    def _wrapped(self, key: str, value: Any) -> Any:
        if type(value) is not dict or "_type" in value:
            return value
        nested = Nested(value, lambda: self.update({key: nested}))
        return nested

    def __getitem__(self, key: str) -> Any:
        return self._wrapped(key, self._read()[key])

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        if key not in self._read():
            raise KeyError(key)
        self._record({}, [key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __contains__(self, key: object) -> bool:
        return key in self._read()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the summary has no {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __repr__(self) -> str:
        return repr(self._read())

    def update(self, *args: Any, overwrite: bool = True, **kwargs: Any) -> None:
        """Set several keys with one record; `overwrite=False` leaves alone those that are there."""
        given: Mapping[str, Any] = dict(*args, **kwargs)
        present = {} if overwrite else self._read()
        changes = {}
        for key, value in given.items():
            if key not in present:
                with suppress(OSError):  # said and counted by whoever could not store it
                    changes[str(key)] = self._plain(str(key), value)
        self._record(changes, [])

    def get(self, key: str, default: Any = None) -> Any:
        return self._wrapped(key, self._read().get(key, default))

    # Views that look once, where Mapping's would read the journal for every key.

    def keys(self) -> Any:
        return self._read().keys()

    def items(self) -> Any:
        return self._load().items()

    def values(self) -> Any:
        return self._load().values()

    def _as_dict(self) -> dict[str, Any]:
        return self._read()


class Nested(dict[str, Any]):
    """A dict inside the summary: what is assigned to it, at any depth, is a change of the key it lies under."""

    __slots__ = ("_changed",)

    def __init__(self, values: Mapping[str, Any], changed: Callable[[], None]) -> None:
        super().__init__(
            {key: Nested(value, changed) if type(value) is dict else value for key, value in values.items()}
        )
        object.__setattr__(self, "_changed", changed)

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._changed()

    def update(self, *args: Any, **kwargs: Any) -> None:
        super().update(*args, **kwargs)
        self._changed()

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, *default: Any) -> Any:
        value = super().pop(key, *default)
        self._changed()
        return value

    def popitem(self) -> tuple[str, Any]:
        item = super().popitem()
        self._changed()
        return item

    def clear(self) -> None:
        super().clear()
        self._changed()

    def __ior__(self, other: Any) -> Nested:  # type: ignore[override,misc]  # takes what update() takes
        self.update(other)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self:
            raise AttributeError(f"the summary has no {name!r} here")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return dict, (dict(self),)  # a copy records nothing
