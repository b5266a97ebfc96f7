"""Multilingual text: XLM-R (Conneau et al., Unsupervised Cross-lingual Representation Learning at Scale, 2020)."""
