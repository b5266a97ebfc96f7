"""Image classification: RegNetY (Radosavovic et al., Designing Network Design Spaces, 2020)."""
