"""Whether a person sits in front of a browser here, and opening a page in it."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping


def has_display(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> bool:
    """Tell whether a browser that is opened here would be seen by whoever typed the command."""
    env = os.environ if environ is None else environ
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY") or is_ci(env):
        return False
    return platform in ("win32", "darwin") or bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))


def is_ci(environ: Mapping[str, str]) -> bool:
    """Tell whether a machine runs this for other machines."""
    return environ.get("CI", "").lower() not in ("", "0", "false", "no")


def open_page(url: str, *, is_wanted: bool) -> None:
    """Open a page if somebody would see it."""
    if url and is_wanted and has_display() and sys.stdout.isatty():
        webbrowser.open(url)
