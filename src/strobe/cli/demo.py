"""`strobe demo`: from nothing to runs that can be watched, in a second."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from strobe.cli.browser import is_ci, open_page
from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen
from strobe.cli.target import api_of
from strobe.errors import MissingExtra
from strobe.home import Home

_PORT = 7346


def register(subparsers: Subparsers) -> None:
    demo = add_command(
        subparsers,
        "demo",
        _demo,
        summary="train small models and watch them in the browser",
        examples=["strobe demo", "strobe demo --fresh --no-browser", "strobe demo --no-ui --steps 500 --json"],
        detail="Serves the page, trains a network of two layers into it, and some others that are over soon, one of "
        "which goes wrong on purpose. Ctrl-C ends all of it, with exit code 0. The runs lie in a home of their own in "
        "the cache directory, which the next demo uses again; --home names another. With CI=true, or --check, it ends "
        "by itself once the page has answered and a point has arrived, with exit code 1 if they do not. Needs pip "
        "install 'strobe[server,media]'.",
    )
    demo.add_argument("--port", type=int, default=_PORT, metavar="N", help=f"port to listen on ({_PORT}, or any free)")
    demo.add_argument("--no-browser", action="store_true", help="print the address, open nothing")
    demo.add_argument("--fresh", action="store_true", help="remove what earlier demos left, then begin")
    demo.add_argument("--check", action="store_true", help="look whether everything is there, then end")
    demo.add_argument("--no-ui", action="store_true", help="train one run in the usual home and show it as text")
    demo.add_argument("--steps", type=int, metavar="N", help="how long a run that is over was trained")
    demo.add_argument("--seed", type=int, default=0, metavar="N", help="with --no-ui: seed of the weights (default: 0)")


def _demo(args: Namespace) -> int:
    if find_spec("numpy") is None:
        raise MissingExtra("the demo needs numpy and Pillow: pip install 'strobe[server,media]'")
    return _train_one(args) if args.no_ui or args.json else _show(args)


def _show(args: Namespace) -> int:
    from strobe.demo import story
    from strobe.demo.check import check
    from strobe.demo.home import demo_home, prepare
    from strobe.demo.show import show

    screen = Screen(args)
    home = Home(Path(args.home).absolute()) if args.home else demo_home(os.environ)
    prepare(home, is_fresh=args.fresh)
    is_check = args.check or is_ci(os.environ)
    steps = story.PAST_STEPS if args.steps is None else args.steps
    screen.note(f"the demo's runs lie in {home.path}; `strobe demo --fresh` begins anew")

    def on_address(url: str) -> None:
        screen.out(url)
        screen.note("a run is being trained, others are over in a few seconds; Ctrl-C ends the demo")
        open_page(url, is_wanted=not args.no_browser and not is_check)

    return show(
        home,
        port=args.port,
        steps=steps,
        say=screen.note,
        on_address=on_address,
        check=partial(check, num_past=len(story.past())) if is_check else None,
    )


def _train_one(args: Namespace) -> int:
    from strobe.demo.spiral import Plan
    from strobe.demo.training import train

    screen = Screen(args)
    if args.home:
        os.environ["STROBE_HOME"] = args.home  # what `strobe.init` in the script would be given from outside
    if args.quiet or args.json:
        os.environ.setdefault("STROBE_QUIET", "true")
    plan = Plan(steps=4000 if args.steps is None else args.steps, seed=args.seed)
    path = train(plan, say=screen.note if not args.json else lambda text: None)
    run = api_of(args).run(path)
    from strobe.api.card import card
    from strobe.cli.card import card_lines

    page = card(run)
    if args.json:
        screen.json(page)
    else:
        screen.out()
        for line in card_lines(page, screen, everything=False):
            screen.out(line)
        screen.note("\nThe same from Python: strobe.Api().run('latest').history()")
    return 0
