"""A peer's process is killed in the middle of a round; the others finish, and say so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from .peers import PATIENCE_S, averagers, swarm

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

LENGTH = 64 * 1024


def test_a_peer_that_is_killed_in_the_middle_of_a_round_does_not_stop_the_others() -> None:
    tensors = [[torch.full((LENGTH,), float(place))] for place in range(3)]
    settings = {"target_group_size": 4, "part_bytes": 4096, "request_timeout_s": 3.0, "matchmaking_s": PATIENCE_S}
    with swarm(3) as peers, averagers(peers, tensors, **settings) as group:
        command = [sys.executable, str(Path(__file__).with_name("victim.py")), str(peers[0].address), str(LENGTH)]
        victim = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert victim.stdout is not None
        try:
            assert victim.stdout.readline() == "ready\n"
            replies = [averager.step(wait=False) for averager in group]
            assert victim.stdout.readline() == "part\n"
            victim.kill()
            rounds = [reply.result(PATIENCE_S) for reply in replies]
        finally:
            victim.kill()
            victim.wait()
            victim.stdout.close()
        for round_ in rounds:
            assert round_ is not None
            [dead] = round_.failed
            assert dead in set(round_.members) - {dht.peer_id for dht in peers}
    for place, (mine,) in enumerate(tensors):
        values = set(mine.unique().tolist())
        # With all four 25.75, without the dead one 1; the share that it reduced keeps what was there.
        assert values <= {25.75, 1.0, float(place)}
        assert 1.0 in values
