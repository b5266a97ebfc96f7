"""Journals without `strobe.init`, servers that end with the test."""

from __future__ import annotations

from tests.remote.conftest import make_server, server

__all__ = ["make_server", "server"]
