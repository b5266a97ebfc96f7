"""Variants: which features are on and off, as in `stats=off,console=on`.

A variant applies to the trackers that have the features it names; one that has none of them is measured
once, as it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from strobe.bench.load.catalog import Tracker
from strobe.errors import UsageError


@dataclass(frozen=True, slots=True)
class Subject:
    """A tracker with features chosen: what one column of a table is about."""

    tracker: Tracker
    #: only what was chosen; the rest is the tracker's default
    features: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name for tables; a variant that changes nothing says so."""
        if not self.features:
            return self.tracker.name
        chosen = ",".join(f"{name}={value}" for name, value in self.features.items())
        is_repeat = all(name in self.tracker.repeats for name in self.features)
        return f"{self.tracker.name} {chosen}" + (" (a repeat)" if is_repeat else "")


def parse_variant(text: str) -> dict[str, str]:
    """Parse `stats=off,console=on`; the empty text is the default variant."""
    features = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"variant {text!r}: {part!r} is not of the form feature=value")
        features[name] = value
    return features


def subjects(trackers: Sequence[Tracker], variants: Sequence[dict[str, str]]) -> list[Subject]:
    """Return each tracker in each variant that means something to it, without doubles."""
    found: list[Subject] = []
    for tracker in trackers:
        for variant in variants or [{}]:
            features = {name: value for name, value in variant.items() if name in tracker.features}
            for name, value in features.items():
                if value not in tracker.features[name]:
                    allowed = " or ".join(tracker.features[name])
                    raise UsageError(f"{tracker.name}: {name}={value} is not possible, only {allowed}")
            if (subject := Subject(tracker, features)) not in found:
                found.append(subject)
    known = {name for tracker in trackers for name in tracker.features}
    if unknown := {name for variant in variants for name in variant} - known:
        names = ", ".join(sorted(known)) or "none"
        raise UsageError(f"no chosen tracker has the feature {', '.join(sorted(unknown))}; they have: {names}")
    return found
