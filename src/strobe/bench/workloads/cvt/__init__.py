"""Pictures by attention: CvT (Wu et al., Introducing Convolutions to Vision Transformers, 2021)."""
