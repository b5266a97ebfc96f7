"""Which direction is better for a metric: as its owner said, else told from its name, or not at all."""

from __future__ import annotations

import re
from collections.abc import Collection

_WORD = re.compile(r"[A-Za-z]+(?:\d+)?")
_MAXIMIZE = frozenset(
    (
        "acc accuracy auc auroc auprc ap map f1 fscore precision recall score reward return bleu rouge meteor iou dice "
        "r2 psnr ssim success elo win winrate top1 top5 throughput tps fps mrr ndcg"
    ).split()
)
_MINIMIZE = frozenset(
    ("loss losses error err perplexity ppl mae mse rmse mape wer cer ter nll bpb bpc fid kl latency regret eer").split(
        " "
    )
)


def goal_of(key: str, goal: str | None, summary: Collection[str]) -> str | None:
    """Return what is better for a metric that was defined with these, else what its name tells."""
    return said_goal(goal, summary) or guess_goal(key)


def said_goal(goal: str | None, summary: Collection[str]) -> str | None:
    """Return what the definition of a metric says; who wants only its least value kept has said it too."""
    if goal is not None or ("min" in summary) == ("max" in summary):
        return goal
    return "maximize" if "max" in summary else "minimize"


def guess_goal(key: str) -> str | None:
    """Return "maximize", "minimize" or, when the name does not tell, None."""
    words = {word.lower() for word in _WORD.findall(key.replace("_", " "))}
    ups, downs = bool(words & _MAXIMIZE), bool(words & _MINIMIZE)
    if ups == downs:
        return None
    return "maximize" if ups else "minimize"
