"""Objects of other libraries that `log()` takes as they are: what they become is decided here, by type.

Nothing is imported to find out: a value of a library is there only if the library is.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from strobe.data.media import Media


def coerce(value: Any) -> Media | None:
    """Return the media that a figure, PIL image, DataFrame or Series is, None for any other value."""
    package = (value.__name__ if isinstance(value, ModuleType) else type(value).__module__).partition(".")[0]
    convert = _CONVERSIONS.get(package)
    if convert is None:
        # a subclass of a user's own, such as class MyFigure(Figure)
        convert = next((found for base in type(value).__mro__ if (found := _for_module(base.__module__))), None)
    return convert(value) if convert else None


def _for_module(module: Any) -> Any:
    # classes may set __module__ to anything
    return _CONVERSIONS.get(module.partition(".")[0]) if isinstance(module, str) else None


def _from_matplotlib(value: Any) -> Media | None:
    from strobe.data.figure import is_matplotlib
    from strobe.data.image import Image

    return Image(value) if is_matplotlib(value) else None


def _from_plotly(value: Any) -> Media | None:
    if not hasattr(value, "to_plotly_json") or not hasattr(value, "layout"):
        return None
    from strobe.data.plotly import Plotly

    return Plotly(value)


def _from_pillow(value: Any) -> Media | None:
    if not hasattr(value, "tobytes") or not hasattr(value, "mode"):
        return None
    from strobe.data.image import Image

    return Image(value)


def _from_frame(value: Any) -> Media | None:
    from strobe.data.table import Table

    kind = type(value).__name__
    if kind == "Series" and hasattr(value, "to_frame"):
        name = value.name if value.name is not None else "value"
        return Table(columns=[name if isinstance(name, str) else str(name)], data=[[cell] for cell in value.tolist()])
    return Table(dataframe=value) if hasattr(value, "columns") and hasattr(value, "shape") else None


_CONVERSIONS = {
    "matplotlib": _from_matplotlib,
    "pylab": _from_matplotlib,
    "plotly": _from_plotly,
    "PIL": _from_pillow,
    "pandas": _from_frame,
    "polars": _from_frame,
}
