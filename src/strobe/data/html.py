"""HTML pages and fragments, kept as files and shown in a frame of their own."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from strobe.data.media import Media, MediaFiles
from strobe.data.source import is_stream, read_stream

#: links open outside the frame, and text is readable without a style of its own
_HEAD = (
    '<meta charset="utf-8"><base target="_blank">'
    "<style>:root{color-scheme:light dark}body{font:14px/1.45 system-ui,sans-serif;margin:8px}</style>"
)
_HEAD_TAG = re.compile(r"<head(\s[^>]*)?>", re.IGNORECASE)
_HTML_TAG = re.compile(r"<html(\s[^>]*)?>", re.IGNORECASE)
_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)


class Html(Media):
    """A page from text, from an open file, or from a path that ends in .html or .htm.

    `inject=False` leaves it unchanged; otherwise a small style and a target for links are put into its head.
    """

    _log_type = "html-file"

    def __init__(self, data: Any, inject: bool = True, data_is_not_path: bool = False) -> None:
        if not data_is_not_path and isinstance(data, (str, os.PathLike)) and _is_page(data):
            self.html = Path(data).read_text(encoding="utf-8")
        elif isinstance(data, str):
            self.html = data
        elif isinstance(data, os.PathLike):
            raise FileNotFoundError(f"Html: there is no .html file {os.fspath(data)}")
        elif is_stream(data):
            self.html = read_stream(data).decode()
        else:
            raise TypeError(f"Html is made from text, a path or an open file, got {type(data).__name__}")
        if inject:
            self.html = _inject(self.html)

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        content = self.html.encode(errors="xmlcharrefreplace")
        path = files.write("html", key, step, "html", content)
        return {"_type": self._log_type, "path": path, "size": len(content)}

    def __eq__(self, other: object) -> bool:
        return self.html == other.html if isinstance(other, Html) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.html)


def _is_page(path: str | os.PathLike[str]) -> bool:
    text = os.fspath(path)
    # a page given as text may be longer than a path can be, and hold what no path may
    return len(text) < 4096 and text.lower().endswith((".html", ".htm")) and os.path.isfile(text)


def _inject(page: str) -> str:
    for tag, before, after in ((_HEAD_TAG, "", ""), (_HTML_TAG, "<head>", "</head>")):
        if found := tag.search(page):
            return f"{page[: found.end()]}{before}{_HEAD}{after}{page[found.end() :]}"
    # a fragment; a doctype must stay first
    start = found.end() if (found := _DOCTYPE.match(page)) else 0
    return f"{page[:start]}{_HEAD}{page[start:]}"
