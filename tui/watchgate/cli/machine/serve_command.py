"""`serve`: the core in the foreground."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import (
    PROFILES,
    UNATTENDED,
    configured,
    here,
    overridden,
)
from watchgate.cli.base.printing import Exit, Stop

if TYPE_CHECKING:
    from watchgate.core.config.config import Config


def add_parser(commands: Any) -> None:
    """Adds the command."""
    serve = commands.add_parser(
        "serve",
        help="the core in the foreground, without a screen",
        description="The core in the foreground. With no console attached the policy still "
        "answers; what it would put to a person waits, or with `--unattended deny` is denied.",
        epilog="example: watchgate serve --profile strict --unattended deny",
    )
    serve.add_argument("--profile", choices=PROFILES, help="instead of the configured profile")
    serve.add_argument(
        "--unattended",
        choices=UNATTENDED,
        help="what is held with no console: instead of the configured [approval] unattended",
    )
    serve.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)
    serve.set_defaults(run=_serve)


def _serve(args: argparse.Namespace) -> int:
    from watchgate.cli.base.printing import json_line
    from watchgate.headless import serve
    from watchgate.service.system.config_file import read_config
    from watchgate.service.system.runtime_dir import AlreadyServed, CannotServe

    paths = here()
    config = configured(paths, profile=args.profile, unattended=args.unattended)

    def reread() -> Config:
        return overridden(read_config(paths), args.profile, args.unattended)

    try:
        serve(paths, config, detached=args.detached, reread=reread)
    except CannotServe as fault:
        if args.detached:
            # Whoever started it can attach to the other one then.
            json_line({"ready": False, "running": isinstance(fault, AlreadyServed)})
        raise Stop(str(fault)) from None
    return Exit.DONE
