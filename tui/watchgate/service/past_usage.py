"""The usage of the last month, read from the journal when a core starts.

Today's records are folded into the state before; older ones can be many, so they are read in a
thread, and the core does not wait for them for long.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus

from watchgate.core.budget import KIND as BUDGET
from watchgate.core.clock import Clock
from watchgate.core.records import COUNTED, Record
from watchgate.core.state import State
from watchgate.core.usage.fold import DAY_US
from watchgate.core.usage.session import DAYS_KEPT
from watchgate.service.boundary import each_contained
from watchgate.service.journal import reading
from watchgate.service.journal.schema import JournalError
from watchgate.service.recorder import Recorder
from watchgate.service.search.kinds import of_kinds

KINDS = ("policy.started", "session.start", "usage", COUNTED, BUDGET)
WAIT_S = 1.0
MAX_MEANWHILE = 20_000


async def remember_usage(
    recorder: Recorder,
    journal: Path,
    clock: Clock,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Puts the usage of the month into the state; started when that is done, or after a second.

    To be started before anything new is recorded. A journal that cannot be read changes nothing.
    """
    done, state, now_us = anyio.Event(), recorder.state, clock.now().wall_us
    meanwhile = _Meanwhile()
    recorder.watchers.add(meanwhile)
    recorder.remembering = True

    async def read() -> None:
        try:
            past = await anyio.to_thread.run_sync(
                usage_of, journal, now_us, state.seq, abandon_on_cancel=True
            )
        except JournalError:
            pass  # the host has said so already
        else:
            if len(meanwhile.records) < MAX_MEANWHILE:
                each_contained(meanwhile.records, past.apply, _nothing)
                past.usage.note_running(now_us)
                state.usage = past.usage
                state.budgets.clear()
                state.budgets.update(past.budgets)
        finally:
            recorder.remembering = False
            recorder.watchers.discard(meanwhile)
            done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        with anyio.move_on_after(WAIT_S):
            await done.wait()
        task_status.started()


def usage_of(journal: Path, now_us: int, to_seq: int) -> State:
    """Returns a state of the last month's usage up to a record; raises `JournalError`."""
    first = now_us // DAY_US - DAYS_KEPT + 1
    days = range(first, first + DAYS_KEPT)
    state = State(max_rows=1)
    starts = reading.firsts(journal, [day * DAY_US for day in (*days, days[-1] + 1)])
    records = of_kinds(journal, KINDS, starts[0], to_seq)
    each_contained(records, state.apply, _nothing)
    for day, (begins, ends) in zip(days, pairwise(starts), strict=True):
        if begins < ends:
            state.usage.note_running(min(now_us, day * DAY_US + DAY_US // 2))
    return state


class _Meanwhile:
    """The records of usage that come while older ones are read."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def offer(self, record: Record) -> None:
        """Stores a record of usage."""
        if record.kind in KINDS and len(self.records) < MAX_MEANWHILE:
            self.records.append(record)


def _nothing(_fault: str) -> None:
    """Ignores a record that cannot be read: it is missing in the sums, and nowhere else."""
