"""Values and rows as hypothesis draws them."""

from __future__ import annotations

from hypothesis import strategies as st

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.text(max_size=12)
    | st.binary(max_size=12)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
rows = st.dictionaries(st.sampled_from(["loss", "acc", "lr", "a/b", "ünï", ""]), values, max_size=5)
logged = st.lists(st.tuples(rows, st.integers(-(2**40), 2**40)), max_size=12)
