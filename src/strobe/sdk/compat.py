"""Module-level calls that scripts written for wandb make: they do what makes sense here, or say what does not."""

from __future__ import annotations

from typing import Any

from strobe.errors import UsageError
from strobe.sdk import current


def setup(settings: Any = None) -> None:
    """Do nothing: there is no service to start before forking."""


def teardown(exit_code: int | None = None) -> None:
    """Finish the current run."""
    current.finish(exit_code)


def join(exit_code: int | None = None) -> None:
    """Finish the current run (wandb's old name for it)."""
    current.finish(exit_code)


def login(
    key: str | None = None,
    host: str | None = None,
    relogin: bool | None = None,
    force: bool | None = None,
    timeout: int | None = None,
    verify: bool = False,
    anonymous: Any = None,
    referrer: str | None = None,
) -> bool:
    """Say whether a key for a server is configured. Recording needs none, so this never prompts and never fails."""
    from strobe.settings import resolve

    return key is not None or resolve({}).api_key is not None


def require(requirement: Any = None, experiment: Any = None) -> None:
    """Accept wandb's feature switches; none of them is needed here."""


def sweep(*args: Any, **kwargs: Any) -> str:
    """Refuse clearly: sweeps are not part of this version."""
    raise UsageError("strobe.sweep: sweeps are not part of this version; start the runs yourself and give them a group")


def controller(*args: Any, **kwargs: Any) -> Any:
    """Refuse clearly: sweeps are not part of this version."""
    raise UsageError("strobe.controller: sweeps are not part of this version")
