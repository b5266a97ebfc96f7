"""The git repository around a directory, read straight from its files: no `git` process, well under a millisecond.

Knows worktrees, submodules (`.git` as a file), packed refs, detached heads and branches without a commit. What needs
git itself (the diff, remotes with includes, the reftable format) is in difference.py.
"""

from __future__ import annotations

import os

_MAX_SYMREFS = 5
_MAX_PACKED_REFS = 16 << 20


class Repository:
    """Where a working tree and its git directories are."""

    def __init__(self, root: str, directory: str) -> None:
        self.root = root
        self.directory = directory
        # A linked worktree has its own HEAD, and shares refs and config with the main one.
        common = _read(os.path.join(directory, "commondir"))
        self.common = os.path.normpath(os.path.join(directory, common)) if common else directory

    def head(self) -> tuple[str | None, str | None]:
        """Return (commit, branch); the branch is None when HEAD is detached, the commit when there is none yet."""
        name, branch = "HEAD", None
        for _ in range(_MAX_SYMREFS):
            text = self._ref(name)
            if text is None or not text.startswith("ref:"):
                return (text if text and _is_commit(text) else None), branch
            name = text[4:].strip()
            branch = name.removeprefix("refs/heads/")
        return None, branch

    def _ref(self, name: str) -> str | None:
        for directory in dict.fromkeys((self.directory, self.common)):
            text = _read(os.path.join(directory, *name.split("/")))
            if text:
                return text
        return self._packed(name)

    def _packed(self, name: str) -> str | None:
        wanted = b" " + os.fsencode(name)
        try:
            with open(os.path.join(self.common, "packed-refs"), "rb") as refs:
                for line in refs.read(_MAX_PACKED_REFS).splitlines():
                    if line.endswith(wanted) and not line.startswith((b"#", b"^")):
                        return line.split(b" ")[0].decode("ascii", "replace")
        except OSError:
            pass
        return None


def find_repository(cwd: str) -> Repository | None:
    """Return the repository that `cwd` lies in, or the one that GIT_DIR names."""
    if explicit := os.environ.get("GIT_DIR"):
        directory = os.path.join(cwd, explicit)
        root = os.path.join(cwd, os.environ.get("GIT_WORK_TREE") or ".")
        return Repository(os.path.normpath(root), directory) if os.path.isdir(directory) else None
    here = os.path.abspath(cwd)
    while True:
        candidate = os.path.join(here, ".git")
        found = _git_directory(candidate)
        if found is not None:
            return Repository(here, found)
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def _git_directory(candidate: str) -> str | None:
    text = _read(candidate)
    if text is not None:
        if not text.startswith("gitdir:"):
            return None
        candidate = os.path.normpath(os.path.join(os.path.dirname(candidate), text[7:].strip()))
    return candidate if os.path.exists(os.path.join(candidate, "HEAD")) else None


def _read(path: str) -> str | None:
    """Return the stripped text of a small file; None for what is no readable file."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(4096).strip()
    except (OSError, ValueError):
        return None


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and all(character in "0123456789abcdef" for character in text)
