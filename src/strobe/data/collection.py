"""Several media under one key: `log({"samples": [Image(a), Image(b)]})` is one record that lists the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from strobe.data.media import Media, MediaFiles

Records = list[dict[str, Any]]


def record_list(values: Sequence[Media], files: MediaFiles, key: str, step: int) -> dict[str, Any] | Records:
    """Return one record for media of one type that has such a form in wandb, else the list of their records."""
    records = [value.record(files, key, step) for value in values]
    types = {type(value)._log_type for value in values}
    if len(types) != 1:
        return records
    name = types.pop()
    if name == "image-file":
        return _images(records)
    if name in _FORMS:
        list_type, field = _FORMS[name]
        return {"_type": list_type, "count": len(records), field: records, **_captions(records), **_sound(records)}
    return records


#: type of one, type of several, name of the field that holds them
_FORMS = {
    "audio-file": ("audio", "audio"),
    "video-file": ("videos", "videos"),
    "html-file": ("html", "html"),
    "object3D-file": ("object3D", "objects"),
    "molecule-file": ("molecule", "molecules"),
}


def _images(records: list[dict[str, Any]]) -> dict[str, Any]:
    first = records[0]
    listed: dict[str, Any] = {
        "_type": "images/separated",
        "count": len(records),
        "filenames": [record["path"] for record in records],
        "format": first["format"],
        "width": first.get("width"),
        "height": first.get("height"),
        **_captions(records),
    }
    sizes = [[record.get("width"), record.get("height")] for record in records]
    if any(size != sizes[0] for size in sizes):
        listed["sizes"] = sizes
    for field, name in (("masks", "all_masks"), ("boxes", "all_boxes"), ("classes", "all_classes"), _GROUPING):
        if any(field in record for record in records):
            listed[name] = [record.get(field) for record in records]
    return listed


_GROUPING = ("grouping", "groupings")


def _captions(records: list[dict[str, Any]]) -> dict[str, Any]:
    if not any("caption" in record for record in records):
        return {}
    return {"captions": [record.get("caption", "") for record in records]}


def _sound(records: list[dict[str, Any]]) -> dict[str, Any]:
    fields = (("sample_rate", "sampleRates"), ("duration", "durations"))
    return {
        name: [record.get(field) for record in records]
        for field, name in fields
        if any(field in record for record in records)
    }
