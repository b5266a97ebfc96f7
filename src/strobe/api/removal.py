"""Which runs to remove when room is needed: those that have not changed for longest, never one that is running."""

from __future__ import annotations

from strobe.api.facts import RUNNING
from strobe.api.home_record import HomeRecord
from strobe.api.run import Run
from strobe.api.usage import measure, oldest
from strobe.errors import UsageError
from strobe.home import Home
from strobe.settings.kind import Size


def oldest_runs(home: Home, amount: str) -> list[Run]:
    """Return the oldest runs: so many ("5"), or as many as take that much disk ("2GB")."""
    usage = measure(home)
    runs = {each.run: Run(HomeRecord(home, home.run_dir(each.run))) for each in usage.runs}
    still = [each for each in usage.runs if runs[each.run].state != RUNNING]
    usage.runs[:] = still
    limit = {"num_runs": int(amount)} if amount.isdigit() else {"num_bytes": _size(amount)}
    return [runs[each.run] for each in oldest(usage, **limit)]


def _size(amount: str) -> int:
    try:
        return Size().read(amount, "")
    except ValueError as exc:
        raise UsageError(f"{amount!r} is neither a number of runs nor a size: {exc}") from exc
