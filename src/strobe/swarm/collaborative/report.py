"""What a peer says of itself in the DHT while it trains: how far it is, how fast, and where its state can be had.

Reports stand in one record per training, each under the mark of its peer's key: only that peer can write it, and every
peer of the training checks form and signature of what it holds or reads. What passes may still be a lie: how much of it
is believed is decided in `progress`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from strobe.swarm.dht import RecordValidator, SchemaValidator, SignatureValidator, Subkeys, ValueWithExpiration
from strobe.swarm.net.identity import Identity

#: A peer that says it is further ahead is not believed: others would have to bring their schedules there, step by step.
MOST_EPOCHS_AHEAD: Final = 1 << 20
_MARK: Final = re.compile(r"\[owner:ed25519:[0-9a-f]{64}\]")


class PeerReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How far one peer is."""

    epoch: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
    #: what it has accumulated since the epoch began
    samples: Annotated[int, msgspec.Meta(ge=0, le=1 << 50)]
    samples_per_s: Annotated[float, msgspec.Meta(ge=0, le=1e12)]
    #: when it said so; 0 when it has left
    time: Annotated[float, msgspec.Meta(ge=0, le=1e12)]
    client_mode: bool
    #: whether it is looking for a group of this epoch, or averaging with one
    is_averaging: bool = False
    #: where its state can be downloaded, and the word that names it there; empty if it cannot
    address: Annotated[str, msgspec.Meta(max_length=1024)] = ""
    word: Annotated[str, msgspec.Meta(pattern="^[a-z0-9]{0,16}$")] = ""


def progress_key(run_id: str) -> str:
    """Return the key of the record that the reports of a training are in."""
    return f"{run_id}.progress"


def report_rules(run_id: str, identity: Identity) -> tuple[str, list[RecordValidator]]:
    """Return the subkey of this peer's reports, and the rules that all reports must keep."""
    signature = SignatureValidator(identity)
    schema = SchemaValidator({progress_key(run_id): Subkeys(_is_mark, PeerReport)})
    return signature.mark, [signature, schema]


def parse_reports(record: ValueWithExpiration | None) -> dict[str, PeerReport]:
    """Return the reports of a record by their peers' marks; what is none is left out."""
    if record is None or not isinstance(record.value, Mapping):
        return {}
    reports: dict[str, PeerReport] = {}
    for mark, entry in record.value.items():
        if not _is_mark(mark):
            continue
        try:
            reports[mark] = msgspec.convert(entry.value, PeerReport)
        except msgspec.ValidationError:
            continue
    return reports


def _is_mark(subkey: Any) -> bool:
    return isinstance(subkey, str) and _MARK.fullmatch(subkey) is not None
