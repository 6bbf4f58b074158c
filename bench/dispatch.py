"""What asking nobody costs: events that no handler is registered for, and that no matcher takes.

Each is compared with a Python function that looks the kind up in a dictionary, called alike, and
with a pluggy hook that no plugin implements. CPU time per call; a loop around nothing is taken off.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

import pluggy

from bench.figures import Beside, Figure, interleaved_medians, quietest, report
from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.dispatch_loop import Dispatch
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handler_config import MatchConfig, matcher_from_config, read_matcher
from watchgate.core.dispatch.handler_matchers import Matcher
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import CONSOLE
from watchgate.core.model.events import Can, Event, Lane, Tool, ToolCall

NOW = Instant(1_750_000_000_000_000, 5_000.0)
CALLS = 20_000
LOOK_UP_LIMIT = 1.5
PLUGGY_LIMIT = 0.1
EIGHT_LIMIT = 10.0

_TABLE: dict[str, object] = {"tool.post": object()}
_SPEC = pluggy.HookspecMarker("bench")


def look_up(event: Event) -> object:
    """The least that a dispatcher could do."""
    return _TABLE.get(event.kind)


class Spec:
    """The hook that pluggy is asked to call."""

    @_SPEC
    def emit(self, event: Event, now: Instant) -> object:
        """Nobody implements it."""


def event() -> Event:
    tool = Tool("Bash", "Bash", "shell", {"command": "git status"}, "hash", "c1")
    return Event(
        kind="tool.pre",
        native="PreToolUse",
        agent="claude",
        session="one",
        lane=Lane.GATE,
        at=NOW,
        body=ToolCall(tool),
        cwd="/home/u/app",
        can=Can(deny=True),
    )


def handlers(matchers: list[Matcher]) -> list[Handler]:
    kinds = frozenset({"tool.pre"})
    return [Handler(id=f"h{n}", on=kinds, match=each) for n, each in enumerate(matchers)]


def by_name() -> list[Matcher]:
    """Eight matchers of every dialect, none of which takes the event's tool."""
    return [
        read_matcher("console", "Read"),
        read_matcher("console", "mcp__*"),
        read_matcher("codewhale", "exec_*"),
        matcher_from_config(MatchConfig(tool="Edit", command_contains="push")),
        matcher_from_config(MatchConfig(tool="Write", cwd="/srv")),
        matcher_from_config(MatchConfig(agent="codex")),
        matcher_from_config(MatchConfig(agent="gemini", regex="rm")),
        matcher_from_config(MatchConfig(tool="Web*", input_contains="http")),
    ]


def by_content() -> list[Matcher]:
    """Eight matchers that have to look at the event itself, each time."""
    return [
        matcher_from_config(MatchConfig(command_contains="push")),
        matcher_from_config(MatchConfig(tool="Bash", command_contains="rm -rf")),
        matcher_from_config(MatchConfig(tool="Ba*", regex=r"curl.*\|\s*sh")),
        matcher_from_config(MatchConfig(session="two")),
        matcher_from_config(MatchConfig(cwd="/srv")),
        matcher_from_config(MatchConfig(command_word="sudo")),
        matcher_from_config(MatchConfig(tool="Bash", input_equals={"command": "ls"})),
        matcher_from_config(MatchConfig(command_contains="npm publish")),
    ]


def timed(loop: Callable[[range], None], calls: int = CALLS) -> Callable[[], float]:
    """A case: CPU nanoseconds of one call in a loop, without those of the loop itself."""
    rounds = range(calls)

    def case() -> float:
        start_ns = time.process_time_ns()
        for _ in rounds:
            pass
        empty_ns = time.process_time_ns()
        loop(rounds)
        return (time.process_time_ns() - empty_ns - (empty_ns - start_ns)) / calls

    return case


def looking_up(happened: Event) -> Callable[[], float]:
    def loop(rounds: range) -> None:
        for _ in rounds:
            look_up(happened)

    return timed(loop)


def starting(bus: Bus, happened: Event) -> Callable[[], float]:
    assert not isinstance(bus.start(happened, NOW), Dispatch), "nobody is to be asked"

    def loop(rounds: range) -> None:
        for _ in rounds:
            bus.start(happened, NOW)

    return timed(loop)


def plugging(happened: Event) -> Callable[[], float]:
    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    hook = manager.hook

    def loop(rounds: range) -> None:
        for _ in rounds:
            hook.emit(event=happened, now=NOW)

    return timed(loop, CALLS // 10)


def figures(runs: int) -> Iterator[Figure]:
    happened = event()
    none = Bus(CONSOLE, [Handler(id="other", on=frozenset({"tool.post"}))])
    eight = Bus(CONSOLE, handlers(by_name()))
    looking = Bus(CONSOLE, handlers(by_content()))
    cases = [
        looking_up(happened),
        starting(none, happened),
        plugging(happened),
        starting(eight, happened),
        starting(looking, happened),
    ]
    table, nobody, plug, named, looked = interleaved_medians(list(map(quietest, cases)), runs)
    told = f"{CALLS:,} calls, medians of {runs}"
    least = Beside("a function that looks up a dictionary", table)
    yield Figure("dispatch, no handler, CPU", nobody, "ns", least, LOOK_UP_LIMIT, told)
    beside = Beside("pluggy without a plugin", plug)
    yield Figure("dispatch, no handler, CPU", nobody, "ns", beside, PLUGGY_LIMIT, told)
    none_asked = Beside("no handler", nobody)
    note = f"matchers on tools and agents, trace rows included; {told}"
    yield Figure("dispatch, 8 matchers, CPU", named, "ns", none_asked, EIGHT_LIMIT, note)
    note = f"each looks into the call, as nothing can be known before; {told}"
    yield Figure(
        "dispatch, 8 matchers on content, CPU", looked, "ns", none_asked, EIGHT_LIMIT, note
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=31)
    return report(figures(parser.parse_args().runs))


if __name__ == "__main__":
    sys.exit(main())
