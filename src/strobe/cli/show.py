"""`strobe show`: `strobe run show`, for those who type it every day."""

from __future__ import annotations

from strobe.cli.parser import Subparsers
from strobe.cli.run_read import register_show


def register(subparsers: Subparsers) -> None:
    register_show(subparsers, "strobe show")
