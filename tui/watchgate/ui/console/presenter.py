"""The view model of a moment, made from what the console holds."""

from __future__ import annotations

from collections.abc import Callable

from watchgate.core.state.gate_folds import is_off
from watchgate.ui.approval.marking import alike
from watchgate.ui.approval.operator import INTENTS, Operator
from watchgate.ui.base.terminal_shape import TerminalShape
from watchgate.ui.commands.key_registry import footer
from watchgate.ui.console.picture_stack import PictureStack
from watchgate.ui.fleet.fleet_words import off_here
from watchgate.ui.keys.keymap import Context, Keymap, Where, fitted
from watchgate.ui.screens.prompts import Prompts
from watchgate.ui.source.core_bridge import Bridge
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.view_model.dock_state import DockState
from watchgate.ui.view_model.overview import awaits_first_call
from watchgate.ui.view_model.view_model import ViewModel


class Presenter:
    """Makes the view models of one console; `was_shown` says of an id if it was shown in full."""

    def __init__(
        self, options: Options, keymap: Keymap, desk: DockState, was_shown: Callable[[str], bool]
    ) -> None:
        self._options = options
        self._keymap = keymap
        self._desk = desk
        self._was_shown = was_shown

    def moment(
        self,
        bridge: Bridge,
        size: tuple[int, int],
        *,
        where: Where,
        listed: bool,
        items: int,
        stage: PictureStack,
        prompts: Prompts,
        operator: Operator,
    ) -> ViewModel:
        """Returns the view model of this moment.

        Args:
            bridge: The way to what is shown.
            size: The terminal's columns and rows.
            where: The screen that is shown.
            listed: True while the list of sessions has the keys.
            items: Lines of the list of a screen besides the monitor.
            stage: The pictures that are shown.
            prompts: The prompt above the dock, which may be open.
            operator: The arming, and what it was shown.
        """
        demo, replay, marks = stage.demo, stage.view, operator.marks
        state, now_us, desk, options = bridge.state, bridge.now_us(), self._desk, self._options
        pending = state.by_deadline()
        docked, index = desk.look(pending)
        shape = TerminalShape(*size)
        context = Context(
            where=where,
            cells=shape.columns,
            agent=docked.agent if docked else "",
            docked=docked.data if docked else None,
            pending=len(pending),
            rows=len(state.rows),
            traces=len(state.traces.ring),
            lost=bridge.link.lost,
            off=is_off(state.gate, now_us),
            off_here=off_here(state, now_us),
            empty=not len(state.rows) and not awaits_first_call(state),
            offers=bool(desk.offered),
            demo=demo,
            ends_core=stage.ends_core,
            replay=replay is not None,
            paused=replay is not None and (replay.paused or replay.over),
            tiny=shape.tiny,
            frozen=desk.frozen_us is not None,
            filtered=bool(desk.filter),
            marked=len(marks.together(docked.id)) if docked else 0,
            is_marked=docked is not None and docked.id in marks.ids,
            alike=alike(docked, pending) if docked else 0,
            partly_shown=docked is not None and not self._was_shown(docked.id),
            listed=listed,
            locked=desk.locked and bridge is stage.live,
            modest=desk.modest,
            unlocking=prompts.awaits,
            items=items,
            can_start=options.start_core is not None,
            can_log=options.log_lines is not None,
            can_demo=options.open_demo is not None,
        )
        keymap = self._keymap
        return ViewModel(
            state=state,
            link=bridge.link,
            now_us=now_us,
            shape=shape,
            context=context,
            hints=fitted(prompts.hints, shape.columns)
            or keymap.hints(footer(context), context, shape.columns),
            pending=pending,
            docked=docked,
            marked=marks.ids,
            bare=desk.bare,
            reveal=keymap["reveal"].shown,
            index=index,
            note=operator.armed or desk.note,
            frozen_us=desk.frozen_us,
            filter=desk.filter,
            skipped=bridge.skipped,
            demo=demo,
            replay=replay,
            waiting=stage.waiting,
            agents=desk.agents,
            without_core=desk.without_core,
            home=options.home,
            blocked={i: why for i in INTENTS if (why := keymap[i].reason(context))},
        )
