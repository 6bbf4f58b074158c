"""`guard on|off`: whether calls are held, changed for the configuration, the hooks and the core."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from watchgate.cli.base.ask import Unreached, ask, core_profile
from watchgate.cli.base.command_environment import PROFILES, agents_known, configured, here
from watchgate.cli.base.printing import Exit, Stop, complain, json_line, prose
from watchgate.cli.base.typed_input import needs_terminal, typed
from watchgate.cli.machine.switch import UNRECORDED, agents_with_hooks, gating_words, off_until

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.core.config.config import Config
    from watchgate.core.policy.rules.profiles import Profile

MEANS: Final = {
    "watch": "Profile watch: calls are recorded, NOT GATED. Every agent goes on by its own rules.",
    "guard": "Profile guard: dangerous calls wait for you, and what nobody answers is denied.",
    "strict": "Profile strict: what no rule allows waits for you, and silence denies it.",
}


def add_parser(commands: Any) -> None:
    """Adds the command."""
    guard = commands.add_parser(
        "guard",
        help="whether calls are held: on, off (only watch), or say which it is",
        description="`on` has dangerous calls wait for you, `off` has them only recorded. Both "
        "change config.toml, the hooks of every installed agent and the running core, which goes "
        "on meanwhile. `off` asks for a typed word on a terminal, and no agent may do it.",
        epilog="example: watchgate guard on",
    )
    guard.add_argument("what", nargs="?", choices=("on", "off"), help="default: say which it is")
    guard.add_argument("--json", action="store_true", help="one JSON object")
    guard.set_defaults(run=_guard)


def _guard(args: argparse.Namespace) -> int:
    config, running = configured(here()), core_profile()
    if args.what == "off":
        return change_profile("watch", config)
    if args.what == "on":
        # A stricter profile stays: to switch something on must not hold less.
        return change_profile(_strictest("guard", config.profile, running), config)
    return _say_which(config.profile, running, as_json=args.json)


def _say_which(profile: Profile, running: Profile | None, *, as_json: bool) -> Exit:
    """Says what the configuration has, and where the hooks, the core or the switch do otherwise."""
    from watchgate.core.model.agent_state import WITHOUT_CORE, without_core

    until, (agents, unread) = off_until(), agents_with_hooks()
    ungated = {each.agent: each.ungated for each in agents if each.ungated}
    if as_json:
        json_line(
            {
                "on": profile != "watch",
                "profile": profile,
                "core": running,
                "off": until is not None,
                "ungated": ungated,
            }
        )
        return Exit.DONE
    word, in_force = _word(profile), running or profile
    prose(f"The guard is {word}. {MEANS[profile]}")
    if in_force != profile:
        prose(f"The running core has another profile: {running}.")
    if in_force != profile or (ungated and word == "on"):
        prose(f"By now: {gating_words(in_force, agents)}.")
    if running is None and agents and until is None:
        prose(f"No core runs: {WITHOUT_CORE[without_core(agents)]}.")
    if until is not None:
        prose(f"The gate is switched off {until}, and no call is held: `watchgate on` ends that.")
    for line in unread:
        complain(line)
    holds = word == "on" and in_force != "watch" and not any(each.at_odds for each in agents)
    other = "off" if holds else "on"
    prose(f"`watchgate guard {other}` changes it.")
    return Exit.DONE


def change_profile(profile: Profile, config: Config) -> int:
    """Changes it for the core that runs, in the configuration, and in the hooks of every agent.

    To hold less takes a word that a person types, and a core that takes it from this process.
    """
    import msgspec

    from watchgate.cli.setup.setup_report import open_sessions
    from watchgate.core.config.config import ConfigError
    from watchgate.service.setup.config_edit import set_value
    from watchgate.service.setup.installations import agents_that_hold

    known = agents_known(here(), config)
    hooks: Profile = "guard" if agents_that_hold(here(), known, os.environ, Path.cwd()) else "watch"
    lowers = confirm_lower(profile, _strictest(config.profile, core_profile(), hooks))
    # The core first, for it refuses agents and has the record.
    taken = _tell_core(profile)
    if lowers and not taken:
        complain(UNRECORDED)
    try:
        set_value(here().config, "profile", profile)
    except ConfigError as fault:
        what = "The running core took it; hooks and the next core did not: " if taken else ""
        raise Stop(f"{what}{fault}") from None
    agents, refused = _renew(msgspec.structs.replace(config, profile=profile))
    if not lowers and not refused:
        prose(MEANS[profile])  # now that it is so
    names = ", ".join(each.name for each in agents)
    if taken:
        waits = "what waits already still needs your answer" if lowers else "nothing was denied"
        prose(f"The running core took it at once: nothing restarts, and {waits}.")
    elif agents and profile != "watch":
        prose(f"No core runs: acting calls of {names} are denied until `watchgate` starts one.")
    if refused:
        prose(f"Once the others are mended, `watchgate guard {_word(profile)}` takes them along.")
    if agents:
        prose(f"Hooks that follow it: {names}.")
    elif not refused:
        prose("No agent has hooks: watchgate install")
    for line in open_sessions(agents):
        prose(line)
    for agent in agents:
        if agent.setup is not None and agent.setup.must_trust:
            prose(agent.setup.after)
    return Exit.REFUSED if refused else Exit.DONE


def confirm_lower(profile: Profile, in_force: Profile) -> bool:
    """Tells whether this profile holds less; raises `Stop` unless a person confirms that."""
    if PROFILES.index(profile) >= PROFILES.index(in_force):
        return False
    needs_terminal(f"{profile} holds less than {in_force}: a person has to type the word")
    prose(MEANS[profile])
    if typed(f"Type {profile} to hold less from now on: ") != profile:
        raise Stop("nothing was changed; the gate is as it was")
    return True


def _renew(config: Config) -> tuple[list[Adapter], bool]:
    """Writes every installed agent's hooks for this profile: whose could be, and if not all."""
    from watchgate.service.setup.hook_client import NoInterpreterError
    from watchgate.service.setup.installations import renew_entries

    paths = here()
    try:
        done = renew_entries(paths, config, agents_known(paths, config), os.environ)
    except NoInterpreterError as fault:
        raise Stop(f"the hooks stay as they are: {fault}") from None
    refused = [each for each in done if each.refused]
    for each in refused:
        complain(f"{each.agent.name}: its hooks stay as they are. {each.refused}")
    agents = {each.agent.name: each.agent for each in done if not each.refused}
    return list(agents.values()), bool(refused)


def _word(profile: Profile) -> str:
    return "off" if profile == "watch" else "on"


def _strictest(*profiles: Profile | None) -> Profile:
    return max((each for each in profiles if each is not None), key=PROFILES.index)


def _tell_core(profile: Profile) -> bool:
    """Tells whether a core runs, which has the profile now; raises `Stop` where it refuses."""
    from watchgate.link.protocol import Request

    try:
        ask(Request(id=1, verb="profile", profile=profile))
    except Unreached:
        return False
    return True
