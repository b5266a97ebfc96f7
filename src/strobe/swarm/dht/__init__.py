"""A distributed hash table: records that expire, held by the peers nearest to their keys.

`DHT` is the object to use; `Node` is the same for asyncio code that brings its own network. Names are loaded when they
are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strobe.swarm.dht.dht import DHT, get_dht_time
    from strobe.swarm.dht.host import DhtStopped
    from strobe.swarm.dht.node import BootstrapFailed, ClockSkew, Node
    from strobe.swarm.dht.opened import ValueWithExpiration
    from strobe.swarm.dht.options import Options
    from strobe.swarm.dht.reply import Reply
    from strobe.swarm.dht.schema import SchemaValidator, Subkeys
    from strobe.swarm.dht.signature import SignatureValidator
    from strobe.swarm.dht.validator import CompositeValidator, RawRecord, RecordValidator

_HOME = {
    "DHT": "dht",
    "get_dht_time": "dht",
    "DhtStopped": "host",
    "BootstrapFailed": "node",
    "ClockSkew": "node",
    "Node": "node",
    "ValueWithExpiration": "opened",
    "Options": "options",
    "Reply": "reply",
    "SchemaValidator": "schema",
    "Subkeys": "schema",
    "SignatureValidator": "signature",
    "CompositeValidator": "validator",
    "RawRecord": "validator",
    "RecordValidator": "validator",
}
__all__ = [
    "DHT",
    "BootstrapFailed",
    "ClockSkew",
    "CompositeValidator",
    "DhtStopped",
    "Node",
    "Options",
    "RawRecord",
    "RecordValidator",
    "Reply",
    "SchemaValidator",
    "SignatureValidator",
    "Subkeys",
    "ValueWithExpiration",
    "get_dht_time",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
