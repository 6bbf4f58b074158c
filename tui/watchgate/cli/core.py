"""`serve`: the core in the foreground."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.place import configured, here

PROFILES = ("watch", "guard", "strict")


def add_parser(commands: Any) -> None:
    """Add the command."""
    serve = commands.add_parser(
        "serve",
        help="the core in the foreground, without a screen",
        epilog="example: watchgate serve --profile strict",
    )
    serve.add_argument("--profile", choices=PROFILES, help="instead of the configured profile")
    serve.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)
    serve.set_defaults(run=_serve)


def _serve(args: argparse.Namespace) -> int:
    from watchgate.cli.output import json_line
    from watchgate.headless import serve
    from watchgate.service.cannot_serve import AlreadyServed, CannotServe

    paths = here()
    config = configured(paths)
    if args.profile is not None:
        config = msgspec.structs.replace(config, profile=args.profile)
    try:
        serve(paths, config, detached=args.detached)
    except CannotServe as fault:
        if args.detached:
            # Whoever started it can attach to the other one then.
            json_line({"ready": False, "running": isinstance(fault, AlreadyServed)})
        raise Stop(str(fault)) from None
    return Exit.DONE
