"""Rings of lookups are longer than caches are large, and no longer than that needs."""

from __future__ import annotations

import pytest

from strobe.bench.workloads.data.ring import ring_length

MEBI = 2**20


@pytest.mark.parametrize("batch_size", [64, 512, 2048])
@pytest.mark.parametrize("num_rows", [800_000, 8_000_000, 26_000_000])
def test_a_turn_asks_for_a_gibibyte_or_for_four_times_the_rows(batch_size: int, num_rows: int) -> None:
    lookups, row_bytes = batch_size * 100, 256
    asked_for = ring_length(lookups=lookups, num_rows=num_rows, row_bytes=row_bytes) * lookups
    assert asked_for * row_bytes >= 1024 * MEBI or asked_for >= 4 * num_rows
    indices = 8 * asked_for
    assert indices <= 40 * MEBI


def test_what_is_small_or_has_large_batches_stays_with_four() -> None:
    assert ring_length(lookups=2048 * 30, num_rows=1_000, row_bytes=512) == 4
    assert ring_length(lookups=65_536 * 30, num_rows=26_000_000, row_bytes=512) == 4
