"""A swarm in one process without sockets, under a clock that jumps: for tests and for measuring algorithms."""
