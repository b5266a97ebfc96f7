"""The optimizer alone, with others, without those it counted on, and coming late."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import torch

from strobe.errors import UsageError
from strobe.swarm.collaborative import Looks, Optimizer, StateUnavailable
from strobe.swarm.collaborative.report import PeerReport, progress_key, report_rules
from strobe.swarm.dht import DHT, Node, get_dht_time
from tests.swarm.collaborative.peers import (
    Peer,
    assert_alike,
    batch_of,
    loss_of,
    model_of,
    peers,
    swarm,
    together,
    wait_until,
)

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(240)]

MAKERS: dict[str, Callable[[Any], Any]] = {
    "adam": lambda params: torch.optim.Adam(params, lr=0.05),
    "momentum": lambda params: torch.optim.SGD(params, lr=0.05, momentum=0.9, nesterov=True),
    "adamw": lambda params: torch.optim.AdamW(params, lr=0.05, weight_decay=0.1),
}


def schedule(optimizer: Any) -> Any:
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)


def plain(maker: Callable[[Any], Any], epochs: list[list[tuple[int, int]]]) -> list[torch.Tensor]:
    """Return what torch alone makes of these epochs of (number, size) batches, each one step."""
    model = model_of()
    optimizer = maker(model.parameters())
    scheduler = schedule(optimizer)
    for batches in epochs:
        optimizer.zero_grad()
        total = sum(size for _, size in batches)
        for number, size in batches:
            (loss_of(model, number, size) * (size / total)).backward()
        optimizer.step()
        scheduler.step()
    return [parameter.detach() for parameter in model.parameters()]


@pytest.mark.parametrize("name", MAKERS)
def test_one_peer_alone_does_what_torch_does_with_accumulated_gradients(name: str) -> None:
    epochs = [[(4 * epoch + place, size) for place, size in enumerate((8, 12, 4, 8))] for epoch in range(6)]
    with DHT() as dht:
        peer = Peer(dht, optimizer=MAKERS[name], params=(model := model_of()).parameters(), scheduler=schedule)
        with peer.optimizer:
            for batches in epochs:
                for number, size in batches:
                    peer.optimizer.zero_grad()
                    loss_of(model, number, size).backward()
                    peer.optimizer.step(batch_size=size)
            assert peer.optimizer.local_epoch == 6
            assert peer.optimizer.param_groups[0]["lr"] == pytest.approx(0.05 / 8)
            figures = peer.optimizer.figures()
    assert_alike([parameter.detach() for parameter in model.parameters()], plain(MAKERS[name], epochs))
    assert (figures["epochs_alone"], figures["peers"], figures["rounds_failed"]) == (6, 1, 0)


def test_three_peers_take_the_steps_of_one_with_the_whole_batch() -> None:
    sizes = (20, 8, 4)
    epochs = [[(3 * epoch + place, size) for place, size in enumerate(sizes)] for epoch in range(3)]
    with peers(3, target=32, scheduler=schedule) as made:

        def work(place: int) -> None:
            for epoch, batches in enumerate(epochs):
                made[place].batch(*batches[place])
                made[place].wait_for_epoch(epoch + 1)

        together(*(lambda place=place: work(place) for place in range(3)))
        expected = plain(MAKERS["adam"], epochs)
        for peer in made:
            figures = peer.optimizer.figures()
            assert (figures["rounds_ok"], figures["state_rounds_ok"], figures["epochs_alone"]) == (3, 3, 0)
            assert_alike(peer.parameters(), expected, 1e-5)
            assert figures["averaging_s"] > 0
        assert_alike(made[0].parameters(), made[1].parameters(), 0.0)


def test_local_updates_are_averaged_by_what_went_into_them() -> None:
    with peers(2, target=32, use_local_updates=True) as [one, two]:
        together(lambda: _epoch(one, 0, 1, 24), lambda: _epoch(two, 1, 1, 8))
        alone = [plain(MAKERS["adam"], [[(number, size)]]) for number, size in ((0, 24), (1, 8))]
        expected = [(24 * first + 8 * second) / 32 for first, second in zip(*alone, strict=True)]
        assert_alike(one.parameters(), expected)
        assert_alike(two.parameters(), expected)
        figures = one.optimizer.figures()
        assert (figures["rounds_ok"], figures["state_rounds_ok"]) == (0, 1)


def test_compressed_averages_are_nearly_right_and_the_same_for_all() -> None:
    with peers(2, target=32, grad_compression="fp16", state_compression="fp16") as [one, two]:
        together(lambda: _epoch(one, 0, 1), lambda: _epoch(two, 1, 1))
        assert_alike(one.parameters(), two.parameters(), 0.0)
        assert_alike(one.parameters(), plain(MAKERS["adam"], [[(0, 16), (1, 16)]]), 2e-3)


@pytest.mark.parametrize("compression", ["uniform8", "fp16"])
def test_lossy_states_leave_small_variances_as_they_are(compression: str) -> None:
    def small(params: Any) -> Any:
        adam = torch.optim.Adam(params, lr=0.05)
        adam.register_step_pre_hook(lambda *_: scale(adam.param_groups[0]["params"]))
        return adam

    def scale(parameters: list[torch.Tensor]) -> None:
        for parameter in parameters:
            assert parameter.grad is not None
            parameter.grad.mul_(1e-4)

    with swarm(2) as dhts:
        models = [model_of(), model_of()]
        made = [
            Peer(dht, state_compression=compression, optimizer=small, params=model.parameters())
            for dht, model in zip(dhts, models, strict=True)
        ]
        with made[0].optimizer, made[1].optimizer:
            wait_until(lambda: all(peer.optimizer.outlook.num_peers == 2 for peer in made))
            for peer, model in zip(made, models, strict=True):
                peer.model = model
            together(lambda: _epoch(made[0], 0, 1), lambda: _epoch(made[1], 1, 1))
            expected = torch.optim.Adam((plainly := model_of()).parameters(), lr=0.05)
            for number in (0, 1):
                (loss_of(plainly, number, 16) * 0.5e-4).backward()
            expected.step()
            for peer, model in zip(made, models, strict=True):
                for mine, theirs in zip(model.parameters(), plainly.parameters(), strict=True):
                    variance = peer.optimizer.state[mine]["exp_avg_sq"]
                    torch.testing.assert_close(variance, expected.state[theirs]["exp_avg_sq"], rtol=1e-3, atol=0)
                assert peer.optimizer.figures()["state_rounds_ok"] == 2
            assert_alike(made[0].parameters(), made[1].parameters(), 0.0)


def test_a_peer_in_client_mode_takes_part() -> None:
    with DHT() as dht, DHT([dht.address], client_mode=True) as client:
        one, two = Peer(dht), Peer(client)
        with one.optimizer, two.optimizer:
            wait_until(lambda: one.optimizer.outlook.num_clients == two.optimizer.outlook.num_clients == 1)
            wait_until(lambda: one.optimizer.outlook.num_peers == two.optimizer.outlook.num_peers == 2)
            together(lambda: _epoch(one, 0, 1), lambda: _epoch(two, 1, 1))
            assert_alike(one.parameters(), plain(MAKERS["adam"], [[(0, 16), (1, 16)]]), 1e-5)
            assert_alike(one.parameters(), two.parameters(), 0.0)


def test_an_auxiliary_peer_helps_and_keeps_its_parameters() -> None:
    with peers(2, target=32) as [one, two], DHT([one.dht.address]) as dht:
        helper = Peer(dht, auxiliary=True, seed=5)
        before = helper.parameters()
        with helper.optimizer:
            wait_until(lambda: all(peer.optimizer.outlook.num_peers == 3 for peer in (one, two, helper)))
            for epoch in (1, 2):
                together(
                    functools.partial(_epoch, one, 0, epoch),
                    functools.partial(_epoch, two, 1, epoch),
                    functools.partial(helper.wait_for_epoch, epoch),
                )
            assert helper.optimizer.local_epoch == 2
            assert helper.optimizer.figures()["rounds_ok"] == 2
            assert one.optimizer.figures()["state_rounds_ok"] == 2
            assert_alike(helper.parameters(), before, 0.0)
            assert_alike(one.parameters(), two.parameters(), 0.0)


# -- when others fail


def test_without_the_others_the_step_is_taken_with_what_is_here(caplog: pytest.LogCaptureFixture) -> None:
    with peers(2, target=32, matchmaking_s=0.5) as [one, two]:
        two.batch(1, 16)  # and never comes to the round
        one.batch(0, 16)
        with caplog.at_level(logging.WARNING, "strobe.swarm.collaborative"):
            one.wait_for_epoch(1)
        figures = one.optimizer.figures()
        assert (figures["rounds_ok"], figures["rounds_failed"], figures["epochs_alone"]) == (0, 1, 1)
        assert figures["matchmaking_s"] >= 0.5
        assert "the gradients of epoch 0 were not averaged: no group was found" in caplog.text
        assert_alike(one.parameters(), plain(MAKERS["adam"], [[(0, 16)]]))


def test_peers_whose_epochs_are_shorter_than_their_looks_average_all_the_same() -> None:
    def work(peer: Peer) -> dict[str, float]:
        with peer.optimizer:
            for number in range(60):
                peer.batch(number, 8)
                time.sleep(0.02)
            return peer.optimizer.figures()

    with swarm(2) as dhts:
        one, two = together(*(functools.partial(work, Peer(dht, target=64, looks=Looks())) for dht in dhts))
    # Alone at most in the beginning, before the other is heard of, and in the end, when it has left.
    assert one["rounds_ok"] >= 5, (one, two)
    assert max(one["epochs_alone"], two["epochs_alone"]) <= 3, (one, two)


def test_a_peer_says_that_it_averages_while_it_does() -> None:
    with peers(2, target=32, matchmaking_s=2.0) as [one, two]:
        two.batch(1, 16)
        one.batch(0, 8)

        def watch() -> None:
            wait_until(lambda: two.optimizer.outlook.num_averaging == 1)
            two.wait_for_epoch(1)

        together(watch, lambda: _epoch(one, 0, 1, 8))
        assert two.optimizer.figures()["rounds_ok"] == 1
        wait_until(lambda: two.optimizer.outlook.num_averaging == one.optimizer.outlook.num_averaging == 0)


def test_who_missed_a_step_takes_over_the_state_and_keeps_its_samples() -> None:
    with swarm(2) as [dht, other_dht]:
        one = Peer(dht, matchmaking_s=0.5)
        with one.optimizer:
            one.batch(0, 32)
            two = Peer(other_dht, matchmaking_s=0.5)
            with two.optimizer:
                assert two.optimizer.load_state_from_peers()
                two.batch(3, 8)
                one.batch(2, 24)
                one.wait_for_epoch(2)  # alone: the other does not come to the round
                wait_until(lambda: two.optimizer.outlook.epoch == 2)
                two.optimizer.step(batch_size=0)
                assert two.optimizer.local_epoch == 2
                assert_alike(two.parameters(), one.parameters(), 0.0)
                wait_until(lambda: one.optimizer.outlook.samples == two.optimizer.outlook.samples == 8)
                assert two.optimizer.figures()["downloads"] == 2
                assert one.optimizer.figures()["states_given"] == 2


def _epoch(peer: Peer, number: int, epoch: int, size: int = 16) -> None:
    peer.batch(number, size)
    peer.wait_for_epoch(epoch)


def test_a_newcomer_gets_the_state_and_drops_what_it_did_before() -> None:
    with swarm(2) as [dht, other_dht]:
        one = Peer(dht, target=16, scheduler=schedule)
        with one.optimizer:
            for number in range(4):
                one.batch(number, 16)
            late = Peer(other_dht, target=16, seed=9, scheduler=schedule)
            with late.optimizer:
                assert late.optimizer.outlook.epoch == 4
                late.batch(50, 8)
                assert late.optimizer.local_epoch == 4
                assert_alike(late.parameters(), one.parameters(), 0.0)
                assert late.optimizer.outlook.samples == 0
                assert late.optimizer.param_groups[0]["lr"] == one.optimizer.param_groups[0]["lr"]
                wait_until(lambda: one.optimizer.outlook.num_together == 2)
                together(lambda: _epoch(late, 4, 5, 8), lambda: _epoch(one, 5, 5, 8))
                expected = plain(MAKERS["adam"], [[(number, 16)] for number in range(4)] + [[(4, 8), (5, 8)]])
                assert_alike(one.parameters(), expected, 1e-5)
                assert_alike(late.parameters(), expected, 1e-5)


def test_the_state_can_be_asked_for_before_the_first_batch() -> None:
    with swarm(2) as [dht, other_dht]:
        one = Peer(dht, target=16)
        with one.optimizer:
            assert not one.optimizer.load_state_from_peers(), "nobody is further"
            one.batch(0, 16)
            late = Peer(other_dht, target=16, seed=9)
            with late.optimizer:
                assert late.optimizer.load_state_from_peers()
                assert late.optimizer.local_epoch == 1
                assert_alike(late.parameters(), one.parameters(), 0.0)
            other = Peer(other_dht, target=16, optimizer=torch.optim.SGD([torch.zeros(3, requires_grad=True)], lr=0.1))
            with other.optimizer, pytest.raises(StateUnavailable, match=r"param\.0 is F32\[3\] here"):
                other.optimizer.load_state_from_peers()


def test_a_state_of_another_optimizer_raises_nothing_into_the_training(caplog: pytest.LogCaptureFixture) -> None:
    with swarm(2) as [dht, other_dht]:
        model = model_of()
        donor = Peer(dht, target=16, optimizer=MAKERS["momentum"], params=model.parameters())
        with donor.optimizer:
            loss_of(model, 0, 16).backward()
            donor.optimizer.step(batch_size=16)
            late = Peer(other_dht, target=16, seed=9)
            with late.optimizer:
                before = late.parameters()
                late.batch(1, 8)
                assert "the optimizer is Adam here, 'SGD' there" in caplog.text
                assert_alike(late.parameters(), before, 0.0)


@pytest.mark.parametrize("offers", [True, False])
def test_a_liar_who_is_far_ahead_is_not_believed_for_long(offers: bool, caplog: pytest.LogCaptureFixture) -> None:
    with swarm(2) as [dht, liar_dht]:
        one = Peer(dht, target=16, request_timeout_s=1.0)

        async def lie(node: Node) -> None:
            mark, rules = report_rules("run", node.network.identity)
            node.add_validators(rules)
            report = PeerReport(
                epoch=1_000_000,
                samples=0,
                samples_per_s=0.0,
                time=get_dht_time(),
                client_mode=not offers,
                address=str(node.network.address) if offers else "",
                word="nothing" if offers else "",
            )
            await node.store(progress_key("run"), msgspec.to_builtins(report), get_dht_time() + 60, subkey=mark)

        with one.optimizer:
            liar_dht.run_coroutine(lie)
            wait_until(lambda: one.optimizer.outlook.epoch == 1_000_000)
            with caplog.at_level(logging.WARNING, "strobe.swarm.collaborative"):
                one.batch(0, 16)
            assert ("no method" if offers else "nobody there gives its state") in caplog.text
            one.optimizer.step(batch_size=0)
            assert one.optimizer.local_epoch == 1
            assert_alike(one.parameters(), plain(MAKERS["adam"], [[(0, 16)]]))


def test_where_nobody_gives_its_state_a_peer_goes_on_with_its_own(caplog: pytest.LogCaptureFixture) -> None:
    with DHT() as dht, DHT([dht.address], client_mode=True) as client:
        ahead = Peer(client, target=16)
        with ahead.optimizer:
            ahead.batch(0, 16)
            one = Peer(dht, target=16)
            with one.optimizer, caplog.at_level(logging.WARNING, "strobe.swarm.collaborative"):
                one.batch(1, 8)
                assert one.optimizer.local_epoch == 1
                assert "nobody there gives its state" in caplog.text


def test_gradients_that_are_not_finite_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    with DHT() as dht:
        peer = Peer(dht, target=16)
        with peer.optimizer:
            x, _ = batch_of(0, 8)
            (peer.model(x).mean() * torch.inf).backward()
            peer.optimizer.step(batch_size=8)
            assert "NaN or infinite" in caplog.text
            assert peer.optimizer.outlook.samples == 0
            assert peer.optimizer.figures()["skipped_batches"] == 1


def test_training_goes_on_when_the_dht_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    with peers(2, target=16) as [one, two]:
        two.batch(1, 8)
        wait_until(lambda: one.optimizer.outlook.samples == 8)
        one.dht.shutdown()
        one.batch(0, 8)
        assert one.optimizer.local_epoch == 1
        assert "were not averaged" in caplog.text
        one.optimizer.shutdown()


# -- as torch's


def test_a_state_dict_has_the_epoch_and_goes_on_from_there() -> None:
    with DHT() as dht:
        one = Peer(dht, target=16, scheduler=schedule)
        with one.optimizer:
            for number in range(3):
                one.batch(number, 16)
            saved, parameters = one.optimizer.state_dict(), one.parameters()
        assert saved["epoch"] == 3
        again = Peer(dht, target=16, scheduler=schedule)
        with again.optimizer:
            with torch.no_grad():
                for parameter, value in zip(again.model.parameters(), parameters, strict=True):
                    parameter.copy_(value)
            again.batch(7, 8)
            again.optimizer.load_state_dict(saved)
            assert (again.optimizer.local_epoch, again.optimizer.outlook.samples) == (3, 0)
            again.batch(3, 16)
            assert_alike(again.parameters(), plain(MAKERS["adam"], [[(number, 16)] for number in range(4)]))


def test_a_closure_is_called_and_gradients_of_the_batch_stay() -> None:
    with DHT() as dht:
        peer = Peer(dht, target=8, batch_size_per_step=8)

        def closure() -> torch.Tensor:
            peer.optimizer.zero_grad()
            loss = loss_of(peer.model, 0, 8)
            loss.backward()
            return loss

        with peer.optimizer:
            assert peer.optimizer.step(closure).item() > 0
            assert peer.optimizer.local_epoch == 1
            [gradient] = [parameter.grad for parameter in list(peer.model.parameters())[:1]]
            assert gradient is not None
            assert len(peer.optimizer.state) == 4
            peer.optimizer.zero_grad()
            assert peer.model[0].weight.grad is None


@pytest.mark.slow
def test_a_dht_in_another_process_is_of_no_use() -> None:
    with DHT(process=True) as dht, pytest.raises(UsageError, match="without process=True"):
        Peer(dht)


def test_mistakes_of_the_caller_are_told() -> None:
    with DHT() as dht:
        adam = MAKERS["adam"](model_of().parameters())
        for wrong, why in [
            ({"optimizer": MAKERS["adam"]}, "give a torch optimizer"),
            ({"optimizer": adam, "params": []}, "yet to be made"),
            ({"optimizer": adam, "grad_compression": "zip"}, "no compression 'zip'"),
            ({"optimizer": adam, "average_state_every": 0}, "average_state_every is 0"),
            ({"optimizer": adam, "use_local_updates": True, "average_state_every": 2}, "average_state_every is 2"),
            ({"optimizer": adam, "auxiliary": True, "use_local_updates": True}, "auxiliary"),
            ({"optimizer": adam, "matchmaking_s": 0}, "matchmaking_s is 0"),
            ({"optimizer": adam, "target_group_size": 1}, "target_group_size is 1"),
            ({"optimizer": adam, "target_group_size": 1025}, "target_group_size is 1025"),
            ({"optimizer": adam, "bandwidth": 1e13}, "bandwidth is 10000000000000"),
            ({"optimizer": adam, "run_id": ""}, "run_id '' has 0 characters"),
        ]:
            with pytest.raises(UsageError, match=why):
                Optimizer(**{"dht": dht, "run_id": "run", "target_batch_size": 8, **wrong})
        peer = Peer(dht)
        with pytest.raises(UsageError, match="batch_size is None"):
            peer.optimizer.step()
        peer.optimizer.shutdown()
        peer.optimizer.shutdown()
        with pytest.raises(UsageError, match="was shut down"):
            peer.batch(0, 8)
