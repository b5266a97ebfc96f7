"""import: what `import TRACKER` adds to the start of a bare interpreter, and how many modules it loads."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "import"
METRICS = {
    "wall": ("s", "less", "import, over bare python"),
    "modules": ("modules", "less", "Modules loaded by import"),
    "heavy": ("modules", "less", "numpy, torch, pandas, PIL or a server among them"),
}
OPTIONS: dict[str, float] = {"starts": 7}
NEEDS: tuple[str, ...] = ()

_HEAVY = ("numpy", "torch", "pandas", "PIL", "starlette", "uvicorn", "strobe.server")

_COUNT = """
import sys
before = set(sys.modules)
import {module}
loaded = set(sys.modules) - before
print(len(loaded), sum(name in loaded for name in {heavy!r}))
"""


def measure(bench: Bench) -> dict[str, float]:
    modules, heavy = bench.process.run_bare(_COUNT.format(module=bench.module, heavy=_HEAVY)).split()
    bare, imported = [], []
    for _ in range(bench.option("starts")):
        start = bench.clock()
        bench.process.run_bare("pass")
        middle = bench.clock()
        bench.process.run_bare(f"import {bench.module}")
        bare.append(middle - start)
        imported.append(bench.clock() - middle)
    # The least disturbed start of each: what a start takes when nobody else takes the core.
    return {"wall": max(0.0, min(imported) - min(bare)), "modules": int(modules), "heavy": int(heavy)}
