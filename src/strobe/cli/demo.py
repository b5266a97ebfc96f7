"""`strobe demo`: from nothing to a run that can be looked at, in a few seconds."""

from __future__ import annotations

import os
from argparse import Namespace

from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen
from strobe.cli.target import api_of


def register(subparsers: Subparsers) -> None:
    demo = add_command(
        subparsers,
        "demo",
        _demo,
        summary="train a small model, log it, show the run",
        examples=["strobe demo", "strobe demo --steps 500 --json"],
        detail="A network of two layers learns a spiral, in numpy (pip install 'strobe[media]').",
    )
    demo.add_argument("--steps", type=int, default=4000, metavar="N", help="how long to train (default: 4000)")
    demo.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the data and weights (default: 0)")


def _demo(args: Namespace) -> int:
    from strobe.demo import Plan, train

    screen = Screen(args)
    if args.home:
        os.environ["STROBE_HOME"] = args.home  # what `strobe.init` in the script would be given from outside
    if args.quiet or args.json:
        os.environ.setdefault("STROBE_QUIET", "true")
    path = train(Plan(steps=args.steps, seed=args.seed))
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
