"""Microbenchmarks: one operation of a model or of the machine, as fast as it goes, scored in TF/s or GB/s."""
