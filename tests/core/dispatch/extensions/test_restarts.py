from __future__ import annotations

from watchgate.core.dispatch.extensions.restarts import RestartPolicy, Restarts


def test_sy_27_the_pauses_double_up_to_the_longest_and_there_are_three() -> None:
    restarts = Restarts()
    assert [restarts.take(0.0) for _ in range(4)] == [0.25, 0.5, 1.0, None]
    many = Restarts(RestartPolicy(limit=7))
    assert [many.take(0.0) for _ in range(7)][-3:] == [4.0, 5.0, 5.0]


def test_sy_28_a_used_up_budget_stays_so_within_the_window() -> None:
    restarts = Restarts()
    for now_s in (0.0, 100.0, 200.0):
        restarts.take(now_s)
    assert restarts.left(299.9) == 0
    assert restarts.take(299.9) is None


def test_sy_b12_the_counter_is_a_window_and_a_stable_run_gives_it_back() -> None:
    restarts = Restarts()
    for now_s in (0.0, 100.0, 200.0):
        restarts.take(now_s)
    assert restarts.left(300.0) == 1
    restarts.ran(59.9)
    assert restarts.left(300.0) == 1
    restarts.ran(60.0)
    assert restarts.left(300.0) == 3
    assert restarts.take(300.0) == 0.25
    assert restarts.total == 4
