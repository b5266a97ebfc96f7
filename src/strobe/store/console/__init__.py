"""What runs printed, as lines: appended at the cost of what is new, read at the cost of what is shown.

Each (attempt, writer, stream) is a *lane* with a screen of its own (`strobe.journal.screen`). Lines that its cursor can
no longer reach go into compressed pages, which never change; the others wait in a frozen screen. Lanes are put together
by time when they are read.
"""

from strobe.store.console.append import Piece
from strobe.store.console.console import Answer, Choice, Console, Found
from strobe.store.console.lane import Lane
from strobe.store.console.merge import Line
from strobe.store.console.search import Pattern

__all__ = ["Answer", "Choice", "Console", "Found", "Lane", "Line", "Pattern", "Piece"]
