"""The names of a run: what it is called, where it belongs, how it began."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from time import time_ns
from typing import TYPE_CHECKING, Any

from strobe.home import LOCAL_ENTITY
from strobe.journal import event as ev

if TYPE_CHECKING:
    from strobe.sdk.recorder import Recorder
    from strobe.sdk.resume import Plan
    from strobe.settings import Resolved


class RunAttributes:
    """Properties of `Run` that say what it is. Settable: name, notes, tags."""

    _recorder: Recorder
    _plan: Plan
    _settings: Resolved
    _attributes: dict[str, Any]
    _step: int

    def _set(self, **changes: Any) -> None:
        self._recorder.event(ev.Attributes(time_ns=time_ns(), changes=changes))
        self._attributes.update(changes)

    @property
    def id(self) -> str:
        return self._recorder.path.id

    @property
    def entity(self) -> str:
        return self._recorder.path.entity

    @property
    def project(self) -> str:
        return self._recorder.path.project

    @property
    def path(self) -> str:
        """entity/project/id"""
        return str(self._recorder.path)

    @property
    def name(self) -> str:
        return str(self._attributes.get("name") or self.id)

    @name.setter
    def name(self, value: str) -> None:
        self._set(name=str(value))

    @property
    def notes(self) -> str | None:
        return self._attributes.get("notes")

    @notes.setter
    def notes(self, value: str | None) -> None:
        self._set(notes=value)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self._attributes.get("tags") or ())

    @tags.setter
    def tags(self, value: Iterable[str]) -> None:
        tags = [value] if isinstance(value, str) else list(dict.fromkeys(str(tag) for tag in value))
        self._set(tags=tags)

    @property
    def group(self) -> str:
        return str(self._attributes.get("group") or "")

    @property
    def job_type(self) -> str:
        return str(self._attributes.get("job_type") or "")

    @property
    def sweep_id(self) -> str | None:
        return self._attributes.get("sweep_id")

    @property
    def settings(self) -> Resolved:
        return self._settings

    @property
    def dir(self) -> str:
        """The directory of the run's files."""
        files = self._recorder.run_dir.files
        with suppress(OSError):  # whoever writes there will hear of it
            files.mkdir(parents=True, exist_ok=True)
        return str(files)

    @property
    def sync_dir(self) -> str:
        """The directory of the run."""
        return str(self._recorder.run_dir.path)

    @property
    def step(self) -> int:
        """The step that the next `log()` without `step` will have."""
        return self._step

    @property
    def starting_step(self) -> int:
        return self._plan.starting_step

    @property
    def start_time(self) -> float:
        """Seconds since the epoch."""
        return self._recorder.started_ns / 1e9

    @property
    def resumed(self) -> bool:
        return self._plan.resumed

    @property
    def attempt(self) -> int:
        """How often the run was started, this time included."""
        return self._recorder.attempt

    @property
    def offline(self) -> bool:
        return not self._recorder.is_uploaded

    @property
    def disabled(self) -> bool:
        return False

    @property
    def url(self) -> str | None:
        """The run's page on the server; None without one."""
        project = self.project_url
        return f"{project}/runs/{self.id}" if project else None

    @property
    def project_url(self) -> str | None:
        base = self._settings.base_url if not self.offline else None
        # "local" is whoever reads it: a link that is passed on names the owner.
        entity = self._settings.login_entity or self.entity if self.entity == LOCAL_ENTITY else self.entity
        return f"{base}/{entity}/{self.project}" if base else None

    @property
    def sweep_url(self) -> str | None:
        return None

    def get_url(self) -> str | None:
        return self.url

    def get_project_url(self) -> str | None:
        return self.project_url

    def project_name(self) -> str:
        return self.project

    def __repr__(self) -> str:
        return f"<strobe.Run {self.path} {self.name!r}>"
