"""Reaching peers that cannot be dialled, through one that can: both ends of that, and the one between them.

`relaying` is the door to all of it, for the network; docs/swarm-relay.md says how it works, and what a relay cannot do.
"""
