"""Placeholder, written by the lead."""
