"""The doctor's look at the agent. It is here because `api`, where the other checks are, may not know the agent."""

from __future__ import annotations

from argparse import Namespace

from strobe.agent.lifecycle import status
from strobe.api.doctor import OK, WARN, Check
from strobe.cli.render import duration_text
from strobe.cli.target import settings_of
from strobe.errors import SettingsError
from strobe.home import Home


def check_agent(args: Namespace) -> Check:
    """Tell whether the companion process runs, or would."""
    try:
        settings = settings_of(args)
    except SettingsError:
        return Check("agent", WARN, "unknown: the settings cannot be read", "correct the settings first")
    if not settings.agent:
        return Check("agent", OK, "switched off: no system metrics, no fsync, killed runs are noticed only by readers")
    found = status(Home(settings.home))
    if found.running:
        return Check(
            "agent", OK, f"running, pid {found.pid}, version {found.version}, for {duration_text(found.uptime_s)}"
        )
    if found.problem:
        return Check("agent", WARN, found.problem, f"recording works without it; its log is {found.log}")
    return Check("agent", OK, "not running; the next run starts it")
