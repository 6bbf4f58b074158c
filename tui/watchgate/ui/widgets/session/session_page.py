"""One session in full, scrolled: facts, what the gate saw of it, its agents, its calls.

- A session's agents as a tree: the main one, its sub-agents, and what each of them does now. Agents
  report which session a sub-agent belongs to and not which other sub-agent started it, so the tree
  is of one level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from textual.events import MouseScrollDown, MouseScrollUp

from watchgate.core.base.amounts import count, money, plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.session_view import SessionView, SubView
from watchgate.core.model.sessions import SessionState
from watchgate.core.model.views import PendingView
from watchgate.core.state.asked_call import columns_of, line_of
from watchgate.core.tools.summary import in_columns
from watchgate.ui.base.formats import ago, clock, covered, home, person, width
from watchgate.ui.base.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN, Palette, Token
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.view_model.overview import living, session_word
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_words import approval_history
from watchgate.ui.widgets.base.sheet import VALUES, Sheet
from watchgate.ui.widgets.calls.call_columns import RowLook, draw_call

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


def tree_lines(agents: list[Branch], now_us: int, cells: int, colors: Palette) -> list[StyledLine]:
    """Returns a line for each agent, and below it what it asks or does."""
    lines: list[StyledLine] = []
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


def _agent(branch: Branch, stem: str, now_us: int, cells: int, colors: Palette) -> StyledLine:
    """Draws the line of one agent.

    Args:
        branch: The agent.
        stem: The lines of the tree before its name.
        now_us: The present (UTC µs).
        cells: Width of the line.
        colors: The palette.
    """
    gone = branch.state is SessionState.GONE
    line = StyledLine(colors).to(INDENT).add(stem, "dim")
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


def _doing(branch: Branch, stem: str, cells: int, colors: Palette) -> list[StyledLine]:
    """Returns the line of an agent's open request, else of its newest call; none of neither."""
    line = StyledLine(colors).to(INDENT).add(stem, "dim")
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


def _risk(line: StyledLine, risk: str) -> None:
    grave = risk not in ("low", "medium")
    line.add(f"{RISK_GLYPH.get(risk, '!!')}  ", RISK_TOKEN.get(risk, "high"), bold=grave)


def _call(
    line: StyledLine, tool: str, summary: str, cells: int, ink: Token, *, bold: bool = False
) -> StyledLine:
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


CALLS_SHOWN = 50
MINUTE_S = 60
TABLE_FROM = 60
"""Cells from which the calls have the columns of the live table."""

_ONLY_WATCHED = "only watched, nothing of it is held"


