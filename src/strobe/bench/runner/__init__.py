"""The runner: measures workloads in fresh processes and makes records of what they say.

The parent (`session`) plans, starts, limits and joins; the child (`worker`) owns the clock (`loop`). They exchange a
`Job` and an `Outcome` (`message`). Only the child imports a framework.
"""
