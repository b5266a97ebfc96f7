"""What may be given as a config: mappings, namespaces, flags, dataclasses, models, or the name of a file.

Turns any of them into a plain dict. Knows nothing of runs or of how changes are recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from strobe.errors import MissingExtra, UsageError
from strobe.settings.fields import fields_of
from strobe.settings.files import parse_document
from strobe.settings.plain import plain


def read_config(
    source: Any, *, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
) -> dict[str, Any]:
    """Return the plain config that `source` stands for, with only the keys of `include` or without `exclude`.

    Raises UsageError when it stands for none, or when both `include` and `exclude` are given.
    """
    if source is None:
        return {}
    if isinstance(source, (str, os.PathLike)):
        source = _read_file(Path(source))
    found = fields_of(source)
    if found is None:
        raise UsageError(
            f"config is a {type(source).__module__}.{type(source).__qualname__}; give a dict, a namespace, "
            "a dataclass, a model, or the path of a .json, .yaml or .toml file"
        )
    values: dict[str, Any] = plain(found)
    wanted, unwanted = _names(include, "include"), _names(exclude, "exclude")
    if wanted and unwanted:
        raise UsageError("give config_include_keys or config_exclude_keys, not both")
    return {key: value for key, value in values.items() if key not in unwanted and (not wanted or key in wanted)}


def _names(names: Iterable[str] | None, what: str) -> frozenset[str]:
    if isinstance(names, str):
        raise UsageError(f"config_{what}_keys is the text {names!r}; give a list of keys")
    return frozenset(names or ())


def _read_file(path: Path) -> Any:
    reader = {".json": _read_json, ".toml": _read_toml, ".yaml": _read_yaml, ".yml": _read_yaml}.get(path.suffix)
    if reader is None:
        raise UsageError(f"config file {str(path)!r} is neither .json, .yaml nor .toml")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"config file {str(path)!r} cannot be read: {exc}") from exc
    found = reader(text, path)
    if not isinstance(found, dict):
        raise UsageError(f"config file {str(path)!r} holds a {type(found).__name__} at the top, it must be a mapping")
    return _unwrapped(found)


def _read_json(text: str, path: Path) -> Any:
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as exc:
        raise UsageError(f"{path}:{exc.lineno}: not valid JSON: {exc.msg}") from exc


def _read_toml(text: str, path: Path) -> Any:
    return parse_document(text, path)


def _read_yaml(text: str, path: Path) -> Any:
    import importlib

    try:
        yaml: Any = importlib.import_module("yaml")
    except ModuleNotFoundError as exc:
        raise MissingExtra(f"reading {str(path)!r} needs PyYAML; run `pip install pyyaml`") from exc
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as exc:
        mark = getattr(exc, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        raise UsageError(f"{path}{line}: not valid YAML: {getattr(exc, 'problem', exc)}") from exc


def _unwrapped(found: dict[str, Any]) -> dict[str, Any]:
    """wandb's own config files wrap each value as {desc: …, value: …} beside a wandb_version."""
    if "wandb_version" not in found:
        return found
    return {
        key: item["value"]
        for key, item in found.items()
        if key not in {"wandb_version", "_wandb"} and isinstance(item, dict) and "value" in item
    }
