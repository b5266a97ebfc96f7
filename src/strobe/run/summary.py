"""`run.summary`: one value per key, the last logged or what `define_metric` asks for, or what the user sets by hand.

Nothing is computed while logging. Reading the summary reads the run's own journal from where the last look ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from time import time_ns
from typing import Any

from strobe.home import RunDir
from strobe.journal import event as ev


class Summary(MutableMapping[str, Any]):
    """A dict-like view; also readable and writable by attribute."""

    def __init__(self, run_dir: RunDir, record: Callable[[ev.Event], None], plain: Callable[[str, Any], Any]) -> None:
        # The names start with "_", so that __setattr__ lets them through.
        self._run_dir = run_dir
        self._record = record
        self._plain = plain
        self._replay: Any = None

    def _load(self) -> dict[str, Any]:
        if self._replay is None:
            from strobe.journal.replay import Replay

            self._replay = Replay(self._run_dir)
        self._replay.refresh()
        found: dict[str, Any] = self._replay.summary
        return found

    def __getitem__(self, key: str) -> Any:
        return self._load()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        if key not in self._load():
            raise KeyError(key)
        self._record(ev.Summary(time_ns=time_ns(), removed=[key]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())

    def __contains__(self, key: object) -> bool:
        return key in self._load()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._load()[name]
        except KeyError:
            raise AttributeError(f"the summary has no {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self[name] = value

    def __repr__(self) -> str:
        return repr(self._load())

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several keys with one record."""
        given: Mapping[str, Any] = dict(*args, **kwargs)
        changes = {str(key): self._plain(str(key), value) for key, value in given.items()}
        self._record(ev.Summary(time_ns=time_ns(), changes=changes))

    def get(self, key: str, default: Any = None) -> Any:
        return self._load().get(key, default)

    def keys(self) -> Any:
        return self._load().keys()

    def items(self) -> Any:
        return self._load().items()

    def values(self) -> Any:
        return self._load().values()

    def _as_dict(self) -> dict[str, Any]:
        return self._load()
