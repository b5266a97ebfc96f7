"""The key for the server stays where it was given, and with what waits to be uploaded: a real script, a real agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.agent.lifecycle import stop
from strobe.home import Home
from tests.agent.scene import serving_pid, wait_for
from tests.sdk.scripts import environment, execute, only_replay

from .effect import contents

KEY = "0f3c9e71d2ab4c5e8f60a1b2c3d4e5f6a7b8c9d0"
SCRIPT = f"""
    import sys, time, strobe
    settings = strobe.Settings(api_key={KEY!r}, base_url="http://127.0.0.1:9", finish_timeout=0.5)
    run = strobe.init(project="p", settings=settings)
    print(run.settings)
    run.log({{"x": 1}})
    time.sleep(1)  # so that the agent describes it
    raise ValueError("STROBE_API_KEY={KEY}")
"""


@pytest.mark.slow
def test_a_key_gets_neither_into_the_run_nor_to_where_others_see_it(home: Home) -> None:
    env = environment(home, STROBE_AGENT="on", STROBE_SILENT="false", WANDB_API_KEY=KEY)
    done = execute(SCRIPT, home, "--api-key", KEY, env=env)
    (home.path / "script.py").unlink()
    try:
        agent = Path("/proc") / str(wait_for(lambda: serving_pid(home)))
        known = (agent / "cmdline").read_bytes() + (agent / "environ").read_bytes()
        wait_for(lambda: "requirements" in only_replay(home).attributes)
    finally:
        stop(home)
    assert only_replay(home).state == "failed"
    assert b"serve_detached" in known
    for marker in (home.path / "unsynced").iterdir():
        assert marker.stat().st_mode & 0o077 == 0
        marker.unlink()
    assert KEY.encode() not in known + contents(home.path)
    assert KEY not in done.stdout
