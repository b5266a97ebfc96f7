"""Plotly figures, kept as their JSON: drawn by the reader, not here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strobe.data.array import library
from strobe.data.figure import is_matplotlib, to_figure
from strobe.data.media import Media, MediaFiles
from strobe.errors import MissingExtra


class Plotly(Media):
    """An interactive figure from a Plotly figure, its dict or JSON, or a matplotlib figure that Plotly can convert."""

    _log_type = "plotly-file"

    def __init__(self, val: Any) -> None:
        self._json = _to_json(val)

    @property
    def figure(self) -> dict[str, Any]:
        """The figure as Plotly's dict of "data" and "layout"."""
        import msgspec

        figure: dict[str, Any] = msgspec.json.decode(self._json)
        return figure

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        path = files.write("plotly", key, step, "plotly.json", self._json)
        return {"_type": self._log_type, "path": path, "size": len(self._json)}

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Plotly) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._json)


def _to_json(value: Any) -> bytes:
    import msgspec

    if is_matplotlib(value):
        value = _convert(value)
    if library(value) == "plotly":
        # plotly's own encoder knows arrays, dates and frames; fig.to_json() also validates, which is slow
        text: str = value.to_json(validate=False)
        return text.encode()
    if isinstance(value, Mapping) and "data" in value:
        return msgspec.json.encode(value, enc_hook=_plain)
    if isinstance(value, (str, bytes)):
        content = value.encode() if isinstance(value, str) else value
        try:
            is_figure = "data" in msgspec.json.decode(content, type=dict[str, Any])
        except msgspec.MsgspecError:
            is_figure = False
        if is_figure:
            return content
    raise TypeError(f"Plotly takes a plotly or matplotlib figure or {{'data': …, 'layout': …}}, got {value!r:.80}")


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a figure cannot hold a {type(value).__name__}")


def _convert(value: Any) -> Any:
    try:
        from plotly.tools import mpl_to_plotly
    except ImportError as exc:
        raise MissingExtra("converting a matplotlib figure needs plotly; pip install plotly, or log it as is") from exc
    return mpl_to_plotly(to_figure(value))
