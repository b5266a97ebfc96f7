"""`Config`: the run's hyperparameters, `run.config`. Every change is an event of the journal.

A dict with attribute access. A key that has a value keeps it unless the change is allowed (`allow_val_change`), keys
of a sweep are locked. Changes are given to a callback before they take effect, so what the journal refuses (the run
has ended) did not happen. Redaction of secrets is the callback's business.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from strobe.errors import UsageError
from strobe.journal import value as stored
from strobe.journal.event import Config as ConfigEvent
from strobe.journal.event import Event
from strobe.sdk.config.section import Edit, Path, Section, edited, find
from strobe.sdk.config.source import read_config
from strobe.settings.notice import warn_once
from strobe.settings.plain import plain


class Config(Section):
    """Hyperparameters of a run, by key or attribute; nested dicts record changes too.

    `emit` gets an event for each change (None: a detached config that records nothing); `initial` is what the journal
    holds already, of a resumed run. Callable from any thread.
    """

    __slots__ = ("_allow", "_clock_ns", "_emit", "_lock", "_locked", "_pid", "_recorded", "_sections")

    def __init__(
        self,
        emit: Callable[[Event], None] | None = None,
        initial: Mapping[str, Any] | None = None,
        *,
        allow_val_change: bool = False,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        values: dict[str, Any] = plain(initial or {})
        super().__init__(self, (), values)
        own = {
            "_emit": emit,
            "_allow": allow_val_change,
            "_clock_ns": clock_ns,
            "_locked": {},
            "_sections": {},
            "_recorded": {key: _fingerprint(value) for key, value in values.items()},
            "_lock": threading.RLock(),
            "_pid": os.getpid(),
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def update(self, d: Any = None, /, allow_val_change: bool | None = None, **more: Any) -> None:
        """Set several keys at once, as one event; `d` may be whatever can be a config.

        Raises UsageError, and sets none of them, if one would change a value and that is not allowed.
        """
        self._set({**read_config(d), **plain(more)}, allow=allow_val_change)

    def setdefaults(self, d: Any) -> None:
        """Set those keys that have no value yet."""
        self._set({key: value for key, value in read_config(d).items() if _key(key) not in self})

    def update_locked(self, d: Any, user: str | None = None, _allow_val_change: bool | None = None) -> None:
        """Set keys and lock them: later changes are ignored with a warning. A sweep does this."""
        values = {_key(key): value for key, value in read_config(d).items()}
        self._set(values, allow=_allow_val_change, ignore_locks=True)
        self._locked.update(dict.fromkeys(values, user or "another part"))

    def merge_locked(self, d: Any, user: str | None = None, _allow_val_change: bool | None = None) -> None:
        """Like update_locked, but dicts are merged into those that are there."""
        values = {_key(key): value for key, value in read_config(d).items()}
        merged = {key: _merged(dict.get(self, key), value) for key, value in values.items()}
        self._set(merged, allow=_allow_val_change, ignore_locks=True)
        self._locked.update(dict.fromkeys(values, user or "another part"))

    def persist(self) -> None:
        """Record what was changed behind the config's back, such as `config.layers.append(64)`."""
        with self._exclusive():
            values: dict[str, Any] = plain(dict(self))
            changed = {k: v for k, v in values.items() if _fingerprint(v) != self._recorded.get(k)}
            self._commit(changed, [])

    # -- what frameworks written for wandb touch

    @property
    def _items(self) -> dict[str, Any]:
        return self.as_dict()

    def _as_dict(self) -> dict[str, Any]:
        return self.as_dict()

    # -- as the root of its sections

    def _edit(self, changes: Mapping[str, Any]) -> None:
        self._set(plain(changes))

    def _remove(self, keys: Iterable[str]) -> None:
        with self._exclusive():
            self._commit({}, [key for key in keys if key in self and not self._is_locked(key)])

    def _section(self, path: Path) -> Section:
        found: Section | None = self._sections.get(path)
        if found is None:
            with self._exclusive():
                node = find(self, path)
                if node is None:
                    raise KeyError(path[-1])
                found = self._sections.setdefault(path, Section(self, path, node))
        return found

    def _change(self, path: Path, edit: Edit) -> None:
        """Apply an edit inside a nested dict.

        Not subject to allow_val_change: whoever writes `config["a"]["b"] = 1` means it, and with wandb it works.
        """
        with self._exclusive():
            if not self._is_locked(path[0]):
                self._commit({path[0]: edited(dict.get(self, path[0]), path[1:], edit)}, [])

    # -- the one way in

    def _set(self, values: Mapping[str, Any], *, allow: bool | None = None, ignore_locks: bool = False) -> None:
        allowed = self._allow if allow is None else allow
        with self._exclusive():
            changes: dict[str, Any] = {}
            for given, value in values.items():
                key = _key(given)
                if not ignore_locks and self._is_locked(key):
                    continue
                if not allowed and key in self:
                    self._refuse_change(key, value)
                changes[key] = value
            self._commit(changes, [])

    def _refuse_change(self, key: str, value: Any) -> None:
        old = dict.__getitem__(self, key)
        # Not equal and not the same bytes: NaN is no change of NaN.
        if old != value and _fingerprint(value) != _fingerprint(old):
            raise UsageError(
                f"config[{key!r}] is {_short(old)} and was to become {_short(value)}; "
                "pass allow_val_change=True to config.update() or to init()"
            )

    def _commit(self, changes: dict[str, Any], removed: list[str]) -> None:
        """Record, then apply; called with the lock held."""
        marks = {key: _fingerprint(value) for key, value in changes.items()}
        fresh = {key: value for key, value in changes.items() if marks[key] != self._recorded.get(key)}
        if self._emit is not None and (fresh or removed):
            event = ConfigEvent(time_ns=self._clock_ns(), changes=_storable(fresh), removed=removed)
            self._emit(event)
        dict.update(self, changes)
        self._recorded.update(marks)
        for key in removed:
            dict.__delitem__(self, key)
            self._recorded.pop(key, None)
        touched = {*changes, *removed}
        for path, section in list(self._sections.items()):
            if path[0] not in touched:
                continue
            node = find(self, path)
            if node is None:
                del self._sections[path]
            else:
                section._refresh(node)

    def _is_locked(self, key: str) -> bool:
        user = self._locked.get(key)
        if user is None:
            return False
        warn_once(f"locked {id(self)} {key}", f"config[{key!r}] is locked by {user}; the change was ignored")
        return True

    def _exclusive(self) -> AbstractContextManager[Any]:
        if self._pid != os.getpid():
            # The child of a fork: the thread that held the lock does not exist here.
            object.__setattr__(self, "_lock", threading.RLock())
            object.__setattr__(self, "_pid", os.getpid())
        lock: AbstractContextManager[Any] = self._lock
        return lock


def detached(values: dict[str, Any]) -> Config:
    """Return a config that records nothing: what a copy or a pickled config is."""
    return Config(None, values, allow_val_change=True)


def _key(key: str) -> str:
    return key.strip("-") or key  # as wandb does: `--lr` from a command line is lr


def _fingerprint(value: Any) -> int:
    return hash(stored.encode(_storable(value)))


def _storable(value: Any) -> Any:
    """Return a plain value with integers beyond 64 bits in the journal's form."""
    if type(value) is int:
        return value if -(2**63) <= value < 2**64 else stored.bigint(value)
    if type(value) is dict:
        return {key: _storable(item) for key, item in value.items()}
    if type(value) is list:
        return [_storable(item) for item in value]
    return value


def _merged(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
    return new


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
