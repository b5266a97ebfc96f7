"""Who is measured: Strobe as it runs here, or hivemind out of PyPI in an environment of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from strobe.errors import UsageError

_HERE = Path(__file__).parent
#: nothing of ours on the path but the programs, and behind everything else
_START = "import sys, importlib; sys.path.append(sys.argv[1]); importlib.import_module(sys.argv[2]).main()"


@dataclass(frozen=True, slots=True)
class Subject:
    """Somebody with a program for each benchmark."""

    name: str
    #: what the programs are run with, up to the name of a module
    python: tuple[str, ...]
    modules: str

    def command(self, benchmark: str) -> list[str]:
        """Return the command that runs this subject's program of a benchmark."""
        return [*self.python, f"{self.modules}{benchmark}"]


# Its last release. torch and numpy as its quantisation and our comparison need them; bitsandbytes is an optional part.
_HIVEMIND = ("hivemind==1.1.12", "torch==2.13.0", "numpy<2.4", "bitsandbytes")

# Not with -m: every process that a program spawns would import it again.
_RUN = (sys.executable, "-c", "import sys, importlib; importlib.import_module(sys.argv[1]).main()")
STROBE = Subject("strobe", _RUN, "strobe.bench.swarm.programs.strobe_")
#: the same work without a swarm, where that means something
LOCAL = Subject("local", _RUN, "strobe.bench.swarm.programs.local_")


def hivemind(say: Callable[[str], None], directory: Path | None = None) -> Subject:
    """Return hivemind, which is installed at the first use."""
    from strobe.bench.load import venvs

    python = venvs.ensure(venvs.Package("hivemind", _HIVEMIND), directory or venvs.default_directory(), say)
    return Subject("hivemind", (str(python), "-I", "-c", _START, str(_HERE)), "programs.hivemind_")


def peers(
    names: list[str], allowed: Sequence[str], say: Callable[[str], None], directory: Path | None = None
) -> list[Subject]:
    """Return the others that are to be measured beside us."""
    for name in names:
        if name not in allowed:
            raise UsageError(f"--peer {name}: this benchmark can run {' and '.join(allowed)} beside strobe")
    return [LOCAL if name == "local" else hivemind(say, directory) for name in dict.fromkeys(names)]
