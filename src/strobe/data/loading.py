"""Records back into objects: `load(record, files_dir)` gives what was logged, or an equal object.

A record of a type that is not known here comes back as it is. Paths are taken only from below `files_dir`: a
record may come from anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from strobe.data.media import Media

Record = Mapping[str, Any]


def load(record: Any, files_dir: str | os.PathLike[str]) -> Any:
    """Return the object that a record describes; lists and dicts of records are loaded inside."""
    directory = Path(files_dir)
    if isinstance(record, list):
        return [load(part, directory) for part in record]
    if not isinstance(record, Mapping):
        return record
    name = record.get("_type")
    if isinstance(name, str):
        loader = _LOADERS.get(name)
        if loader is not None:
            return loader(record, directory)
        from strobe.data.cell import load_cell

        return load_cell(dict(record), lambda unknown: unknown)
    return {key: load(part, directory) for key, part in record.items()}


def file_of(record: Record, directory: Path) -> Path:
    """Return the path of a record's file; raises ValueError if it leads out of the directory."""
    text = record["path"]
    if not isinstance(text, str) or os.path.isabs(text) or ".." in text.replace("\\", "/").split("/"):
        raise ValueError(f"the record's path {text!r} leads out of the run's files; it is not followed")
    return directory / text


def _load_histogram(record: Record, directory: Path) -> Media:
    from strobe.data.histogram import Histogram

    bins = record.get("bins")
    if bins is None:  # wandb's short form of equal bins
        packed = record["packedBins"]
        bins = [packed["min"] + i * packed["size"] for i in range(packed["count"] + 1)]
    loaded = Histogram(np_histogram=(record["values"], bins))
    loaded.nan, loaded.posinf, loaded.neginf = (record.get(name, 0) for name in ("nan", "posinf", "neginf"))
    return loaded


def _load_table(record: Record, directory: Path) -> Media:
    from strobe.data import tablefile
    from strobe.data.table import Table

    return Table.from_rows(record["columns"], tablefile.unpack(record, lambda part: load(part, directory)), record)


def _load_table_file(record: Record, directory: Path) -> Media:
    from strobe.data import tablefile

    return _load_table(tablefile.parse(file_of(record, directory).read_bytes()), directory)


def _load_increments(record: Record, directory: Path) -> Media:
    from strobe.data import tablefile
    from strobe.data.table import Table

    parts: list[list[list[Any]]] = []
    body: Record = record
    path: str | None = record["path"]
    while path is not None:
        body = tablefile.parse(file_of({"path": path}, directory).read_bytes())
        parts.append(tablefile.unpack(body, lambda part: load(part, directory)))
        path = body.get("previous")
    rows = [row for part in reversed(parts) for row in part]
    return Table.from_rows(body["columns"], rows, {**body, "log_mode": "INCREMENTAL"})


def _load_image(record: Record, directory: Path) -> Media:
    from strobe.data.image import Image

    classes = record.get("classes")
    return Image(
        file_of(record, directory),
        caption=record.get("caption"),
        grouping=record.get("grouping"),
        classes=classes.get("class_set") if isinstance(classes, Mapping) else None,
        boxes={name: _boxes(part, directory) for name, part in (record.get("boxes") or {}).items()},
        masks={name: {**part, "path": file_of(part, directory)} for name, part in (record.get("masks") or {}).items()},
    )


def _boxes(record: Record, directory: Path) -> Record:
    if "path" not in record:
        return record
    import msgspec

    boxes: dict[str, Any] = msgspec.json.decode(file_of(record, directory).read_bytes())
    return boxes


def _load_images(record: Record, directory: Path) -> list[Media]:
    loaded = []
    for index, path in enumerate(record["filenames"]):
        one = {"path": path}
        for field, name in (
            ("caption", "captions"),
            ("masks", "all_masks"),
            ("boxes", "all_boxes"),
            ("classes", "all_classes"),
            ("grouping", "groupings"),
        ):
            if name in record:
                one[field] = record[name][index]
        loaded.append(_load_image(one, directory))
    return loaded


def _load_list(field: str) -> Callable[[Record, Path], Any]:
    return lambda record, directory: [load(part, directory) for part in record[field]]


def _load_audio(record: Record, directory: Path) -> Media:
    from strobe.data.audio import Audio

    return Audio(file_of(record, directory), sample_rate=record.get("sample_rate"), caption=record.get("caption"))


def _load_video(record: Record, directory: Path) -> Media:
    from strobe.data.video import Video

    loaded = Video(file_of(record, directory), caption=record.get("caption"))
    loaded.width, loaded.height = record.get("width"), record.get("height")
    return loaded


def _load_html(record: Record, directory: Path) -> Media:
    from strobe.data.html import Html

    return Html(file_of(record, directory), inject=False)


def _load_object3d(record: Record, directory: Path) -> Media:
    from strobe.data.object3d import Object3D

    return Object3D(file_of(record, directory), caption=record.get("caption"))


def _load_molecule(record: Record, directory: Path) -> Media:
    from strobe.data.molecule import Molecule

    return Molecule(file_of(record, directory), caption=record.get("caption"))


def _load_plotly(record: Record, directory: Path) -> Media:
    from strobe.data.plotly import Plotly

    return Plotly(file_of(record, directory).read_bytes())


def _load_graph(record: Record, directory: Path) -> Media:
    import msgspec

    from strobe.data.graph import Graph

    body = msgspec.json.decode(file_of(record, directory).read_bytes())
    graph = Graph(body["format"])
    for attributes in body["nodes"]:
        graph.add_node(**attributes)
    for source, target in body["edges"]:
        graph.add_edge(graph[source], graph[target])
    return graph


def _load_classes(record: Record, directory: Path) -> Media:
    from strobe.data.classes import Classes

    return Classes(record["class_set"])


def _load_chart(record: Record, directory: Path) -> Media:
    from strobe.data.plot.chart import CustomChart

    return CustomChart.from_record(record, load(record["table"], directory))


def _load_value(record: Record, directory: Path) -> Any:
    from strobe.journal import value

    return value.decode(file_of(record, directory).read_bytes())


_LOADERS: dict[str, Callable[[Record, Path], Any]] = {
    "histogram": _load_histogram,
    "table": _load_table,
    "table-file": _load_table_file,
    "incremental-table-file": _load_increments,
    "image-file": _load_image,
    "images/separated": _load_images,
    "audio-file": _load_audio,
    "audio": _load_list("audio"),
    "video-file": _load_video,
    "videos": _load_list("videos"),
    "html-file": _load_html,
    "html": _load_list("html"),
    "object3D-file": _load_object3d,
    "object3D": _load_list("objects"),
    "molecule-file": _load_molecule,
    "molecule": _load_list("molecules"),
    "plotly-file": _load_plotly,
    "graph-file": _load_graph,
    "classes": _load_classes,
    "chart": _load_chart,
    "value-file": _load_value,
}
