"""`crashtest`: which hooks that fail let a call run in the agents that are installed here."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.printing import Exit, Stop, complain, json_line, say
from watchgate.core.base.text import safe_text

if TYPE_CHECKING:
    from watchgate.service.crashtest.agent_driver import AgentDriver
    from watchgate.service.crashtest.trial import Trial, TrialResult

AGENTS = ("claude", "codex", "copilot", "gemini", "qwen", "opencode")
TIMEOUT_S = 2
_MAX_TIMEOUT_S = 60
_CELLS = 50


def add_parser(commands: Any) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "crashtest",
        help="find out which failing hooks let a call run in your version of an agent",
        description="Gives an installed agent hooks that misbehave, one after the other, and looks"
        " whether its call ran all the same. A scripted model on 127.0.0.1 asks for a harmless"
        " call; home and work folder are thrown away; your files, keys and account are not used.",
        epilog="example: watchgate crashtest claude codex --only exit",
    )
    parser.add_argument(
        "agents", nargs="+", choices=AGENTS, metavar="AGENT", help=", ".join(AGENTS)
    )
    parser.add_argument("--program", type=Path, metavar="PATH", help="the agent's program")
    parser.add_argument("--only", default="", metavar="TEXT", help="hooks that contain this text")
    parser.add_argument(
        "--timeout-s",
        type=_timeout,
        default=TIMEOUT_S,
        metavar="N",
        help=f"the agent's limit for the hook that hangs ({TIMEOUT_S})",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line, one a run")
    parser.set_defaults(run=_crashtest)


def _timeout(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_TIMEOUT_S:
        # Codex drops its whole hooks file over a limit that is no whole number.
        raise argparse.ArgumentTypeError(f"whole seconds from 1 to {_MAX_TIMEOUT_S}, not {text!r}")
    return int(text)


def _crashtest(args: argparse.Namespace) -> int:
    from watchgate.service.crashtest.agent_drivers import DRIVERS as KINDS
    from watchgate.service.crashtest.agent_drivers import AgentMissingError, installed_agent
    from watchgate.service.crashtest.throwaway import ThrowawayError
    from watchgate.service.crashtest.trial import matching_hooks, trials

    chosen = {name: matching_hooks(KINDS[name].odd, args.only) for name in args.agents}
    if args.program is not None and len(chosen) > 1:
        raise Stop("--program is one agent's: name one AGENT with it", Exit.USAGE)
    if without := ", ".join(name for name, hooks in chosen.items() if not hooks):
        raise Stop(f"no hook of {without} contains {args.only!r}: leave --only out", Exit.USAGE)
    code = Exit.DONE
    with ExitStack() as handlers:
        # A request to end, and a terminal that is gone, clean up as Ctrl-C does.
        for number in (signal.SIGTERM, signal.SIGHUP):
            before = signal.signal(number, signal.default_int_handler)
            handlers.callback(signal.signal, number, before)
        for name, hooks in chosen.items():
            try:
                agent = installed_agent(name, args.program)
                driven = _run(agent, trials(agent, hooks, args.timeout_s), as_json=args.json)
            except AgentMissingError as fault:
                complain(str(fault))
                driven = False
            except ThrowawayError as fault:
                raise Stop(str(fault)) from None
            except KeyboardInterrupt:
                raise Stop("interrupted; the throw-away folder is removed") from None
            code = code if driven else Exit.REFUSED
    return code


def _run(agent: AgentDriver, planned: Sequence[Trial], *, as_json: bool) -> bool:
    """Makes the runs and shows each as it comes; returns whether the agent could be driven."""
    from watchgate.service.crashtest.throwaway import ThrowawayError
    from watchgate.service.crashtest.trial import conclusion, why_undriven

    if not as_json:
        say(f"{agent.name} {agent.version} ({agent.program}), {len(planned)} runs")
    results = []
    for trial in planned:
        if not as_json:
            print(f"  {safe_text(trial.about).ljust(_CELLS)}", end="", flush=True)
        try:
            result = trial.run()
        except (KeyboardInterrupt, ThrowawayError):
            if not as_json:
                say()  # what is said of it begins a line
            raise
        results.append(result)
        if as_json:
            json_line(result)
        else:
            say(_words(trial, result))
        if trial.must not in (None, result.outcome):
            complain(why_undriven(result))
            return False
    if not as_json:
        say()
        cells = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        for line in fitted(conclusion(agent, results), cells):
            say(line)
        say()
    return True


def fitted(lines: Iterable[str], cells: int) -> Iterator[str]:
    """These lines, broken between words where they are longer than a terminal; 0 leaves them."""
    for line in lines:
        yield from textwrap.wrap(line, cells, subsequent_indent="  ") if cells else [line]


def _words(trial: Trial, result: TrialResult) -> str:
    from watchgate.service.crashtest.trial import OUTCOME_WORDS

    words = OUTCOME_WORDS[result.outcome]
    if trial.must == result.outcome:
        return "ran, as it must" if trial.must == "ran" else f"{words}, as it must be"
    return f"{words} ({result.why})" if result.why else words
