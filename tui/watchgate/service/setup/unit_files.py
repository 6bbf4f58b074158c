"""Units that make the system's own manager start a core and keep it: systemd and launchd.

Formats: systemd.service(5), systemd.syntax(7) for quoting, launchd.plist(5).
"""

from __future__ import annotations

import plistlib
from collections.abc import Mapping, Sequence

LABEL = "dev.watchgate.core"

_UNIT = """\
[Unit]
Description=Watchgate, the gate in front of coding agents

[Service]
Type=exec
ExecStart={argv}
{environment}\
UMask=0077
Restart=on-failure
RestartSec=1
# A wrong command line does not mend itself.
RestartPreventExitStatus=2
# Hooks that the core started end with it; what waits is denied before.
KillMode=mixed
TimeoutStopSec=10

[Install]
WantedBy=default.target
"""


def systemd_unit(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """Returns a user unit that runs this command line with these variables."""
    lines = "".join(f"Environment={_quoted(f'{k}={v}')}\n" for k, v in environ.items())
    # A dollar begins a variable in a command line, and nowhere else.
    command = " ".join(_quoted(word).replace("$", "$$") for word in argv)
    return _UNIT.format(argv=command, environment=lines)


def launchd_plist(argv: Sequence[str], environ: Mapping[str, str], log: str) -> str:
    """Returns a launch agent that runs this command line; its output goes to `log`."""
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(argv),
        "EnvironmentVariables": dict(environ),
        "RunAtLoad": True,
        # Started again after a crash; not after `watchgate stop`.
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 1,
        "ExitTimeOut": 10,
        "Umask": 0o077,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    return plistlib.dumps(agent, sort_keys=False).decode()


def _quoted(word: str) -> str:
    """Quotes one word of a unit file; a percent sign would begin a specifier there."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
