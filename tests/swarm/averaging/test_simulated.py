"""Groups and rounds in a simulated swarm: who finds whom, what the averages are, what one that dies costs others."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.board import Board
from strobe.swarm.averaging.butterfly import Butterfly
from strobe.swarm.averaging.engine import Averaged
from strobe.swarm.averaging.group import Group, Member, Role
from strobe.swarm.averaging.hub import Hub
from strobe.swarm.averaging.lobby import CLOCK_SKEW_S
from strobe.swarm.averaging.state import RoundState
from strobe.swarm.dht.sim.loop import START_S, run
from strobe.swarm.dht.sim.world import World
from strobe.swarm.net.network import PeerRefused
from tests.swarm.dht.swarms import Swarm

from . import simulated as sim

pytestmark = pytest.mark.frameworks


def check(results: list[Averaged | None], count: int) -> list[Averaged]:
    """Return the results if everybody has one, and all members of a group say the same of it."""
    found = [result for result in results if result is not None]
    assert len(found) == count
    groups = {result.round.members for result in found}
    assert sum(map(len, groups)) == count, "somebody is in two groups, or in one that others do not know of"
    return found


def test_everybody_is_in_one_group_and_rounds_mix_until_all_have_the_mean() -> None:
    async def main() -> None:
        swarm, peers = await sim.grow(16, target_group_size=4)
        values = [torch.randn(3) for _ in peers]
        mean = torch.stack(values).mean(0)
        for _ in range(5):
            results = check(await sim.average_all(peers, values, spread_s=0.3), 16)
            assert {result.round.group_size for result in results} == {4}
            assert not any(result.round.failed for result in results)
            values = [result.values for result in results]
        for mine in values:
            torch.testing.assert_close(mine, mean, atol=1e-6, rtol=0)
        swarm.check()

    run(main())


def test_parts_of_rounds_that_never_begin_leave_nothing_behind() -> None:
    async def main() -> None:
        swarm, [peer] = await sim.grow(1)
        hub = Hub.of(peer.node.network)
        looking = asyncio.ensure_future(peer.average([1.0]))
        await asyncio.sleep(0.1)

        def held() -> int:
            return sum(len(each) for each in vars(hub).values() if isinstance(each, dict))

        before = held()
        asked = [asyncio.ensure_future(hub._share(bytes([number]) * 16, "sim")) for number in range(100)]
        await asyncio.sleep(0.1)
        for task in asked[:50]:
            task.cancel()
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(result) for result in results] == [asyncio.CancelledError] * 50 + [PeerRefused] * 50
        assert held() == before
        await looking
        swarm.check()

    run(main())


def test_those_left_over_meet_before_the_time_is_over() -> None:
    async def main() -> None:
        swarm, peers = await sim.grow(14, target_group_size=4)
        for _ in range(3):  # later rounds under many keys
            results = check(await sim.average_all(peers, [[1.0]] * 14, spread_s=0.3), 14)
            assert sorted(result.round.group_size for result in results)[2:] == [4] * 12
        swarm.check()

    run(main())


def test_without_a_target_a_group_is_everybody_who_comes_in_time() -> None:
    async def main() -> None:
        swarm, peers = await sim.grow(5)
        results = check(await sim.average_all(peers, [[float(n)] for n in range(5)], spread_s=4.0), 5)
        assert {result.round.group_size for result in results} == {5}
        assert all(result.values.tolist() == [2.0] for result in results)
        assert results[0].round.gathered == {peer.id: peer.number for peer in peers}
        swarm.check()

    run(main())


def test_groups_are_found_although_messages_get_lost() -> None:
    async def main() -> None:
        swarm, peers = await sim.grow(8, world=World(seed=3, loss=0.2), target_group_size=4)
        for _ in range(3):
            check(await sim.average_all(peers, [[1.0]] * 8, spread_s=0.5), 8)
        swarm.check()

    run(main())


def test_alone_there_is_no_group() -> None:
    async def main() -> None:
        swarm, [peer] = await sim.grow(1)
        assert await peer.average([1.0]) is None
        await sim.add(swarm, 1)  # which looks for none
        assert await peer.average([1.0]) is None
        swarm.check()

    run(main())


def test_clients_get_the_mean_and_reduce_nothing() -> None:
    async def main() -> None:
        swarm, peers = await sim.grow(2, target_group_size=4)
        peers += [await sim.add(swarm, number, "client", target_group_size=4) for number in (2, 3)]
        values = [torch.full((10,), float(number)) for number in range(4)]
        results = check(await sim.average_all(peers, values), 4)
        assert all(torch.equal(result.values, torch.full((10,), 1.5)) for result in results)
        swarm.check()

    run(main())


def test_clients_alone_are_no_group() -> None:
    async def main() -> None:
        swarm, _ = await sim.grow(2)
        clients = [await sim.add(swarm, number, "client") for number in (2, 3)]
        assert await sim.average_all(clients, [[1.0], [2.0]]) == [None, None]
        swarm.check()

    run(main())


def test_an_auxiliary_peer_reduces_and_has_no_part_in_the_mean() -> None:
    async def main() -> None:
        swarm, peers = await sim.grow(2, target_group_size=3)
        peers.append(await sim.add(swarm, 2, "auxiliary", target_group_size=3))
        results = check(await sim.average_all(peers, [[1.0] * 9, [3.0] * 9, [99.0] * 9]), 3)
        assert [result.values.tolist() for result in results] == [[2.0] * 9, [2.0] * 9, [99.0] * 9]
        swarm.check()

    run(main())


def test_peers_of_other_tensors_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        swarm, peers = await sim.grow(2)
        node = await swarm.add()
        stranger = sim.Peer(node, 2, sim.settings(), schema=b"x" * 20)
        results = await sim.average_all([*peers, stranger], [[1.0], [3.0], [5.0, 5.0]])
        assert results[2] is None
        assert [result.values.tolist() for result in check(results[:2], 2)] == [[2.0], [2.0]]
        swarm.check()

    run(main())
    assert "its tensors, part_bytes or compression differ" in caplog.text


def test_a_leader_that_vanishes_is_left() -> None:
    """Its followers find another one in time."""

    async def main() -> None:
        swarm, peers = await sim.grow(3)
        leader = asyncio.ensure_future(peers[0].average([1.0]))
        await asyncio.sleep(1.0)
        others = asyncio.ensure_future(sim.average_all(peers[1:], [[2.0], [4.0]]))
        await asyncio.sleep(1.0)
        assert peers[0].engine._matchmaker._lobby._size(peers[0].node.clock()) == 3  # type: ignore[union-attr]
        leader.cancel()
        await swarm.kill([peers[0].node])
        results = check(await others, 2)
        assert [result.values.tolist() for result in results] == [[3.0], [3.0]]
        swarm.check()

    run(main())


async def lure(swarm: Swarm, deadline: float) -> None:
    """Let one more join who says that it leads until then, lets everybody in, and never begins."""
    node = await swarm.add()
    node.network.serve(p.JOIN, lambda caller, payload: p.encode(p.Wait()))
    await Board(node, "sim", sim.SCHEMA, life_s=600.0).declare("sim.0b", deadline)


@pytest.mark.parametrize("deadline", [START_S + 300.0, math.inf])
def test_a_client_waits_for_others_no_longer_than_for_one_that_came_as_late_as_could_be(deadline: float) -> None:
    async def main() -> None:
        swarm, _ = await sim.grow(1)
        client = await sim.add(swarm, 1, "client", matchmaking_s=5.0)
        await lure(swarm, deadline)
        began = asyncio.get_running_loop().time()
        assert await asyncio.wait_for(client.average([1.0]), 60.0) is None
        assert asyncio.get_running_loop().time() - began < 2 * 5.0 + CLOCK_SKEW_S + 0.1
        swarm.check()

    run(main())


@pytest.mark.parametrize("role", ["full", "client"])
def test_a_step_takes_no_longer_than_its_caller_said(role: Role) -> None:
    async def main() -> None:
        swarm, _ = await sim.grow(1)
        peer = await sim.add(swarm, 1, role)
        await lure(swarm, peer.node.clock() + 1.0)
        began = asyncio.get_running_loop().time()
        assert await peer.average([1.0], timeout_s=2.0) is None
        assert asyncio.get_running_loop().time() - began <= 2.0
        swarm.check()

    run(main())


def test_those_with_less_time_than_matchmaking_takes_have_a_round_too() -> None:
    async def main() -> None:
        swarm, peers = await sim.grow(2, matchmaking_s=5.0)
        results = await asyncio.gather(*(peer.average([float(peer.number)], timeout_s=4.0) for peer in peers))
        assert [result.values.tolist() for result in check(results, 2)] == [[0.5], [0.5]]
        swarm.check()

    run(main())


class Table:
    """A round of a given group, without matchmaking."""

    def __init__(self, world: World, values: Any, **chosen: Any) -> None:
        roles: list[Role] = chosen.pop("roles", ["full"] * len(values))
        weights: list[float] = chosen.pop("weights", [1.0] * len(values))
        bandwidths: list[float] = chosen.pop("bandwidths", [1.0] * len(values))
        self.world = world
        self.settings = sim.settings(**chosen)
        self.networks = [world.network() for _ in values]
        members = tuple(
            Member(address=network.address, weight=weight, bandwidth=bandwidth, role=role)
            for network, weight, bandwidth, role in zip(self.networks, weights, bandwidths, roles, strict=True)
        )
        group = Group(bytes(16), members)
        self.states = [
            RoundState(
                group=group,
                place=place,
                vector=torch.as_tensor(mine, dtype=torch.float32),
                network=network,
                settings=self.settings,
                crunch=sim.here,
            )
            for place, (network, mine) in enumerate(zip(self.networks, values, strict=True))
        ]

    async def play(self, absent: tuple[int, ...] = ()) -> list[RoundState]:
        """Let all but some do their part; return what they have in the end."""
        rounds = []
        for place, state in enumerate(self.states):
            if place not in absent:
                butterfly = Butterfly(state)
                Hub.of(self.networks[place]).begin(state.group.id, butterfly.share)
                rounds.append(butterfly)
        await asyncio.gather(*(butterfly.run(self.settings.round_timeout_s) for butterfly in rounds))
        await asyncio.gather(*(butterfly.linger(1.0) for butterfly in rounds))
        assert self.world.errors == []
        return [butterfly.state for butterfly in rounds]


#: how far a value may be off, by compression: of itself, and of the span of all values; twice, for two ways
ERRORS = {
    "none": (1e-6, 0.0),
    "fp16": (2**-11, 0.0),
    "bf16": (2**-8, 0.0),
    "uniform8": (0.0, 1 / 510),
    "blockwise8": (0.0, 1 / 254),
}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_result_is_the_weighted_mean_for_any_group(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 6), "members")
    roles = data.draw(
        st.lists(st.sampled_from(["full", "full", "client", "auxiliary"]), min_size=count, max_size=count)
    )
    roles[0] = "full"
    weights = data.draw(st.lists(st.sampled_from([0.0, 0.01, 1.0, 7.0, 1e5]), min_size=count, max_size=count))
    bandwidths = data.draw(st.lists(st.floats(1e-3, 1e3), min_size=count, max_size=count))
    length = data.draw(st.integers(1, 300), "values")
    part_bytes = data.draw(st.integers(4, 600), "part_bytes")
    compression = data.draw(st.sampled_from(list(ERRORS)))
    values = np.random.default_rng(length).normal(size=(count, length)).astype(np.float32)

    async def main() -> None:
        table = Table(
            World(seed=length),
            values,
            roles=roles,
            weights=weights,
            bandwidths=bandwidths,
            compression=compression,
            part_bytes=part_bytes,
        )
        counted = np.array([0.0 if role == "auxiliary" else w for role, w in zip(roles, weights, strict=True)])
        relative, of_span = ERRORS[compression]
        results = await table.play()
        for role, local, state in zip(roles, values, results, strict=True):
            assert state.failed == set()
            if role == "auxiliary":
                continue
            if not counted.any():
                np.testing.assert_array_equal(state.average.numpy(), local)
                continue
            expected = np.average(values.astype(np.float64), axis=0, weights=counted)
            span = 2 * np.abs(values).max()
            allowed = 2.1 * (relative * np.abs(values).max() + of_span * span) + 1e-5
            assert np.abs(state.average.numpy() - expected).max() <= allowed
        receivers = [state.average for role, state in zip(roles, results, strict=True) if role != "auxiliary"]
        if counted.any():
            assert all(torch.equal(average, receivers[0]) for average in receivers), "not the same for all"

    run(main())


def test_one_that_never_comes_is_left_out_and_its_share_stays_local() -> None:
    async def main() -> None:
        values = [[float(place)] * 40 for place in range(4)]
        results = await Table(World(), values, part_bytes=20).play(absent=(3,))
        for place, state in enumerate(results):
            assert state.failed == {3}
            assert state.average.tolist() == [1.0] * 30 + [float(place)] * 10

    run(main())


def test_nobody_waits_longer_than_a_few_timeouts() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        values = [[1.0] * 1000] * 6
        began = loop.time()
        results = await Table(World(), values, part_bytes=40, request_timeout_s=2.0).play(absent=(1, 4))
        assert loop.time() - began < 8
        assert all(state.failed == {1, 4} for state in results)

    run(main())


def test_a_bug_in_what_is_sent_or_averaged_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def out_of_memory(work: object) -> Any:
        raise MemoryError("no memory left")

    async def main(broken: int, failed: list[set[int]], **chosen: Any) -> None:
        table = Table(World(), [[1.0] * 8, [3.0] * 8], roles=["full", "client"], **chosen)
        table.states[broken].crunch = out_of_memory
        results = await table.play()
        assert [state.failed for state in results] == failed
        assert [state.average.tolist() for state in results] == [[1.0] * 8, [3.0] * 8]
        assert "no memory left" in caplog.text

    run(main(1, [{1}, {0}]))
    caplog.clear()
    run(main(0, [{0}, {0}], weights=[1.0, 0.0]))


def test_whoever_kept_a_round_waiting_until_its_time_was_over_has_failed() -> None:
    async def main() -> None:
        table = Table(World(), [[1.0] * 8, [3.0] * 8], roles=["full", "client"], round_timeout_s=1.0)
        [state] = await table.play(absent=(1,))  # a client: nobody asks it for averages, so nobody sees it fail at that
        assert state.failed == {1}
        assert state.average.tolist() == [1.0] * 8

    run(main())


def test_what_comes_when_a_round_is_over_changes_nothing_and_finds_a_closed_averager() -> None:
    async def closed(work: object) -> Any:
        raise RuntimeError("cannot schedule new futures after shutdown")

    async def main() -> None:
        table = Table(World(), [[1.0] * 8, [3.0] * 8], roles=["full", "client"], round_timeout_s=1.0)
        reducer, client = (Butterfly(state) for state in table.states)
        Hub.of(table.networks[0]).begin(reducer.state.group.id, reducer.share)
        await reducer.run(1.0)
        reducer.state.crunch = closed
        await client.run(1.0)
        await client.linger(1.0)
        assert reducer.state.average.tolist() == [1.0] * 8
        assert client.state.failed == {0}
        assert table.world.errors == []

    run(main())


def test_one_that_gave_up_is_left_at_once_though_another_averager_of_its_peer_looks() -> None:
    async def main() -> None:
        swarm, [peer, ghost] = await sim.grow(2)
        other = sim.Peer(ghost.node, 2, sim.settings(prefix="other", matchmaking_s=600.0))
        elsewhere = asyncio.ensure_future(other.average([1.0]))
        await asyncio.sleep(1.0)
        state = RoundState(
            group=Group(bytes(16), tuple(Member(address=each.node.network.address) for each in (peer, ghost))),
            place=0,
            vector=torch.ones(8),
            network=peer.node.network,
            settings=peer.engine.settings,
            crunch=sim.here,
        )
        began = asyncio.get_running_loop().time()
        await Butterfly(state).run(60.0)
        assert asyncio.get_running_loop().time() - began < 2 * state.settings.request_timeout_s
        assert state.failed == {1}
        elsewhere.cancel()
        swarm.check()

    run(main())


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_values_that_are_not_finite_are_refused_and_spoil_nothing(bad: float) -> None:
    async def main() -> None:
        values = [[1.0] * 12, [3.0] * 12, [bad] * 12]
        results = await Table(World(), values, part_bytes=16).play()
        for state, local in zip(results[:2], (1.0, 3.0), strict=True):
            assert state.failed == {2}
            # The share of the one that spoils is averaged by itself: it is refused for the same reason.
            assert set(state.average.tolist()) == {2.0, local}

    run(main())


def test_a_sum_that_overflows_keeps_local_values() -> None:
    async def main() -> None:
        results = await Table(World(), [[3e38] * 4, [3e38] * 4]).play()
        assert all(torch.equal(state.average, state.vector) for state in results)

    run(main())
