"""The threads of a server share a few heaps."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Threads that live at the same time and each allocate; then the C library is asked for its heaps.
_COUNT = """
import ctypes, os, sys, tempfile, threading
if sys.argv[1] == "shared":
    from strobe.server.memory import share_heaps
    assert share_heaps()
meet = threading.Barrier(12)
def work():
    held = [bytearray(2000) for _ in range(100)]
    meet.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
with tempfile.TemporaryFile() as told:
    stream = ctypes.c_void_p(libc.fdopen(os.dup(told.fileno()), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    told.seek(0)
    print(told.read().count(b"<heap nr="))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the habit is glibc's")
def test_threads_share_heaps() -> None:
    def count(how: str) -> int:
        done = subprocess.run([sys.executable, "-c", _COUNT, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert count("shared") <= 2 < count("own")
