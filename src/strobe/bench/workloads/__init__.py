"""The proxy models of the suite: each with its data, its OOTB and Optimized workloads and its declarations.

Only the `benchmarks` modules may be imported without torch.
"""
