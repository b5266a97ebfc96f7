"""How a run talks: as loud, and in the colours, that its settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strobe import terminal

if TYPE_CHECKING:
    from strobe.settings import Resolved


def open_terminal(settings: Resolved, *, quiet: bool = False) -> terminal.Terminal:
    """Return a terminal for a run; `strobe.termlog()` and parts that know no run follow it from now on."""
    opened = terminal.Terminal(
        quiet=quiet or settings.quiet or not settings.show_info,
        silent=settings.silent,
        warnings=settings.show_warnings,
        errors=settings.show_errors,
        colour=settings.show_colors,
    )
    terminal.follow(opened)
    return opened
