"""One walk along a journal: what its hashes say, and what it says itself of all that it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain as joined

import msgspec

from watchgate.core import chain
from watchgate.core.anchors import compared
from watchgate.core.chain import Head, Problem, Row, Verdict
from watchgate.core.checkpoints import KIND as CHECKPOINT
from watchgate.core.checkpoints import Checkpoint, before, checkpoint_in, start_problem
from watchgate.core.purges import KIND as PURGED
from watchgate.core.purges import Purges

PROGRESS_ROWS = 10_000

HashOf = Callable[[int], str | None]
"""The hash of a record of the journal, None where it is not there."""

Headed = Callable[[], int | None]
"""The last record that the head file vouches for, None where there is no such file."""

Progress = Callable[[int], None]
"""Told now and then how many records were walked."""


def quiet(_count: int) -> None:
    """Nobody wants to see the progress."""


def unheaded() -> int | None:
    """Nothing stands beside the journal that could vouch for it."""
    return None


class Walked(msgspec.Struct, frozen=True):
    """The verdict of the hashes, then the first record that is gone without leave.

    `missed` is only known where the hashes are whole: what would let it go may stand behind a
    fault.
    """

    verdict: Verdict
    missed: Problem | None


def walk(
    rows: Iterable[Row], hash_of: HashOf, *, headed: Headed = unheaded, progress: Progress = quiet
) -> Walked:
    """Walk the rows of a whole journal, oldest first; one is held at a time.

    Nothing is removed before the head file names the checkpoint, so that a checkpoint behind it was
    added by somebody else. A core that runs writes the file after its rows: it is asked at the end.
    """
    remaining = iter(rows)
    first = next(remaining, None)
    if first is None:
        return Walked(chain.verify(()), None)
    checkpoints: list[Checkpoint] = []
    purges = Purges()

    def passing() -> Iterator[Row]:
        for count, row in enumerate(joined((first,), remaining), 1):
            if count % PROGRESS_ROWS == 0:
                progress(count)
            if row.data is None or row.kind == PURGED:
                purges.see(row)
            elif row.kind == CHECKPOINT and (checkpoint := checkpoint_in(row)):
                checkpoints.append(checkpoint)
            yield row

    verdict = chain.verify(passing(), after=before(first))
    if verdict.problem is not None:
        return Walked(verdict, None)
    vouched = headed()
    sound = [each for each in checkpoints if vouched is None or each.seq <= vouched]
    missed = start_problem(verdict.start, sound, hash_of) or purges.problem()
    newer = 0 if vouched is None else max(0, verdict.head.seq - vouched)
    return Walked(msgspec.structs.replace(verdict, unheaded=newer), missed)


def anchored(verdict: Verdict, anchors: Iterable[Head], hash_of: HashOf) -> Verdict:
    """The verdict held against anchors, as far as it reaches."""
    broken = verdict.problem
    within = [each for each in anchors if broken is None or each.seq < broken.seq]
    comparison = compared(within, verdict.start, verdict.head.seq, hash_of)
    verdict = msgspec.structs.replace(verdict, older=comparison.older)
    return (
        verdict if comparison.problem is None else broken_at(verdict, comparison.problem, hash_of)
    )


def broken_at(verdict: Verdict, problem: Problem, hash_of: HashOf) -> Verdict:
    """The verdict with a problem that the hashes alone do not show; sound is what is before it."""
    last = min(max(problem.seq - 1, verdict.start.seq), verdict.head.seq)
    head = Head(last, hash_of(last) or verdict.start.hash)
    count = last - verdict.start.seq
    return msgspec.structs.replace(verdict, count=count, head=head, problem=problem)
