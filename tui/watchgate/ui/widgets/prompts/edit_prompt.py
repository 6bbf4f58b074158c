"""The editor before an allow: the call's text, then its changes and the core's assessment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

import msgspec
from textual import events

from watchgate.core.base import decoding
from watchgate.core.base.text import safe_text
from watchgate.core.model.assessment import Finding, Risk, Segment
from watchgate.core.model.views import PendingView
from watchgate.core.tools.edited_text import editable, edited
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Refusal
from watchgate.ui.approval.arming import Card, Commit, Intent
from watchgate.ui.approval.consequences import after_allow
from watchgate.ui.approval.decision_requests import DecisionTerms
from watchgate.ui.base.formats import covered, short_id
from watchgate.ui.base.theme import Palette, Token
from watchgate.ui.keys.keymap import Hint
from watchgate.ui.keys.shown_keys import action_of, key_for
from watchgate.ui.source.record_source import CoreCall
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import Piece, lay_out
from watchgate.ui.widgets.base.request_words import chip, clause
from watchgate.ui.widgets.base.text_masking import Masking
from watchgate.ui.widgets.prompts.prompt import hint
from watchgate.ui.widgets.prompts.sheet_prompt import SheetPrompt
from watchgate.ui.widgets.prompts.text_editing import EditText

Sign = Literal["+", "-", " "]


def line_changes(before: str, after: str) -> Iterator[tuple[Sign, int, str]]:
    """Yields the lines of both texts in order: sign, offset of the line in its text, the line."""
    old, new = list(_lines(before)), list(_lines(after))
    matcher = SequenceMatcher(None, [line for _, line in old], [line for _, line in new], False)
    for what, i, k, m, n in matcher.get_opcodes():
        if what == "equal":
            yield from ((" ", *each) for each in new[m:n])
        else:
            yield from (("-", *each) for each in old[i:k])
            yield from (("+", *each) for each in new[m:n])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


_INK: dict[Sign, tuple[Token, Token | None]] = {
    "+": ("add", "add_ground"),
    "-": ("del", "del_ground"),
    " ": ("dim", None),
}


class EditMarks(msgspec.Struct, frozen=True, kw_only=True):
    """The policy's view of the edited text, and whether secrets are shown (`bare`).

    `starts` are where its commands begin: what holds one is shown, whatever it looks like, and so
    is all of an `opaque` text, of which nobody knows where they begin.
    """

    findings: tuple[Finding, ...] = ()
    starts: tuple[int, ...] = ()
    opaque: bool = False
    bare: bool = False


def diff_lines(
    before: str,
    after: str,
    marked: EditMarks,
    cells: int,
    colors: Palette,
    ground: Token,
) -> Iterator[StyledLine]:
    """Draws both texts wrapped to the width.

    Args:
        before: The text before the edit.
        after: The text after it.
        marked: Findings and starts, as places in `after`.
        cells: Width to draw at.
        colors: The palette.
        ground: Ground of the lines.
    """
    for sign, start, text in line_changes(before, after):
        old = sign == "-"
        marks = () if old else _within(marked.findings, start, start + len(text))
        starts = () if old else tuple(each - start for each in marked.starts)
        ink, own = _INK[sign]
        look = Masking(marked.bare or (marked.opaque and not old), starts)
        for number, row in enumerate(lay_out(text, marks, cells - 5, masking=look)):
            line = StyledLine(colors, ground).to(2)
            line.add(f"{sign if number == 0 else ' '} ", ink, on=own)
            for piece in row:
                _onto(line, piece, ink, own)
            yield line.add(" " * (cells - 1 - line.left_cells), ink, on=own)


def _onto(line: StyledLine, piece: Piece, ink: Token, ground: Token | None) -> None:
    shown = ink if piece.ink == "fg" else piece.ink
    line.add(
        piece.text,
        shown,
        on=ground,
        bold=piece.marked,
        underline=piece.marked,
        reverse=piece.hidden,
    )


def _within(findings: tuple[Finding, ...], start: int, end: int) -> tuple[Finding, ...]:
    """Returns the findings about one line of the text, as spans of that line."""
    inside = []
    for each in findings:
        if each.span is not None and each.span[0] < end and start < each.span[1]:
            span = (max(0, each.span[0] - start), min(each.span[1], end) - start)
            inside.append(msgspec.structs.replace(each, span=span))
    return tuple(inside)


INDENT = 2


class EditAssessment(msgspec.Struct, frozen=True):
    """The core's assessment of an edited input (the answer of the verb `preview`)."""

    digest: str
    risk: Risk
    reason: str
    input: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    segments: tuple[Segment, ...] = ()
    opaque: bool = False
    raised: str = ""


