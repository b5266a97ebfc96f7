"""The improvement table: each subject against the baseline, in Markdown.

As in the seed's table an improvement is a percentage less; the factor with its bounds stands beside it. Pure
functions from records to text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strobe.bench import stats
from strobe.bench.load.results import profile_of
from strobe.bench.records import Record, format_variant
from strobe.bench.table import format_samples, markdown

#: profile, metric → title
Titles = Callable[[str, str], str]


def pick_baseline(records: Sequence[Record], name: str | None = None) -> Record | None:
    """Return a record of the baseline: the tracker named, else wandb if measured, else the last tracker."""
    if name is None:
        names = [record.subject for record in records]
        name = "wandb" if "wandb" in names else names[-1] if names else None
    return next((record for record in records if record.subject == name), None)


def improvement_table(records: Sequence[Record], titles: Titles, baseline: str | None = None) -> str:
    """Return a Markdown table with one line per metric and subject other than the baseline."""
    base = pick_baseline(records, baseline)
    if base is None:
        return ""
    header = ["Metric", "Profile", "Mode", _who(base), "Measured", "Result", "Improvement"]
    lines = []
    for record in records:
        peer = _same_metric(records, record, base)
        if peer is record and len({_who(one) for one in records}) > 1:
            continue
        lines.append(
            [
                titles(profile_of(record), record.metric),
                profile_of(record),
                record.variant.get("mode", "").capitalize(),
                format_samples(peer) if peer else "",
                _who(record),
                format_samples(record),
                _improvement(record, peer) if peer and peer is not record else "",
            ]
        )
    return markdown(header, lines)


def unstable(records: Sequence[Record]) -> list[str]:
    """Return a warning for each record whose repetitions disagree too much to be relied on."""
    return [
        f"{profile_of(record)} {record.metric} of {_who(record)}: spread over 10 % of the median; "
        f"repeat more often (--repeat) or quiet the machine"
        for record in records
        if record.unit == "s" and record.samples and record.digest().is_unstable
    ]


def _improvement(record: Record, peer: Record) -> str:
    if record.error or peer.error:
        return "cannot tell"
    if record.better == "more":
        return ""
    try:
        percent = stats.improvement_percent(record.samples, peer.samples)
    except ValueError as exc:
        return f"cannot tell ({exc})"
    speed = stats.describe_speed(record.samples, peer.samples)
    if speed.startswith("no significant"):
        return speed
    percent_text = f"{percent:.0f}% improvement" if percent < 99 else f"{percent:.2f}% improvement"
    if speed.startswith("cannot tell"):  # nothing left: a share of it can be named, a factor cannot
        return percent_text
    if record.unit != "s":  # a million bytes are not "faster"
        speed = speed.replace("faster", "less").replace("slower", "more")
    return f"{percent_text}, {speed}" if percent >= 0 else speed


def _same_metric(records: Sequence[Record], record: Record, base: Record) -> Record | None:
    wanted = (record.model, record.metric, base.subject, base.variant)
    return next((one for one in records if (one.model, one.metric, one.subject, one.variant) == wanted), None)


def _who(record: Record) -> str:
    chosen = {name: value for name, value in record.variant.items() if name != "mode"}
    return " ".join(filter(None, (record.subject, record.subject_version, format_variant(chosen))))
