"""What a notebook shows of a run, kept up to date while the run goes on.

The one idea: the output has a display id, by which the kernel can replace it wherever it stands. So it works wherever
the notebook's messages go (Jupyter, VS Code, Colab, over SSH), needs no server and no script in the page, and what is
saved with the notebook is the last picture. One thread per shown run reads the run's own journal, takes a twentieth of
the time at most, and ends with the run; `log()` does not know of it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from strobe.sdk.program import in_notebook

if TYPE_CHECKING:
    from strobe.sdk.recorder import Recorder

#: seconds between two pictures, at least, and what part of the time they may take
_EVERY_S = 1.0
_SHARE = 0.05
#: how long the end of a run waits for a picture that is being drawn
_JOIN_S = 2.0


class NotebookView:
    """The outputs of one run in one kernel. Never raises: a picture is not worth a training."""

    def __init__(self, recorder: Recorder, *, url: str | None = None) -> None:
        self._recorder = recorder
        self._url = url
        self._pid = os.getpid()
        # All outputs of the run share it, so that one update reaches every cell that shows the run.
        self._display_id = f"strobe-{recorder.path.id}-{recorder.writer.header.writer}"
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def show(self, bundle: dict[str, str], *, is_live: bool) -> None:
        """Put the run into the cell's output, and follow it if it goes on."""
        from IPython.display import display

        if not in_notebook() or not is_live or os.getpid() != self._pid:
            display(bundle, raw=True)
            return
        display(bundle, raw=True, display_id=self._display_id)
        if self._thread is None or not self._thread.is_alive():
            # A daemon, so that a kernel that is torn down does not wait for it; any other end goes through `end`.
            self._thread = threading.Thread(target=self._follow, name="strobe-notebook", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Stop following, and show how the run ended."""
        thread, self._thread = self._thread, None
        if thread is None or os.getpid() != self._pid:
            return
        self._stop.set()
        thread.join(_JOIN_S)
        if not sys.is_finalizing() and not thread.is_alive():
            self._guard(self._draw_once)

    def _follow(self) -> None:
        self._guard(self._keep_drawing)

    def _keep_drawing(self) -> None:
        from strobe.journal.replay import Replay

        replay, pause_s = Replay(self._recorder.run_dir), _EVERY_S
        while not self._stop.wait(pause_s):
            began = time.thread_time()
            if replay.refresh(keep_going=self._goes_on) and not self._stop.is_set():
                self._draw(replay)
            pause_s = max(_EVERY_S, (time.thread_time() - began) / _SHARE)

    def _draw_once(self) -> None:
        from strobe.journal.replay import Replay

        replay, until = Replay(self._recorder.run_dir), time.monotonic() + _JOIN_S
        replay.refresh(keep_going=lambda: time.monotonic() < until)
        if not replay.is_partial:
            self._draw(replay)

    def _draw(self, replay: Any) -> None:
        from IPython.display import update_display

        from strobe.sdk.report.text import mimebundle

        update_display(mimebundle(replay, url=self._url), raw=True, display_id=self._display_id)

    def _goes_on(self) -> bool:
        return not self._stop.is_set()

    def _guard(self, call: Any) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001  # the SDK's outermost guard: the kernel may be gone, or half gone
            self._recorder.warn(f"the run's picture in the notebook is no longer updated: {error!r}")
