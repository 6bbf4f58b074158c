"""The state of a core that starts: all records of a quiet day, of a busy one the newest.

A day can have a million records, and no gate is answered before this is done. So the totals may be
counted from later than midnight, and say so; how the gate stands is looked for in the whole day.

- The record of an off switch that a core finds in force at its start.
- The usage of the last month, read from the journal when a core starts. Today's records are folded
  into the state before; older ones can be many, so they are read in a thread, and the core does not
  wait for them for long.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, pairwise
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import TaskStatus

from watchgate.core.base.clock import Clock, Instant
from watchgate.core.model.records import COUNTED, CoreData, Record
from watchgate.core.model.views import GateView
from watchgate.core.state.gate_folds import GATE_FOLDS, is_off
from watchgate.core.state.state import State
from watchgate.core.usage.budget import KIND as BUDGET
from watchgate.core.usage.session_usage import MAX_DAYS
from watchgate.core.usage.usage_fold import DAY_US
from watchgate.service.journal import journal_reader
from watchgate.service.journal.recorder import Recorder
from watchgate.service.journal.schema import JournalError
from watchgate.service.search.index_query import records_of_kinds
from watchgate.service.system import off_switch
from watchgate.service.system.error_boundary import contain_each


def off_at_start(path: Path, earlier: GateView, now: Instant) -> CoreData | None:
    """Returns the data of a new core's `policy.off` record; None where the gate is on.

    `earlier` is the gate as the records before this core left it: they say who switched it off,
    unless a core was killed in between.
    """
    switch = off_switch.read_switch(path, now)
    if switch is None:
        return None
    until_us = (switch.until_s or 0) * 1_000_000
    if is_off(earlier, now.wall_us):
        return CoreData(what="the gate is still switched off", until=until_us, name=earlier.off_by)
    return CoreData(
        what="the gate was found switched off", detail="by whom is not on record", until=until_us
    )


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
                contain_each(meanwhile.records, past.apply, _ignore_fault)
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
    first = now_us // DAY_US - MAX_DAYS + 1
    days = range(first, first + MAX_DAYS)
    state = State(max_rows=1)
    starts = journal_reader.firsts(journal, [day * DAY_US for day in (*days, days[-1] + 1)])
    records = records_of_kinds(journal, KINDS, starts[0], to_seq)
    contain_each(records, state.apply, _ignore_fault)
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


def _ignore_fault(_fault: str) -> None:
    """Ignores a record that cannot be read: it is missing in the sums, and nowhere else."""


FOLDED_RECORDS = 20_000
"""The newest records, of which everything is known."""

LOOKED_AT = 200_000
"""Records before those that are gone through for how the gate stands, where no index tells."""

STANDING = ("policy.started", BUDGET, *GATE_FOLDS)


def restored_state(journal: Path, now_us: int, failed: Callable[[str], None]) -> State:
    """Returns the state that today's records make; `failed` gets each fault in folding.

    Raises `JournalError`.
    """
    state = State()
    today_us = now_us // DAY_US * DAY_US
    first, last = journal_reader.in_time(journal, *journal_reader.ends(journal), today_us, None)
    start = max(first, last - FOLDED_RECORDS + 1)
    earlier = records_of_kinds(journal, STANDING, first, start - 1, limit=LOOKED_AT)
    records = chain(earlier, journal_reader.read(journal, start, last))
    # A record that was tampered with must not keep every gate closed until it is repaired.
    contain_each((each for each in records if each.at >= today_us), state.apply, failed)
    if start > first:
        since_us = next((each.at for each in journal_reader.read(journal, start, start)), now_us)
        state.totals = msgspec.structs.replace(state.totals, since=since_us)
    return state
