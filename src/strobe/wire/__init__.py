"""What crosses HTTP between an SDK and a server: batches of journal entries as columns, and the words around them.

Types and codecs only: no sockets, no files, no store. Used by the agent (which packs), by `strobe ui` (which packs its
own home's journals) and by the server (which takes them in). `docs/wire-format.md` has the format.
"""

from __future__ import annotations

#: The version of everything here. A server says in its handshake which versions it takes.
PROTOCOL = 1
#: The oldest version that this server still takes.
OLDEST_PROTOCOL = 1

#: The content type of a stream of batches.
BATCHES = "application/vnd.strobe.batches"
#: The content type of many small files in one body.
BUNDLE = "application/vnd.strobe.bundle"
#: JSON documents, either way, as msgpack with the journal's extension types: NaN, arrays, big integers as they are.
MSGPACK = "application/msgpack"
#: The header that carries the sender's protocol version.
PROTOCOL_HEADER = "Strobe-Protocol"
