"""How commands that measure for long are ended: what is done is kept."""

from __future__ import annotations

import signal


def take_as_ctrl_c(*names: str) -> None:
    """Let the ways of a job scheduler and of a lost connection to end us keep what is done, as Ctrl-C does."""
    # By name: Windows has no SIGHUP. What is ignored stays so: that is what nohup is for.
    numbers = [number for name in names if (number := getattr(signal, name, None)) is not None]
    taken = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]

    def interrupt(number: int, frame: object) -> None:
        # They come in pairs (of shell and kernel, TERM and HUP of systemd): a second one must not end the keeping.
        for one in taken:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in taken:
        signal.signal(number, interrupt)
