"""The data types of a run: what can be logged besides plain values.

Names load when they are first used, so importing this package costs nothing and needs no other library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strobe.data import plot
    from strobe.data.annotation import BoundingBoxes2D, ImageMask
    from strobe.data.audio import Audio
    from strobe.data.classes import Classes
    from strobe.data.coercion import coerce
    from strobe.data.collection import record_list
    from strobe.data.files import DirectoryFiles
    from strobe.data.graph import Graph
    from strobe.data.histogram import Histogram
    from strobe.data.html import Html
    from strobe.data.image import Image
    from strobe.data.loading import load
    from strobe.data.media import Media, MediaFiles
    from strobe.data.molecule import Molecule
    from strobe.data.object3d import Object3D, box3d
    from strobe.data.plot.chart import CustomChart, plot_table, visualize
    from strobe.data.plotly import Plotly
    from strobe.data.table import Table
    from strobe.data.video import Video

#: public name → the module that has it
_HOMES = {
    "Audio": "audio",
    "BoundingBoxes2D": "annotation",
    "Classes": "classes",
    "CustomChart": "plot.chart",
    "DirectoryFiles": "files",
    "Graph": "graph",
    "Histogram": "histogram",
    "Html": "html",
    "Image": "image",
    "ImageMask": "annotation",
    "Media": "media",
    "MediaFiles": "media",
    "Molecule": "molecule",
    "Object3D": "object3d",
    "Plotly": "plotly",
    "Table": "table",
    "Video": "video",
    "box3d": "object3d",
    "coerce": "coercion",
    "load": "loading",
    "plot_table": "plot.chart",
    "record_list": "collection",
    "visualize": "plot.chart",
}

__all__ = [
    "Audio",
    "BoundingBoxes2D",
    "Classes",
    "CustomChart",
    "DirectoryFiles",
    "Graph",
    "Histogram",
    "Html",
    "Image",
    "ImageMask",
    "Media",
    "MediaFiles",
    "Molecule",
    "Object3D",
    "Plotly",
    "Table",
    "Video",
    "box3d",
    "coerce",
    "load",
    "plot",
    "plot_table",
    "record_list",
    "visualize",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "plot":
        return import_module("strobe.data.plot")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"strobe.data.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
