"""One torch thread: the models are tiny, and threads that wait for each other on a busy machine take seconds."""

from __future__ import annotations

from tests.swarm.experts.conftest import one_thread

__all__ = ["one_thread"]
