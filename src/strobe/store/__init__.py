"""Where runs are kept: one protocol, an embedded store and one for many machines.

Nothing here knows HTTP or the SDK; the server and the readers stand above it.
"""
