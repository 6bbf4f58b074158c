"""Handlers for the messages of the console's parts, and the report of a crash.

The parts answer prompts, choose rows and draw frames. After a crash Textual would print the local
variables of every frame: whole commands with their secrets, and whatever characters came with them.
The place and the reason of the failure are enough.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import App

from watchgate.core.model.agent_state import WITHOUT_CORE
from watchgate.ui.approval.decision_requests import DecisionTerms
from watchgate.ui.approval.operator import Operator
from watchgate.ui.base.formats import covered
from watchgate.ui.console.unlocking import Unlocking
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.keys.waiting_keys import WaitingKeys
from watchgate.ui.screens.monitor_screen import MonitorScreen
from watchgate.ui.screens.pages import Pages
from watchgate.ui.screens.prompts import Prompts
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.view_model.dock_state import DockState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from watchgate.core.model.views import PendingView
    from watchgate.ui.approval.arming import Ask, Commit
    from watchgate.ui.screens.approvals_screen import ApprovalsScreen
    from watchgate.ui.widgets.calls.call_table import Keep, RingTable
    from watchgate.ui.widgets.command_list import CommandList
    from watchgate.ui.widgets.dock import Dock
    from watchgate.ui.widgets.prompts.confirm_prompts import WordPrompt, YesPrompt
    from watchgate.ui.widgets.prompts.filter_bar import FilterBar
    from watchgate.ui.widgets.prompts.jump_prompt import JumpPrompt
    from watchgate.ui.widgets.prompts.prompt import KeyPassed, Prompt
    from watchgate.ui.widgets.prompts.sheet_prompt import SheetPrompt
    from watchgate.ui.widgets.prompts.typed_prompts import AnswerPrompt, ReplyPrompt, TypedPrompt
    from watchgate.ui.widgets.prompts.unlock_prompts import AwaitingPrompt, ProofPrompt
    from watchgate.ui.widgets.request.request_detail import Detail
    from watchgate.ui.widgets.request.whole_request import WholeRequest
    from watchgate.ui.widgets.session.session_list import Sessions


CRASHED = (
    "watchgate: the console crashed, which is a fault of its own: please report the lines above"
)


class Crashing(App[str], inherit_bindings=False):
    """An app that reports its own crash once the terminal is as it was before."""

    options: Options

    def _fatal_error(self) -> None:
        if self._exception is not None and not self._exit_renderables:
            self._exit_renderables.append(Text(report(self._exception, self.options)))
        self._close_messages_no_wait()


def report(error: BaseException, options: Options) -> str:
    """Returns the traceback of a failure, and last what goes on without the console."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    lines = [covered(line) for line in trace.split("\n")]
    return "\n".join([*lines, f"{CRASHED}; {_after(options)}"])


def _after(options: Options) -> str:
    if options.demo:
        return "the demo leaves nothing behind"
    if options.hosted:
        calls = WITHOUT_CORE["unknown"]
        return f"its core ended with it: {calls} until `watchgate` runs again"
    return "the core goes on, `watchgate` attaches again"


