"""Live: changes of runs and new points, pushed to whoever watches.

    event     what is sent, and how it is written down (Server-Sent Events)
    interest  what somebody watches
    source    what changed in the store: one look serves everybody
    hub       looks a few times a second while anybody watches, and hands out what it saw
    stream    the answer that goes on until one side ends it

Works with any number of server processes over one store, because every process looks for itself.
"""

from strobe.server.live.hub import Hub
from strobe.server.live.interest import Interest
from strobe.server.live.source import StoreSource
from strobe.server.live.stream import EventStream

__all__ = ["EventStream", "Hub", "Interest", "StoreSource"]
