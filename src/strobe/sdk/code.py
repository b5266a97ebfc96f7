"""Which files under a directory are the run's source code.

Python files by default. Environments, caches, version control and Strobe's own home are never looked into, and files
that hold secrets are never taken, whatever the caller's functions say: code is shared more freely than keys.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from strobe.artifact.tree import iter_files

#: f(path) or f(path, root), as in wandb
Choice = Callable[..., Any]

_NOT_ENTERED = {
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    "site-packages",
    ".tox",
    ".nox",
    ".eggs",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".ipynb_checkpoints",
    "wandb",
}
_SECRETS = (
    ".env",
    ".env.*",
    "*.env",
    ".netrc",
    "_netrc",
    ".pypirc",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "id_rsa*",
    "id_ed25519*",
    "id_ecdsa*",
    "credentials",
    "credentials.*",
    "secrets.*",
    ".htpasswd",
    "service_account*.json",
)


def is_python(path: str) -> bool:
    """Tell whether a path is a Python file: what is taken when nobody says."""
    return path.endswith(".py")


def iter_code(root: Path, home: Path, include: Choice, exclude: Choice | None) -> Iterator[tuple[str, Path]]:
    """Yield ("package/module.py", path) for the code under `root`."""
    includes, excludes = _with_root(include, root), _with_root(exclude, root) if exclude is not None else None
    own = home.resolve()
    for relative, path in iter_files(root, enters=lambda directory: _enters(directory, own)):
        if is_secret(path.name) or not path.is_file():
            continue
        if includes(str(path)) and not (excludes is not None and excludes(str(path))):
            yield relative, path


def is_secret(name: str) -> bool:
    """Tell whether a file of that name usually holds keys or passwords."""
    return any(fnmatch.fnmatch(name.lower(), pattern) for pattern in _SECRETS)


def _enters(directory: Path, home: Path) -> bool:
    if directory.name in _NOT_ENTERED or (directory / "pyvenv.cfg").exists():
        return False
    return directory.resolve() != home


def _with_root(choice: Choice, root: Path) -> Callable[[str], Any]:
    import inspect

    try:
        takes_root = len(inspect.signature(choice).parameters) >= 2
    except (TypeError, ValueError):  # a builtin says nothing about its parameters
        takes_root = False
    return (lambda path: choice(path, str(root))) if takes_root else choice
