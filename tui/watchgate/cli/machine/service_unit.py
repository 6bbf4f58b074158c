"""`service`: the unit or launch agent that keeps a core running, printed for you to save."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, complain

_MANAGERS = ("systemd", "launchd")
_OWN = ("WATCHGATE_RUNTIME_DIR", "WATCHGATE_STATE_DIR", "WATCHGATE_CONFIG")
_SAVE = {
    "systemd": """\
save it as ~/.config/systemd/user/watchgate.service, then
  systemctl --user daemon-reload
  systemctl --user enable --now watchgate
Without a login the gate is closed until `loginctl enable-linger` lets the core run then as well.
""",
    "launchd": """\
save it as ~/Library/LaunchAgents/dev.watchgate.core.plist, then
  launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/dev.watchgate.core.plist
""",
}


def add_parser(commands: Any) -> None:
    """Adds the command."""
    service = commands.add_parser(
        "service",
        help="print a systemd user unit or a launchd agent that keeps a core running",
        epilog="example: watchgate service > ~/.config/systemd/user/watchgate.service",
    )
    service.add_argument(
        "manager", nargs="?", choices=_MANAGERS, help="default: that of this system"
    )
    service.add_argument("--profile", choices=("watch", "guard", "strict"))
    service.set_defaults(run=_service)


def _service(args: argparse.Namespace) -> int:
    from watchgate.service.setup.unit_files import launchd_plist, systemd_unit

    manager = args.manager or ("launchd" if sys.platform == "darwin" else "systemd")
    argv = [*_program(), "serve", *(("--profile", args.profile) if args.profile else ())]
    # Agents' hooks go where this command finds the sockets, so the core must stand there as well.
    environ = {name: os.environ[name] for name in _OWN if os.environ.get(name)}
    if manager == "systemd":
        print(systemd_unit(argv, environ), end="")
    else:
        print(launchd_plist(argv, environ, str(here().core_log)), end="")
    for line in _SAVE[manager].splitlines():
        complain(line)
    return Exit.DONE


def _program() -> list[str]:
    """Returns the command that starts this program from anywhere and survives an upgrade."""
    named = Path(sys.argv[0]).name in ("watchgate", "wgate")
    command = shutil.which(sys.argv[0]) if named else None
    return [str(Path(command).absolute())] if command else [sys.executable, "-m", "watchgate"]
