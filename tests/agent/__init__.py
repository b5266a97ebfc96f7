"""Tests of the companion process; a package so that they can share `scene`."""
