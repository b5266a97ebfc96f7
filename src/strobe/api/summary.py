"""The summary of a recorded run: a dict that knows how to save itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Summary(dict[str, Any]):
    """A run's summary. `update()` saves at once, as in wandb; other changes wait for `run.update()`."""

    def __init__(self, values: Mapping[str, Any], *, save: Callable[[], None]) -> None:
        super().__init__(values)
        self._save = save

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Take in the values and save the summary."""
        super().update(*args, **kwargs)
        self._save()

    @property
    def _json_dict(self) -> dict[str, Any]:
        """What scripts written for wandb read."""
        return dict(self)
