"""The command that starts an agent: which interpreter, which import paths, which environment.

The agent runs with `-I -S`: nothing of the user's working directory, PYTHONPATH, .pth files or sitecustomize reaches
it. What it imports is therefore named one by one, after the standard library, so that a `random.py` beside the user's
script shadows nothing. Part of `init()`'s import path: no imports beyond os and sys.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from strobe.agent.seat import StartError

#: argv: home, "fork" to leave the starter's children by itself, import paths …
_BOOTSTRAP = """\
import os, sys
if sys.argv[2] == "fork" and os.fork(): os._exit(0)
sys.path += sys.argv[3:]
from strobe.agent.main import serve_detached
serve_detached(sys.argv[1])"""

_INTERPRETERS = ("python", "pypy", "graalpy")

#: what an agent needs of the environment; not LD_PRELOAD, PYTHON*, CUDA_* or thread counts, meant for the user's
_KEPT = frozenset(
    (
        *("HOME", "PATH", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "COMPUTERNAME"),
        *("APPDATA", "LOCALAPPDATA", "USERPROFILE"),
    )
)
_KEPT_PREFIXES = ("LC_", "XDG_", "STROBE_AGENT_")


def build_command(home: str, *, fork: bool = False) -> list[str]:
    """Return the argument list that starts an agent for `home`."""
    flags = ["-I", "-S"]
    if sys.dont_write_bytecode:
        flags.append("-B")
    if sys.pycache_prefix:
        flags += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    return [find_interpreter(), *flags, "-c", _BOOTSTRAP, home, "fork" if fork else "-", *import_paths()]


def build_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the part of `environ` that an agent gets."""
    return {name: value for name, value in environ.items() if name.upper() in _KEPT or name.startswith(_KEPT_PREFIXES)}


def find_interpreter() -> str:
    """Return a Python that can run the agent; in an application that embeds Python, the one beside its library."""
    if getattr(sys, "frozen", False):
        raise StartError(f"{sys.executable} is a frozen application, which has no Python to start")
    tried = []
    for candidate in _interpreters():
        # By its name, because running an application again that happens to embed Python would do anything but serve.
        name = os.path.basename(candidate).lower()
        if name.startswith(_INTERPRETERS) and os.access(candidate, os.X_OK):
            return candidate
        tried.append(candidate)
    raise StartError(f"no Python interpreter found to run it; looked at {', '.join(tried) or 'nothing'}")


def _interpreters() -> Iterator[str]:
    if sys.executable:
        yield sys.executable
    if base := getattr(sys, "_base_executable", None):
        yield base
    major, minor = sys.version_info[:2]
    for prefix in dict.fromkeys((sys.exec_prefix, sys.base_exec_prefix)):
        if os.name == "nt":
            yield os.path.join(prefix, "python.exe")
        else:
            yield os.path.join(prefix, "bin", f"python{major}.{minor}")


def import_paths(modules: Mapping[str, object] | None = None, path: Sequence[str] | None = None) -> list[str]:
    """Return where the agent finds strobe and msgspec (as imported here), then, for psutil, this process's own path.

    The script's directory (`sys.path[0]`, often the working directory) is left out unless strobe was found there.
    """
    modules = sys.modules if modules is None else modules
    path = sys.path if path is None else path
    found = []
    for name in ("strobe", "msgspec"):
        file = getattr(modules.get(name), "__file__", None)
        if not file:
            raise StartError(
                f"{name} was not imported from a file (an unusual importer), so another process cannot find it"
            )
        found.append(os.path.abspath(os.path.dirname(os.path.dirname(file))))
    # An egg, wheel or zip in the path may hold psutil, so entries are not required to be directories.
    found += [os.path.abspath(entry) for entry in path[1:] if isinstance(entry, str) and entry]
    return list(dict.fromkeys(found))
