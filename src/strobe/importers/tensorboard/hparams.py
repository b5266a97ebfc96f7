"""The hparams plugin: what a session was started with, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from strobe.importers.protobuf import Message
from strobe.importers.tensorboard.fields import Hparams, Json, Metadata, Value

_STATES = {Hparams.SUCCESS: "finished", Hparams.FAILURE: "failed"}
_MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Session:
    """What one record of the plugin says."""

    config: dict[str, Any] = field(default_factory=dict)
    group: str = ""
    #: finished or failed, "" if the record is not of an end
    state: str = ""
    ended_s: float = 0.0


def read_session(value: Message) -> Session:
    """Return what a summary's value of this plugin says; its tensor is empty, all is in the metadata."""
    metadata = value.message(Value.METADATA)
    plugin = metadata.message(Metadata.PLUGIN) if metadata is not None else None
    content = Message(plugin.content(Metadata.PLUGIN_CONTENT) if plugin is not None else b"")
    if (start := content.message(Hparams.SESSION_START)) is not None:
        pairs = start.messages(Hparams.VALUES)
        config = {pair.text(1): _plain(pair.message(2)) for pair in pairs}
        return Session(config=dict(sorted(config.items())), group=start.text(Hparams.GROUP))
    if (end := content.message(Hparams.SESSION_END)) is not None:
        return Session(state=_STATES.get(end.integer(Hparams.STATUS), ""), ended_s=end.double(Hparams.END_TIME))
    return Session()


def _plain(value: Message | None, depth: int = 0) -> Any:
    if value is None or depth > _MAX_DEPTH:
        return None
    if Json.NUMBER in value:
        number = value.double(Json.NUMBER)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if Json.TEXT in value:
        return value.text(Json.TEXT)
    if Json.BOOLEAN in value:
        return bool(value.integer(Json.BOOLEAN))
    if (items := value.message(Json.LIST)) is not None:
        return [_plain(item, depth + 1) for item in items.messages(Json.LIST_VALUES)]
    return None
