"""A run that records nothing, at the cost of a pass: `mode="disabled"`, and ranks that do not record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from strobe.sdk.name import generate_id
from strobe.sdk.summary import Summary


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

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, item: object) -> bool:
        return False

    def __getitem__(self, key: Any) -> Any:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __delitem__(self, key: Any) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __repr__(self) -> str:
        return "<strobe disabled>"

    def __reduce__(self) -> str:
        return "NOTHING"


NOTHING = Nothing()


class DisabledRun:
    """Looks like a `Run`; config and summary are kept in memory, everything else does nothing."""

    disabled = True
    offline = True
    resumed = False
    url = project_url = sweep_id = sweep_url = notes = None
    starting_step = 0
    attempt = 1
    start_time = 0.0

    def __init__(self, settings: Any, config: Any, attributes: dict[str, Any]) -> None:
        self.settings = settings
        self.config = config
        self.id = attributes.get("id") or generate_id()
        self.name = attributes.get("name") or f"disabled-{self.id}"
        self.project = attributes.get("project") or "disabled"
        self.entity = attributes.get("entity") or "local"
        self.group = attributes.get("group") or ""
        self.job_type = attributes.get("job_type") or ""
        self.tags: tuple[str, ...] = tuple(attributes.get("tags") or ())
        self.path = f"{self.entity}/{self.project}/{self.id}"
        self.step = 0
        self._summary: dict[str, Any] = {}
        self._on_finish: list[Any] = []

    @property  # type: ignore[misc]  # object's may be assigned to; nobody should
    def __class__(self) -> Any:
        # For isinstance(): frameworks check whether what they were given is a Run.
        from strobe.sdk.run import Run

        return Run

    def log(self, data: Any, step: int | None = None, commit: bool | None = None, sync: bool | None = None) -> None:
        pass

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        for call in self._on_finish:
            call(self)
        self._on_finish = []

    @property
    def summary(self) -> Summary:
        return Summary(lambda: self._summary, self._change_summary, lambda key, value: value)

    def _change_summary(self, changes: dict[str, Any], removed: list[str]) -> None:
        self._summary.update(changes)
        for key in removed:
            self._summary.pop(key, None)

    @property
    def config_static(self) -> dict[str, Any]:
        found: dict[str, Any] = self.config.as_dict()
        return found

    @property
    def dir(self) -> str:
        import tempfile

        return tempfile.gettempdir()

    sync_dir = dir

    def project_name(self) -> str:
        return str(self.project)

    def get_url(self) -> None:
        return None

    get_project_url = get_url

    def display(self, height: int = 420, hidden: bool = False) -> bool:
        return False

    def to_html(self, height: int = 420, hidden: bool = False) -> str:
        return ""

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

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, ({name: value for name, value in vars(self).items() if name != "_on_finish"},)


def _arrived(state: dict[str, Any]) -> DisabledRun:
    """Return a disabled run sent from another process."""
    run = DisabledRun.__new__(DisabledRun)
    vars(run).update(state, _on_finish=[])
    return run
