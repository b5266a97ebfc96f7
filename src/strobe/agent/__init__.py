"""The companion process: one per home, host, boot, pid namespace and user, shared by all their runs.

It makes journals durable, samples the machine, describes the environment and notices runs whose process died. A run
needs none of that to record its values: without an agent only these extras are missing. A training process imports
`launch` (and what that imports), nothing else of this package.
"""
