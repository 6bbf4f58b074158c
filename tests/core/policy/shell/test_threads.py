"""Shell texts are read in threads too: one reading never meets another's parser."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from watchgate.core.policy.judging.command_finder import commands

THREADS = 4
TEXTS = [f"echo {number} && " + "cat a | grep 'b c' > d; " * 100 for number in range(40)]


def test_texts_read_in_several_threads_at_once_are_read_as_in_one() -> None:
    read = commands.__wrapped__
    alone = [read(text) for text in TEXTS]
    together = Barrier(THREADS)

    def all_of_them(_thread: int) -> bool:
        together.wait(60)
        return [read(text) for text in TEXTS] == alone

    with ThreadPoolExecutor(THREADS) as threads:
        assert all(threads.map(all_of_them, range(THREADS)))
