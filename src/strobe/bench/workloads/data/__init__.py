"""Synthetic inputs with the distributions of real ones, the same for the same seed. All but
`labelled_images` need numpy alone."""
