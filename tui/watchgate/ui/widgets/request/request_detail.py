"""The pane of a request or call in full, scrolled; reports when all of it was on the screen.

- The calls that an agent made together: those of one session that began at about the same time.
"""

from __future__ import annotations

from textual.events import MouseScrollDown, MouseScrollUp
from textual.message import Message
from textual.strip import Strip

from watchgate.core.base.amounts import plural
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.views import PendingView
from watchgate.core.state.state import State
from watchgate.ui.approval.consequences import seconds_left
from watchgate.ui.approval.unshown_lines import Unshown
from watchgate.ui.costs.call_usage import asked_by
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_words import approval_history, too_long

TOGETHER_US = 1_000_000
LOOKED_AT = 64
"""Calls looked at before and after one: those of other sessions lie between them."""


def same_batch(state: State, view: PendingView) -> tuple[CallRow, ...]:
    """The other calls of the request's session that began within a second of it, oldest first.

    Those of another sub-agent are not among them.
    """
    rows, number = state.rows, state.calls.number((view.agent, view.session, view.call))
    if number is None:
        return ()
    own = rows[number]
    near = range(max(rows.first, number - LOOKED_AT), min(rows.end, number + LOOKED_AT + 1))
    return tuple(
        row
        for row in (rows[each] for each in near if each != number)
        if (row.agent, row.session, row.sub) == (own.agent, own.session, own.sub)
        and abs(row.at - own.at) <= TOGETHER_US
    )


WHEEL = 3
AIRY_FROM = 26

Subject = PendingView | CallRow | None


