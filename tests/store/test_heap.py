"""What a question frees is not given back to the system: the next one finds its memory mapped."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import resource, sys
import numpy as np
from strobe.store.store import open_store

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def use():
    for _ in range(8):
        parts = [np.ones(50_000) for _ in range(6)]  # 2.4 MB, in blocks of 400 kB

if sys.argv[1] == "kept":
    open_store("sqlite:///" + sys.argv[2], sys.argv[3]).close()
use()
began = faults()
use()
print(faults() - began)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives blocks back that often")
def test_memory_of_one_question_serves_the_next(tmp_path: Path) -> None:
    kept, given_back = (_faults(how, tmp_path) for how in ("kept", "as it comes"))
    # 2.4 MB are 586 pages, eight times
    assert kept < 300
    assert given_back > 5 * kept


def _faults(how: str, directory: Path) -> int:
    command = [sys.executable, "-c", _PROGRAM, how, str(directory / "strobe.db"), str(directory / "blobs")]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
