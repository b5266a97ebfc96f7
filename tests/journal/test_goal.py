"""Names that tell what is better, and those that do not."""

from __future__ import annotations

import pytest

from strobe.journal.goal import goal_of, guess_goal, said_goal


@pytest.mark.parametrize("key", ["loss", "train/loss", "val_loss", "eval.perplexity", "test/WER", "rmse", "val/nll"])
def test_lower_is_better(key: str) -> None:
    assert guess_goal(key) == "minimize"


@pytest.mark.parametrize("key", ["acc", "val/accuracy", "mean_reward", "f1", "eval/Top1", "tokens throughput"])
def test_higher_is_better(key: str) -> None:
    assert guess_goal(key) == "maximize"


@pytest.mark.parametrize("key", ["lr", "epoch", "grad_norm", "accelerate", "lossless", "acc_loss", ""])
def test_the_name_does_not_tell(key: str) -> None:
    assert guess_goal(key) is None


def test_what_was_said_counts_before_the_name() -> None:
    assert goal_of("loss", "maximize", ["min"]) == "maximize"
    assert goal_of("loss", None, ["max", "last"]) == "maximize"
    assert goal_of("score", None, ["min"]) == "minimize"
    assert goal_of("loss", None, ["min", "max"]) == "minimize"
    assert goal_of("lr", None, ()) is None
    assert said_goal(None, ["mean"]) is None
