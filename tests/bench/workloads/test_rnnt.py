"""RNN-T: the size from its parts, decoding and loss computed another way, and its work."""
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from strobe.bench.workloads.ootb import OotbTraining
from strobe.bench.workloads.rnnt import model, ootb
from strobe.bench.workloads.rnnt.loss import rnnt_loss
from strobe.bench.workloads.task import Batch
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import count_parameters, prove_correct, prove_work, set_up

pytestmark = pytest.mark.frameworks

TINY = tiny.RNNT.config


def _lstm(inputs: int, width: int, layers: int) -> int:
    return sum(4 * width * ((inputs if layer == 0 else width) + width + 2) for layer in range(layers))


@pytest.mark.parametrize("name", sorted(model.CONFIGS))
def test_parameters_are_those_of_its_parts(name: str) -> None:
    config = model.CONFIGS[name]
    encoder = _lstm(240, 1024, 2) + _lstm(2048, 1024, 3)
    predictor = (config.symbols - 1) * config.predictor_width + _lstm(config.predictor_width, config.predictor_width, 2)
    joint = 1025 * 512 + (config.predictor_width + 1) * 512 + 513 * config.symbols
    assert count_parameters(lambda: model.Rnnt(config)) == encoder + predictor + joint


def _all_alignments(logits_TWV: torch.Tensor, symbols: list[int], blank: int) -> torch.Tensor:
    """Sum the probabilities of every order of blanks and symbols; the last step is a blank."""
    probabilities = torch.softmax(logits_TWV, -1)
    frames, total = len(logits_TWV), torch.zeros((), dtype=logits_TWV.dtype)
    steps = frames + len(symbols) - 1
    for emissions in combinations(range(steps), len(symbols)):
        t = u = 0
        path = torch.ones((), dtype=logits_TWV.dtype)
        for step in range(steps):
            if step in emissions:
                path, u = path * probabilities[t, u, symbols[u]], u + 1
            else:
                path, t = path * probabilities[t, u, blank], t + 1
        total = total + path * probabilities[t, u, blank]
    return -total.log()


@given(st.data())
def test_loss_is_that_of_all_alignments(data: st.DataObject) -> None:
    lattices = data.draw(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4)), min_size=1, max_size=3))
    frames, lengths = (torch.tensor(values) for values in zip(*lattices, strict=True))
    torch.manual_seed(data.draw(st.integers(0, 1000)))
    blank = data.draw(st.integers(0, 3))
    logits = 2 * torch.randn(len(lattices), int(frames.max()), int(lengths.max()) + 1, 4, dtype=torch.float64)
    symbols = torch.randint(0, 4, (len(lattices), int(lengths.max())))
    losses = rnnt_loss(logits, symbols, frames, lengths, blank)
    for index, (t, u) in enumerate(lattices):
        expected = _all_alignments(logits[index, :t, : u + 1], symbols[index, :u].tolist(), blank)
        torch.testing.assert_close(losses[index], expected)


def test_gradient_is_that_of_finite_differences_and_of_all_alignments() -> None:
    torch.manual_seed(1)
    frames, lengths = torch.tensor([4, 2, 3]), torch.tensor([2, 3, 0])
    logits = torch.randn(3, 4, 4, 5, dtype=torch.float64, requires_grad=True)
    symbols = torch.randint(0, 4, (3, 3))
    assert torch.autograd.gradcheck(lambda x: rnnt_loss(x, symbols, frames, lengths, 4), logits)
    (gradient,) = torch.autograd.grad(rnnt_loss(logits, symbols, frames, lengths, 4).sum(), logits)
    expected = torch.stack(
        [
            _all_alignments(logits[b, :t, : u + 1], symbols[b, :u].tolist(), 4)
            for b, (t, u) in enumerate([(4, 2), (2, 3), (3, 0)])
        ]
    ).sum()
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, logits)[0])


def test_loss_of_a_long_lattice_is_finite_in_32_bits() -> None:
    torch.manual_seed(1)
    logits, symbols = (10 * torch.randn(1, 300, 80, 8)).requires_grad_(), torch.randint(0, 7, (1, 79))
    loss = rnnt_loss(logits, symbols, torch.tensor([300]), torch.tensor([79]), 7)
    loss.backward()
    exact = rnnt_loss(
        logits.detach().double(), torch.zeros(1, 79, dtype=torch.long), torch.tensor([300]), torch.tensor([79]), 7
    )
    assert torch.isfinite(loss).all()
    assert torch.isfinite(exact).all()
    assert torch.isfinite(logits.grad).all()


