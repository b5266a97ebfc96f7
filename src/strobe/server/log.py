"""The server's log: one line per request and event, JSON for machines, text on a terminal. Keys are cut out of both."""

from __future__ import annotations

import logging
import re
import sys
import time
from typing import Literal, TextIO

import msgspec

Format = Literal["auto", "json", "text"]
#: the attribute of a record that holds its fields
FIELDS = "strobe_fields"

_KEY = re.compile(r"strobe_([A-Za-z0-9]{12})_[A-Za-z0-9]{43}")
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
#: the way to a thing by a signed link: who has it may go there
_LINK = re.compile(r"(/api/v1/links/)[^\s/?\"']+")
_PASSWORD = re.compile(r"(://[^/@\s:]*:)[^/@\s]+@")


def without_secrets(text: str) -> str:
    """Return the text with keys, credentials, signed links and passwords in addresses cut out."""
    text = _KEY.sub(r"strobe_\1_****", text)
    text = _LINK.sub(r"\1****", text)
    text = _AUTHORIZATION.sub(r"\1 ****", text)
    return _PASSWORD.sub(r"\1****@", text)


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _moment(record), "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, FIELDS, {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return without_secrets(msgspec.json.encode(line, enc_hook=str).decode())


class TextFormatter(logging.Formatter):
    """A record as people read it."""

    def format(self, record: logging.LogRecord) -> str:
        given = getattr(record, FIELDS, {})
        fields = " ".join(f"{name}={_printable(value)}" for name, value in given.items() if value != "")
        mark = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        text = f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {mark}{record.getMessage()}"
        text += f"  {fields}" if fields else ""
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return without_secrets(text)


def open_log(
    format_: Format = "auto", stream: TextIO | None = None, *, level: int = logging.INFO, name: str = "strobe.server"
) -> logging.Logger:
    """Return a logger that writes to `stream` (stderr) only, as do uvicorn's warnings from now on."""
    target = sys.stderr if stream is None else stream
    is_json = format_ == "json" or (format_ == "auto" and not target.isatty())
    handler = _StderrHandler() if stream is None else logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if is_json else TextFormatter())
    log = logging.getLogger(name)
    for one, its_level in ((log, level), (logging.getLogger("uvicorn"), max(level, logging.WARNING))):
        one.handlers[:] = [handler]
        one.propagate = False
        one.setLevel(its_level)
    return log


class _StderrHandler(logging.Handler):
    """Writes to what is stderr now: the one of the beginning may have been replaced, and closed."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # closed or full: whoever logs something must not fail for it
            self.handleError(record)


def _moment(record: logging.LogRecord) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"


def _printable(value: object) -> str:
    # A path may hold anything, line breaks too: nobody writes lines of their own into the log.
    text = str(value)
    return text if text.isprintable() else repr(text)
