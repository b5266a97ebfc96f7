"""The seat: what the one agent of a home is called on this machine, and where its files lie.

    <home>/agent/<key>.lock      held by the agent that lives (strobe.agent.lock)
    <home>/agent/<key>.json      who that is: `State`
    <home>/agent/<key>.starting  somebody has just started one; keeps ten simultaneous inits from starting ten
    <home>/agent/<key>.log       what it has to say

A home on a shared file system has one seat per machine, and a machine one per boot, pid namespace and user, because
only from there can be told whether a process lives, and only that user may write to the run. A training process reads
these files in `init()`: imports are few, and paths are strings because pathlib is slow.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import time
from zlib import crc32

import msgspec

from strobe import identity
from strobe.home import Home

#: an agent that has not sat down this long after its start is taken for failed
STARTING_S = 10.0


class StartError(RuntimeError):
    """There is no way to start an agent from this process; the message says why."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the seat. Read by other versions of Strobe too: fields may be added, never changed."""

    pid: int
    pid_started: float
    version: str
    host: str = ""
    boot_id: str = ""
    pid_namespace: str = ""
    started_ns: int = 0
    python: str = ""
    #: writers whose environment was described; a restarted agent must not describe what has changed since
    described: list[str] = []

    def is_alive(self) -> bool:
        """Tell whether that very process still lives."""
        return bool(identity.is_alive(self.pid, self.pid_started, self.host, self.boot_id, self.pid_namespace))


class Seat:
    """The files of this machine's agent for `home`."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.key = seat_key()
        base = os.path.join(home.agent, self.key)
        self.lock_path = base + ".lock"
        self.state_path = base + ".json"
        self.starting_path = base + ".starting"
        self.log_path = base + ".log"

    def read_state(self) -> State | None:
        """Return who last sat here, alive or not."""
        return read_state(self.state_path)

    def write_state(self, state: State) -> None:
        """Replace the state in one step, so that no reader ever sees half of it."""
        temporary = Path(f"{self.state_path}.{state.pid}")
        temporary.write_bytes(msgspec.json.encode(state))
        temporary.replace(self.state_path)

    def remove_state(self) -> None:
        _remove(self.state_path)

    def claim_start(self) -> bool:
        """Return True for the one caller that shall start an agent now."""
        for _ in range(2):
            try:
                os.close(os.open(self.starting_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            except FileExistsError:
                if not self._start_is_stale():
                    return False
                _remove(self.starting_path)
            else:
                return True
        return False

    def release_start(self) -> None:
        """The start has succeeded or failed: others may try again."""
        _remove(self.starting_path)

    def _start_is_stale(self) -> bool:
        try:
            # abs(): a file server's clock may be ahead of ours.
            return abs(time() - os.stat(self.starting_path).st_mtime) > STARTING_S
        except OSError:
            return True


def read_state(path: str) -> State | None:
    """Return the state in that file, None if there is none."""
    try:
        with open(path, "rb", buffering=0) as stream:
            fields = msgspec.json.decode(stream.read())
        # Not decode(type=State): the first such call costs a millisecond, and init() makes just one.
        return State(**{name: fields[name] for name in State.__struct_fields__ if name in fields})
    except (OSError, msgspec.MsgspecError, TypeError):
        return None


def seat_key() -> str:
    """Return a file name for (host, boot, pid namespace, user), readable as far as the host goes."""
    host = identity.host_id()
    user = os.getuid() if hasattr(os, "getuid") else 0
    digest = crc32(f"{host}\0{identity.boot_id()}\0{identity.pid_namespace()}\0{user}".encode())
    return f"{''.join(char if char.isalnum() or char in '._-' else '_' for char in host[:48])}-{digest:08x}"


def is_newer(version: str, other: str) -> bool:
    """Tell whether `version` is a later release than `other`, by the leading numbers ("1.2" of "1.2.dev3")."""
    return _numbers(version) > _numbers(other)


def _numbers(version: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for part in version.split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
