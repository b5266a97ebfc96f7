"""`strobe ui`: the runs of a home, live, with nothing else running."""

from __future__ import annotations

from argparse import Namespace

from strobe.cli.browser import open_page
from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen
from strobe.cli.target import home_of
from strobe.errors import MissingExtra, UsageError

_PORT = 7346


def register(subparsers: Subparsers) -> None:
    ui = add_command(
        subparsers,
        "ui",
        _ui,
        summary="serve the runs of this home to this machine, live, and open the browser",
        examples=["strobe ui", "strobe ui --port 9000 --no-browser"],
        detail="Follows the home's journals directly: no server, agent or account is needed. Only this machine can "
        "reach it. What it keeps is an index that can be made again, and saved views; runs, files and edits stay in "
        "the home.",
    )
    ui.add_argument("--port", type=int, metavar="N", help=f"port to listen on ({_PORT}, or any that is free)")
    ui.add_argument("--rebuild", action="store_true", help="make the index of the runs again from their journals")
    ui.add_argument("--no-browser", action="store_true", help="print the address, open nothing")


def _ui(args: Namespace) -> int:
    try:
        from strobe.bench.dashboard import endpoints
        from strobe.server.local.serve import serve_home
        from strobe.server.log import open_log
        from strobe.server.serve import Listen
    except ModuleNotFoundError as error:
        raise MissingExtra(f"`strobe ui` needs {error.name}; pip install 'strobe[server]'") from error
    screen, home = Screen(args), home_of(args)

    def on_ready(url: str) -> None:
        screen.note(f"{home.path} at {url} (Ctrl-C ends it)")
        open_page(url, is_wanted=not args.no_browser)

    log = open_log("text")
    wanted = _PORT if args.port is None else args.port
    extra = endpoints()
    try:
        elsewhere = serve_home(home, Listen(port=wanted), log, on_ready, rebuild=args.rebuild, extra=extra)
    except UsageError:
        if args.port is not None:
            raise
        # Somebody else has our usual port.
        elsewhere = serve_home(home, Listen(port=0), log, on_ready, rebuild=args.rebuild, extra=extra)
    if elsewhere is not None:
        screen.note(f"{home.path} is served already{f' at {elsewhere}' if elsewhere else ''}")
        open_page(elsewhere, is_wanted=not args.no_browser)
    return 0
