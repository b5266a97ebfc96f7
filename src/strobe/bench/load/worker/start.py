"""Executed by path with a tracker's interpreter: `python -I start.py JOB.json`.

Loads the package around it under another name, since neither `strobe` nor this directory may be on the path of
the process that is measured.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

_ALIAS = "_load_worker"


def _load_worker_package() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    initial = os.path.join(here, "__init__.py")
    spec = importlib.util.spec_from_file_location(_ALIAS, initial, submodule_search_locations=[here])
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load the worker from {initial}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_ALIAS] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    _load_worker_package()
    importlib.import_module(f"{_ALIAS}.main").main(sys.argv[1])
