"""`config check|path|show|import`: is the configuration good, where is it, what is in force."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from watchgate.cli.base.command_environment import agents_known, configured, here
from watchgate.cli.base.console_keys import check_keys
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say, table
from watchgate.cli.setup import config_set


def add_parser(commands: Any) -> None:
    """Adds the command."""
    config = commands.add_parser(
        "config",
        help="write, set, check, locate or show the configuration, or read other hooks into it",
        epilog="example: watchgate config set approval.timeout_s 120",
    )
    verbs = config.add_subparsers(title="commands", metavar="COMMAND", required=True)
    config_set.add_parsers(verbs)
    for name, run, tells, example in (
        ("check", _check, "is it good, and is it what the running core has", "config check"),
        ("path", _path, "where the files of this user are", "config path"),
        ("show", _show, "every value, and where it is from", "config show --json"),
    ):
        verb = verbs.add_parser(name, help=tells, epilog=f"example: watchgate {example}")
        verb.add_argument("--json", action="store_true", help="JSON lines")
        verb.set_defaults(run=run)
    borrow = verbs.add_parser(
        "import",
        help="read the hooks of another system; prints what to add",
        epilog="example: watchgate config import hooks.json >> config.toml",
    )
    borrow.add_argument(
        "file", metavar="FILE", help="JSON with the `hooks` of a sandbox-agent session"
    )
    borrow.set_defaults(run=_import)


def _path(args: argparse.Namespace) -> int:
    paths = here()
    places = {
        "config": paths.config,
        "runtime_dir": paths.runtime_dir,
        "ingest": paths.ingest_socket,
        "control": paths.control_socket,
        "off": paths.off,
        "journal": paths.journal,
        "grants": paths.grants,
        "log": paths.core_log,
        "client": paths.client,
    }
    if args.json:
        json_line({name: str(path) for name, path in places.items()})
    else:
        table(("WHAT", "WHERE"), [(name, str(path)) for name, path in places.items()])
    return Exit.DONE


def _check(args: argparse.Namespace) -> int:
    paths = here()
    config = configured(paths)
    check_keys(paths, config)
    _check_equipment(paths, config)
    state = "is good" if paths.config.exists() else "does not exist; the defaults are in force"
    lacks = config_set.core_lacks()
    if args.json:
        json_line({"ok": True, "config": str(paths.config), "core_lacks": lacks})
        return Exit.DONE
    say(f"{paths.config} {state}")
    if lacks:
        say(f"The running core has other values of {', '.join(lacks)}: watchgate config reload")
    return Exit.DONE


def _import(args: argparse.Namespace) -> int:
    """Prints the `[[handler]]` entries for another system's hooks; nothing is written."""
    import msgspec

    from watchgate.core.base.config_text import toml_pair
    from watchgate.core.dispatch.handler_config import HandlerConfig
    from watchgate.core.dispatch.hooks.sandbox_hooks import sandbox_handlers

    try:
        imported = sandbox_handlers(Path(args.file).read_bytes())
    except OSError as fault:
        raise Stop(f"{args.file} cannot be read: {fault.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise Stop(f"{args.file}: {fault}") from None
    default = msgspec.to_builtins(HandlerConfig(id="-", on=("-",), command=("-",)))
    for each in imported:
        say("[[handler]]")
        for key, value in msgspec.to_builtins(each).items():
            if value != default[key]:
                say(toml_pair([key], value))
        say("")
    complain('these expect [dispatch] preset = "sandbox-lifecycle"')
    return Exit.DONE


def _check_equipment(paths: Any, config: Any) -> None:
    """Stops when something that is to be run beside the core cannot be."""
    from watchgate.service.hub.components import ComponentError, build_components, config_warnings
    from watchgate.service.runners.child_pool import ChildPool

    try:
        build_components(config, paths, os.environ, ChildPool(), prints=True)
    except ComponentError as fault:
        raise Stop(str(fault)) from None
    for warning in config_warnings(config, agents_known(paths, config)):
        complain(warning)


def _show(args: argparse.Namespace) -> int:
    from watchgate.service.system.config_file import values_with_origin

    rows = values_with_origin(here(), configured(here()))
    if args.json:
        for key, value, origin in rows:
            json_line({"key": key, "value": value, "origin": origin})
    else:
        table(
            ("KEY", "VALUE", "FROM"),
            [(key, _in_a_cell(value), origin) for key, value, origin in rows],
        )
    return Exit.DONE


def _in_a_cell(value: Any) -> str:
    """A value in few words: of entries only their names, for their `env` may hold secrets."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        return ", ".join(str(each.get("id", each.get("type"))) for each in value)
    return str(value)
