"""Every way a script can end: what the run says afterwards, and that the script's own behaviour is unchanged."""

from __future__ import annotations

import os
import signal
import time

import pytest

from strobe.home import Home
from tests.sdk.scripts import await_ready, column, environment, execute, only_replay, start

pytestmark = pytest.mark.slow

BEGIN = """
import os, sys, time, signal
import strobe
run = strobe.init(project="p")
for i in range(5):
    run.log({"x": i})
"""


def test_a_script_that_just_ends_is_finished(home: Home) -> None:
    done = execute(BEGIN, home)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    replay = only_replay(home)
    assert (replay.state, replay.exit_code, column(replay, "x")) == ("finished", 0, [0, 1, 2, 3, 4])


def test_an_uncaught_exception_marks_the_run_failed_and_is_still_printed(home: Home) -> None:
    done = execute(BEGIN + "raise RuntimeError('out of luck')", home)
    assert done.returncode == 1
    assert "RuntimeError: out of luck" in done.stderr
    replay = only_replay(home)
    assert (replay.state, replay.exit_code) == ("failed", 1)
    assert "RuntimeError: out of luck" in (replay.error or "")
    assert "script.py" in (replay.error or "")


def test_an_exception_in_a_with_block_marks_the_run_failed(home: Home) -> None:
    done = execute("import strobe\nwith strobe.init(project='p') as run:\n    run.log({'x': 1})\n    1/0", home)
    assert done.returncode == 1
    replay = only_replay(home)
    assert replay.state == "failed"
    assert "ZeroDivisionError" in (replay.error or "")


@pytest.mark.parametrize(("code", "exit_code", "state"), [("sys.exit(3)", 3, "failed"), ("sys.exit()", 0, "finished")])
def test_sys_exit_keeps_its_code(home: Home, code: str, exit_code: int, state: str) -> None:
    assert execute(BEGIN + code, home).returncode == exit_code
    replay = only_replay(home)
    assert (replay.exit_code, replay.state) == (exit_code, state)


def test_sys_exit_with_a_message_prints_it(home: Home) -> None:
    done = execute(BEGIN + "sys.exit('no data')", home)
    assert done.returncode == 1
    assert "no data" in done.stderr
    assert only_replay(home).exit_code == 1


def test_os_exit_loses_no_row_and_reads_as_crashed(home: Home) -> None:
    assert execute(BEGIN + "os._exit(7)", home).returncode == 7
    replay = only_replay(home)
    assert column(replay, "x") == [0, 1, 2, 3, 4]
    assert replay.state == "crashed"


def test_ctrl_c_reads_as_killed_and_exits_as_python_does(home: Home) -> None:
    process = start(BEGIN + "print('ready', flush=True)\ntime.sleep(60)", home)
    await_ready(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err
    replay = only_replay(home)
    assert (replay.state, replay.exit_code) == ("killed", 130)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_a_killed_process_loses_no_row(home: Home, number: int) -> None:
    process = start(BEGIN + "print('ready', flush=True)\ntime.sleep(60)", home)
    await_ready(process)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == -number
    replay = only_replay(home)
    assert (replay.state, column(replay, "x")) == ("crashed", [0, 1, 2, 3, 4])


def test_a_preempted_process_is_not_called_crashed(home: Home) -> None:
    execute(BEGIN + "run.mark_preempting()\nos.kill(os.getpid(), signal.SIGKILL)", home)
    assert only_replay(home).state == "preempted"


def test_hooks_of_others_still_run(home: Home) -> None:
    code = """
    import atexit, sys
    atexit.register(lambda: print("their atexit"))
    sys.excepthook = lambda kind, error, trace: print("their hook", error)
    import strobe
    run = strobe.init(project="p")
    run.log({"x": 1})
    raise ValueError("boom")
    """
    done = execute(code, home)
    assert done.stdout == "their hook boom\ntheir atexit\n"
    assert done.stderr == ""
    assert only_replay(home).state == "failed"


def test_finish_takes_our_hooks_out_again(home: Home) -> None:
    code = """
    import sys
    hook, leave, out = sys.excepthook, sys.exit, sys.stdout.write
    import strobe
    strobe.init(project="p").finish()
    print(sys.excepthook is hook, sys.exit is leave)
    """
    assert execute(code, home).stdout == "True True\n"


def test_logging_at_interpreter_shutdown_is_harmless(home: Home) -> None:
    code = """
    import strobe
    run = strobe.init(project="p")
    class Late:
        def __del__(self):
            try:
                run.log({"late": 1})
            except strobe.Error as error:
                print("refused:", type(error).__name__)
    late = Late()
    run.late = late
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr
    assert only_replay(home).state == "finished"


def test_a_fault_of_ours_never_reaches_the_script(home: Home) -> None:
    code = """
    import shutil, strobe
    run = strobe.init(project="p")
    run.log({"x": 1})
    shutil.rmtree(run.sync_dir)
    open(run.sync_dir, "w").close()          # nothing can be written there any more
    for i in range(50):
        run.log({"x": i, "image": strobe.Histogram([1, 2, 3])})
    print("trained to the end")
    """
    done = execute(code, home, env=environment(home, STROBE_SILENT="false"))
    assert done.returncode == 0, done.stderr
    assert "trained to the end" in done.stdout


def test_stdout_closed_or_replaced_does_not_matter(home: Home) -> None:
    code = """
    import sys, io, strobe
    run = strobe.init(project="p")
    sys.stdout = io.StringIO()
    print("kept by them")
    run.log({"x": 1})
    run.finish()
    text = sys.stdout.getvalue()
    sys.stdout = sys.__stdout__
    assert text == "kept by them\\n", text
    """
    done = execute(code, home)
    assert done.returncode == 0, done.stderr


def test_two_seconds_of_work_are_not_held_up_at_the_end(home: Home) -> None:
    began = time.monotonic()
    assert execute(BEGIN, home).returncode == 0
    assert time.monotonic() - began < 20
    assert os.path.isdir(only_replay(home).run_dir.path)
