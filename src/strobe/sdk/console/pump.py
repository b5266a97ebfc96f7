"""The pump: a small process that carries redirected output on to the terminal and hands a copy back.

A process of its own, because a thread cannot do it: a C library that prints more than a pipe holds while it has the
GIL would wait for a thread that waits for the GIL. It also means that the last words of a process that dies get to
the terminal, and that children which outlive it can still print. Runs alone (`python -I -S pump.py …`): it imports
nothing of Strobe. It never waits for the one who gets the copy: beyond MAX_BUFFER the copy has a gap, and says so.

Arguments: for each stream the descriptor read and the one written to, then the one for copies, then the one whose
closing says that no more copies are wanted. A copy is the stream's number, a length (4 bytes) and the bytes.
"""

from __future__ import annotations

import os
import select
import sys

READ_SIZE = 64 * 1024
MAX_BUFFER = 16 * 1024 * 1024


class Pump:
    """Carries until every writer is gone."""

    def __init__(self, pairs: list[tuple[int, int]], copies: int, control: int) -> None:
        self.outlets = dict(pairs)
        self.numbers = {source: number for number, (source, _) in enumerate(pairs)}
        self.copies = copies
        self.control = control
        self.buffer = bytearray()
        self.skipped = 0
        os.set_blocking(copies, False)

    def run(self) -> None:
        while self.outlets or self.buffer:
            reading = [*self.outlets, *([self.control] if self.control >= 0 else [])]
            writing = [self.copies] if self.buffer else []
            ready, writable, _ = select.select(reading, writing, [])
            if writable:
                self.send_copies()
            for source in [source for source in self.outlets if source in ready]:
                self.carry(source)
            if self.control in ready:
                self.end_copies()

    def carry(self, source: int) -> None:
        try:
            piece = os.read(source, READ_SIZE)
        except OSError:  # what a pseudo-terminal says when nobody has it open any more
            piece = b""
        if not piece:
            del self.outlets[source]
            return
        write_all(self.outlets[source], piece)
        if self.copies >= 0:
            self.keep_copy(self.numbers[source], piece)

    def keep_copy(self, number: int, piece: bytes) -> None:
        if len(self.buffer) > MAX_BUFFER:
            self.skipped += len(piece)
            return
        if self.skipped:
            note = f"\n[strobe: {self.skipped} bytes of output came too fast and are not recorded]\n".encode()
            self.skipped = 0
            self.keep_copy(number, note)
        self.buffer += bytes([number]) + len(piece).to_bytes(4, "little") + piece
        self.send_copies()

    def send_copies(self) -> None:
        try:
            while self.buffer:
                del self.buffer[: os.write(self.copies, self.buffer[:READ_SIZE])]
        except BlockingIOError:
            return
        except OSError:  # the one who wanted them is gone
            self.drop_copies()

    def end_copies(self) -> None:
        """Carry what was written until now, hand over the rest of the copies, and only carry from here on."""
        os.close(self.control)
        self.control = -1
        while ready := select.select(list(self.outlets), [], [], 0)[0]:
            for source in ready:
                self.carry(source)
        if self.copies >= 0:
            os.set_blocking(self.copies, True)
            self.send_copies()
        self.drop_copies()

    def drop_copies(self) -> None:
        self.buffer.clear()
        if self.copies >= 0:
            os.close(self.copies)
            self.copies = -1


def write_all(fd: int, piece: bytes) -> None:
    """Write to the terminal however long it takes; if it is gone, what was for it is gone too."""
    while piece:
        try:
            piece = piece[os.write(fd, piece) :]
        except BlockingIOError:
            select.select([], [fd], [])
        except OSError:
            return


def main(arguments: list[str]) -> None:
    if os.fork():  # leave the starter's children: it may wait for all of its own
        os._exit(0)
    os.setsid()  # Ctrl-C and a closed terminal are for the others
    given = [int(argument) for argument in arguments]
    # The numbers are beyond all that the starter had open, perhaps beyond what select() can take.
    *streams, copies, control = [os.dup(fd) for fd in given]
    for fd in given:
        os.close(fd)
    Pump(list(zip(streams[::2], streams[1::2], strict=True)), copies, control).run()


if __name__ == "__main__":
    main(sys.argv[1:])
