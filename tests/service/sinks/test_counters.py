from __future__ import annotations

from watchgate.service.sinks.sink import FULL, SinkCounters, SinkTally


def tally() -> SinkTally:
    return SinkTally("[[sink]] 2 (jsonl /x)", "make room")


def test_a_sink_that_delivers_everything_says_nothing() -> None:
    each = tally()
    each.delivered(5)
    assert each.report() is None
    assert each.counters == SinkCounters(sent=5)


def test_trouble_is_told_once_with_its_reason_its_consequence_and_its_mend() -> None:
    each = tally()
    each.failing("disk full")
    each.lose(2, FULL)
    assert each.report() == (
        "[[sink]] 2 (jsonl /x) lost 2 records so far: disk full. Agents are not affected and the "
        "journal has every record; make room"
    )
    assert each.report() is None


def test_that_it_works_again_is_told_with_all_that_was_lost() -> None:
    each = tally()
    each.failing("disk full")
    each.lose(1, FULL)
    each.report()
    each.delivered(1)
    assert each.report() == ("[[sink]] 2 (jsonl /x) works again; it lost 1 record in all")
    assert each.report() is None


def test_trouble_without_loss_says_that_nothing_is_lost() -> None:
    each = tally()
    each.failing("disk full")
    assert "lost nothing so far: disk full" in str(each.report())
    each.delivered(1)
    assert "works again; it lost nothing in all" in str(each.report())


def test_a_queue_that_overflows_is_told_although_the_delivery_works() -> None:
    each = tally()
    each.lose(3, FULL)
    assert "lost 3 records so far: its reader is slower" in str(each.report())


def test_a_loss_is_told_with_its_own_reason_also_when_all_is_well_again() -> None:
    each = tally()
    each.failing("refused")
    each.lose(1, FULL)
    each.delivered(1)
    assert "lost 1 record so far: refused" in str(each.report())


def test_a_report_that_is_lost_itself_does_not_make_the_next_one() -> None:
    each = tally()
    each.failing("disk full")
    told = 0
    for _ in range(1_000):
        if each.report() is not None:
            told += 1
        each.lose(1, FULL)
    assert told < 15


def test_at_the_end_everything_is_told_that_was_not() -> None:
    each = tally()
    each.lose(3, FULL)
    each.report()
    each.lose(1, FULL)
    assert each.report() is None
    assert "lost 4 records" in str(each.report(every=True))
    assert each.report(every=True) is None


def test_what_nobody_wanted_to_hear_is_counted_and_not_told() -> None:
    each = tally()
    each.failing("nobody listens", quiet=True)
    each.lose_quietly(7)
    assert each.report(every=True) is None
    assert each.counters == SinkCounters(dropped=7, why="nobody listens")
    assert each.counters.lost == 7