class Detail(Pane, can_focus=False):
    """Shows a pending request in full, or what is known of a call.

    With `next_to_table` it does not scroll: the keys that move belong to that table. `down` is the
    action that scrolls it; with `payload` the raw input of a request is shown by a key, not here.
    """

    DEFAULT_CSS = "Detail { height: 1fr; width: 1fr; }"

    class AllShown(Message):
        """Every line of the request was on the screen, at one time or another."""

        def __init__(self, request: str) -> None:
            super().__init__()
            self.request = request

    stale = False
    """True when the core is lost: no time runs."""

    def __init__(
        self,
        *,
        home: str = "",
        next_to_table: bool = False,
        down: str = "down",
        payload: bool = False,
    ) -> None:
        super().__init__()
        self._home = home
        self._next_to_table = next_to_table
        self._more = ("detail", "shows all") if next_to_table else (down, "down")
        self._payload = payload
        self._batch: tuple[CallRow, ...] = ()
        self._state = State(max_rows=1)
        self._subject: Subject = None
        self._subject_name: object = None
        self._now_us = 0
        self._place = self._asked = ""
        self._bare = False
        self._reveal = ""
        self._offset = 0
        self._unshown = Unshown()
        self._window = (0, 0)
        self._was_all_shown = False
        self._traced = (0, 0)
        self._key: object = None
        self._body: tuple[object, list[StyledLine], int] | None = None
        self._comments = range(0)

    def show(self, row: CallRow | None, state: State, now_us: int) -> None:
        """Shows a call of the table; while its request is open, the request."""
        open_request = state.pending.get(row.request) if row and row.request else None
        self._show(open_request or row, state, now_us)

    def show_request(
        self,
        view: PendingView | None,
        state: State,
        now_us: int,
        *,
        was_all_shown: bool = False,
        place: str = "",
        bare: bool = False,
        reveal: str = "u",
    ) -> None:
        """Shows an open request.

        Args:
            view: The request, None for none.
            state: The state that it belongs to.
            now_us: The present (UTC µs).
            was_all_shown: Whether all of it was shown before.
            place: Its place in the queue, in words.
            bare: Whether its secrets are shown.
            reveal: The key that shows or masks them.
        """
        self._bare, self._reveal = bare, reveal
        self._show(view, state, now_us, place, was_all_shown=was_all_shown)

    def scroll_lines(self, lines: int) -> None:
        """Scrolls; stops at both ends."""
        before, self._offset = self._offset, max(0, self._offset + lines)
        if self._offset != before:
            # Painted whole: lines that look like those before them are shown as well.
            self._drawn = None
            self.refresh()

    def scroll_pages(self, pages: int) -> None:
        """Scrolls by what is visible."""
        self.scroll_lines(pages * max(1, self.size.height - 1))

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        live, body = self._lines(cells, rows)
        top, whole = len(live), len(live) + len(body)
        needed = [n for n in range(len(body)) if n not in self._comments]
        self._unshown.lay_out((self._subject_name, cells, len(body), self._comments), needed)
        last = max(0, whole - rows)
        # What was jumped over is named on a line of its own, below the text.
        is_jumped = bool(self._skipped_lines(min(self._offset, last) - top, top))
        self._offset = min(self._offset, last + is_jumped)
        missing = self._skipped_lines(self._offset - top, top)
        lines = [*live, *body]
        if missing:
            lines.append(_jumped(self.line().to(2), missing))
        end = self._offset + rows
        shown = lines[self._offset : end]
        if shown and end < len(lines):
            end -= 1
            more = self.line().to(2).add(f"+{plural(whole - end, 'line')}", "dim")
            action, does = self._more
            more.add(f"   {key_for(action)}", "accent", bold=True).add(f" {does}", "dim")
            shown[-1] = _jumped(more.add("   "), missing) if missing else more
        self._window = (self._offset - top, end - top)
        return shown

    def _skipped_lines(self, line: int, top: int) -> str:
        """Returns the lines above a line of the text that were jumped over, if that matters."""
        view = self._subject
        if self._was_all_shown or not isinstance(view, PendingView) or too_long(view.data):
            return ""
        jumped = self._unshown.above(line)
        if jumped is None:
            return ""
        first, last = (number + top + 1 for number in jumped)
        return f"lines {first}-{last}" if last > first else f"line {first}"

    def render_line(self, y: int) -> Strip:
        """Returns the line `y`; only what is really painted counts as shown."""
        strip = super().render_line(y)
        view = self._subject
        if isinstance(view, PendingView) and not self._was_all_shown:
            self._unshown.show(*self._window)
            if self._unshown.all_shown and not too_long(view.data):
                self._was_all_shown = True
                self.call_next(self._tell, view.id)
        return strip

    def _tell(self, request: str) -> None:
        # A message made while the screen paints would count as the screen's own, and end there.
        self.post_message(self.AllShown(request))

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.scroll_lines(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.scroll_lines(WHEEL)

    def _show(
        self,
        subject: Subject,
        state: State,
        now_us: int,
        place: str = "",
        *,
        was_all_shown: bool = False,
    ) -> None:
        """Shows a request or a call.

        Args:
            subject: The request or call, None for none.
            state: The state that it belongs to.
            now_us: The present (UTC µs).
            place: Its place in the queue, in words.
            was_all_shown: Whether all of it was shown before.
        """
        name = _name(subject)
        if name != self._subject_name:
            self._subject_name, self._offset, self._was_all_shown = name, 0, False
        self._was_all_shown = self._was_all_shown or was_all_shown
        batch = same_batch(state, subject) if isinstance(subject, PendingView) else ()
        second = None if self.stale else _second(subject, now_us)
        traces = self._traces(state, now_us) if isinstance(subject, CallRow) else None
        asked = ""
        if isinstance(subject, CallRow):
            asked = asked_by(state.usage, subject.agent, subject.session, subject.call)
        key = (
            subject,
            place,
            self._bare,
            self._was_all_shown,
            batch,
            self.stale,
            second,
            traces,
            asked,
        )
        if key == self._key:
            return
        self._key, self._subject, self._state, self._now_us = key, subject, state, now_us
        self._place, self._batch, self._asked = place, batch, asked
        self.redraw()

    def _traces(self, state: State, now_us: int) -> int:
        """Returns the revision of the traces, read once a second: searching them is slow."""
        second = now_us // 1_000_000
        if second != self._traced[0]:
            self._traced = (second, state.traces.ring.revision)
        return self._traced[1]

    def _lines(self, cells: int, rows: int) -> tuple[list[StyledLine], list[StyledLine]]:
        """Returns the lines that change with time, and those that do not."""
        match self._subject:
            case PendingView() as view:
                return self._whole(view, cells, rows)
            case CallRow() as row:
                # What draws calls and requests is imported with the first of them.
                from watchgate.ui.widgets.request.call_lines import call_lines, hooks_of

                session = self._state.session(row.agent, row.session)
                hooks, now_us, home = hooks_of(self._state, row), self._now_us, self._home
                asked = self._asked
                return [], call_lines(row, session, now_us, cells, self.inks, home, hooks, asked)
        return [], [self.line().to(2).add("no call under the cursor", "dim")]

    def _whole(
        self, view: PendingView, cells: int, rows: int
    ) -> tuple[list[StyledLine], list[StyledLine]]:
        """Returns a request's lines, as airy as the rows allow; nobody has to scroll for the air.

        Where even so the call would not fit with a reason below each of its parts, the reasons
        follow it.
        """
        from watchgate.ui.widgets.base.sheet import Sheet
        from watchgate.ui.widgets.request.request_lines import request_lines

        session = self._state.session(view.agent, view.session)
        about = (
            approval_history(session),
            session and session.calls,
            self._batch,
            self._was_all_shown,
        )
        key = (view, about, self._bare, cells, rows, self.inks.name)
        if self._body is not None and self._body[0] == key:
            _, body, air = self._body
            return self._live(view, cells, air), body
        airy = rows >= AIRY_FROM and not self._next_to_table
        profile = self._state.gate.profile
        fallback: tuple[list[StyledLine], list[StyledLine], int, range] = ([], [], 0, range(0))
        for air, dense in (*(((2, False), (1, False)) if airy else ()), (0, False), (0, True)):
            sheet = Sheet(
                cells,
                self.inks,
                self._home,
                air=air,
                bare=self._bare,
                reveal=self._reveal,
                payload=key_for("view") if self._payload else "",
                all_shown=self._was_all_shown,
            )
            body = request_lines(
                view, session, sheet, profile=profile, batch=self._batch, dense=dense
            )
            live = self._live(view, cells, air)
            call_end = len(live) + _call_end(len(body), sheet.comments)
            if len(live) + len(body) <= rows or (air == 0 and call_end < rows):
                break
            fallback = fallback if dense else (live, body, air, sheet.comments)
        else:
            live, body, air, sheet.comments = fallback
        self._body, self._comments = (key, body, air), sheet.comments
        return live, body

    def _live(self, view: PendingView, cells: int, air: int) -> list[StyledLine]:
        from watchgate.ui.widgets.request.request_lines import live_lines

        return live_lines(
            view,
            self._now_us,
            cells,
            self.inks,
            self._place,
            air=bool(air),
            stale=self.stale,
        )


def _call_end(count: int, comments: range) -> int:
    """Returns the number after the last of so many lines that is about what would run."""
    return comments.start if comments and comments.stop == count else count


def _jumped(line: StyledLine, missing: str) -> StyledLine:
    line.add(f"{missing} not shown, so no allow yet", bold=True)
    return line.add(f"   {key_for('page_up')}", "accent", bold=True).add(" goes there", "dim")


def _name(subject: Subject) -> object:
    if isinstance(subject, PendingView):
        return subject.id
    return subject and (subject.agent, subject.session, subject.call)


def _second(subject: Subject, now_us: int) -> int | None:
    """Returns a number that changes each second while anything shown moves with time."""
    if isinstance(subject, PendingView):
        left_s = seconds_left(subject.data, now_us)
        return None if left_s is None else int(left_s)
    return now_us // 1_000_000 if subject is not None and subject.ended_at is None else None
