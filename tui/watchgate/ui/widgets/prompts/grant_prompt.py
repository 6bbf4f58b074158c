"""The prompt that sets how far an allow reaches, and shows the exact rule that it leaves.

- The requests that were marked, listed before they are allowed together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from textual import events

from watchgate.core.base import decoding
from watchgate.core.base.amounts import plural
from watchgate.core.base.text import safe_text
from watchgate.core.gate.grant_rules import why_no_grant
from watchgate.core.model.standing_grant import WIDTHS, GrantRule, Width, read_rule, width_of
from watchgate.core.model.views import PendingView
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Refusal, Scope
from watchgate.ui.approval.arming import Card, Commit, Intent
from watchgate.ui.approval.decision_requests import SCOPES, DecisionTerms
from watchgate.ui.base.formats import covered, cut_front, home, short_id, width
from watchgate.ui.keys.keymap import Hint
from watchgate.ui.keys.shown_keys import action_of, key_for
from watchgate.ui.source.record_source import CoreCall
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_words import chip
from watchgate.ui.widgets.prompts.grant_lines import GrantProposal, GrantReach, reach_lines
from watchgate.ui.widgets.prompts.prompt import hint
from watchgate.ui.widgets.prompts.sheet_prompt import SheetPrompt
from watchgate.ui.widgets.prompts.text_editing import EditLine

FOLDER_CELLS = 24


class BatchPrompt(SheetPrompt):
    """Exactly those that were marked; one that is settled meanwhile leaves, none ever joins."""

    DEFAULT_CSS = "BatchPrompt { height: 3; }"

    def __init__(
        self,
        views: Sequence[PendingView],
        keys: Mapping[str, Intent],
        now_s: Callable[[], float],
        home_dir: str = "",
    ) -> None:
        super().__init__(keys, now_s)
        self._views = tuple(views)
        self._home = home_dir

    @property
    def hints(self) -> Sequence[Hint]:
        together = f"allow these {len(self._views)}"
        return self.deciding or (
            hint(self.names["allow"], together),
            hint("Esc", "not now"),
        )

    def keep(self, pending: Mapping[str, PendingView]) -> None:
        left = tuple(view for view in self._views if view.id in pending)
        if left == self._views:
            return
        gone = len(self._views) - len(left)
        self._views = left
        if not left:
            self.settled()
        else:
            self.notice = f"{plural(gone, 'request')} settled meanwhile and left the list"
            self.fit_rows()

    def sheet(self, cells: int) -> list[StyledLine]:
        line = self.line().add("  ")
        if self._views:
            chip(line, self._views[0].data.risk)
        line.add("  allow together, once each: ").add(
            plural(len(self._views), "request"), bold=True
        )
        return [line, *(self._request(view, cells) for view in self._views)]

    def offer(self) -> Card | None:
        if not self._views:
            return None
        name = " ".join(view.id for view in self._views)
        deny, deny_all = self.names["deny"], key_for("deny_all")
        words = f"{deny} denies one request: Esc, then {deny}; {deny_all} denies all"
        why: dict[Intent, str] = {"deny": words}
        return Card(id=name, risk=self._views[0].data.risk, blocked=why)

    def decide(self, commit: Commit) -> None:
        decisions = (
            (Commit("allow", view.id, commit.shown_ms, commit.confirmed), view)
            for view in self._views
        )
        self.post_message(self.Decided(tuple(decisions)))

    def _request(self, view: PendingView, cells: int) -> StyledLine:
        line = self.line().add(f"  {short_id(view.id)}  ", "dim")
        line.fit(safe_text(view.label[:80]), 16, bold=True).to(26)
        folder = cut_front(home(safe_text(view.data.cwd), self._home), FOLDER_CELLS)
        line.right(f"{folder} ", "dim")
        room = cells - line.left_cells - width(folder) - 3
        return line.fit(covered(view.data.summary), room)


REACHES: tuple[Scope, ...] = ("turn", "session", "15m", "always")
NOT_OFFERED = "only exactly this call can be allowed again: more than its words decide what it does"
NOT_EDITABLE = "only the rules of a program are edited: 6 chooses them"


class GrantPrompt(SheetPrompt):
    """Numbers choose how long and how much; what that adds is shown, and an allow gives just it."""

    DEFAULT_CSS = "GrantPrompt { height: 5; }"

    def __init__(
        self,
        view: PendingView,
        call: CoreCall,
        keys: Mapping[str, Intent],
        now_s: Callable[[], float],
        now_us: Callable[[], int],
        home_dir: str = "",
    ) -> None:
        """Asks how far an allow of a request reaches.

        Args:
            view: The request.
            call: Sends a verb to the core.
            keys: The keys that allow and deny.
            now_s: The clock that keys are timed with (seconds).
            now_us: The present (UTC µs).
            home_dir: The path shown as `~`.
        """
        super().__init__(keys, now_s)
        self.request = view.id
        self._view = view
        self._call = call
        self._now_us = now_us
        self._home = home_dir
        self._scope = next(each for each in REACHES if each in view.data.scopes)
        self._chosen: Width | None = None
        self._proposal: GrantProposal | None = None
        self._why_none = "the core is asked which rule fits"
        self._at = 0
        self._line: EditLine | None = None
        self._asking = False

    @property
    def typing(self) -> bool:
        """True while keys go to the text of a rule."""
        return self._line is not None

    @property
    def width(self) -> Width:
        """The width of the calls that an allow would answer besides this one."""
        return width_of(self._scope, self._chosen)

    @property
    def _exactly(self) -> bool:
        """True where only the same call would be answered, for as long as its session."""
        return self.width == "exact" and self._scope != "always"

    @property
    def _editable(self) -> bool:
        return self.width == "program"

    @property
    def hints(self) -> Sequence[Hint]:
        if self.typing:
            return (hint("Enter", "take the rule"), hint("Esc", "leave it as it was"))
        allow = hint(self.names["allow"], f"allow, {SCOPES[self._scope]}")
        edit = [hint(key_for("edit"), "edit the rule")] if self._editable else []
        many = self._proposal is not None and len(self._proposal.rules) > 1
        following = [hint(key_for("next"), "next rule")] if edit and many else []
        return self.deciding or (
            hint(f"1-{len(REACHES)}", "how long"),
            hint(f"{len(REACHES) + 1}-{len(REACHES) + len(WIDTHS)}", "how much"),
            allow,
            *edit,
            *following,
            hint(self.names["deny"], "deny"),
            hint("Esc", "not now"),
        )

    def on_mount(self) -> None:
        super().on_mount()
        if "always" in self._view.data.scopes:
            self._propose(())

    def sheet(self, cells: int) -> list[StyledLine]:
        reach = GrantReach(
            view=self._view,
            chosen=self._scope,
            width=self.width,
            proposal=self._proposal,
            why_none=self._why_none,
            at=self._at,
            line=self._line,
            home=self._home,
            now_us=self._now_us(),
        )
        return reach_lines(reach, cells, self.inks, self.ground)

    def offer(self) -> Card | None:
        name = f"{self._view.id} {self._scope} {self.width}"
        blocked = dict[Intent, str]()
        if self._exactly:
            return Card(id=name, risk=self._view.data.risk, blocked=blocked)
        if self._proposal is None:
            blocked["allow"] = self._why_none
        elif why := self._bar(self.width):
            blocked["allow"] = why
        elif self._editable:
            name += " ".join(rule.text for rule in self._proposal.rules)
        return Card(id=name, risk=self._view.data.risk, blocked=blocked)

    def cursor_line(self, cells: int) -> int | None:
        return 1 + self._at if self.typing else None

    def decide(self, commit: Commit) -> None:
        if commit.intent == "deny":
            self.deny(commit, self._view)
            return
        decision = Commit("allow", self._view.id, commit.shown_ms, commit.confirmed)
        rules = self._proposal.rules if self._editable and self._proposal else ()
        width = None if self._exactly else self.width
        terms = DecisionTerms(scope=self._scope, rules=rules, width=width)
        self.post_message(self.Decided(((decision, self._view),), terms))

    def press(self, name: str) -> None:
        if name in ("1", "2", "3", "4"):
            self._choose(REACHES[int(name) - 1])
        elif name in ("5", "6", "7"):
            self._widen(WIDTHS[int(name) - 5])
        elif (action := action_of(name)) == "edit":
            self._edit()
        elif action == "next" and self._proposal is not None:
            self._at = (self._at + 1) % len(self._proposal.rules)
        self.fit_rows()

    def type(self, name: str, event: events.Key) -> None:
        line = self._line
        if line is None or name == "escape":
            self._line = None
        elif self._asking:
            self.notice = "the core is asked about it"
        elif name == "enter":
            self._take(line.text)
        elif (moved := line.key(name)) is not None:
            self._line = moved
        elif event.is_printable and event.character:
            self._line = line.typed(event.character)
        self.fit_rows()

    def on_paste(self, event: events.Paste) -> None:
        if self._line is None or self._asking or self._gone:
            super().on_paste(event)
            return
        event.stop()
        self._line = self._line.typed(event.text)
        self.redraw()

    def _choose(self, scope: Scope) -> None:
        if scope in self._view.data.scopes:
            self._scope = scope
        else:
            self.notice = (
                NOT_OFFERED if scope == "always" else f"{SCOPES[scope]} is not offered here"
            )

    def _widen(self, width: Width) -> None:
        if why := self._bar(width):
            self.notice = safe_text(why)
        else:
            self._chosen = width

    def _bar(self, width: Width) -> str:
        """Returns the reason the width cannot be chosen; empty where it can."""
        if width == "exact" and self._scope != "always":
            return ""
        if "always" not in self._view.data.scopes:
            return NOT_OFFERED
        return why_no_grant(self._view.data, width)

    def _edit(self) -> None:
        if not self._editable:
            self.notice = NOT_EDITABLE
        elif self._proposal is None:
            self.notice = self._why_none
        else:
            text = self._proposal.rules[self._at].text
            self._line = EditLine(text, len(text))

    def _take(self, text: str) -> None:
        if self._proposal is None:
            return
        try:
            words, more = read_rule(text)
        except ValueError as fault:
            self.notice = safe_text(str(fault))
            return
        rules = list(self._proposal.rules)
        rules[self._at] = msgspec.structs.replace(rules[self._at], words=words, more=more)
        self._propose(tuple(rules))

    def _propose(self, rules: tuple[GrantRule, ...]) -> None:
        self._asking = True
        self.run_worker(self._ask(rules), exclusive=True)

    async def _ask(self, rules: tuple[GrantRule, ...]) -> None:
        try:
            answer = await self._call("propose", request=self._view.id, rules=rules)
            if isinstance(answer, Refusal):
                self._fault(safe_text(answer.message))
            else:
                self._proposal = decoding.convert(answer.ok, GrantProposal)
                self._line = None
        except CoreLost as lost:
            self._fault(str(lost))
        except msgspec.ValidationError as fault:
            self._fault(safe_text(f"the core's answer cannot be read: {fault}"))
        self._asking = False
        self.fit_rows()

    def _fault(self, why: str) -> None:
        """Shows a fault: an edited rule stays as it is; without one it says why there is none."""
        self.notice = why
        if self._proposal is None:
            self._why_none = why
