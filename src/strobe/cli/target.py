"""What a command works on: the home that its options and the settings name."""

from __future__ import annotations

from argparse import Namespace

from strobe.api.client import Api
from strobe.home import Home
from strobe.settings import Resolved, resolve


def settings_of(args: Namespace) -> Resolved:
    """Return the settings in force, with `--home` on top."""
    home = getattr(args, "home", None)
    return resolve({"home": home} if home else {})


def home_of(args: Namespace) -> Home:
    return Home(settings_of(args).home)


def api_of(args: Namespace) -> Api:
    return Api(home_of(args))
