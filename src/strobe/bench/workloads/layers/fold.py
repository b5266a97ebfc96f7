"""Fold batch norms into the convolutions before them: at inference both are linear, so one can be the product."""

from __future__ import annotations

from itertools import pairwise

from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

_CONVOLUTIONS = nn.Conv2d | nn.Conv3d
_NORMS = nn.BatchNorm2d | nn.BatchNorm3d


def fold_batch_norms(model: nn.Module) -> nn.Module:
    """Replace, in place, each batch norm that follows a convolution of the same parent by nothing."""
    for parent in list(model.modules()):
        names = list(parent._modules)
        for name, following in pairwise(names):
            convolution, norm = parent._modules[name], parent._modules[following]
            if isinstance(convolution, _CONVOLUTIONS) and isinstance(norm, _NORMS):
                parent._modules[name] = fuse_conv_bn_eval(convolution, norm)
                parent._modules[following] = nn.Identity()
    return model
