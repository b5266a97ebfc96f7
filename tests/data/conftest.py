"""A directory of media files for each test that asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.data.files import DirectoryFiles


@pytest.fixture
def files(tmp_path: Path) -> DirectoryFiles:
    return DirectoryFiles(tmp_path / "files")
