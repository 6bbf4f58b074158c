"""A session's agents as a tree: the main one, its sub-agents, and what each of them does now.

Agents report which session a sub-agent belongs to and not which other sub-agent started it, so
the tree is of one level.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.amounts import plural
from watchgate.core.as_asked import columns_of
from watchgate.core.sessions import SessionState
from watchgate.core.summary import in_columns
from watchgate.core.text import safe_text
from watchgate.core.views import CallRow, PendingView, SessionView, SubView
from watchgate.ui.covered import covered
from watchgate.ui.formats import ago, width
from watchgate.ui.theming.palettes import Palette, Token
from watchgate.ui.theming.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN
from watchgate.ui.widgets.pane import Line

INDENT = 2
NAME = 22
NARROW_NAME = 14
STATE = 16
COUNT = 10
WIDE_FROM = 60
TOOL_CHARS = 40
_LONGEST = 400


class Branch(msgspec.Struct, frozen=True):
    """One agent of a session: its name, state and calls, its newest call and open requests.

    The main agent has no `sub`; `since` is when its state began (UTC µs).
    """

    name: str
    state: SessionState
    since: int
    calls: int
    sub: str = ""
    newest: CallRow | None = None
    pending: tuple[PendingView, ...] = ()

    @property
    def worst(self) -> PendingView | None:
        """The gravest of its open requests."""
        return max(self.pending, key=lambda v: RISK_RANK.get(v.data.risk, 2), default=None)


def branches(
    view: SessionView, rows: Iterable[CallRow], pending: Iterable[PendingView]
) -> list[Branch]:
    """Returns the main agent, then its sub-agents: those at work first, each by when it came.

    `rows` are the session's calls, the oldest first.
    """
    newest = {row.sub: row for row in rows}
    asked: dict[str, list[PendingView]] = {}
    for each in pending:
        asked.setdefault(each.data.sub.id if each.data.sub else "", []).append(each)
    others = sum(sub.calls for sub in view.subs)
    main = Branch(
        "main agent",
        view.state,
        view.since,
        max(0, view.calls - others),
        newest=newest.get(""),
        pending=tuple(asked.get("", ())),
    )
    subs = sorted(view.subs, key=lambda sub: sub.state is SessionState.GONE)
    return [main, *(_branch(sub, newest, asked) for sub in subs)]


def tree_lines(agents: list[Branch], now_us: int, cells: int, colors: Palette) -> list[Line]:
    """Returns a line for each agent, and below it what it asks or does."""
    lines: list[Line] = []
    for place, branch in enumerate(agents):
        last = place == len(agents) - 1
        stem = "" if place == 0 else "`- " if last else "|- "
        below = "" if place == 0 else "   " if last else "|  "
        if place == 0 and len(agents) > 1:
            below = "|  "
        lines.append(_agent(branch, stem, now_us, cells, colors))
        lines += _doing(branch, below or "   ", cells, colors)
    return lines


def _branch(
    sub: SubView, newest: dict[str, CallRow], asked: dict[str, list[PendingView]]
) -> Branch:
    return Branch(
        sub.name,
        sub.state,
        sub.since,
        sub.calls,
        sub=sub.id,
        newest=newest.get(sub.id),
        pending=tuple(asked.get(sub.id, ())),
    )


def _agent(branch: Branch, stem: str, now_us: int, cells: int, colors: Palette) -> Line:
    """Draws the line of one agent.

    Args:
        branch: The agent.
        stem: The lines of the tree before its name.
        now_us: The present (UTC µs).
        cells: Width of the line.
        colors: The palette.
    """
    gone = branch.state is SessionState.GONE
    line = Line(colors).to(INDENT).add(stem, "dim")
    name = covered(branch.name[:_LONGEST])
    wide = NAME if cells >= WIDE_FROM else NARROW_NAME
    line.fit(name, INDENT + wide - line.left_cells - 1, "dim" if gone else "fg", bold=not gone)
    line.to(INDENT + wide)
    waits = bool(branch.pending) and not gone
    word = "waiting" if waits else str(branch.state)
    loud = waits or branch.state is SessionState.FAILED
    since = f"  {ago((now_us - branch.since) / 1_000_000)}" if branch.since and not waits else ""
    line.add(word, "fg" if loud else "dim", bold=loud)
    line.fit(since, STATE - len(word), "dim").to(INDENT + wide + STATE)
    line.add(plural(branch.calls, "call").rjust(COUNT), "dim")
    id_ = covered(branch.sub[:8])
    if id_ and cells - line.left_cells > width(id_) + 4:
        line.right(f"{id_} ", "dim")
    return line


def _doing(branch: Branch, stem: str, cells: int, colors: Palette) -> list[Line]:
    """Returns the line of an agent's open request, else of its newest call; none of neither."""
    line = Line(colors).to(INDENT).add(stem, "dim")
    worst = branch.worst
    if worst is not None:
        many = f" {len(branch.pending)}" if len(branch.pending) > 1 else ""
        line.add(f"? asks{many}  ", bold=True)
        data = worst.data
        if data.asks == "approval":
            _risk(line, data.risk)
        shown = in_columns(data.tool.name, data.summary, TOOL_CHARS)
        return [_call(line, *shown, cells, "fg", bold=True)]
    row = branch.newest
    if row is None:
        return []
    busy = row.ended_at is None and row.stage != "no result"
    state = safe_text(f"{row.glyph} {row.stage}".strip())
    line.add("now  " if busy else "last ", "dim").add(f"{state}  ", "fg" if busy else "dim")
    _risk(line, row.risk)
    return [_call(line, *columns_of(row, TOOL_CHARS), cells, "fg" if busy else "dim")]


def _risk(line: Line, risk: str) -> None:
    grave = risk not in ("low", "medium")
    line.add(f"{RISK_GLYPH.get(risk, '!!')}  ", RISK_TOKEN.get(risk, "high"), bold=grave)


def _call(
    line: Line, tool: str, summary: str, cells: int, ink: Token, *, bold: bool = False
) -> Line:
    """Adds a call to a line.

    Args:
        line: The line to add to.
        tool: Name of the tool.
        summary: The call in short.
        cells: Width of the line.
        ink: Colour of the summary.
        bold: Whether it is bold.
    """
    line.add(f"{covered(tool[:TOOL_CHARS])}  ", "dim")
    room = max(0, cells - line.left_cells - 1)
    return line.fit(covered(summary)[: 4 * room + 8], room, ink, bold=bold)
