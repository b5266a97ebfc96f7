"""States over real networks: donors that are busy, die on the way or lie."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import msgspec
import pytest
import torch

from strobe.errors import UsageError
from strobe.swarm.collaborative.donor import Donor, DonorOptions, PartRequest, methods_of
from strobe.swarm.collaborative.download import Source, StateUnavailable, Terms, download
from strobe.swarm.collaborative.state import Offer, Snapshot, StateMismatch, parse_offer
from strobe.swarm.dht import DHT, Node
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.network import Caller, Contact, Payload, PeerBusy, PeerRefused, Sendable
from tests.swarm.collaborative.peers import swarm

pytestmark = pytest.mark.frameworks

PART = 64 << 10


def state_of(epoch: int, length: int = 100_000) -> Snapshot:
    return Snapshot(epoch, {"param.0": torch.full((length,), float(epoch))})


def accept(offer: Offer) -> None:
    if set(offer.tensors) != {"param.0"}:
        raise StateMismatch("other tensors")


def keep(snapshot: Snapshot) -> None:
    """What is done with a state is not what these tests are about."""


def terms(
    least_epoch: int = 1,
    timeout_s: float = 30.0,
    request_timeout_s: float = 2.0,
    take: Callable[[Snapshot], None] = keep,
) -> Terms:
    return Terms(
        least_epoch=least_epoch, check=accept, take=take, timeout_s=timeout_s, request_timeout_s=request_timeout_s
    )


def donor_at(dht: DHT, snapshot: Snapshot, *, max_downloads: int = 4) -> Donor:
    options = DonorOptions(part_bytes=PART, max_downloads=max_downloads)
    donor = Donor(lambda: snapshot, lambda: 0, options=options)
    attach_to(dht, donor)
    return donor


def attach_to(dht: DHT, donor: Donor) -> None:
    async def attach(node: Node) -> None:
        donor.attach(node.network)

    dht.run_coroutine(attach)


def source_of(dht: DHT, donor: Donor, mark: str = "") -> Source:
    return Source(mark, dht.address, donor.word)


class Failures:
    def __init__(self) -> None:
        self.marks: list[str] = []

    def __call__(self, source: Source) -> None:
        self.marks.append(source.mark)


def test_a_state_is_downloaded_in_parts_and_the_donor_is_free_again() -> None:
    with swarm(3) as [one, two, _]:
        donor = donor_at(one, state_of(7))
        failed = Failures()
        got = two.run_coroutine(lambda node: download(node.network, [source_of(one, donor)], terms(), failed))
        assert got.epoch == 7
        torch.testing.assert_close(got.tensors["param.0"], torch.full((100_000,), 7.0))
        assert (donor.num_served, donor.num_downloads, failed.marks) == (1, 0, [])


def test_two_who_come_together_share_one_copy() -> None:
    arrived = threading.Semaphore(0)
    taken: list[Snapshot] = []

    class Watched(Donor):
        async def _offer(self, caller: Caller, payload: Payload) -> Sendable:
            arrived.release()
            return await super()._offer(caller, payload)

    def take() -> Snapshot:
        for _ in range(0 if taken else 2):
            assert arrived.acquire(timeout=10), "the other did not come"
        taken.append(state_of(7))
        return taken[-1]

    with swarm(3) as [one, two, three_]:
        donor = Watched(take, lambda: 0, options=DonorOptions(part_bytes=PART))
        attach_to(one, donor)
        sources = [source_of(one, donor)]
        downloads = [
            dht.run_coroutine(
                lambda node: download(node.network, sources, terms(request_timeout_s=10.0), Failures()),
                return_future=True,
            )
            for dht in (two, three_)
        ]
        assert [came.result(20).epoch for came in downloads] == [7, 7]
        assert (donor.num_served, len(taken)) == (2, 1)


def test_who_comes_when_it_is_full_hears_when_to_come_again_and_gets_it_then() -> None:
    with swarm(3) as [one, two, three_]:
        donor = donor_at(one, state_of(7), max_downloads=1)
        offer_method, _, done_method = methods_of(donor.word)

        async def begin(node: Node) -> Offer:
            return parse_offer(await node.network.call(one.address.contact, offer_method, b"", timeout_s=5))

        async def end(node: Node, token: str) -> None:
            request = msgspec.json.encode(PartRequest(token))
            await node.network.call(one.address.contact, done_method, request, timeout_s=5)

        first = two.run_coroutine(begin)
        with pytest.raises(PeerBusy, match="1 peers are downloading") as refused:
            three_.run_coroutine(begin)
        assert 0 < refused.value.retry_after_s < 31
        waiting = three_.run_coroutine(
            lambda node: download(node.network, [source_of(one, donor)], terms(), Failures()), return_future=True
        )
        with pytest.raises(PeerRefused, match="not known"):
            three_.run_coroutine(lambda node: end(node, first.token))  # somebody else's
        again = two.run_coroutine(begin)  # it has lost its first one, and does not stand in its own way
        assert not waiting.done()
        two.run_coroutine(lambda node: end(node, again.token))
        assert waiting.result(20).epoch == 7


def test_a_busy_donor_is_passed_over_for_one_that_is_not() -> None:
    with swarm(3) as [one, two, three_]:
        busy, free = donor_at(one, state_of(8), max_downloads=1), donor_at(two, state_of(7))
        offer_method, _, _ = methods_of(busy.word)
        two.run_coroutine(lambda node: node.network.call(one.address.contact, offer_method, b"", timeout_s=5))
        sources = [source_of(one, busy, "busy"), source_of(two, free, "free")]
        failed = Failures()
        assert three_.run_coroutine(lambda node: download(node.network, sources, terms(), failed)).epoch == 7
        assert failed.marks == []


def test_a_donor_that_dies_half_way_is_left_for_the_next() -> None:
    with swarm(3) as [one, two, three_]:
        dying, healthy = donor_at(one, state_of(8)), donor_at(two, state_of(7))
        offer_method, part_method, _ = methods_of("dies")
        served: list[int] = []

        async def die_after_two(caller: Caller, payload: Payload) -> Payload:
            served.append(msgspec.json.decode(payload, type=PartRequest).part)
            if len(served) > 2:
                await asyncio.sleep(60)
            return (await dying._part(caller, payload)).joined()  # type: ignore[union-attr]  # encoded parts are pieces

        async def attach(node: Node) -> None:
            node.network.serve(offer_method, dying._offer)
            node.network.serve(part_method, die_after_two)

        one.run_coroutine(attach)
        sources = [Source("dying", one.address, "dies"), source_of(two, healthy, "healthy")]
        failed = Failures()
        got = three_.run_coroutine(lambda node: download(node.network, sources, terms(request_timeout_s=1.0), failed))
        assert (got.epoch, failed.marks) == (7, ["dying"])
        assert len(served) > 2
        torch.testing.assert_close(got.tensors["param.0"], torch.full((100_000,), 7.0))


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (state_of(0), "epoch 0, at least 1"),
        (state_of(1 << 40), "epoch 1099511627776, over 1048576 more than 1"),
        (Snapshot(5, {"param.1": torch.zeros(3)}), "other tensors"),
        (Snapshot(5, {"param.0": torch.full((3,), torch.inf)}), "NaN or infinite"),
    ],
)
def test_a_donor_that_does_not_have_what_it_said_is_told_apart(state: Snapshot, why: str) -> None:
    with swarm(2) as [one, two]:
        failed = Failures()
        donor = donor_at(one, state)
        with pytest.raises(StateUnavailable, match=why):
            two.run_coroutine(lambda node: download(node.network, [source_of(one, donor, "liar")], terms(), failed))
        assert failed.marks == ["liar"]


def test_a_state_that_turns_out_to_be_of_no_use_is_had_from_the_next() -> None:
    def take(snapshot: Snapshot) -> None:
        if snapshot.epoch == 8:
            raise StateMismatch("nothing to go on from")

    with swarm(3) as [one, two, three_]:
        wrong, right = donor_at(one, state_of(8)), donor_at(two, state_of(7))
        sources = [source_of(one, wrong, "wrong"), source_of(two, right, "right")]
        failed = Failures()
        got = three_.run_coroutine(lambda node: download(node.network, sources, terms(take=take), failed))
        assert (got.epoch, failed.marks) == (7, ["wrong"])


def test_who_gives_a_donor_up_does_not_keep_others_out() -> None:
    def take_none(offer: Offer) -> None:
        raise StateMismatch("not what we want")

    with swarm(3) as [one, two, three_]:
        donor = donor_at(one, state_of(7), max_downloads=1)
        sources = [source_of(one, donor)]
        unwilling = Terms(least_epoch=1, check=take_none, take=keep, timeout_s=10.0)
        with pytest.raises(StateUnavailable, match="not what we want"):
            two.run_coroutine(lambda node: download(node.network, sources, unwilling, Failures()))
        assert (donor.num_downloads, donor.num_served) == (0, 0)
        three_.run_coroutine(lambda node: download(node.network, sources, terms(), Failures()))
        assert donor.num_served == 1


def test_a_donor_that_is_too_slow_is_told() -> None:
    with swarm(2) as [one, two]:
        told: list[str] = []

        async def done(caller: Caller, payload: Payload) -> Sendable:
            told.append(msgspec.json.decode(payload, type=PartRequest).token)
            return b""

        async def attach(node: Node) -> None:
            node.network.serve(methods_of("slow")[2], done)

        source = slow_donor_at(one, 0.3)
        one.run_coroutine(attach)
        with pytest.raises(StateUnavailable, match=r"nothing whole within 0\.\d+ s"):
            two.run_coroutine(lambda node: download(node.network, [source], terms(timeout_s=0.7), Failures()))
        assert len(told) == 1


def slow_donor_at(dht: DHT, seconds_per_part: float) -> Source:
    donor = donor_at(dht, state_of(8))
    offer_method, part_method, _ = methods_of("slow")

    async def part(caller: Caller, payload: Payload) -> Sendable:
        await asyncio.sleep(seconds_per_part)
        return await donor._part(caller, payload)

    async def attach(node: Node) -> None:
        node.network.serve(offer_method, donor._offer)
        node.network.serve(part_method, part)

    dht.run_coroutine(attach)
    return Source("slow", dht.address, "slow")


def test_a_donor_that_is_too_slow_for_the_whole_is_given_up() -> None:
    with swarm(2) as [one, two]:
        failed = Failures()
        source = slow_donor_at(one, 0.3)
        with pytest.raises(StateUnavailable, match=r"nothing whole within 0\.\d+ s"):
            two.run_coroutine(lambda node: download(node.network, [source], terms(timeout_s=0.7), failed))
        assert failed.marks == ["slow"], "so that the next attempt does not begin with it"


def test_a_donor_that_dribbles_is_left_for_the_next_long_before_the_time_is_over() -> None:
    with swarm(3) as [one, two, three_]:
        # Every part comes in time; all seven of them, two at a time, would take 6 s, which is more than half of 8.
        slow, quick = slow_donor_at(one, 1.5), source_of(two, donor_at(two, state_of(7)), "quick")
        asked = terms(timeout_s=8.0, request_timeout_s=2.0)
        failed = Failures()
        got = three_.run_coroutine(lambda node: download(node.network, [slow, quick], asked, failed))
        assert (got.epoch, failed.marks) == (7, ["slow"])


def test_one_slow_donor_does_not_get_the_time_of_the_others() -> None:
    with swarm(3) as [one, two, three_]:
        slow, quick = slow_donor_at(one, 3600), source_of(two, donor_at(two, state_of(7)), "quick")
        asked = terms(timeout_s=6.0, request_timeout_s=3600)
        failed = Failures()
        got = three_.run_coroutine(lambda node: download(node.network, [slow, quick], asked, failed))
        assert (got.epoch, failed.marks) == (7, ["slow"])


def test_nobody_there_and_nobody_left() -> None:
    with swarm(2) as [one, two]:
        with pytest.raises(StateUnavailable, match="nobody offers"):
            two.run_coroutine(lambda node: download(node.network, [], terms(), Failures()))
        donor = donor_at(one, state_of(3))

        async def close(node: Node) -> None:
            donor.close(node.network)

        one.run_coroutine(close)
        with pytest.raises(StateUnavailable, match="no method"):
            two.run_coroutine(lambda node: download(node.network, [source_of(one, donor)], terms(), Failures()))


def caller(number: int) -> Caller:
    identity = Identity(bytes([number]) * 32)
    return Caller(Contact(identity.peer_id, "127.0.0.1", 4000), identity.public_key)


def test_peers_that_never_finish_do_not_keep_out_those_who_come_later() -> None:
    now = 0.0
    options = DonorOptions(max_downloads=4, idle_s=30.0, total_s=100.0)
    donor = Donor(lambda: state_of(3), lambda: 0, options=options, clock=lambda: now)

    async def main() -> None:
        nonlocal now
        tokens = [parse_offer(await donor._offer(caller(n), b"")).token for n in range(4)]  # type: ignore[arg-type]
        for now in (29.0, 58.0, 87.0):  # noqa: B007  # the donor's clock
            for number, token in enumerate(tokens):
                await donor._part(caller(number), msgspec.json.encode(PartRequest(token, 0)))
            with pytest.raises(PeerBusy, match="4 peers are downloading"):
                await donor._offer(caller(9), b"")
        now = 101.0
        for number in range(4):  # at once again, before anybody else
            with pytest.raises(PeerBusy, match="not finished in time") as refused:
                await donor._offer(caller(number), b"")
            assert 0 < refused.value.retry_after_s <= 5
        await donor._offer(caller(9), b"")
        now = 107.0
        await donor._offer(caller(0), b"")

    asyncio.run(main())


def test_a_download_that_nobody_continues_ends() -> None:
    now = 0.0
    donor = Donor(lambda: state_of(3), lambda: 0, options=DonorOptions(max_downloads=1, idle_s=30.0), clock=lambda: now)

    async def main() -> None:
        nonlocal now
        first = parse_offer(await donor._offer(caller(1), b""))  # type: ignore[arg-type]
        with pytest.raises(PeerBusy):
            await donor._offer(caller(2), b"")
        now = 29.0
        await donor._part(caller(1), msgspec.json.encode(PartRequest(first.token, 0)))
        now = 58.0
        with pytest.raises(PeerBusy):
            await donor._offer(caller(2), b"")
        now = 60.0
        await donor._offer(caller(2), b"")
        with pytest.raises(PeerRefused, match="idle for too long"):
            await donor._part(caller(1), msgspec.json.encode(PartRequest(first.token, 0)))
        with pytest.raises(PeerRefused, match="no part 9"):
            await donor._part(caller(2), msgspec.json.encode(PartRequest(next(iter(donor._downloads)), 9)))
        with pytest.raises(PeerRefused, match="no such request"):
            await donor._part(caller(2), b"\xff")

    asyncio.run(main())


def test_options_of_a_donor_are_checked() -> None:
    with pytest.raises(UsageError, match="part_bytes is 1"):
        DonorOptions(part_bytes=1)
    with pytest.raises(UsageError, match="0 downloads"):
        DonorOptions(max_downloads=0)
