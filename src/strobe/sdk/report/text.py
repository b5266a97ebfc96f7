"""What a person sees of a run in the terminal: one line at the start, one block at the end.

Pure functions from what is known to text. What the stream can show is the `Terminal`'s business, printing is the
caller's. The picture for notebooks is in picture.py. The start line is on `init()`'s path: no imports for it.
"""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any

from strobe.terminal import PREFIX, Terminal, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strobe.home import RunPath
    from strobe.journal.digest import MetricDigest

#: lines of the block that are not metrics, and a line for the prompt after it
_OTHER_LINES = 12
_MAX_METRICS = 20
_MIN_METRICS = 3
_MAX_NAME = 40


def start_line(
    attributes: Mapping[str, Any],
    path: RunPath,
    directory: str | os.PathLike[str],
    terminal: Terminal,
    *,
    url: str | None = None,
) -> str:
    """Return the line that `init()` prints: name, project, and where it is. Empty when nobody wants to hear it."""
    if terminal.quiet or terminal.silent:
        return ""
    dot = "·" if terminal.has_unicode else "-"
    name = terminal.style(_one_line(attributes.get("name") or path.id), "bold")
    where = terminal.style(url or shorten_home(os.fspath(directory)), "cyan")
    return f"{terminal.style(PREFIX.rstrip(), 'blue')} {name} {dot} {_one_line(path.project)} {dot} {where}\n"


def end_block(
    replay: Any,
    *,
    terminal: Terminal | None = None,
    rows: int | None = None,
    url: str | None = None,
    baseline: Any = None,
) -> str:
    """Return the block that `finish()` prints: how it ended, every metric's course, last and best, where it is.

    `replay` is a `strobe.journal.Replay`, and so is the `baseline` that it is compared with, if any. At most one
    screen; without a terminal plain ASCII of 80 columns.
    """
    if terminal is None:
        terminal = Terminal(_Nowhere(), environ={})  # type: ignore[arg-type]  # it only has to answer questions
    return _Block(replay, terminal, rows, url, baseline).text()


def sparkline(values: Sequence[float | int | None], width: int = 24, *, ascii: bool = False) -> str:
    """Return a series as a line of blocks (see spark.py)."""
    from strobe.sdk.report import spark

    return spark.sparkline(values, width, ascii=ascii)


def svg(replay: Any) -> str:
    """Return the run's most telling metrics as a static picture."""
    from strobe.sdk.report import picture

    return picture.svg(replay)


def mimebundle(replay: Any, *, url: str | None = None) -> dict[str, str]:
    """Return the run for a notebook: text/plain, text/html and image/svg+xml."""
    from strobe.sdk.report import picture

    return picture.mimebundle(replay, url=url)


class _Nowhere:
    """A stream that is no terminal."""

    encoding = "ascii"

    def isatty(self) -> bool:
        return False


