"""A run that records nothing, at the cost of a pass: `mode="disabled"`, and ranks that do not record."""

from __future__ import annotations

import tempfile
from typing import Any

from strobe.run.name import generate_id


class Nothing:
    """Takes every call and gives itself back, so that code written for an artifact or a metric goes on."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "<strobe disabled>"


NOTHING = Nothing()


class DisabledRun:
    """Looks like a `Run`; config and summary are plain dictionaries in memory, everything else does nothing."""

    disabled = True
    offline = True
    resumed = False
    url = project_url = sweep_id = sweep_url = notes = None
    starting_step = 0
    attempt = 1

    def __init__(self, settings: Any, config: Any, attributes: dict[str, Any]) -> None:
        self.settings = settings
        self.config = config
        self.summary: dict[str, Any] = {}
        self.id = attributes.get("id") or generate_id()
        self.name = attributes.get("name") or f"disabled-{self.id}"
        self.project = attributes.get("project") or "disabled"
        self.entity = attributes.get("entity") or "local"
        self.group = attributes.get("group") or ""
        self.job_type = attributes.get("job_type") or ""
        self.tags: tuple[str, ...] = tuple(attributes.get("tags") or ())
        self.path = f"{self.entity}/{self.project}/{self.id}"
        self.step = 0
        self.start_time = 0.0
        self._on_finish: list[Any] = []

    def log(self, data: Any, step: int | None = None, commit: bool | None = None, sync: bool | None = None) -> None:
        pass

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        for call in self._on_finish:
            call(self)
        self._on_finish = []

    @property
    def dir(self) -> str:
        return tempfile.gettempdir()

    def __enter__(self) -> DisabledRun:
        return self

    def __exit__(self, *exception: object) -> None:
        self.finish()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return NOTHING

    def __repr__(self) -> str:
        return f"<strobe.Run disabled {self.id}>"
