"""`config check|path|show`: is the configuration good, where is it, what is in force."""

from __future__ import annotations

import argparse
from typing import Any

from watchgate.cli.exits import Exit
from watchgate.cli.keys import check_keys
from watchgate.cli.output import json_line, say, table
from watchgate.cli.place import configured, here


def add_parser(commands: Any) -> None:
    """Add the command."""
    config = commands.add_parser(
        "config",
        help="check, locate or show the configuration",
        epilog="example: watchgate config check",
    )
    config.add_argument("what", choices=("check", "path", "show"))
    config.add_argument("--json", action="store_true", help="JSON lines")
    config.set_defaults(run=_config)


def _config(args: argparse.Namespace) -> int:
    paths = here()
    if args.what == "path":
        places = {
            "config": paths.config,
            "runtime_dir": paths.runtime_dir,
            "ingest": paths.ingest_socket,
            "control": paths.control_socket,
            "off": paths.off,
            "journal": paths.journal,
            "log": paths.core_log,
            "client": paths.client,
        }
        if args.json:
            json_line({name: str(path) for name, path in places.items()})
        else:
            table(("WHAT", "WHERE"), [(name, str(path)) for name, path in places.items()])
        return Exit.DONE
    config = configured(paths)
    if args.what == "check":
        check_keys(paths, config)
        found = "is good" if paths.config.exists() else "does not exist; the defaults are in force"
        if args.json:
            json_line({"ok": True, "config": str(paths.config)})
        else:
            say(f"{paths.config} {found}")
        return Exit.DONE
    return _show(args, config)


def _show(args: argparse.Namespace, config: Any) -> int:
    from watchgate.service.settings import values_with_origin

    rows = values_with_origin(here(), config)
    if args.json:
        for key, value, origin in rows:
            json_line({"key": key, "value": value, "origin": origin})
    else:
        table(("KEY", "VALUE", "FROM"), [(key, str(value), origin) for key, value, origin in rows])
    return Exit.DONE
