"""Synthetic inputs with the distributions of real ones, the same for the same seed. Needs numpy alone."""
