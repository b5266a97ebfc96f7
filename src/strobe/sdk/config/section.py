"""`Section`: a dict inside a config that records what is assigned to it.

    run.config["optimizer"]["lr"] = 0.1      # wandb loses this; here it is a change like any other

A section is a real dict (json, `**`, isinstance all work) whose reads of nested dicts give sections again, and whose
changes go to the config it belongs to. `dict(section)` gives plain dicts. It does not know how a change is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from strobe.errors import UsageError

Path = tuple[str, ...]
#: changes a plain dict in place
Edit = Callable[[dict[str, Any]], None]
_MISSING: Any = object()


class Root(Protocol):
    """The config that sections belong to."""

    def _section(self, path: Path) -> Section: ...
    def _change(self, path: Path, edit: Edit) -> None: ...


class MissingKey(AttributeError):
    """A config has no such key. The nearest one is looked for only when somebody reads the message."""

    def __str__(self) -> str:
        keys = [key for key in self.obj if isinstance(key, str)] if isinstance(self.obj, dict) else []
        import difflib

        near = difflib.get_close_matches(self.name or "", keys, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; it has {', '.join(keys[:10]) or 'no keys'}"
        return f"config has no key {self.name!r}{hint}"


class Section(dict[str, Any]):
    """A dict at `path` of a config."""

    __slots__ = ("_path", "_root")

    def __init__(self, root: Root, path: Path, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        object.__setattr__(self, "_root", root)
        object.__setattr__(self, "_path", path)

    # -- reading

    def __getitem__(self, key: str) -> Any:
        return self._wrapped(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def values(self) -> list[Any]:  # type: ignore[override]  # a list, as wandb has it; a view could not wrap
        return [value for _, value in self.items()]

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]  # as values()
        return [(key, self._wrapped(key, value)) for key, value in list(super().items())]

    def as_dict(self) -> dict[str, Any]:
        """Return a deep copy in plain dicts and lists."""
        return {key: _copied(value) for key, value in list(super().items())}

    def copy(self) -> dict[str, Any]:
        """Return a deep copy in plain dicts and lists."""
        return self.as_dict()

    def __getattr__(self, name: str) -> Any:
        # Protocols (copy, pickle, IPython) probe names with underscores; a config key like that is read with [].
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            return self[name]
        except KeyError:
            raise MissingKey(name, name=name, obj=self) from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *(key for key in self if isinstance(key, str) and key.isidentifier())]

    # -- changing

    def __setitem__(self, key: str, value: Any) -> None:
        self._edit({key: value})

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._remove([key])

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or hasattr(type(self), name):
            what = "private" if name.startswith("_") else "a method"
            raise AttributeError(f"config.{name} is {what}; write config[{name!r}] for a key of that name")
        self[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise MissingKey(name, name=name, obj=self)
        del self[name]

    def update(self, d: Any = None, /, **more: Any) -> None:
        """Set several keys at once; `d` may be whatever can be a config."""
        from strobe.sdk.config.source import read_config

        self._edit({**read_config(d), **more})

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        if key not in self:
            if default is _MISSING:
                raise KeyError(key)
            return default
        value = _copied(super().__getitem__(key))
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        if not self:
            raise KeyError("config is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        self._remove(list(self))

    def __ior__(self, other: Any) -> Section:  # type: ignore[override,misc]  # takes more than dicts
        self.update(other)
        return self

    def _wrapped(self, key: str, value: Any) -> Any:
        return self._root._section((*self._path, key)) if type(value) is dict else value

    def _edit(self, changes: Mapping[str, Any]) -> None:
        from strobe.settings.plain import plain

        where = "config." + ".".join(self._path)
        values: dict[str, Any] = plain(changes, where)
        self._root._change(self._path, lambda node: node.update(values))

    def _remove(self, keys: Iterable[str]) -> None:
        def edit(node: dict[str, Any]) -> None:
            for key in keys:
                node.pop(key, None)

        self._root._change(self._path, edit)

    def _refresh(self, values: Mapping[str, Any]) -> None:
        """Take over what the config now holds here; no key that stays is missing in between."""
        dict.update(self, values)
        for key in [key for key in self if key not in values]:
            dict.__delitem__(self, key)

    # -- copies are detached: they change for themselves and record nothing

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        from strobe.sdk.config.config import detached

        return detached, (self.as_dict(),)


def find(tree: Mapping[str, Any], path: Path) -> dict[str, Any] | None:
    """Return the plain dict at `path`, None if there is none."""
    node: Any = tree
    for key in path:
        node = dict.get(node, key) if isinstance(node, dict) else None
    return node if type(node) is dict else None


def edited(top: Any, path: Path, edit: Edit) -> dict[str, Any]:
    """Return a copy of the tree `top` with `edit` applied at `path`; what is not on the way is shared."""
    if type(top) is not dict:
        raise UsageError(f"config is no longer nested at {'.'.join(path)!r}; read the section again")
    copy = dict(top)
    if path:
        copy[path[0]] = edited(copy.get(path[0]), path[1:], edit)
    else:
        edit(copy)
    return copy


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in dict.items(value)}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
