"""The hooks of a run's end, seen from the program whose hooks they join."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from strobe.home import Home
from strobe.sdk.hooks import ExitWatch, describe_exception
from tests.sdk.scripts import execute, only_replay


@pytest.fixture(autouse=True)
def _hooks_as_found() -> Iterator[None]:
    found = (sys.excepthook, sys.exit)
    yield
    sys.excepthook, sys.exit = found


def test_hooks_come_out_in_any_order() -> None:
    found = (sys.excepthook, sys.exit)
    watches = [ExitWatch(lambda: None) for _ in range(3)]
    for watch in watches:
        watch.install()
    assert sys.excepthook is not found[0]
    for index in (1, 0, 2):
        watches[index].remove()
    assert (sys.excepthook, sys.exit) == found


def test_a_hook_chained_on_top_keeps_working_run_after_run(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    watch = ExitWatch(lambda: None)
    watch.install()
    below = sys.excepthook

    def theirs(kind: Any, error: Any, trace: Any) -> None:
        seen.append(str(error))
        below(kind, error, trace)

    sys.excepthook = theirs
    watch.remove()
    assert sys.excepthook is theirs
    later = ExitWatch(lambda: None)
    later.install()
    sys.excepthook(ValueError, ValueError("boom"), None)
    assert seen == ["boom"]
    assert later.exit_code == 1
    assert watch.exit_code is None
    assert capsys.readouterr().err.count("boom") == 1
    later.remove()


def test_leaving_a_thread_is_not_leaving_the_program() -> None:
    watch = ExitWatch(lambda: None)
    watch.install()

    def leave() -> None:
        with suppress(SystemExit):
            sys.exit(3)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert watch.exit_code is None
    with pytest.raises(SystemExit):
        sys.exit(3)
    assert watch.exit_code == 3
    watch.remove()


@pytest.mark.parametrize(
    ("code", "number"), [(None, 0), (0, 0), (3, 3), (True, 1), (False, 0), ("message", 1), (2.5, 1), (-1, -1)]
)
def test_exit_codes_are_numbers(code: Any, number: int) -> None:
    found, text, interrupted = describe_exception(SystemExit, SystemExit(code), None)
    assert (found, text, interrupted) == (number, None, False)
    assert type(found) is int


@pytest.mark.slow
def test_sys_exit_with_a_bool_still_ends_the_run(home: Home) -> None:
    code = "import sys, strobe\nstrobe.init(project='p').log({'x': 1})\nsys.exit(True)"
    assert execute(code, home).returncode == 1
    replay = only_replay(home)
    assert (replay.state, replay.exit_code) == ("failed", 1)
