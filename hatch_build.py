"""Build hook: a wheel, and an editable install, holds the built dashboard. An sdist holds its sources."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DashboardHook(BuildHookInterface):  # type: ignore[misc,unused-ignore]  # hatchling is there at build time only
    """Builds what is not there, or older than its sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        web = Path(self.root) / "web"
        if self.target_name == "wheel" and web.is_dir():
            _load(web / "build.py").build()


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("strobe_web_build", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
