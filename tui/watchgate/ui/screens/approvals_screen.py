"""The approvals: the queue by deadline, and the whole of the request at its cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from watchgate.core.model.views import PendingView, Settled
from watchgate.core.tools.summary import shown_text
from watchgate.ui.base.terminal_shape import SIDEBAR_FROM
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.keymap import Where
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.key_bars import Part
from watchgate.ui.widgets.queue.queue_list import Queue, QueueView
from watchgate.ui.widgets.queue.queue_summary import (
    QueueEmpty,
    QueueEmptyKind,
    QueueEmptyView,
    QueueHead,
    QueueHeadView,
    next_of,
    seconds_left_of,
)
from watchgate.ui.widgets.queue.tiny_queue import TinyQueue
from watchgate.ui.widgets.request.whole_request import WholeRequest


class ApprovalsScreen(Frame):
    """The queue's cursor is the docked request; all of that stands beside the queue, or below.

    There is no dock: decision keys are about the request that `WholeRequest` has drawn.
    """

    where: Where = "approvals"
    tab = "Approvals"
    full_dock = True
    lists_tiny = True
    shows_request = True
    docks = False

    class Chosen(Message):
        """The operator goes to this request."""

        def __init__(self, request: str) -> None:
            super().__init__()
            self.request = request

    class Opened(Message):
        """The operator wants all of the docked request on a page of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = Queue()
        self.head = QueueHead()
        self.request = WholeRequest()
        self.empty = QueueEmpty()
        self.tiny = TinyQueue()
        self._pending: tuple[PendingView, ...] = ()
        self._docked: PendingView | None = None
        self._index = 0
        self._settled: tuple[Settled, ...] = ()
        for part in (self.queue, self.head, self.request, self.tiny):
            part.display = False

    def body(self) -> Iterable[Widget]:
        """The queue beside the request, or a line for it above the request."""
        yield self.queue
        yield Vertical(self.head, self.request, self.empty, self.tiny, id="asked")

    def on_screen_resume(self) -> None:
        self.request.again()

    def show(self, moment: ViewModel) -> None:
        """Shows the moment; a frozen view keeps its settled requests, the deadlines go on."""
        shape = moment.shape
        self._pending, self._docked = tuple(moment.pending), moment.docked
        self._index = moment.index
        if moment.frozen_us is None:
            self._settled = tuple(reversed(moment.state.settled))
        side_by_side = shape.columns >= SIDEBAR_FROM and not shape.tiny
        super().show(moment)
        self.set_class(side_by_side, "-beside")
        self.tiny.display = shape.tiny
        self.queue.display = side_by_side
        self.head.display = not (side_by_side or shape.tiny)
        whole = moment.docked is not None and not shape.tiny
        if whole and not self.request.display:
            self.request.again()  # what stood here instead has reported a card of its own
        self.request.display = whole
        self.empty.display = moment.docked is None and not shape.tiny
        self._show_parts(moment)

    def _show_parts(self, moment: ViewModel) -> None:
        if self.tiny.display:
            self.tiny.show(moment)
            return
        if self.queue.display:
            self.queue.show(self._queue(moment))
        else:
            self.head.show(self._head(moment))
        if self.request.display:
            many = len(self._pending) > 1 and self.queue.display
            place = f"{self._index + 1} of {len(self._pending)}" if many else ""
            self.request.take(moment, place)
        else:
            self.request.none()
            self.empty.show(_empty(moment))

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the words for the order of the queue."""
        lost = super().aside(moment)
        return lost or (("order ", "dim", False), ("deadline", "fg", True))

    def move(self, lines: int) -> None:
        """Moves the queue's cursor, no further than its ends."""
        if self._pending:
            place = min(max(0, self._index + lines), len(self._pending) - 1)
            self._choose(self._pending[place].id)

    def page(self, pages: int) -> None:
        """Scrolls the request."""
        self.request.scroll_pages(pages)

    def enter(self) -> bool:
        """Opens all of the request; the monitor's cursor does not count here."""
        if self._docked is not None:
            self.post_message(self.Opened())
        return True

    @property
    def copied(self) -> str | None:
        """Returns the text to copy: the command, or what else the request is about."""
        view = self._docked
        return shown_text(view.data.tool, view.data.summary) if view is not None else None

    @property
    def items(self) -> int:
        """Returns the number of open requests."""
        return len(self._pending)

    def jumps(self) -> Sequence[Jump]:
        """The requests of the queue that are visible."""
        if not self.queue.display:
            return ()
        x, y = self.queue.region.offset
        return [
            Jump(x, y + line, partial(self._choose, request), of=request)
            for request, line in self.queue.places
        ]

    def on_queue_chosen(self, event: Queue.Chosen) -> None:
        event.stop()
        self._choose(event.request)

    def _choose(self, request: str) -> None:
        self.post_message(self.Chosen(request))

    def _queue(self, moment: ViewModel) -> QueueView:
        return QueueView(
            now_us=moment.now_us,
            pending=self._pending,
            settled=self._settled,
            chosen=moment.docked.id if moment.docked else "",
            marked=moment.marked,
            stale=moment.link.lost,
        )

    def _head(self, moment: ViewModel) -> QueueHeadView:
        following = next_of(self._pending, self._index)
        return QueueHeadView(
            request=moment.docked.id if moment.docked else "",
            place=self._index + 1,
            count=len(self._pending),
            next=following,
            left_s=seconds_left_of(following, moment.now_us),
            marked=len(moment.marked),
            stale=moment.link.lost,
        )


def _empty(moment: ViewModel) -> QueueEmptyView:
    state = moment.state
    last = state.last
    ago_min = (moment.now_us - last.at) // 60_000_000 if last is not None else 0
    return QueueEmptyView(kind=_kind(moment), last=last, ago_min=ago_min, totals=state.totals)


def _kind(moment: ViewModel) -> QueueEmptyKind:
    if moment.link.state == "connecting":
        return "connecting"
    if moment.link.lost:
        return "no-core"
    if moment.context.off:
        return "off"
    return "watching" if moment.state.gate.profile == "watch" else "nothing"
