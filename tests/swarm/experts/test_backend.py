"""An expert by itself: what it takes, what it gives, how it learns, and how it is saved."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from strobe.errors import UsageError
from strobe.swarm.experts import CheckpointUnusable, ExpertBackend, ExpertUnusable, Training, checkpoint, parse_uid
from strobe.swarm.experts.registry import expert_kind, load_experts, register_expert
from strobe.swarm.experts.uid import ExpertUid

pytestmark = pytest.mark.frameworks

HIDDEN = 32


def backend(kind: str = "ffn", uid: str = "ffn.0.1", hidden: int = HIDDEN, **options: Any) -> ExpertBackend:
    torch.manual_seed(0)
    return ExpertBackend.build(parse_uid(uid), expert_kind(kind), hidden, **options)


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [("ffn", ["x"]), ("nop", ["x"]), ("det_dropout", ["x", "mask"]), ("transformer", ["x", "mask"])],
)
def test_every_kind_describes_itself_and_does_what_it_says(kind: str, inputs: list[str]) -> None:
    expert = backend(kind)
    assert list(expert.info.inputs) == inputs
    rows = [torch.zeros(5, *spec.shape, dtype=_dtype(spec.dtype)) for spec in expert.info.inputs.values()]
    if kind == "det_dropout":
        rows[1] += 1
    outputs = expert.forward(rows)
    assert [tuple(output.shape[1:]) for output in outputs] == [spec.shape for spec in expert.info.outputs.values()]
    grads = expert.backward(rows, [torch.ones_like(output) for output in outputs])
    assert [grad.shape for grad in grads] == [row.shape for row in rows if row.is_floating_point()]


def _dtype(code: str) -> torch.dtype:
    return {"F32": torch.float32, "BOOL": torch.bool}[code]


def test_ffn_is_hiveminds() -> None:
    expert = backend()
    module = expert.module
    x = torch.randn(4, HIDDEN)
    inner = nn.functional.gelu(module.ffn(x), approximate="tanh")
    expected = nn.functional.layer_norm(
        x + module.ffn_output(inner), (HIDDEN,), module.layer_norm.weight, module.layer_norm.bias, 1e-12
    )
    assert torch.equal(expert.forward([x])[0], expected)
    assert module.ffn.out_features == 4 * HIDDEN


def test_backward_gives_the_gradient_and_takes_the_step_of_torchs_adam() -> None:
    expert = backend(training=Training(learning_rate=0.01))
    reference = backend().module
    optimizer = torch.optim.Adam(reference.parameters(), lr=0.01)
    for _ in range(3):
        x = torch.randn(6, HIDDEN)
        grad = torch.randn(6, HIDDEN)
        [got] = expert.backward([x], [grad])
        leaf = x.clone().requires_grad_()
        reference(leaf).backward(grad)
        optimizer.step()
        optimizer.zero_grad()
        assert torch.allclose(got, leaf.grad, atol=1e-6)
    for ours, theirs in zip(expert.module.parameters(), reference.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
    assert expert.num_steps == 3


def test_sgd_none_and_clipping() -> None:
    x, grad = torch.randn(4, HIDDEN), torch.randn(4, HIDDEN) * 1000
    frozen = backend(training=Training(optimizer="none"))
    before = [parameter.clone() for parameter in frozen.module.parameters()]
    frozen.backward([x], [grad])
    assert all(map(torch.equal, before, frozen.module.parameters()))
    clipped = backend(training=Training(optimizer="sgd", learning_rate=1.0, clip_grad_norm=0.5))
    clipped.backward([x], [grad])
    moved = torch.cat([(a - b).flatten() for a, b in zip(before, clipped.module.parameters(), strict=True)])
    assert moved.norm().item() == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"optimizer": "lion"}, "'lion'; there are adam, sgd, none"),
        ({"learning_rate": math.nan}, "the learning rate is nan"),
        ({"learning_rate": math.inf}, "the learning rate is inf"),
        ({"learning_rate": -1.0}, "the learning rate is -1"),
        ({"warmup_steps": -1}, "warmup_steps is -1"),
        ({"total_steps": 0}, "total_steps is 0"),
        ({"warmup_steps": 10, "total_steps": 5}, "total_steps is 5 with 10 steps of warm-up"),
        ({"clip_grad_norm": -1.0}, "clip_grad_norm is -1"),
        ({"clip_grad_norm": 0.0}, "clip_grad_norm is 0"),
        ({"clip_grad_norm": math.nan}, "clip_grad_norm is nan"),
    ],
)
def test_settings_that_would_spoil_experts_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        Training(**settings)


@pytest.mark.parametrize(
    ("kind", "hidden_dim", "device", "told"),
    [
        ("ffn", 0, "cpu", "hidden_dim is 0"),
        ("ffn", -3, "cpu", "hidden_dim is -3"),
        ("transformer", 10, "cpu", "hidden_dim is 10; .* multiple"),
        ("nop", 4, "foo", "device 'foo'"),
        ("nop", 4, "cuda:99", "device 'cuda:99'"),
        ("nop", 4, "meta", "device 'meta'"),
    ],
)
def test_experts_that_cannot_be_are_told(kind: str, hidden_dim: int, device: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        ExpertBackend.build(parse_uid("mine.0"), expert_kind(kind), hidden_dim, device=device)


def test_gradients_that_are_not_finite_do_not_reach_the_parameters() -> None:
    expert = backend()
    before = [parameter.clone() for parameter in expert.module.parameters()]
    expert.backward([torch.randn(2, HIDDEN)], [torch.full((2, HIDDEN), 3e38)])
    assert (expert.num_steps, expert.num_skipped) == (0, 1)
    assert all(map(torch.equal, before, expert.module.parameters()))
    expert.backward([torch.randn(2, HIDDEN)], [torch.randn(2, HIDDEN)])
    assert expert.num_steps == 1


@pytest.mark.parametrize("hidden", [HIDDEN, 4 * HIDDEN])
def test_one_huge_gradient_does_not_keep_an_expert_from_learning_ever_after(hidden: int) -> None:
    expert = backend(hidden=hidden)
    before = [parameter.clone() for parameter in expert.module.parameters()]
    expert.backward([torch.randn(2, hidden)], [torch.full((2, hidden), 1e24)])
    assert (expert.num_steps, expert.num_skipped) == (0, 1)
    assert all(map(torch.equal, before, expert.module.parameters()))
    expert.backward([torch.randn(2, hidden)], [torch.randn(2, hidden)])
    assert expert.num_steps == 1
    assert not any(map(torch.equal, before, expert.module.parameters()))


def test_a_pass_that_fails_half_way_leaves_nothing_to_the_next() -> None:
    class Fragile(nn.Module):  # type: ignore[misc]
        """Its last layer has its gradient already when the one before it fails."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)
            self.fails = False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden = self.first(x)
            if self.fails:
                hidden.register_hook(self._fail)
            return self.last(hidden)

        def _fail(self, grad: torch.Tensor) -> None:
            raise RuntimeError("out of memory, say")

    for optimizer in ("sgd", "none"):
        module = Fragile()
        training = Training(optimizer=optimizer, learning_rate=1.0)
        expert = ExpertBackend(parse_uid("fragile.0"), module, (torch.zeros(3, 4),), training=training)
        before = module.last.bias.detach().clone()
        module.fails = True
        with pytest.raises(RuntimeError, match="out of memory"):
            expert.backward([torch.ones(1, 4)], [torch.ones(1, 4)])
        module.fails = False
        expert.backward([torch.ones(1, 4)], [torch.ones(1, 4)])
        assert all(parameter.grad is None for parameter in module.parameters())
        torch.testing.assert_close(before - module.last.bias, torch.full((4,), 1.0 if optimizer == "sgd" else 0.0))


