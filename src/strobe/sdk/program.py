"""Which program runs: the script, or the notebook where a notebook's kernel runs us."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def find_program() -> str:
    """Return the path of the notebook or script, as far as it can be told."""
    main = sys.modules.get("__main__")
    if in_notebook():
        # What runs there is the kernel's launcher; the notebook's path is known where an editor tells the kernel.
        found = getattr(main, "__vsc_ipynb_file__", None) or os.environ.get("JPY_SESSION_NAME")
        return str(found or "<notebook>")
    return str(getattr(main, "__file__", None) or (sys.argv[0] if sys.argv else "") or "<interactive>")


def in_notebook() -> bool:
    """Tell whether this process is a notebook's kernel."""
    return "IPKernelApp" in getattr(_shell(), "config", {})


def working_directory() -> str:
    """Return the current directory, or the root if it was removed under the process or cannot be read."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def watch_cells(call: Callable[[], None]) -> Callable[[], None]:
    """Have `call` made at the start of every cell of a notebook or IPython; return what ends that."""
    events = getattr(_shell(), "events", None)

    def begin_cell(info: object = None) -> None:
        call()

    def leave() -> None:
        if events is not None:
            with suppress(ValueError):  # it was taken out already
                events.unregister("pre_run_cell", begin_cell)

    if events is not None:
        events.register("pre_run_cell", begin_cell)
    return leave


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
