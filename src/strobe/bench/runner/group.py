"""How the processes of one measurement take the same steps: rank 0 says how many come next, the others follow.

Over TCP, so that ranks may be on several nodes; one message of eight bytes before steps begin, none while they are
timed. Workloads join each other by themselves, by the variables that torchrun would set (`variables`).
"""

from __future__ import annotations

import random
import socket
import struct
import time
from collections.abc import Iterator

from strobe.bench.runner.message import Seat
from strobe.errors import Error

_COUNT = struct.Struct("!q")
_PATIENCE_S = 300.0
_RETRY_S = 0.05
#: below those that systems give to connections, of which a workload has many: one of them may be taken in the meantime
_STARTS = range(15_000, 32_000)


def variables(seat: Seat) -> dict[str, str]:
    """Return what torchrun would set for this process; nothing for one alone."""
    if seat.size == 1:
        return {}
    return {
        "RANK": str(seat.rank),
        "LOCAL_RANK": str(seat.rank % seat.per_node),
        "WORLD_SIZE": str(seat.size),
        "LOCAL_WORLD_SIZE": str(seat.per_node),
        "MASTER_ADDR": seat.meeting.host,
        "MASTER_PORT": str(seat.meeting.port),
    }


class Leader:
    """Rank 0's end; alone it leads nobody."""

    def __init__(self, seat: Seat) -> None:
        self._followers: list[socket.socket] = []
        if seat.size == 1:
            return
        with listen(seat.meeting.host, seat.meeting.own_port) as server:
            server.settimeout(_PATIENCE_S)
            while len(self._followers) < seat.size - 1:
                self._followers.append(server.accept()[0])

    def announce(self, num_steps: int) -> None:
        """Tell the others how many steps come next; 0 lets them go."""
        for follower in self._followers:
            follower.sendall(_COUNT.pack(num_steps))

    def close(self) -> None:
        """Let the others go."""
        self.announce(0)
        for follower in self._followers:
            follower.close()


def counts_from_leader(seat: Seat) -> Iterator[int]:
    """Yield how many steps rank 0 announces, until it lets go or is gone."""
    with _connect(seat) as leader:
        leader.settimeout(None)
        while len(text := leader.recv(_COUNT.size, socket.MSG_WAITALL)) == _COUNT.size:
            (count,) = _COUNT.unpack(text)
            if count == 0:
                return
            yield count


def _connect(seat: Seat) -> socket.socket:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return socket.create_connection((seat.meeting.host, seat.meeting.own_port), timeout=_PATIENCE_S)
        except OSError as exc:  # rank 0 has not got so far yet
            if time.monotonic() > deadline:
                raise Error(f"rank 0 does not answer at {seat.meeting.host}:{seat.meeting.own_port} ({exc})") from exc
            time.sleep(_RETRY_S)


def listen(host: str, port: int) -> socket.socket:
    """Listen where others look for us: on all addresses, since nobody knows by which of them, unless all are here."""
    # Many a machine takes its own name for 127.0.1.1, so a name is no address to bind to.
    return socket.create_server((host if host == "localhost" or host.startswith("127.") else "", port))


def free_ports_above(host: str, port: int, count: int) -> list[int]:
    """Return the next ports after one that nobody listens on, so that a firewall has to let only few through."""
    found: list[int] = []
    while len(found) < count:
        port += 1
        try:
            listen(host, port).close()
        except OverflowError as exc:
            raise Error(f"no {count} ports are free behind the one of --master") from exc
        except OSError:
            continue
        found.append(port)
    return found


def free_ports(count: int) -> list[int]:
    """Return ports of this machine that nobody listens on, nor takes for a connection before we do."""
    return free_ports_above("127.0.0.1", random.choice(_STARTS), count)
