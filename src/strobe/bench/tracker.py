"""Each result is a run of the tracker: project `bench`, job type `bench`, its id that of the record.

The specification is the config and the figures are the summary, so that all that Strobe can do with runs (tables,
filters, comparisons, sync) can be done with results. The whole record, raw samples included, is a file of the run: what
the Benchmarks page is made of, here as on a server. Without a companion process and console capture: recording a
result must not disturb the next measurement.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

import strobe
from strobe.bench.compare.pairing import row_name
from strobe.bench.fields import as_fields
from strobe.bench.records import Record
from strobe.home import RunDir

PROJECT = "bench"
JOB_TYPE = "bench"
#: the file of the run that holds its record
FILE = "benchmark.json"
#: what was asked for; everything else of a row is what came of it
_CONFIG = (
    *("model", "implementation", "mode", "config", "batch_size", "units", "metric", "better"),
    *("version", "seal", "owner"),
    *(
        "latency_limit_ms",
        "devices",
        "nodes",
        "device",
        "threads",
        "is_trial",
        "is_confirmation",
        "is_changed",
        "command",
        "fingerprint",
        "softprint",
    ),
)


def track(record: Record, home: Path) -> RunDir:
    """Record a result as a run; it goes to a server if one is configured, with the next agent or `strobe sync`."""
    fields = as_fields(record)
    figures = {name: value for name, value in fields.items() if name not in _CONFIG and value is not None}
    run = strobe.init(
        project=PROJECT,
        id=record.id,
        name=row_name(record),
        group=record.benchmark,
        job_type=JOB_TYPE,
        dir=home,
        tags=list(dict.fromkeys((record.model, record.subject, record.mode))),
        reinit="create_new",
        resume="allow",  # each has an id of its own: what STROBE_RESUME says is about the user's runs
        config={
            **{name: fields[name] for name in _CONFIG},
            "changes": list(record.changes),
            "hardware": record.environment.hardware,
            "software": record.environment.software,
            "git_commit": record.environment.git_commit,
        },
        settings=strobe.Settings(agent=False, stats=False, console="off", silent=True),
    )
    for sample in record.samples:
        run.log({"repeat_score": sample})
    run.summary.update(figures)
    if not run.disabled:
        Path(run.dir, FILE).write_bytes(msgspec.json.encode(record))
    run.finish(exit_code=1 if record.error and not record.is_left_out else 0)
    return RunDir(Path(run.sync_dir))