class _Block:
    def __init__(self, replay: Any, terminal: Terminal, rows: int | None, url: str | None, baseline: Any) -> None:
        self.replay = replay
        self.baseline = baseline
        self.terminal = terminal
        self.width = max(40, min(terminal.width, 160))
        self.is_ascii = not terminal.has_unicode
        self.rows = replay.num_rows if rows is None else rows
        self.url = url

    def text(self) -> str:
        return "".join(line + "\n" for line in [*self._headline(), *self._error(), *self._metrics(), *self._footer()])

    def _headline(self) -> list[str]:
        replay, style = self.replay, self.terminal.style
        state = replay.state
        colour = "green" if state == "finished" else "yellow" if state in ("running", "preempted") else "red"
        rejected = f"{replay.rejected:,} rejected"
        name = style(_one_line(replay.attributes.get("name") or replay.path.id), "bold")
        parts = [
            f"{name} {style(state, colour)}{self._took()}",
            f"{_count(self.rows, 'row')}{self._rate()}, {style(rejected, 'red') if replay.rejected else rejected}",
        ]
        share = getattr(replay, "share", None)
        if share is not None:
            parts.append(f"Strobe took {_percent(share)} of the time")
        dot = " - " if self.is_ascii else " · "
        lines = [f"{style(PREFIX.rstrip(), 'blue')} {parts[0]}"]
        for part in parts[1:]:
            longer = lines[-1] + dot + part
            fits = len(re.sub(r"\x1b\[[0-9;]*m", "", longer)) <= self.width
            lines = [*lines[:-1], longer] if fits else [*lines, f"  {part}"]
        return lines

    def _seconds(self) -> float | None:
        if not self.replay.ended_ns or not self.replay.started_ns:
            return None
        return float((self.replay.ended_ns - self.replay.started_ns) / 1e9)

    def _took(self) -> str:
        seconds = self._seconds()
        return "" if seconds is None else f" after {duration(seconds)}"

    def _rate(self) -> str:
        seconds = self._seconds()
        if not seconds or not self.rows:
            return ""
        rate = self.rows / seconds
        return f" ({f'{rate:,.0f}' if rate >= 100 else f'{rate:.2g}'}/s)"

    def _error(self) -> list[str]:
        lines = [line.strip() for line in str(self.replay.error or "").splitlines() if line.strip()]
        if not lines:
            return []
        return [f"  {'error':<8}{self.terminal.style(self._cut(_one_line(lines[-1]), self.width - 10), 'red')}"]

    # -- metrics -----------------------------------------------------------------------------------------------------

    def _metrics(self) -> list[str]:
        from strobe.journal.relevance import by_relevance

        ranked = by_relevance(self.replay.metrics, self.replay.definition)
        room = max(_MIN_METRICS, min(_MAX_METRICS, self.terminal.height - _OTHER_LINES))
        shown = ranked if len(ranked) <= room else ranked[:room]
        if not shown:
            return []
        cells = [self._cells(name, digest) for name, digest in shown]
        header = ["metric", "last", "best", "@ step", self._versus(), ""]
        widths = [max(len(row[column]) for row in [header, *cells]) for column in range(6)]
        spark_width = min(24, self.width - sum(widths) - 2 * sum(width > 0 for width in widths) - 2)
        lines = [self.terminal.style(self._row(header, widths, "course" if spark_width > 5 else ""), "dim")]
        for row, (_, digest) in zip(cells, shown, strict=True):
            course = sparkline(digest.spark, spark_width, ascii=self.is_ascii) if spark_width > 5 else ""
            lines.append(self._row(row, widths, course.ljust(spark_width) if widths[5] else course, is_metric=True))
        if len(shown) < len(ranked):
            more = _count(len(ranked) - len(shown), "more metric")
            lines.append(f"  + {more}: {self._command('show', '--all')}")
        return [line.rstrip() for line in lines]

    def _cells(self, name: str, digest: MetricDigest) -> list[str]:
        # Beyond the first column everything is of known width, so the name gets what is left.
        cells = [self._cut(_one_line(name), min(_MAX_NAME, self.width // 3)), number(digest.last)]
        if digest.best is not None:
            cells += [number(digest.best), "" if digest.best_step is None else f"{digest.best_step:,}"]
        elif digest.min < digest.max:
            cells += [f"{number(digest.min)} {'..' if self.is_ascii else '…'} {number(digest.max)}", ""]
        else:
            cells += ["", ""]
        odd = [f"{count:,} {word}" for count, word in _odd_counts(digest) if count]
        return [*cells, self._against(name, digest), ", ".join(odd)]

    def _versus(self) -> str:
        if self.baseline is None:
            return ""
        return f"vs {self._cut(_one_line(self.baseline.attributes.get('name') or self.baseline.path.id), 16)}"

    def _against(self, name: str, digest: MetricDigest) -> str:
        """Return how far a metric is from the baseline's: the best where both have one, else the last."""
        other = None if self.baseline is None else self.baseline.metrics.get(name)
        if other is None:
            return ""
        is_best = digest.best is not None and other.best is not None
        ours, theirs = (digest.best, other.best) if is_best else (digest.last, other.last)
        return _difference(ours, theirs)

    def _row(self, row: list[str], widths: list[int], course: str, *, is_metric: bool = False) -> str:
        name, last, best_value, step, versus, odd = row
        shown_odd = self.terminal.style(odd, "red") if is_metric and odd else odd
        cells = [name.ljust(widths[0]), last.rjust(widths[1]), best_value.rjust(widths[2]), step.rjust(widths[3])]
        if is_metric:
            course = self.terminal.style(course, "cyan")
            cells[1] = self.terminal.style(cells[1], "bold")
        if widths[4]:
            cells.append(versus.rjust(widths[4]))
        return "  " + "  ".join([*cells, course, shown_odd])

    # -- where it is -------------------------------------------------------------------------------------------------

    def _footer(self) -> list[str]:
        lines = []
        damages = len(self.replay.damages)
        directory = os.fspath(self.replay.run_dir.path)
        if damages:
            places = f"{_count(damages, 'place')} in the journal cannot be read"
            lines.append(f"  {'damaged':<8}{self.terminal.style(places, 'red')}: strobe journal verify {directory}")
        lines.append(f"  {'where':<8}{self.terminal.style(self.url or shorten_home(directory), 'cyan')}")
        if command := self.replay.attributes.get("command"):
            import shlex

            again = f"cd {shlex.quote(shorten_home(cwd))} && {command}" if (cwd := self._elsewhere()) else command
            lines.append(f"  {'again':<8}{self._cut(_one_line(again), self.width - 10)}")
        lines.append(f"  {'next':<8}{self._command('show')}")
        return lines

    def _elsewhere(self) -> str | None:
        """Return where the run was started, if that is not where we are."""
        cwd = self.replay.attributes.get("cwd")
        return cwd if cwd and cwd != os.getcwd() else None

    def _command(self, verb: str, *options: str) -> str:
        from strobe.home import LOCAL_ENTITY

        path = self.replay.path
        name = f"{path.project}/{path.id}" if path.entity == LOCAL_ENTITY else str(path)
        quoted = name if all(c.isalnum() or c in "-_./+" for c in name) else "'" + name.replace("'", "'\"'\"'") + "'"
        return " ".join(["strobe run", verb, quoted, *options])

    def _cut(self, text: str, width: int) -> str:
        """Shorten in the middle: metric names differ at the end as often as at the start."""
        if len(text) <= width:
            return text
        dots = ".." if self.is_ascii else "…"
        left = (width - len(dots)) // 2
        right = width - len(dots) - left
        return text[:left] + dots + text[len(text) - right :]


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _difference(ours: Any, theirs: Any) -> str:
    """Return the way from one value to another, in percent where that says something."""
    values = (ours, theirs)
    if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in values):
        return ""
    if ours == theirs:
        return "same"
    if theirs == 0 or abs(ours - theirs) > 10 * abs(theirs):
        return f"{ours - theirs:+.3g}"
    return f"{100 * (ours - theirs) / abs(theirs):+.3g} %"


def _odd_counts(digest: MetricDigest) -> list[tuple[int, str]]:
    return [(digest.nan, "nan"), (digest.posinf, "inf"), (digest.neginf, "-inf")]


def duration(seconds: float) -> str:
    """Return a time as people say it: 0.42 s, 12.3 s, 2m 13s, 5h 04m, 3d 02h."""
    if seconds < 10:
        return f"{max(0.0, seconds):.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60:02}m"
    return f"{whole // 86400}d {whole % 86400 // 3600:02}h"


def shorten_home(directory: str) -> str:
    """Return the directory as a person would type it."""
    home = os.path.expanduser("~")
    if home != "/" and (directory == home or directory.startswith(home + os.sep)):
        return "~" + directory[len(home) :]
    return directory


def _percent(share: float) -> str:
    return "<0.01 %" if 0 < share < 0.0001 else f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _one_line(text: Any) -> str:
    """A name with a newline or a colour in it must not break the block."""
    return "".join(character if character.isprintable() else "?" for character in str(text))
