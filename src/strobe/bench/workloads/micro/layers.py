"""The eleven layers of the public microbenchmark of CvT's convolutions, by name; needs no torch, for declarations.

Values are projected as keys are, and keys stand for both. Stage 1 has both its blocks there, though they are alike.
"""

from __future__ import annotations

#: name → stage, and the stride of a projection (none is a patch embedding)
LAYERS: dict[str, tuple[int, int | None]] = {
    "stage0.block0.conv_proj_q": (0, 1),
    "stage0.block0.conv_proj_k": (0, 2),
    "stage1.block0.conv_proj_q": (1, 1),
    "stage1.block0.conv_proj_k": (1, 2),
    "stage1.block1.conv_proj_q": (1, 1),
    "stage1.block1.conv_proj_k": (1, 2),
    "stage2.block0.conv_proj_q": (2, 1),
    "stage2.block0.conv_proj_k": (2, 2),
    "stage0.patch_embed": (0, None),
    "stage1.patch_embed": (1, None),
    "stage2.patch_embed": (2, None),
}
