"""size: bytes on disk that one more row takes, at 1, 10 and 100 scalars."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "size"
METRICS = {
    "row1": ("bytes", "less", "Bytes per row of 1 scalar"),
    "row10": ("bytes", "less", "Bytes per row of 10 scalars"),
    "row100": ("bytes", "less", "Bytes per row of 100 scalars"),
}
OPTIONS: dict[str, float] = {"rows": 1000}
NEEDS: tuple[str, ...] = ()


def measure(bench: Bench) -> dict[str, float]:
    bench.tracker.setup()
    num_rows = bench.option("rows")
    # The difference of a long and a short run: what a run takes besides its rows does not count.
    return {
        f"row{num_keys}": (_size(bench, num_keys, 2 * num_rows) - _size(bench, num_keys, num_rows)) / num_rows
        for num_keys in (1, 10, 100)
    }


def _size(bench: Bench, num_keys: int, num_rows: int) -> int:
    place = f"{bench.directory}/{num_keys}-{num_rows}"
    run = bench.tracker_in(place).start()
    build = bench.row_builder(num_keys)
    for number in range(num_rows):
        run.log(build(number))
    run.finish()
    files = [os.path.join(parent, name) for parent, _, names in os.walk(place) for name in names]
    return sum(os.path.getsize(path) for path in files)
