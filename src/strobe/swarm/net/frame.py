"""Frames: what a stream consists of. A head in the clear, bound to what it stands before, and a sealed body.

    MESSAGE                        a message of any kind that fits in one frame
    OPEN_REQUEST, OPEN_REPLY       a payload follows in chunks: how many bytes, and what a request is for
    CHUNK_REQUEST, CHUNK_REPLY     the next bytes of such a payload
    STOP_REQUEST, STOP_REPLY       send no more of that payload
    ATTACHED                       the session that the stream was opened for is known here

A number tells payloads apart; requests and replies are numbered separately.
"""

from __future__ import annotations

import struct

from strobe.errors import Error

MESSAGE, OPEN_REQUEST, OPEN_REPLY, CHUNK_REQUEST, CHUNK_REPLY, STOP_REQUEST, STOP_REPLY, ATTACHED = range(8)

#: length of the body, kind, number
FRAME = struct.Struct("<IBI")
#: number of bytes to come, oldest unanswered number; a request's method follows
OPEN = struct.Struct("<QI")

#: bytes of a payload in one frame, and of small frames that are sent together
CHUNK = 512 << 10
MAX_SMALL = 64 << 10
#: no key seals more frames than this; the next call opens another stream
MAX_FRAMES = 1 << 24


class StreamBroken(Error):
    """The other end sent what no honest peer sends."""
