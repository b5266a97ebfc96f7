"""Benchmark programs. Those named hivemind_* and what both kinds share run where Strobe is not installed.

They are started as processes of their own, ours as `python -m strobe.bench.swarm.programs.…`, hivemind's with this
package's parent directory on the path, and speak through `talk`.
"""
