"""Which program runs: the script, or the notebook where a notebook's kernel runs us."""

from __future__ import annotations

import os
import sys


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
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


def working_directory() -> str:
    """Return the current directory, or the root if it was removed under the process."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.sep
