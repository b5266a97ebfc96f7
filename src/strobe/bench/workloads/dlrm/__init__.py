"""Recommendation: DLRM (Naumov et al., Deep Learning Recommendation Model, 2019)."""
