"""The one line that a console leaves in the shell."""

from __future__ import annotations

from watchgate.core.agent_state import WITHOUT_CORE, WithoutCore
from watchgate.core.amounts import plural
from watchgate.core.state import State
from watchgate.ui.bridge import Link
from watchgate.ui.overview import day_words


def farewell(
    state: State,
    link: Link,
    *,
    demo: bool,
    hosted: bool = False,
    calls: WithoutCore = "unknown",
) -> str:
    """Returns what goes on without the console, and what the day brought so far.

    `calls` says what the hooks on this machine do by themselves.
    """
    if demo:
        return "watchgate: the demo leaves nothing behind; `watchgate install` connects an agent"
    if link.state != "attached":
        return f"watchgate: no core runs: {WITHOUT_CORE[calls]}; `watchgate` starts one"
    totals = state.totals
    denied = totals.denied_by_operator + totals.denied_by_rule
    denied += totals.denied_by_timeout + totals.denied_other
    silent = f" ({totals.denied_by_timeout} in silence)" if totals.denied_by_timeout else ""
    waiting = f"; {plural(len(state.pending), 'request')} still open" if state.pending else ""
    after = "the core goes on, `watchgate` attaches again"
    if hosted:
        after = f"its core ended with it: {WITHOUT_CORE[calls]} until `watchgate` runs again"
    counted = f"{day_words(totals)} {totals.allowed_by_operator} allowed, {denied} denied{silent}"
    return f"watchgate: {counted}{waiting}; {after}"
