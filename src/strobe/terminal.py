"""The terminal: the one object through which Strobe talks to a person, on stderr.

It knows what the stream can show (TTY, NO_COLOR, FORCE_COLOR, TERM=dumb, COLUMNS, CI, encoding) and what the user
wants to hear: `quiet` leaves warnings and errors, of which each can be left out too, `silent` leaves nothing. It knows
nothing of runs, and no fault of the stream (None, closed, a broken pipe, a foreign object that raises) ever gets from
here into the user's process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TextIO

PREFIX = "strobe: "
DEFAULT_WIDTH = 80
DEFAULT_HEIGHT = 24

_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_OFF_WORDS = {"", "0", "false", "no", "off"}
# repeat=False with ever new texts must not grow without end.
_MAX_REMEMBERED = 4096
_PROBE = "▁█·…↑"


class Terminal:
    """Prints to `stream`, or to whatever `sys.stderr` is at that moment; the environment is read when asked."""

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        silent: bool = False,
        warnings: bool = True,
        errors: bool = True,
        colour: bool | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.quiet = quiet
        self.silent = silent
        self.warnings = warnings
        self.errors = errors
        #: what the user said; None leaves it to the environment and the stream
        self.colour = colour
        self._stream = stream
        self._environ = environ
        self._said: set[str] = set()

    # -- what the stream can do --------------------------------------------------------------------------------------

    @property
    def stream(self) -> TextIO | None:
        return sys.stderr if self._stream is None else self._stream

    def _variable(self, name: str) -> str:
        return (os.environ if self._environ is None else self._environ).get(name, "")

    @property
    def is_tty(self) -> bool:
        try:
            return bool(self.stream is not None and self.stream.isatty())
        except (AttributeError, OSError, ValueError):
            return False

    @property
    def is_dumb(self) -> bool:
        return self._variable("TERM") == "dumb"

    @property
    def is_interactive(self) -> bool:
        """Whether a line may be drawn over: a real terminal, not a CI log that looks like one."""
        return self.is_tty and not self.is_dumb and self._variable("CI").lower() in _OFF_WORDS

    @property
    def has_colour(self) -> bool:
        """What the user said wins over NO_COLOR, that over FORCE_COLOR, and that over what the stream is."""
        if self.colour is not None:
            return self.colour
        if self._variable("NO_COLOR"):
            return False
        forced = self._variable("FORCE_COLOR").lower()
        if forced:
            return forced not in _OFF_WORDS
        return self.is_tty and not self.is_dumb

    @property
    def has_unicode(self) -> bool:
        """Whether block characters can be shown: on a terminal, in an encoding that has them."""
        if not self.is_tty or self.is_dumb:
            return False
        try:
            _PROBE.encode(getattr(self.stream, "encoding", None) or "ascii")
        except (LookupError, UnicodeEncodeError):
            return False
        return True

    @property
    def width(self) -> int:
        return self._extent("COLUMNS", 0) or DEFAULT_WIDTH

    @property
    def height(self) -> int:
        return self._extent("LINES", 1) or DEFAULT_HEIGHT

    def _extent(self, variable: str, axis: int) -> int:
        text = self._variable(variable)
        if text.isascii() and text.isdigit() and int(text) > 0:
            return int(text)
        if not self.is_tty or self.stream is None:
            return 0
        try:
            return os.get_terminal_size(self.stream.fileno())[axis]
        except (AttributeError, OSError, ValueError):
            return 0

    def style(self, text: str, *styles: str) -> str:
        """Return `text` in bold, dim or a colour where colours are shown, else as it is."""
        if not styles or not text or not self.has_colour:
            return text
        return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"

    # -- talking -----------------------------------------------------------------------------------------------------

    def log(self, string: str = "", newline: bool = True, repeat: bool = True) -> None:
        """Say something worth knowing; `repeat=False` says the same text once per process."""
        if not self.quiet:
            self._say(string, newline, repeat, PREFIX, ("blue",))

    def warn(self, string: str, newline: bool = True, repeat: bool = True) -> None:
        if self.warnings:
            self._say(string, newline, repeat, PREFIX + "WARNING ", ("yellow",))

    def error(self, string: str, newline: bool = True, repeat: bool = True) -> None:
        if self.errors:
            self._say(string, newline, repeat, PREFIX + "ERROR ", ("red",))

    def warn_once(self, key: str, message: str) -> None:
        """Warn once per process about the cause `key`, whatever the message says the next time."""
        if self._remember("\0" + key):
            self.warn(message)

    def block(self, text: str) -> None:
        """Print `text` as it is, without a prefix: the end block."""
        if not self.quiet:
            self.write(text if text.endswith("\n") else text + "\n")

    def _say(self, string: str, newline: bool, repeat: bool, prefix: str, styles: tuple[str, ...]) -> None:
        if not repeat and not self._remember(string):
            return
        start = self.style(PREFIX.rstrip(), *styles) + prefix[len(PREFIX.rstrip()) :]
        text = "\n".join(start + line for line in string.split("\n"))
        self.write(text + "\n" if newline else text)

    def _remember(self, text: str) -> bool:
        """Return whether `text` is new, and know it from now on."""
        if text in self._said:
            return False
        if len(self._said) >= _MAX_REMEMBERED:
            self._said.clear()
        self._said.add(text)
        return True

    def write(self, text: str) -> None:
        """Write and flush in one piece, unless silent. Never raises."""
        stream = self.stream
        if self.silent or stream is None:
            return
        try:
            try:
                stream.write(text)
            except UnicodeEncodeError:
                encoding = getattr(stream, "encoding", None) or "ascii"
                stream.write(text.encode(encoding, "replace").decode(encoding))
            stream.flush()
        except Exception:  # noqa: BLE001, S110 - sys.stderr may be anybody's object; there is nowhere left to complain
            pass


_shared = Terminal()


def shared() -> Terminal:
    """Return the process's terminal."""
    return _shared


def follow(other: Terminal) -> None:
    """Let the process's terminal say what `other` may say."""
    for name in ("quiet", "silent", "warnings", "errors", "colour"):
        setattr(_shared, name, getattr(other, name))


def termlog(string: str = "", newline: bool = True, repeat: bool = True) -> None:
    """Print `strobe: string` to stderr (wandb's signature)."""
    _shared.log(string, newline, repeat)


def termwarn(string: str, newline: bool = True, repeat: bool = True) -> None:
    """Print a warning to stderr (wandb's signature)."""
    _shared.warn(string, newline, repeat)


def termerror(string: str, newline: bool = True, repeat: bool = True) -> None:
    """Print an error to stderr (wandb's signature)."""
    _shared.error(string, newline, repeat)


def warn_once(key: str, message: str) -> None:
    """Warn once per process about the cause `key`."""
    _shared.warn_once(key, message)


def number(value: float | int | None) -> str:
    """Return a number in at most about ten characters."""
    if value is None:
        return ""
    if isinstance(value, int) and abs(value) < 10**7:
        return f"{value:,}"
    try:
        return f"{float(value):.4g}"
    except OverflowError:
        return f"~1e{len(str(abs(value))) - 1}" if value > 0 else f"~-1e{len(str(abs(value))) - 1}"
