"""Benchmarks of the swarm, with hivemind's workloads, parameters and result lines; hivemind itself can run beside.

programs/   what is measured: one program per benchmark and subject, each a process of its own
peers/      many peers of our DHT, in one process or in several, on paths that lose and delay
the rest    starts programs, watches what they use, prints their lines, and keeps records
"""
