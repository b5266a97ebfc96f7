"""The one place that names Strobe's version."""

__version__ = "0.1.0"