def test_the_rate_rises_and_falls() -> None:
    training = Training(learning_rate=1.0, warmup_steps=4, total_steps=8)
    assert [training.rate_at(step) for step in range(9)] == [0.25, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    assert Training(learning_rate=0.3).rate_at(10**6) == 0.3


def test_an_expert_that_resumes_learns_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    batches = [(torch.randn(4, HIDDEN), torch.randn(4, HIDDEN)) for _ in range(4)]
    expert = backend()
    for x, grad in batches[:2]:
        expert.backward([x], [grad])
    checkpoint.save(expert, tmp_path)
    for x, grad in batches[2:]:
        expert.backward([x], [grad])
    torch.manual_seed(1)
    again = ExpertBackend.build(parse_uid("ffn.0.1"), expert_kind("ffn"), HIDDEN)
    assert checkpoint.load(again, tmp_path)
    assert again.num_steps == 2
    for x, grad in batches[2:]:
        again.backward([x], [grad])
    for ours, theirs in zip(expert.module.parameters(), again.module.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert checkpoint.stored_uids(tmp_path) == ["ffn.0.1"]
    assert [path.name for path in tmp_path.iterdir()] == ["ffn.0.1.safetensors"]


def test_checkpoints_that_do_not_fit_are_told(tmp_path: Path) -> None:
    expert = backend()
    assert not checkpoint.load(expert, tmp_path)
    path = checkpoint.save(expert, tmp_path)
    with pytest.raises(CheckpointUnusable, match=r"ffn\.0\.1"):
        checkpoint.load(backend(hidden=16), tmp_path)
    with pytest.raises(CheckpointUnusable, match="nop"):
        checkpoint.load(backend("nop"), tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(CheckpointUnusable):
        checkpoint.load(backend(), tmp_path)
    path.write_bytes(b"")
    with pytest.raises(CheckpointUnusable):
        checkpoint.load(backend(), tmp_path)


def test_a_save_that_fails_leaves_the_file_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expert = backend()
    path = checkpoint.save(expert, tmp_path)
    whole = path.read_bytes()
    expert.backward([torch.randn(2, HIDDEN)], [torch.randn(2, HIDDEN)])

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        checkpoint.save(expert, tmp_path)
    assert path.read_bytes() == whole
    assert len(list(tmp_path.iterdir())) == 1


def test_classes_of_a_file_become_kinds(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import torch\nfrom torch import nn\nfrom strobe.swarm.experts import register_expert\n"
        "@register_expert('doubling', lambda batch, hidden: torch.zeros(batch, hidden))\n"
        "class Doubling(nn.Module):\n"
        "    def __init__(self, hidden_dim):\n        super().__init__()\n"
        "    def forward(self, rows):\n        return 2 * rows, rows[:, :1]\n"
    )
    load_experts(path)
    load_experts(path)  # twice is no contradiction
    expert = backend("doubling")
    assert list(expert.info.inputs) == ["rows"]
    double, first = expert.forward([torch.ones(2, HIDDEN)])
    assert double.sum() == 4 * HIDDEN
    assert first.shape == (2, 1)
    (tmp_path / "none.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="registers no kind"):
        load_experts(tmp_path / "none.py")
    with pytest.raises(UsageError, match="not a Python file"):
        load_experts(tmp_path / "missing.py")


def test_a_file_of_kinds_may_have_dataclasses_whose_annotations_are_text(tmp_path: Path) -> None:
    path = tmp_path / "configured.py"
    path.write_text(
        "from __future__ import annotations\n"
        "import dataclasses, torch\nfrom torch import nn\nfrom strobe.swarm.experts import register_expert\n"
        "@dataclasses.dataclass\nclass Config:\n    width: int = 3\n"
        "register_expert('configured', torch.zeros)(lambda hidden_dim: nn.Identity())\n"
    )
    load_experts(path)
    assert backend("configured").info.expert_class == "configured"
    path.write_text("1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        load_experts(path)
    assert "strobe_experts_configured" not in sys.modules


def test_names_of_kinds_are_not_taken_over() -> None:
    with pytest.raises(UsageError, match="already"):
        register_expert("ffn", torch.zeros)(nn.Identity)
    with pytest.raises(UsageError, match="no kind of expert called 'unheard'"):
        expert_kind("unheard")


def test_a_module_that_changes_the_rows_is_no_expert() -> None:
    class Mean(nn.Module):  # type: ignore[misc]
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mean(0)

    with pytest.raises(ExpertUnusable, match="one row for each row"):
        ExpertBackend(parse_uid("mean.0"), Mean(), (torch.zeros(3, HIDDEN),))


@pytest.mark.parametrize(
    ("layer", "told"),
    [
        (nn.Dropout(0.1), "Dropout"),
        (nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), "BatchNorm1d"),
        (nn.TransformerEncoderLayer(4, 2, batch_first=True), "Dropout, MultiheadAttention"),
        (nn.Dropout(0.0), None),
        (nn.Dropout(0.1).eval(), None),
        (nn.LayerNorm(4), None),
    ],
)
def test_layers_that_give_something_else_the_second_time_are_told(
    layer: nn.Module, told: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    first = ExpertBackend(parse_uid("mine.0"), layer, (torch.zeros(3, 4),), expert_class="mine")
    ExpertBackend(parse_uid("mine.1"), layer, (torch.zeros(3, 4),), expert_class="mine", like=first.info)
    expected = [] if told is None else [f"mine has {told}: "]
    assert [
        record.getMessage()[: len(start)] for record, start in zip(caplog.records, expected, strict=True)
    ] == expected


@pytest.mark.parametrize("kind", ["ffn", "transformer", "det_dropout", "nop"])
def test_our_own_kinds_have_no_such_layers(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    backend(kind)
    assert not caplog.records


def test_a_module_of_ones_own_has_a_name_that_others_can_find_and_a_file_can_have() -> None:
    for uid in ("mine", "/tmp/mine.0"):
        with pytest.raises(UsageError, match="names no expert"):
            ExpertBackend(ExpertUid(uid), nn.Identity(), (torch.zeros(3, 4),))
