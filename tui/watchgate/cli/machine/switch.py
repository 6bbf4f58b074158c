"""`off`, `on`, `status`, `stop`: the state of the gate, the way out and the way back."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.ask import Unreached, ask, presence
from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say
from watchgate.cli.base.typed_input import needs_terminal, typed

if TYPE_CHECKING:
    from watchgate.core.model.agent_state import AgentState

OFF_MEANS = (
    "Switched off, no call that comes is held: every agent goes on by its own rules, and calls "
    "that run unasked just run. They are still recorded while the core runs. What waits already "
    "stays held until it is decided."
)
UNRECORDED = "No core runs: installed agents honour this, but no record says who did it and when."


def add_parser(commands: Any) -> None:
    """Adds the four commands."""
    status = commands.add_parser(
        "status", help="one line of state", epilog="example: watchgate status --json"
    )
    form = status.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument("--tmux", action="store_true", help="a few words for tmux's status-right")
    status.set_defaults(run=_status)
    stop = commands.add_parser(
        "stop",
        help="end the core; installed agents are then denied",
        epilog="example: watchgate stop",
    )
    stop.set_defaults(run=_stop)
    off = commands.add_parser(
        "off",
        help="stop gating, for a while or until reboot",
        epilog="example: watchgate off 30m   (asks for a typed word on a terminal)",
    )
    off.add_argument("how_long", nargs="?", default="30m", metavar="30m|2h|until-reboot")
    off.set_defaults(run=_off)
    on = commands.add_parser("on", help="gate again", epilog="example: watchgate on")
    on.set_defaults(run=_on)


def _status(args: argparse.Namespace) -> int:
    if args.tmux:
        say(_status_line())
        return Exit.DONE
    from watchgate.cli.presence.unlock_command import standing_words
    from watchgate.core.model.sessions import SessionState
    from watchgate.link.protocol import Request

    until = off_until()
    try:
        answer = ask(Request(id=1, verb="hello"))
        pending = len(ask(Request(id=1, verb="list"))["requests"])
        listed = ask(Request(id=1, verb="list", what="sessions"))["sessions"]
    except Unreached as none:
        off = "" if until is None else f". The gate is off {until}"
        raise Stop(f"{none}{off}", none.code) from None
    sessions = sum(each["state"] != SessionState.GONE for each in listed)
    hello, gate, stands = answer["hello"], answer["gate"], presence()
    agents, unread = agents_with_hooks()
    if args.json:
        json_line(
            {
                "core": hello["core"],
                "version": hello["watchgate"],
                "profile": hello["profile"],
                "boot": hello["boot"],
                "records": hello["seq"],
                "sessions": sessions,
                "pending": pending,
                "off": until is not None,
                "journal": gate["journal"],
                "tampered": gate["tampered"],
                "ungated": {each.agent: each.ungated for each in agents if each.ungated},
                "pin": stands.pin,
                "key": stands.key,
                "standing": stands.standing,
            }
        )
        return Exit.DONE
    state = f"GATE OFF {until}" if until is not None else gating_words(hello["profile"], agents)
    count = f"{sessions} session{'s' * (sessions != 1)}"
    wrong = "".join(f"; {words}" for words in [*_wrong(gate), *unread])
    pin = "PIN set" if stands.pin else "security key set" if stands.key else "no PIN set"
    terminal = f"this terminal is {standing_words(stands)}; {pin}"
    say(f"{state}, {count}, {pending} pending, record {hello['seq']}{wrong}; {terminal}")
    return Exit.DONE


def _status_line() -> str:
    """A few words for tmux, whatever is wrong: a status line shows nothing of an error."""
    from watchgate.cli.base.tmux import alarm_line, pending_line
    from watchgate.link.protocol import Request

    try:
        if off_until() is not None:
            return alarm_line("GATE OFF")
        hello = ask(Request(id=1, verb="hello"))
        open_ = ask(Request(id=1, verb="list"))["requests"]
    except Unreached:
        return alarm_line("NO CORE")
    except Stop:
        return alarm_line("GATE UNKNOWN")
    words = [alarm_line(words.partition(":")[0]) for words in _wrong(hello["gate"])]
    profile, risks = str(hello["hello"]["profile"]), [str(each["risk"]) for each in open_]
    agents, _ = agents_with_hooks()
    if profile != "watch" and agents and all(each.ungated for each in agents):
        words.append(alarm_line("NOT GATING"))
    return " ".join([*words, pending_line(profile, risks)])


def _wrong(gate: dict[str, Any]) -> list[str]:
    """Says what is wrong with the gate: its journal, the files that it rests on, who tried it."""
    from watchgate.core.model.records import ATTEMPT

    lost = [] if gate["journal"] == "ok" else [f"JOURNAL LOST: {gate['journal']}"]
    if not gate["tampered"]:
        return lost
    newest, others = gate["tampered"][-1], len(gate["tampered"]) - 1
    more = f" (and {others} more)" if others else ""
    word = "ALARM" if newest["part"] == ATTEMPT else "TAMPERED"
    return [*lost, f"{word}: {newest['what']}{more}; mend: {newest['mend']}"]


def agents_with_hooks() -> tuple[list[AgentState], list[str]]:
    """Returns the agents that have hooks, or why the hooks could not be looked at."""
    from watchgate.cli.base.agent_listing import states_here

    try:
        return [each for each in states_here() if each.installed], []
    except Stop as fault:
        return [], [f"hooks not looked at: {fault}"]


def gating_words(profile: str, agents: Sequence[AgentState]) -> str:
    """Says whether calls are held under a profile, and of which `agents` not, and why."""
    if profile == "watch":
        return "NOT GATING (watch)"
    why: dict[tuple[str, str], list[str]] = {}
    for each in agents:
        if each.ungated:
            why.setdefault((each.ungated, each.next), []).append(each.agent)
    if not why:
        return f"gating ({profile})"
    some = not all(each.ungated for each in agents)
    problems = [
        f"{what} for {', '.join(names)}; mend: {mend}" for (what, mend), names in why.items()
    ]
    return f"{'gating' if some else 'NOT GATING'} ({profile}), {'but ' * some}{'; '.join(problems)}"


def off_until() -> str | None:
    """Returns the time until which the gate is off, in words; None while it is on."""
    from watchgate.service.system import off_switch
    from watchgate.service.system.system_clock import SystemClock

    switch = off_switch.read_switch(here().off, SystemClock().now())
    return None if switch is None else switch.words()


def _stop(_args: argparse.Namespace) -> int:
    from watchgate.link.protocol import Request

    ask(Request(id=1, verb="stop"))
    say("The core ends. Installed agents are denied every acting call until a core runs again;")
    say("`watchgate` starts one, `watchgate uninstall AGENT` takes the hooks out.")
    return Exit.DONE


def _off(args: argparse.Namespace) -> int:
    from watchgate.link.protocol import Request
    from watchgate.service.system import off_switch

    try:
        seconds = off_switch.off_seconds(args.how_long)
    except ValueError as fault:
        raise Stop(str(fault), Exit.USAGE) from None
    needs_terminal("off needs a terminal: a person has to type the word")
    say(OFF_MEANS)
    if typed(f"Type off to switch the gate off ({args.how_long}): ") != "off":
        raise Stop("nothing was changed; the gate is as it was")
    try:
        ask(Request(id=1, verb="off", seconds=seconds))
    except Unreached:
        _write_switch(seconds)
        complain(UNRECORDED)
    say(f"The gate is off ({args.how_long}). `watchgate on` switches it on.")
    return Exit.DONE


def _write_switch(seconds: int) -> None:
    from watchgate.service.system import off_switch
    from watchgate.service.system.runtime_dir import RuntimeDirError, private_dir
    from watchgate.service.system.system_clock import SystemClock

    paths = here()
    until_s = SystemClock().now().plus(seconds).wall_us // 1_000_000 if seconds else None
    try:
        private_dir(paths.runtime_dir, variable="WATCHGATE_RUNTIME_DIR")
        off_switch.write_switch(paths.off, until_s)
    except (RuntimeDirError, OSError) as fault:
        raise Stop(f"the gate is as it was: {fault}") from None


def _on(_args: argparse.Namespace) -> int:
    from watchgate.link.protocol import Request
    from watchgate.service.system import off_switch

    try:
        ask(Request(id=1, verb="on"))
    except Unreached:
        try:
            off_switch.remove_switch(here().off)
        except OSError as fault:
            raise Stop(f"the gate is as it was: {fault}") from None
        complain(UNRECORDED)
    say("The gate is on.")
    return Exit.DONE