def session_lines(
    view: SessionView,
    rows: Sequence[CallRow],
    pending: Sequence[PendingView],
    now_us: int,
    sheet: Sheet,
    cost: str = "",
) -> list[StyledLine]:
    """Returns all that is known of a session.

    Args:
        view: The session.
        rows: Its calls, the oldest first.
        pending: Its open requests.
        now_us: The present (UTC µs).
        sheet: The sheet to write on.
        cost: The words for its cost, or empty.
    """
    head = sheet.line().fit(covered(view.label[:60]), sheet.room // 2, bold=True)
    host = f"  on {covered(view.host[:40])}" if view.host else ""
    words = f"  {covered(view.agent[:20])}{host}"
    head.fit(words, sheet.cells - head.left_cells - 1, "dim")
    sheet.gap()
    _facts(sheet, view, pending, now_us, cost)
    agents = branches(view, rows, pending)
    subs = len(view.subs)
    sub_agents = (
        f"{plural(subs, 'sub-agent')}, {count(len(living(view)))} not ended" if subs else ""
    )
    sheet.section("agents", sub_agents)
    sheet.lines.extend(tree_lines(agents, now_us, sheet.cells, sheet.colors))
    shown = rows[-CALLS_SHOWN:]
    sheet.section("newest calls", f"{count(len(shown))} of {count(view.calls)}" if shown else "")
    for row in reversed(shown):
        if sheet.cells >= TABLE_FROM:
            sheet.lines.append(draw_call(row, sheet.cells, sheet.colors, RowLook(), now_us, None))
        else:
            line = sheet.line().add(f"{row.glyph or ' '} ")
            line.fit(covered(line_of(row)), sheet.cells - line.left_cells - 1, "dim")
    if not shown:
        sheet.line().add("none in memory; 5 finds older ones in the journal", "dim")
    return sheet.lines


def _facts(
    sheet: Sheet, view: SessionView, pending: Sequence[PendingView], now_us: int, cost: str
) -> None:
    """Writes the facts of the session.

    Args:
        sheet: The sheet to write on.
        view: The session.
        pending: Its open requests.
        now_us: The present (UTC µs).
        cost: The words for its cost, or empty.
    """
    oldest = min((each.at for each in pending), default=None)
    word = session_word(view, oldest, now_us)
    if view.gated is False and view.shown is not SessionState.WAITING:
        word = session_word(msgspec.structs.replace(view, gated=None), oldest, now_us)
    sheet.fact("asked for", view.title)
    line = sheet.line().add("state", "dim").to(VALUES).add(word, bold=True)
    if view.since and view.shown is not SessionState.WAITING:
        line.add(f"   since {clock(view.since)}", "dim")
    sheet.fact("inferred", view.at(now_us).why)
    if view.paused_until > now_us:
        left = person((view.paused_until - now_us) / 1_000_000)
        sheet.fact("paused", f"{left} more: {view.paused_why}; what it would ask is denied")
    gated, loud = _gated(view)
    sheet.fact("gated", gated, bold=loud)
    sheet.fact("cwd", home(view.cwd, sheet.home_dir))
    sheet.fact("mode", view.mode or "")
    sheet.fact("runs", "by itself, nobody answers its own prompts" if view.autonomous else "")
    sheet.fact("model", view.model or "")
    recent = sum(n for second, n in view.recent if second > now_us // 1_000_000 - MINUTE_S)
    sheet.fact("calls", f"{count(view.calls)}, {count(recent)} in the last minute")
    sheet.fact("cost", cost or money(view.cost_usd))
    sheet.fact("so far", approval_history(view))
    sheet.fact("hidden by", f"{view.hidden_by}, until its turn ends" if view.hidden_by else "")
    sheet.fact("session", view.session)
    sheet.fact("pid", str(view.pid) if view.pid else "")


def _gated(view: SessionView) -> tuple[str, bool]:
    """Returns whether the gate is asked before its calls, and why not; `?` before any call."""
    ran = f"{count(view.passed)} of {count(view.ran)} calls that ran" if view.ran else ""
    if view.gated is None:
        return "? no call told yet", False
    if view.gated:
        return f"yes{', ' if ran else ''}{ran}", False
    return f"NOT GATED: {view.cause or _ONLY_WATCHED}", True


WHEEL = 3
AIRY_FROM = 30


class SessionPicture(msgspec.Struct, frozen=True):
    """A session at a moment: its view (None once forgotten), calls, requests and cost."""

    view: SessionView | None = None
    rows: Sequence[CallRow] = ()
    pending: Sequence[PendingView] = ()
    now_us: int = 0
    cost: str = ""


class SessionPage(Pane, can_focus=False):
    """The page with all that is known of one session."""

    DEFAULT_CSS = "SessionPage { height: 1fr; width: 1fr; }"

    def __init__(self, home: str) -> None:
        super().__init__()
        self._home = home
        self._picture = SessionPicture()
        self._offset = 0

    def show(self, picture: SessionPicture) -> None:
        """Shows the session as it is now."""
        self._picture = picture
        self.redraw()

    def scroll_lines(self, lines: int) -> None:
        """Scrolls; stops at both ends."""
        before, self._offset = self._offset, max(0, self._offset + lines)
        if self._offset != before:
            self.redraw()

    def scroll_pages(self, pages: int) -> None:
        """Scrolls by what is visible."""
        self.scroll_lines(pages * max(1, self.size.height - 1))

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        picture = self._picture
        if picture.view is None:
            return [self.line().to(2).add("this session is not known any more", "dim")]
        sheet = Sheet(cells, self.inks, self._home, air=1 if rows >= AIRY_FROM else 0)
        view, now_us, cost = picture.view, picture.now_us, picture.cost
        lines = session_lines(view, picture.rows, picture.pending, now_us, sheet, cost)
        self._offset = min(self._offset, max(0, len(lines) - rows))
        shown = lines[self._offset : self._offset + rows]
        left = len(lines) - self._offset - rows
        if left > 0 and shown:
            more = self.line().to(2).add(f"+{plural(left + 1, 'line')}", "dim")
            shown[-1] = more.add(f"   {key_for('down')}", "accent", bold=True).add(" down", "dim")
        return shown

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.scroll_lines(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.scroll_lines(WHEEL)