class Answers(Crashing, inherit_bindings=False):
    """The handlers of the parts' messages; the console itself adds what they call."""

    desk: DockState
    monitor: MonitorScreen
    operator: Operator
    pages: Pages
    prompts: Prompts
    unlocking: Unlocking
    waiting_keys: WaitingKeys

    def say(self, text: str, seconds: float = 4.0, *, docked: bool = False) -> None:
        """Shows the operator a sentence; about the `docked` request, as long as it is docked."""
        raise NotImplementedError

    def perform(self, action: str) -> None:
        """Does an action of the keymap, or says why it cannot be done now."""
        raise NotImplementedError

    def wake(self) -> None:
        """Shows at once what should not wait."""
        raise NotImplementedError

    def set_filter(self, text: str, keep: Keep | None) -> None:
        """Shows only the calls that `keep` wants; None shows all again."""
        self.desk.filter = text
        self.monitor.table.keep(keep)
        self.wake()

    def ask_yes(self, ask: Ask, view: PendingView) -> None:
        """Opens the prompt that reads a typed yes."""
        self.prompts.ask_yes(ask, view, lambda: self.operator.drawn_id)

    def ask_reply(self, commit: Commit, view: PendingView) -> None:
        """Opens the prompt that reads the reply to the model."""
        self.prompts.ask_reply(commit, view)

    def ask_answer(self, commit: Commit, view: PendingView) -> None:
        """Opens the prompt that reads the answers to an agent's questions."""
        self.prompts.ask_answer(commit, view)

    def ask_grant(self, view: PendingView) -> None:
        """Opens the prompt that allows more than once."""
        bridge = self.operator.bridge
        self.prompts.ask_grant(view, bridge.call, bridge.now_us)

    def ask_edit(self, view: PendingView) -> None:
        """Opens the editor of a call, if it is not too long for one."""
        from watchgate.core.tools.edited_text import EDITABLE_CHARS, editable

        if editable(view.data.tool) is None:
            reply = f"{key_for('reply')} denies and says what to do"
            self.say(f"longer than {EDITABLE_CHARS} characters: {reply}")
        else:
            self.prompts.ask_edit(view, self.operator.bridge.call, bare=self.desk.bare)

    def ask_batch(self, views: Sequence[PendingView]) -> None:
        """Opens the list of what is to be allowed together."""
        self.prompts.ask_batch(views)

    def on_key_passed(self, event: KeyPassed) -> None:
        """Takes a key that came while a prompt was closing, and is not meant for it."""
        self.waiting_keys.press(event.key)

    def leave_prompt(self, prompt: Prompt) -> None:
        """Closes this prompt, unless another was opened meanwhile."""
        if self.prompts.has(prompt):
            self._leave_prompt()

    def _leave_prompt(self) -> None:
        self.prompts.close()
        self.operator.typed()

    def ask_unlock(self, request: str) -> None:
        """Opens what unlocks this terminal, about a request that it may not allow."""
        self.unlocking.refused(request)

    def on_proof_prompt_typed(self, event: ProofPrompt.Typed) -> None:
        self.unlocking.typed(event.text, masked=event.masked)

    def on_proof_prompt_left(self, event: ProofPrompt.Left) -> None:
        self._leave_prompt()
        self.say("nothing was unlocked")

    def on_awaiting_prompt_left(self, event: AwaitingPrompt.Left) -> None:
        self._leave_prompt()
        self.say("nothing was unlocked")

    def on_sheet_prompt_decided(self, event: SheetPrompt.Decided) -> None:
        self._leave_prompt()
        self.operator.send_all(event.decisions, event.terms)

    def on_sheet_prompt_left(self, event: SheetPrompt.Left) -> None:
        self._leave_prompt()

    def on_yes_prompt_decided(self, event: YesPrompt.Decided) -> None:
        self._leave_prompt()
        self.operator.commit(event.commit)

    def on_yes_prompt_left(self, event: YesPrompt.Left) -> None:
        self._leave_prompt()
        self.say(event.why or "nothing was decided")

    def on_reply_prompt_replied(self, event: ReplyPrompt.Replied) -> None:
        self._leave_prompt()
        self.operator.send(event.commit, event.view, DecisionTerms(reason=event.text))

    def on_answer_prompt_answered(self, event: AnswerPrompt.Answered) -> None:
        self._leave_prompt()
        self.operator.send(event.commit, event.view, DecisionTerms(answers=event.answers))

    def on_typed_prompt_left(self, event: TypedPrompt.Left) -> None:
        self._leave_prompt()

    def on_jump_prompt_left(self, event: JumpPrompt.Left) -> None:
        self._leave_prompt()
        if event.go is not None:
            event.go()
            self.wake()

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        if self.pages.top.narrow(event.text):
            self.wake()
        else:
            self.set_filter(event.text, event.keep)

    def on_filter_bar_left(self, event: FilterBar.Left) -> None:
        self._leave_prompt()

    def on_detail_all_shown(self, event: Detail.AllShown) -> None:
        self.operator.shown_whole(event.request)

    def on_word_prompt_answered(self, event: WordPrompt.Answered) -> None:
        self.operator.typed()
        self.prompts.word_answered(yes=event.yes)

    def on_command_list_chosen(self, event: CommandList.Chosen) -> None:
        self.operator.typed()
        self.pages.close()
        # Once the list is closed, which covers what it is about.
        self.waiting_keys.press(event.action)

    def on_command_list_left(self, event: CommandList.Left) -> None:
        self.operator.typed()
        self.pages.close()

    def on_dock_drawn(self, event: Dock.Drawn) -> None:
        self.operator.drawn(event.card)

    def on_approvals_screen_chosen(self, event: ApprovalsScreen.Chosen) -> None:
        if self.prompts.takes_keys:
            # What is typed there decides about the request that stands above it.
            self.say("leave what is open below first: Esc")
            return
        self.desk.dock(event.request)
        self.wake()

    def on_approvals_screen_opened(self, event: ApprovalsScreen.Opened) -> None:
        self.perform("view")

    def on_whole_request_drawn(self, event: WholeRequest.Drawn) -> None:
        self.operator.drawn(event.card)

    def on_sessions_opened(self, event: Sessions.Opened) -> None:
        from watchgate.core.filters.filter_parser import Term

        self.monitor.leave_sessions()
        self.set_filter(str(Term("session", event.label)), lambda row: row.label == event.label)

    def on_ring_table_moved(self, event: RingTable.Moved) -> None:
        self.wake()
