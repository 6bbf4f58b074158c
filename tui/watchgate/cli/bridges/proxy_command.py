"""`acp`, `stream-json`: a transparent proxy between a program and the agent that it drives."""

from __future__ import annotations

import argparse
import os
import signal
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import configured, core_at, here
from watchgate.cli.base.printing import Exit, Stop, complain

if TYPE_CHECKING:
    from watchgate.agents.proxied import Wire


def add_parser(commands: Any) -> None:
    """Adds the commands."""
    acp = commands.add_parser(
        "acp",
        help="start an ACP agent for an editor, and hold its permission requests for an operator",
        description="Start an ACP agent for an editor, and hold its permission requests for an"
        " operator. Where nobody is at a console, nobody answers in time or no core runs, the"
        " editor gets the request as it came and asks by itself: nothing is denied or allowed.",
        epilog="example: watchgate acp -- opencode acp, as the command of an agent in the editor",
    )
    acp.set_defaults(run=_acp)
    stream = commands.add_parser(
        "stream-json",
        help="start claude -p in stream-json, and hold its permission requests for an operator",
        description="Start claude -p in stream-json, and hold its permission requests for an"
        " operator. Where nobody is at a console, nobody answers in time or no core runs, the"
        " program that drives it gets the request as it came: nothing is denied or allowed.",
        epilog="example: watchgate stream-json -- claude -p --input-format stream-json"
        " --output-format stream-json --verbose --permission-prompt-tool stdio",
    )
    stream.set_defaults(run=_stream_json)
    for each in (acp, stream):
        each.add_argument(
            "argv", nargs=argparse.REMAINDER, metavar="-- AGENT ...", help="the agent's command"
        )


def _acp(args: argparse.Namespace) -> int:
    from watchgate.agents.acp.acp_wire import AcpWire

    argv = _argv(args)
    return _run(argv, AcpWire(_name(argv), _folder()))


def _stream_json(args: argparse.Namespace) -> int:
    from watchgate.agents.claude.stream_json import StreamJsonWire

    argv = _argv(args)
    return _run(argv, StreamJsonWire(_name(argv), _folder()))


def _run(argv: list[str], wire: Wire) -> int:
    import anyio

    from watchgate.service.bridges.agent_proxy import Proxy

    paths = here()
    core = core_at(paths, wire.agent, proxy=True)
    proxy = Proxy(wire, core, configured(paths).approval.client_deadline_s)
    try:
        code = anyio.run(proxy.run, argv, 0, 1)
    except FileNotFoundError:
        raise Stop(f"no program {argv[0]!r} was found: check its name and the PATH") from None
    except OSError as fault:
        raise Stop(f"{argv[0]!r} could not be started: {fault.strerror}") from None
    if proxy.lost:
        complain(f"{proxy.lost} messages passed but were not recorded; see watchgate status")
    if code < 0:
        # Whoever waits for us sees the agent's own end.
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _argv(args: argparse.Namespace) -> list[str]:
    argv: list[str] = args.argv[1:] if args.argv[:1] == ["--"] else args.argv
    if not argv:
        raise Stop("name the agent's command after --", Exit.USAGE)
    return argv


def _name(argv: list[str]) -> str:
    return os.path.basename(argv[0])[:512]  # noqa: PTH119 - a name, not a path


def _folder() -> str:
    from watchgate.service.bridges.tap import own_folder

    return own_folder()
