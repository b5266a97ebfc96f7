"""What stands between DLRM's tables and its top MLP: products of all pairs of vectors.

On CPUs by one call of `interaction.c`; elsewhere by torch.
Shapes: T tables, B batch, D width, V vectors per example, P pairs.
"""
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import ctypes

import torch

from strobe.bench.workloads.layers.native import address, load_kernels


def multiply_pairs(dense_BD: torch.Tensor, pooled_TBD: torch.Tensor) -> torch.Tensor:
    """Give the dense vector and, behind it, the products of all pairs of vectors, [B, D + P]."""
    tables, batch, width = pooled_TBD.shape
    if dense_BD.device.type != "cpu" or dense_BD.dtype != torch.float32:
        vectors_BVD = torch.cat([dense_BD[None], pooled_TBD]).transpose(0, 1)
        lower = torch.tril_indices(tables + 1, tables + 1, offset=-1, device=dense_BD.device)
        products_BVV = vectors_BVD @ vectors_BVD.transpose(1, 2)
        return torch.cat([dense_BD, products_BVV[:, lower[0], lower[1]]], 1)
    dense_BD, pooled_TBD = dense_BD.contiguous(), pooled_TBD.contiguous()
    seen_BX = dense_BD.new_empty(batch, width + tables * (tables + 1) // 2)
    load_kernels("interaction").multiply_pairs(
        *map(address, (dense_BD, pooled_TBD, seen_BX)),
        *map(ctypes.c_long, (tables, batch, width)),
        torch.get_num_threads(),
    )
    return seen_BX
