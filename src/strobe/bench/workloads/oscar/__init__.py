"""Text and pictures: OSCAR (Li et al., Object-Semantics Aligned Pre-training, 2020)."""
