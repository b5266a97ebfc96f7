"""Where each setting's value comes from: keyword > STROBE_* > WANDB_* > project file > user file > default.

`resolve` looks at all of them when it is called (at `init()`, never at import) and remembers the origin of each
value. It runs on the way of every `init()`: no work is done for settings that nobody set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from strobe.errors import SettingsError
from strobe.home import default_home
from strobe.settings import notice
from strobe.settings.files import SettingsFile, project_file, user_file
from strobe.settings.names import KEYWORDS, VARIABLES, Name, known_name, suggestion
from strobe.settings.notice import mark, warn_once, was_given
from strobe.settings.settings import Settings, read_keywords, shown, working_directory
from strobe.settings.table import FIELDS

DEFAULT = "default"
_PREFIXES = ("STROBE_", "WANDB_")
#: wandb's own cloud: it will never be a Strobe server, so its address configures none.
_WANDB_CLOUD = ("wandb.ai", "wandb.io", "coreweave.com")


class Resolved(Settings):
    """Settings with an origin for each value; read-only. Unlike in Settings, `mode` is always decided."""

    mode: str

    def __init__(self, values: Mapping[str, Any], origins: Mapping[str, str]) -> None:
        vars(self).update(values)
        vars(self)["_origins"] = dict(origins)

    def origin(self, name: str) -> str:
        """Return where the value comes from: "keyword", "settings", a variable, "file:line" or "default"."""
        found: str = vars(self)["_origins"].get(known_name(name).field.name, DEFAULT)
        return found

    def replace(self, origin: str = "keyword", **changes: Any) -> Resolved:
        """Return a copy with other values, as if they had come from `origin`; None goes back to the default."""
        values, origins = self.explicit(), dict(vars(self)["_origins"])
        for name in changes:
            if name in KEYWORDS:
                values.pop(KEYWORDS[name].field.name, None)
                origins.pop(KEYWORDS[name].field.name, None)
        given = read_keywords(changes)
        values.update(given)
        origins.update(dict.fromkeys(given, origin))
        values.setdefault("mode", "offline")
        return Resolved(values, origins)

    def explain(self) -> list[tuple[str, Any, str, str]]:
        """Return (name, value, origin, documentation) of every setting; secrets are hidden."""
        return [
            (name, shown(field, getattr(self, name)), self.origin(name), field.doc) for name, field in FIELDS.items()
        ]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"settings of a run cannot change; give {name} to init()")


def resolve(
    keywords: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    *,
    settings: Settings | Mapping[str, Any] | None = None,
) -> Resolved:
    """Return the settings in force; `settings` (from `init(settings=…)`) come right after `keywords`.

    Raises SettingsError, naming keyword, variable or file and line, for a value that cannot be.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    notice.hold()
    try:
        _take_all(values, origins, keywords, os.environ if environ is None else environ, cwd, settings)
    finally:
        notice.release(silent=bool(values.get("silent")) or values.get("show_warnings") is False)
    return Resolved(values, origins)


def _take_all(
    values: dict[str, Any],
    origins: dict[str, str],
    keywords: Mapping[str, Any] | None,
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] | None,
    settings: Settings | Mapping[str, Any] | None,
) -> None:
    base = working_directory() if cwd is None else os.fspath(cwd)

    def take(found: Mapping[str, Any], origin: str) -> None:
        values.update(found)
        origins.update(dict.fromkeys(found, origin))

    if (file := user_file(env)) is not None:
        _take_file(file, values, origins)
    if (file := project_file(base)) is not None:
        _take_file(file, values, origins, is_project=True)
    _take_environment(env, base, values, origins)
    if settings is not None:
        given = settings.explicit() if isinstance(settings, Settings) else read_keywords(settings, base)
        take(given, "settings")
    if keywords:
        take(read_keywords(keywords, base), "keyword")
    if "home" not in values:
        values["home"] = default_home(env)
    _decide_mode(values, origins)


def explain(
    environ: Mapping[str, str] | None = None, cwd: str | os.PathLike[str] | None = None
) -> list[tuple[str, Any, str, str]]:
    """Return (name, value, origin, documentation) of every setting as `init()` would find them here and now."""
    return resolve({}, environ, cwd).explain()


def _take_file(
    file: SettingsFile, values: dict[str, Any], origins: dict[str, str], *, is_project: bool = False
) -> None:
    for key, value in file.values.items():
        if isinstance(value, dict):
            continue  # a table belongs to another part of Strobe
        known = KEYWORDS.get(key)
        if known is None:
            # A newer Strobe may know it and share this file: no reason to stop a training.
            where = file.place(key)
            warn_once(f"{file.path} {key}", f"{where}: there is no setting {key!r}{suggestion(key, KEYWORDS)}")
            continue
        if is_project and known.field.secret:
            raise SettingsError(
                f"{file.place(key)}: {key} is a secret and does not belong in a project; use `strobe config set {key}`"
            )
        typed = known.read(value, str(file.path.parent), f"{file.place(key)}: {key}")
        if typed is not None:
            values[known.field.name] = typed
            origins[known.field.name] = file.place(key)


def _take_environment(env: Mapping[str, str], base: str, values: dict[str, Any], origins: dict[str, str]) -> None:
    best: dict[str, tuple[Name, str]] = {}
    for variable in env:
        if not variable.startswith(_PREFIXES):
            continue
        known = VARIABLES.get(variable)
        if known is None:
            _look_at_stranger(variable, env[variable])
            continue
        if not env[variable]:
            continue  # set to nothing is not set
        name = known.field.name
        # All are read, so that a wrong value is named even where a stronger variable hides it.
        typed = known.read(env[variable], base, variable)
        if typed is not None and (name not in best or known.rank < best[name][0].rank):
            best[name] = (known, variable)
            values[name] = typed
            origins[name] = variable


def _look_at_stranger(variable: str, value: str) -> None:
    """Warn of a variable that looks as if it should do something and does not."""
    if was_given(variable) or not value:
        return
    if said := _stranger_warning(variable, value):
        warn_once(variable, said)
    else:
        mark(variable)


def _stranger_warning(variable: str, value: str) -> str:
    if variable.startswith("WANDB_"):
        from strobe.settings.foreign import variable_reason

        why = variable_reason(variable, value)
        return f"{variable} is set but has no effect: {why}" if why else ""
    # Other parts of Strobe have variables of their own, so only what looks like a slip is spoken of.
    hint = suggestion(variable, (name for name in VARIABLES if name.startswith("STROBE_")), cutoff=0.86)
    return f"{variable} is set but is no setting{hint}" if hint else ""


def _decide_mode(values: dict[str, Any], origins: dict[str, str]) -> None:
    url = values.get("base_url")
    if url is not None and origins["base_url"].startswith("WANDB_"):
        host = url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
        if host.endswith(_WANDB_CLOUD):
            warn_once("wandb cloud", f"{origins['base_url']} is not used: {host} is wandb's own, not a Strobe server")
            del values["base_url"], origins["base_url"]
            url = None
    mode = values.get("mode")
    if mode is None:
        values["mode"] = "offline" if url is None else "online"
    elif mode == "online" and url is None:
        warn_once("online without server", "mode is online but no server is configured (base_url); recording offline")
        values["mode"] = "offline"
