"""Runs of other trackers, brought into the home: `.wandb` files and TensorBoard's event files.

    find_…(paths)   what runs there are (strobe.importers.wandb, strobe.importers.tensorboard)
    run.items()     what a run was, in the words of `model`: starts, rows, samples, files, artifacts, journal events
    record(…)       writes that into the home, with the SDK's own parts

A reader knows its format and no home; `recording` knows the home and no format. Neither needs the tracker installed.
"""

from strobe.importers.model import ForeignRun, Refusals, Report
from strobe.importers.presence import has_changed, is_present
from strobe.importers.recording import Outcome, record

__all__ = ["ForeignRun", "Outcome", "Refusals", "Report", "has_changed", "is_present", "record"]
