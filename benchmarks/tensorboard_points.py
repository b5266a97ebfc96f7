"""Puts series into TensorBoard's event files: a side of `charts.py`, run by the interpreter of its own environment.

    python tensorboard_points.py VALUES.npy DIRECTORY

VALUES.npy holds a row of values for each run; steps count from 0. Written with TensorBoard's own classes, a file each.
Prints one line of JSON: `version`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

KEY = "loss"


def main() -> None:
    source, directory = Path(sys.argv[1]), Path(sys.argv[2])
    import numpy as np
    from tensorboard import version
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    for number, values in enumerate(np.load(source)):
        place = directory / f"run-{number:03}"
        place.mkdir(parents=True)
        with (place / "events.out.tfevents.1700000000.bench").open("wb") as stream:
            writer = RecordWriter(stream)
            writer.write(Event(wall_time=1_700_000_000.0, file_version="brain.Event:2").SerializeToString())
            for step, value in enumerate(values.tolist()):
                summary = Summary(value=[Summary.Value(tag=KEY, simple_value=value)])
                writer.write(Event(wall_time=1_700_000_000 + step / 10, step=step, summary=summary).SerializeToString())
            writer.flush()
    print(json.dumps({"version": version.VERSION}))


if __name__ == "__main__":
    main()