def _lstm_by_hand(lstm: nn.LSTM, x_SD: torch.Tensor) -> torch.Tensor:
    for layer in range(lstm.num_layers):
        w_in, w_state, b_in, b_state = (
            getattr(lstm, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        h = c = torch.zeros(lstm.hidden_size, dtype=x_SD.dtype)
        outputs = []
        for x_D in x_SD:
            i, f, g, o = (w_in @ x_D + b_in + w_state @ h + b_state).chunk(4)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        x_SD = torch.stack(outputs)
    return x_SD


def _naive(net: model.Rnnt, sound_TF: torch.Tensor, symbols: list[int]) -> torch.Tensor:
    """Scores of the lattice of one example."""
    x = _lstm_by_hand(net.encoder.before, sound_TF)
    if len(x) % 2:
        x = torch.cat([x, torch.zeros_like(x[:1])])
    encoded = _lstm_by_hand(net.encoder.after, torch.stack([torch.cat([x[i], x[i + 1]]) for i in range(0, len(x), 2)]))
    start = torch.zeros(1, TINY.predictor_width, dtype=x.dtype)
    predicted = _lstm_by_hand(net.predictor.lstm, torch.cat([start, net.predictor.embedding.weight[symbols]]))
    joint = net.joint
    return torch.stack(
        [
            torch.stack(
                [
                    joint.output.weight
                    @ (joint.sound.weight @ e + joint.sound.bias + joint.text.weight @ p + joint.text.bias).clamp(min=0)
                    + joint.output.bias
                    for p in predicted
                ]
            )
            for e in encoded
        ]
    )


def test_output_is_that_of_loops() -> None:
    torch.manual_seed(0)
    net = model.Rnnt(TINY).double()
    sound, symbols = torch.randn(2, 7, 7, dtype=torch.float64), torch.randint(0, 5, (2, 3))
    with torch.no_grad():
        expected = torch.stack([_naive(net, x, y.tolist()) for x, y in zip(sound, symbols, strict=True)])
        torch.testing.assert_close(net(sound, symbols), expected)


def test_decoded_text_is_the_best_at_each_place_of_its_own_lattice() -> None:
    torch.manual_seed(4)
    net = ootb.DecodingTask(TINY).build().double()
    sound, frames = torch.randn(3, 21, 7, dtype=torch.float64), torch.tensor([21, 14, 9])
    batch = Batch((sound, torch.zeros(3, 1)), (None, frames, None))
    with torch.no_grad():
        texts = ootb.DecodingTask(TINY).infer(net, batch)
        assert sum(map(len, texts)) > 5
        for example, text in enumerate(texts):
            lattice = _naive(net, sound[example, : int(frames[example])], text)
            u = 0
            for scores_WV in lattice:
                for _ in range(TINY.max_symbols):
                    best = int(scores_WV[u].argmax())
                    if best == TINY.blank:
                        break
                    assert best == text[u]
                    u += 1
            assert u == len(text)


@contextmanager
def _counted_lstms() -> Iterator[None]:
    """Without mkldnn, whose fused LSTM torch does not count."""
    (is_enabled, *_) = torch.backends.mkldnn.set_flags(False)
    yield
    torch.backends.mkldnn.set_flags(is_enabled)


def test_work_of_training_is_torchs_count() -> None:
    with _counted_lstms():
        prove_work(OotbTraining(tiny.RNNT))


def test_work_of_decoding_is_less_than_torchs_count_by_the_predictor_alone() -> None:
    workload = ootb.Decoding(ootb.DecodingTask(TINY, max_seconds=0.4), 0.0)
    with _counted_lstms():
        set_up(workload)
        with FlopCounterMode(display=False) as counter:
            workload.step(0)
    counted = counter.get_total_flops()
    work = workload.work().flops
    assert 0.3 * counted < work < counted


def test_training_is_right() -> None:
    prove_correct(OotbTraining(tiny.RNNT), batch_size=3)


def test_decoding_is_right_and_emits_something() -> None:
    workload = ootb.Decoding(ootb.DecodingTask(TINY, max_seconds=1.5), 0.02)
    set_up(workload, 4)
    texts = workload.step(0)
    assert workload.check(texts, workload.reference(0)).is_correct
    assert not workload.check([text[len(text) // 2 :] for text in texts], workload.reference(0)).is_correct
    assert workload.step(0) == texts
    assert any(texts)
    assert not ootb.compare_texts([[]], [[]], 0.02, "OOTB").is_correct


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_edit_distance_is_that_of_its_definition(one: list[int], other: list[int]) -> None:
    @lru_cache(None)
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        replace = distance(i - 1, j - 1) + (one[i - 1] != other[j - 1])
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, replace)

    assert ootb.edit_distance(one, other) == distance(len(one), len(other))


def test_utterances_are_at_most_as_long_as_asked() -> None:
    batch = ootb.RnntTask(model.MLPERF_TRAINING, max_seconds=3).draw(np.random.default_rng(1), 8)
    sound_BTF, symbols_BU = batch.inputs
    _, frames_B, lengths_B = batch.target
    assert sound_BTF.shape == (8, 100, 240)
    assert frames_B.max() == 100
    assert symbols_BU.max() < 1023
    assert lengths_B.max() == symbols_BU.shape[1]
