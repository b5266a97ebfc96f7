"""Is this machine fit to record on? Each check says what it found and, if something is wrong, what to do about it.

Looks and touches nothing but one temporary file in the home. What lies above this layer (the agent) is checked by
whoever may import it, and joins the list.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from strobe._version import __version__
from strobe.api.usage import measure
from strobe.errors import SettingsError
from strobe.home import Home
from strobe.settings import Resolved, resolve

OK, WARN, FAIL = "ok", "warn", "fail"
_MB = 1_000_000
_FAIL_FREE_BYTES = 100 * _MB
_WARN_FREE_BYTES = 2_000 * _MB
_MAX_SKEW_S = 2.0
#: no clock that is right shows an earlier moment than this: 2024-01-01
_EARLIEST_S = 1_704_067_200
_NETWORK = {"nfs", "nfs4", "lustre", "cifs", "smb3", "smbfs", "beegfs", "ceph", "gpfs", "fuse.sshfs", "9p", "afs"}
_FLEETING = {"tmpfs": "a reboot", "ramfs": "a reboot", "overlay": "the end of the container"}
_EXTRAS = {"numpy": "media", "PIL": "media", "pandas": "", "pyarrow": "parquet", "pynvml": "gpu"}


@dataclass(frozen=True, slots=True)
class Check:
    """What one look found. `fix` says what to do, when there is something to do."""

    name: str
    status: str
    detail: str
    fix: str = ""


def examine(home_override: str | None = None) -> Iterator[Check]:
    """Yield the checks one by one."""
    yield _versions()
    try:
        settings = resolve({"home": home_override} if home_override else {})
    except SettingsError as exc:
        yield Check(
            "settings", FAIL, str(exc), "correct it; `strobe config --explain` shows where each value comes from"
        )
        return
    yield Check("settings", OK, f"home from {settings.origin('home')}, mode {settings.mode}")
    home = Home(settings.home)
    writable = _writable(home)
    yield writable
    yield _file_system(home)
    yield _free_space(home)
    yield _clock(home, can_write=writable.status == OK)
    yield _quota(home, settings)
    yield _extras()
    yield _server(settings)


def _versions() -> Check:
    detail = f"strobe {__version__}, Python {platform.python_version()}, {platform.system()} {platform.release()}"
    return Check("versions", OK, detail)


def _writable(home: Home) -> Check:
    place = _existing(home.path)
    try:
        with tempfile.TemporaryFile(dir=place) as stream:
            stream.write(b"strobe")
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as exc:
        fix = "make it writable for you, or set STROBE_HOME to a directory that is"
        return Check("home", FAIL, f"cannot write to {place}: {exc.strerror}", fix)
    return Check("home", OK, str(home.path) + ("" if home.path.is_dir() else " (made by the first run)"))


def _existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _file_system(home: Home) -> Check:
    kind = file_system_kind(_existing(home.path))
    if kind is None:
        return Check("file system", OK, "kind unknown on this system")
    if kind in _FLEETING:
        return Check(
            "file system", WARN, f"{kind}: runs are gone after {_FLEETING[kind]}", "set STROBE_HOME to a lasting disk"
        )
    if kind in _NETWORK:
        return Check("file system", OK, f"{kind}, a network: log() costs what its writes cost")
    return Check("file system", OK, kind)


def file_system_kind(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str | None:
    """Return the kind of the file system that holds `path` (ext4, nfs, …), or None where it cannot be told."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return None
    resolved = path.resolve()
    best, kind = -1, None
    for line in lines:
        fields = line.split()
        point = Path(fields[1].replace("\\040", " "))
        # Of two mounts on the same place the later one is what one sees.
        if (resolved == point or point in resolved.parents) and len(point.parts) >= best:
            best, kind = len(point.parts), fields[2]
    return kind


def _free_space(home: Home) -> Check:
    place = _existing(home.path)
    free = shutil.disk_usage(place).free
    detail = f"{free / 1e9:.1f} GB free on {place}"
    fix = "free some: `strobe du` shows what takes it, `strobe run rm --oldest 5GB` and `strobe run trash empty` help"
    if free < _FAIL_FREE_BYTES:
        return Check("disk space", FAIL, detail, fix)
    return Check("disk space", WARN, detail, fix) if free < _WARN_FREE_BYTES else Check("disk space", OK, detail)


def _clock(home: Home, *, can_write: bool) -> Check:
    now_s = time.time()
    fix = "set the clock, or have it set (for example by systemd-timesyncd or chrony)"
    if now_s < _EARLIEST_S:
        return Check("clock", FAIL, f"shows {time.strftime('%Y-%m-%d', time.gmtime(now_s))}, which is past", fix)
    if not can_write:
        return Check("clock", OK, time.strftime("%Y-%m-%d %H:%M:%S %Z"))
    with tempfile.NamedTemporaryFile(dir=_existing(home.path)) as stream:
        before_s = time.time()
        stream.write(b"x")
        stream.flush()
        skew_s = os.fstat(stream.fileno()).st_mtime - before_s
    if abs(skew_s) > _MAX_SKEW_S:
        return Check("clock", WARN, f"the file system's clock is {skew_s:+.1f} s off this machine's", fix)
    return Check("clock", OK, time.strftime("%Y-%m-%d %H:%M:%S %Z"))


def _quota(home: Home, settings: Resolved) -> Check:
    try:
        usage = measure(home, quota_bytes=settings.quota_bytes)
    except OSError as exc:
        return Check("quota", FAIL, f"cannot read {exc.filename}: {exc.strerror}", "make it readable for you")
    used = f"{usage.total_bytes / 1e9:.2f} GB used by {len(usage.runs)} runs"
    if usage.quota_bytes is None:
        return Check("quota", OK, f"{used}, no quota")
    detail = f"{used}, quota {usage.quota_bytes / 1e9:.2f} GB"
    advice = usage.advice()
    return Check("quota", OK, detail) if advice is None else Check("quota", WARN, detail, advice)


def _extras() -> Check:
    there = [name for name in _EXTRAS if find_spec(name) is not None]
    missing = [name for name in _EXTRAS if name not in there]
    detail = f"there: {', '.join(there) or 'none'}; not there: {', '.join(missing) or 'none'}"
    return Check("optional libraries", OK, detail)


def _server(settings: Resolved) -> Check:
    if settings.base_url is None:
        return Check("server", OK, "none configured; runs are kept in the home")
    return Check("server", OK, f"{settings.base_url} is configured; this version keeps runs in the home")
