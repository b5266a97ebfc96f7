"""Records back into objects, wherever they come from; and what the package shows and imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strobe.data
from strobe.data import Histogram, Html, Image, coerce, load
from strobe.data.files import DirectoryFiles


@pytest.mark.parametrize("value", [None, 1, "x", [1, {"a": 2}], {"a": {"b": 1}}, {"_type": "new-thing", "path": "x"}])
def test_other_values_and_unknown_types_come_back_as_they_are(tmp_path: Path, value: Any) -> None:
    assert load(value, tmp_path) == value


def test_records_inside_of_lists_and_dicts_are_loaded(files: DirectoryFiles) -> None:
    record = Histogram([1, 2]).record()
    loaded = load({"a": [record], "b": {"c": record}}, files.directory)
    assert loaded["a"][0] == loaded["b"]["c"] == Histogram([1, 2])


def test_wandbs_packed_bins() -> None:
    packed = {"_type": "histogram", "packedBins": {"min": 1.0, "size": 0.5, "count": 2}, "values": [3, 4]}
    assert load(packed, ".").bins == [1.0, 1.5, 2.0]


@pytest.mark.parametrize("path", ["../secret.png", "/etc/passwd", "media/../../x.png", "..\\x.png"])
def test_paths_that_lead_out_of_the_files_are_not_followed(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="leads out of the run's files"):
        load({"_type": "image-file", "path": path}, tmp_path / "files")


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load({"_type": "html-file", "path": "media/html/gone.html"}, tmp_path)


def test_what_is_coerced() -> None:
    import PIL.Image

    class Mine(PIL.Image.Image):  # type: ignore[misc]  # Pillow is not typed for mypy here
        pass

    image = PIL.Image.new("RGB", (2, 3))
    assert isinstance(coerce(image), Image)
    mine = Mine()
    mine.im, mine._mode, mine._size = image.im, image.mode, image.size
    assert isinstance(coerce(mine), Image)
    for value in (1, "x", None, np.zeros(3), np.float32(1), Html("x"), object(), sys, [1], {"a": 1}, PIL.Image):
        assert coerce(value) is None


def test_the_public_names() -> None:
    assert sorted(strobe.data.__all__) == dir(strobe.data)
    for name in strobe.data.__all__:
        assert getattr(strobe.data, name) is not None
    assert callable(strobe.data.load)
    assert callable(strobe.data.coerce)
    with pytest.raises(AttributeError, match="has no attribute 'Imagine'"):
        _ = strobe.data.Imagine


_LEAN = """
import sys
import msgspec  # what it loads itself differs between versions of Python
before = set(sys.modules)
import strobe.data.media
heavy = {"numpy", "PIL", "pandas", "torch", "matplotlib", "plotly", "asyncio", "http", "multiprocessing", "subprocess"}
assert not heavy & (set(sys.modules) - before), heavy & set(sys.modules)
lean = {"strobe.data.media", "strobe.data.files", "strobe.data.filename", "strobe.data.side"}
assert not [name for name in sys.modules if name.startswith("strobe.data.") and name not in lean]
import strobe.data
for name in strobe.data.__all__:
    getattr(strobe.data, name)
assert not heavy & (set(sys.modules) - before), heavy & set(sys.modules)
"""


def test_importing_any_of_it_loads_no_heavy_library() -> None:
    subprocess.run([sys.executable, "-c", _LEAN], check=True)


_BARE = """
import sys
for name in ("numpy", "PIL", "pandas"):
    sys.modules[name] = None
from pathlib import Path
from strobe.data import Audio, DirectoryFiles, Histogram, Html, Image, Table, load, plot
from strobe.errors import MissingExtra
files = DirectoryFiles(sys.argv[1])
table = Table(columns=["a", "b"], data=[[1, "x"], [2, "y"]])
assert load(table.record(files, "t", 0), files.directory) == table
Histogram([1, 2, 3]).record()
Audio([0.0, 0.5], sample_rate=8000).record(files, "a", 0)
Html("<p>x</p>").record(files, "h", 0)
plot.roc_curve([0, 1], [0.2, 0.8]).record(files, "c", 0)
png = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000020000000308000000006f") + bytes(40)
image = Image(png)
assert (image.width, image.height) == (2, 3)
image.record(files, "i", 0)
for make in (lambda: Image([[0, 1]]), lambda: image.image, lambda: table.get_dataframe()):
    try:
        make()
    except MissingExtra as exc:
        assert "pip install" in str(exc), exc
    else:
        raise AssertionError("no MissingExtra")
"""


def test_much_works_with_nothing_installed(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _BARE, str(tmp_path)], check=True)
