"""What a run records about itself when it starts: its names, what the user said of it, where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strobe._version import __version__
from strobe.environment.facts import quick
from strobe.sdk.name import generate_name
from strobe.sdk.program import working_directory

if TYPE_CHECKING:
    from strobe.sdk.resume import Plan
    from strobe.settings import Resolved


def first_attributes(settings: Resolved, plan: Plan, program: str) -> dict[str, Any]:
    """Return the attributes; what a resumed run was called before stays, unless it is called otherwise now."""
    past = plan.attributes
    names: dict[str, Any] = {
        "name": settings.run_name or past.get("name") or generate_name(plan.path.id),
        "group": settings.run_group or past.get("group"),
        "job_type": settings.run_job_type or past.get("job_type"),
        "tags": list(settings.run_tags) or past.get("tags"),
        "notes": settings.run_notes or past.get("notes"),
        "sweep_id": settings.sweep_id or past.get("sweep_id"),
        "email": settings.email or past.get("email"),
    }
    found = _find(settings) if settings.describe else {}
    known = {
        "mode": settings.mode,
        "program": program,
        "strobe_version": __version__,
        "preempting": False,
        "user": settings.username,
        "label": settings.label,
        "notebook": settings.notebook_name,
        "host": settings.host,
        **given_facts(settings),
    }
    return {**found, **{key: value for key, value in (names | known).items() if value not in (None, [])}}


def given_facts(settings: Resolved) -> dict[str, str]:
    """Return the facts that are found out unless the user gives them: then nobody finds out better."""
    facts = {"git_commit": settings.git_commit, "git_remote": settings.git_remote_url}
    return {name: fact for name, fact in facts.items() if fact is not None}


def _find(settings: Resolved) -> dict[str, Any]:
    return quick(
        working_directory(),
        git=not settings.disable_git,
        git_root=settings.git_root,
        machine=settings.machine_info,
        redact=settings.redact,
    )
