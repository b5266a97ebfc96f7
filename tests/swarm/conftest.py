"""Where torch is not installed (some cells of the matrix), only the parts that do without it are tested."""

from importlib.util import find_spec

if find_spec("torch") is None:
    collect_ignore = ["averaging", "client", "collaborative", "experts", "tensors"]
