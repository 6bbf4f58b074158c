"""Words and bars that several panes of the Costs screen use."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.core.base.amounts import plural
from watchgate.core.base.text import safe_text
from watchgate.ui.base.theme import Token
from watchgate.ui.costs.cost_figures import CostRow, Costs, date_of
from watchgate.ui.source.agent_titles import title
from watchgate.ui.widgets.base.pane import StyledLine

NAME_CHARS = 80
MODEL_CHARS = 32


def bar(line: StyledLine, share: float, cells: int, ink: Token) -> StyledLine:
    """Adds a bar for a share of 0 to 1; anything above nothing takes at least a cell."""
    filled = min(cells, max(1 if share > 0 else 0, round(share * cells)))
    return line.add("━" * filled, ink) if filled else line


def safe_name(text: str) -> str:
    """Returns a name from outside, safe to draw."""
    return safe_text(text[:NAME_CHARS])


def model_name(name: str, agent: str) -> str:
    """Returns the name of a model, or for an unknown one that of its agent."""
    return safe_name(name) or f"unknown ({safe_name(agent)})"


def unreadable_note(lines: int, *, whole: bool) -> str:
    """Returns a note on lines of transcripts that are in no figure: `3 lines ... unreadable`."""
    if not lines:
        return ""
    words = plural(lines, "line")
    return f"{words} of transcripts unreadable" if whole else f"{words} unreadable"


def missing_note(costs: Costs) -> str:
    """Returns a note on what is in no sum, and why: `without web: Copilot reports no usage`."""
    missing = [row for row in costs.rows if row.cost is None]
    if costs.unpriced and all(row.tells for row in missing):
        first, *others = costs.unpriced
        more = f" and {plural(len(others), 'other model')}" if others else ""
        return f"no price for {safe_name(first[:MODEL_CHARS])}{more}"
    if not missing:
        return ""
    names = safe_name(missing[0].label)
    if len(missing) > 1:
        names += f" and {safe_name(missing[1].label)}" if len(missing) == 2 else ""
        names += f" and {plural(len(missing) - 1, 'other')}" if len(missing) > 2 else ""
    return f"without {names}: {_why(missing, costs.rows)}"


def _why(missing: list[CostRow], rows: Sequence[CostRow]) -> str:
    agents = {row.key[0] for row in missing}
    silent = not any(row.tells for row in missing)
    if silent and any(row.tells and row.key[0] in agents for row in rows):
        return "no usage told yet"
    who = title(next(iter(agents))) if len(agents) == 1 else ""
    what = "usage" if silent else "cost"
    return f"{who} reports no {what}" if who else f"no {what} reported"


def unknown_days(costs: Costs, cells: int) -> str:
    """Returns a sentence about the days that a chart cannot show whole, no longer than `cells`.

    Empty where it shows all.
    """
    blank = [day.day for day in costs.days if not day.recorded]
    if blank:
        sentence = f"{_days(blank, costs)}: nothing was recorded"
        whole = f"{sentence}, so nothing is known"
        return whole if len(whole) <= cells else sentence
    blank = [day.day for day in costs.days if day.cost is None]
    if blank:
        return f"{_days(blank, costs)}: no cost is known"
    bounded = [day.day for day in costs.days if day.is_lower_bound]
    return f"{_days(bounded, costs, some=True)}: at least that" if bounded else ""


def ordinal(number: int) -> str:
    """Returns a day of a month as a sentence writes it: `the 17th`."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"the {number}{'th' if 10 < number % 100 < 14 else ending}"


def _days(days: list[int], costs: Costs, *, some: bool = False) -> str:
    """Names days: the first ones of the chart together, the others by their dates.

    With `some`, none before the others are meant in one.
    """
    shown = [day.day for day in costs.days]
    first = shown[0] if some else next((day for day in shown if day not in days), shown[-1])
    later = [day for day in days if day >= first]
    before = [f"before {ordinal(date_of(first).day)}"] if days[0] < first else []
    words = before + [ordinal(date_of(day).day) for day in later]
    if len(words) > 3:
        return f"{len(days)} of these days"
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]
