"""Which direction is better for a metric whose owner did not say: told from its name, or not at all."""

from __future__ import annotations

import re

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


def guess_goal(key: str) -> str | None:
    """Return "maximize", "minimize" or, when the name does not tell, None."""
    words = {word.lower() for word in _WORD.findall(key.replace("_", " "))}
    ups, downs = bool(words & _MAXIMIZE), bool(words & _MINIMIZE)
    if ups == downs:
        return None
    return "maximize" if ups else "minimize"
