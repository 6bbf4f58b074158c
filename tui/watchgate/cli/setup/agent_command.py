"""`agent ls|check`: the agents that are known, and whether an adapter reads its samples."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.agent_listing import STATE_HEAD, state_cells, states_here
from watchgate.cli.base.command_environment import agents_known, configured, here
from watchgate.cli.base.printing import Exit, Stop, json_line, say, table

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.agents.samples import SampleMeaning, SampleOutput
    from watchgate.core.model.agent_state import AgentState

_ANSWERS = ("allow", "deny", "modify", "handback", "closed")
_INPUT_CHARS = 200


def add_parser(commands: Any) -> None:
    """Adds the command."""
    agent = commands.add_parser(
        "agent",
        help="list the agents, or check an adapter of your own against samples",
        epilog="example: watchgate agent check hal.toml samples.jsonl",
    )
    verbs = agent.add_subparsers(title="commands", metavar="ls|check", required=True)
    ls = verbs.add_parser(
        "ls",
        help="every agent: found here, installed, trusted, and what it can be told",
        epilog="example: watchgate agent ls --json",
    )
    ls.add_argument("--json", action="store_true", help="JSON lines")
    ls.set_defaults(run=_ls)
    check = verbs.add_parser(
        "check",
        help="what an adapter makes of sample payloads, byte for byte",
        epilog="example: watchgate agent check hal.toml samples.jsonl",
    )
    check.add_argument("file", metavar="FILE", help="a TOML adapter, or the name of an agent")
    check.add_argument(
        "samples",
        metavar="SAMPLES",
        help='JSON lines: payloads, or {"event","payload","expected"}',
    )
    check.add_argument("--json", action="store_true", help="JSON lines")
    check.set_defaults(run=_check)


def _ls(args: argparse.Namespace) -> int:
    paths = here()
    known = agents_known(paths, configured(paths))
    states = {each.agent: each for each in states_here(known.values())}
    rows = [_row(each, states[name]) for name, each in known.items()]
    if args.json:
        for row in rows:
            json_line(row)
        return Exit.DONE
    table(
        ("AGENT", *STATE_HEAD, "NAME", "ADAPTER", "WAITS FOR AN ANSWER", "HOOKS"),
        [
            (
                row["agent"],
                *state_cells(states[row["agent"]]),
                row["title"],
                "experimental" if row["experimental"] else "measured",
                "; ".join(f"{each['event']} ({each['lane']})" for each in row["waits"]) or "-",
                row["hooks"] or "-",
            )
            for row in rows
        ],
    )
    return Exit.DONE


def _row(adapter: Adapter, state: AgentState) -> dict[str, Any]:
    import msgspec

    waits = [entry for entry in adapter.entries("guard") if entry.lane.waits]
    return {
        "agent": adapter.name,
        "title": adapter.title,
        "found": state.is_present,
        "installed": state.installed,
        "scopes": state.scopes,
        "up_to_date": state.up_to_date,
        "trusted": state.trusted,
        "ungated": state.ungated,
        "fault": state.fault,
        "next": state.next,
        "experimental": adapter.experimental,
        "waits": [
            {
                "event": entry.event,
                "lane": entry.lane,
                "matcher": entry.matcher,
                **msgspec.structs.asdict(adapter.can(entry.event)),
            }
            for entry in waits
        ],
        "kinds": sorted(adapter.kinds),
        "hooks": adapter.setup.user if adapter.setup else None,
    }


def _check(args: argparse.Namespace) -> int:
    from watchgate.agents.samples import SampleError, check_sample

    adapter = _adapter(args.file)
    good = checked = 0
    for number, line in enumerate(_lines(Path(args.samples)), 1):
        if not line.strip():
            continue
        checked += 1
        try:
            reading, differs = check_sample(adapter, line)
        except SampleError as fault:
            _say_fault(args, number, str(fault))
            continue
        good += not differs
        if args.json:
            json_line({"line": number, "ok": not differs, "differs": differs, **_plain(reading)})
        else:
            _show(number, reading, differs)
    if not checked:
        raise Stop(f"{args.samples}: no samples: write one JSON object a line")
    if not args.json:
        say(f"{good} of {checked} samples are as they should be")
    return Exit.DONE if good == checked else Exit.REFUSED


def _adapter(given: str) -> Adapter:
    from watchgate.agents.registry import UnknownAgentError, adapter
    from watchgate.service.wire.agent_adapters import AgentsError, table_adapter

    try:
        if Path(given).suffix == ".toml" or Path(given).exists():
            return table_adapter(Path(given))
        paths = here()
        return adapter(given, agents_known(paths, configured(paths)))
    except (AgentsError, UnknownAgentError) as fault:
        raise Stop(str(fault)) from None


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\n")
    except OSError as fault:
        raise Stop(f"{path} cannot be read: {fault.strerror}") from None


def _say_fault(args: argparse.Namespace, number: int, fault: str) -> None:
    if args.json:
        json_line({"line": number, "ok": False, "error": fault})
    else:
        say(f"{args.samples}:{number}: {fault}")


def _plain(reading: SampleMeaning) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(reading)
    return plain


def _show(number: int, reading: SampleMeaning, differs: list[str]) -> None:
    import msgspec

    say(
        f"{number}  {reading.event} -> {reading.kind}, lane {reading.lane}, "
        f"session {reading.session}"
    )
    if reading.cls is not None:
        given = msgspec.json.encode(reading.input).decode()
        cut = "..." if len(given) > _INPUT_CHARS else ""
        say(
            f"   {reading.tool} ({reading.native_tool}, {reading.cls})  {given[:_INPUT_CHARS]}{cut}"
        )
    for word in _ANSWERS:
        output = getattr(reading, word)
        if output is not None:
            say(f"   {word:<9} {_output_line(output)}")
    for each in differs:
        say(f"   DIFFERS: {each}")


def _output_line(output: SampleOutput) -> str:
    parts = [output.stdout] if output.stdout else []
    parts += [f"stderr {output.stderr!r}"] if output.stderr else []
    parts += [f"exit {output.exit}"] if output.exit else []
    return "  ".join(parts) or "nothing, exit 0"
