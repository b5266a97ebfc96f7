"""Benchmark programs. Those named hivemind_* and what both kinds share run where Strobe is not installed.

Each is a process of its own that runs the module's `main` (hivemind's with this package's parent directory on the
path) and speaks through `talk`.
"""