class EditPrompt(SheetPrompt):
    """Enter asks the core about the edited text, and only what it then shows can be allowed."""

    DEFAULT_CSS = "EditPrompt { height: 3; }"

    def __init__(
        self,
        view: PendingView,
        call: CoreCall,
        keys: Mapping[str, Intent],
        now_s: Callable[[], float],
        *,
        bare: bool = False,
    ) -> None:
        """Edits the call of a request.

        Args:
            view: The request.
            call: Sends a verb to the core.
            keys: The keys that allow and deny.
            now_s: The clock that keys are timed with (seconds).
            bare: Whether its secrets are shown.
        """
        super().__init__(keys, now_s)
        self.request = view.id
        self._view = view
        self._call = call
        self._bare = bare
        self._before = editable(view.data.tool) or ""
        self._text = EditText(self._before, len(self._before))
        self._input: dict[str, Any] = {}
        self._looked: EditAssessment | None = None
        self._asking = False

    @property
    def typing(self) -> bool:
        """True while keys go to the text."""
        return self._looked is None

    @property
    def hints(self) -> Sequence[Hint]:
        if self.typing:
            leave = hint("Esc", "leave it as it was")
            return (hint("Enter", "assess it again"), hint("^J", "new line"), leave)
        allow = {"low": "", "medium": "", "critical": ", type yes"}
        words = allow.get(self._looked.risk if self._looked else "", ", twice")
        return self.deciding or (
            hint(self.names["allow"], f"allow the edited{words}"),
            hint(key_for("edit"), "edit on"),
            hint(self.names["deny"], "deny"),
            hint("Esc", "leave it as it was"),
        )

    def sheet(self, cells: int) -> list[StyledLine]:
        return self._preview(cells) if self._looked else self._editor(cells)

    def offer(self) -> Card | None:
        if self._looked is None:
            return None
        return Card(id=f"{self._view.id} {self._looked.digest}", risk=self._looked.risk)

    def cursor_line(self, cells: int) -> int | None:
        return 1 + self._text.rows(_room(cells), bare=self._bare)[1][0] if self.typing else None

    def decide(self, commit: Commit) -> None:
        if commit.intent == "deny":
            self.deny(commit, self._view)
        elif self._looked is not None:
            decision = Commit("allow", self._view.id, commit.shown_ms, commit.confirmed)
            terms = DecisionTerms(input=self._input, digest=self._looked.digest)
            self.post_message(self.Decided(((decision, self._view),), terms))

    def press(self, name: str) -> None:
        if action_of(name) == "edit":
            self._looked = None
            self.fit_rows()

    def type(self, name: str, event: events.Key) -> None:
        if name == "escape":
            self.post_message(self.Left())
        elif self._asking:
            self.notice = "the core is asked about it"
        elif name == "enter":
            self._enter()
        elif (text := self._text.key(name)) is not None:
            self._change(text)
        elif event.is_printable and event.character:
            self._change(self._text.typed(event.character))

    def on_paste(self, event: events.Paste) -> None:
        if self.typing and not self._asking and not self._gone:
            event.stop()
            self._change(self._text.typed(event.text))
        else:
            super().on_paste(event)

    def _change(self, text: EditText) -> None:
        self._text = text
        self.fit_rows()

    def _enter(self) -> None:
        if self._text.text == self._before:
            allow = self.names["allow"]
            self.notice = f"nothing is changed: Esc, then {allow} allows it as it is"
            return
        try:
            self._input = edited(self._view.data.tool, self._text.text)
        except ValueError as fault:
            self.notice = safe_text(str(fault))
            return
        self._asking, self.notice = True, "the core is asked about it"
        self.run_worker(self._look(self._input), exclusive=True)

    async def _look(self, wanted: dict[str, Any]) -> None:
        try:
            answer = await self._call("preview", request=self._view.id, input=wanted)
            if isinstance(answer, Refusal):
                self.notice = safe_text(answer.message)
            else:
                self._looked, self.notice = decoding.convert(answer.ok, EditAssessment), ""
                self._offset = 0
        except CoreLost as lost:
            self.notice = str(lost)
        except msgspec.ValidationError as fault:
            self.notice = safe_text(f"the core's answer cannot be read: {fault}")
        self._asking = False
        self.fit_rows()

    def _editor(self, cells: int) -> list[StyledLine]:
        head = self.line().add(f"  edit {short_id(self._view.id)}", "dim")
        about = "   nothing runs before it is assessed again and allowed"
        lines = [head.fit(about, cells - head.left_cells - 1, "dim")]
        rows, (row, start, end) = self._text.rows(_room(cells), bare=self._bare)
        for number, text in enumerate(rows):
            line = self.line().to(INDENT)
            if number == row:
                line.add(text[:start], bold=True)
                line.add(text[start:end], line.ground, on="accent", bold=True)
                line.add(text[end:], bold=True)
            else:
                line.add(text, bold=True)
            lines.append(line)
        return lines

    def _preview(self, cells: int) -> list[StyledLine]:
        looked, data = self._looked, self._view.data
        if looked is None:
            return []
        head = self.line().to(INDENT)
        chip(head, looked.risk)
        head.add("   ")
        was = f"was {data.risk.upper()} " if data.risk != looked.risk else ""
        head.right(safe_text(was), "dim")
        head.fit(covered(clause(looked.reason)), cells - head.left_cells - head.right_cells - 2)
        shell = data.tool.cls == "shell"
        marks = EditMarks(
            findings=looked.findings if shell else (),
            starts=tuple(part.span[0] for part in looked.segments) if shell else (),
            opaque=looked.opaque,
            bare=self._bare,
        )
        runs = editable(msgspec.structs.replace(data.tool, input=looked.input))
        after = self._text.text if runs is None else runs
        body = diff_lines(self._before, after, marks, cells, self.inks, self.ground)
        remarks = (covered(looked.raised), after_allow(data, self._view.agent))
        ends = [self.line().to(INDENT).fit(each, cells - 3, "dim") for each in remarks if each]
        return [head, *body, *ends]


def _room(cells: int) -> int:
    return max(8, cells - INDENT - 1)
