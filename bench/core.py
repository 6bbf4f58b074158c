"""The core's CPU per observed event, from the payload's bytes to the journal's file."""

from __future__ import annotations

import argparse
import itertools
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from bench.figures import Beside, Figure, interleaved_medians, report
from bench.payloads import hook_events, lines
from watchgate.agents.agent_facts import traits_in
from watchgate.agents.registry import ADAPTERS
from watchgate.agents.streams.stream_source import Source
from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.config.config import Config
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Event, Lane
from watchgate.core.secrets.redact import journal_json
from watchgate.core.state.state import State
from watchgate.service.hub.hub import Hub
from watchgate.service.hub.interfaces import Loop, PendingReply
from watchgate.service.hub.loop_budget import MAX_ITEMS, PIECE_BYTES
from watchgate.service.identity.agent_processes import AgentProcesses
from watchgate.service.journal.recorder import Recorder
from watchgate.service.journal.writer import Journal
from watchgate.service.policies.policy_files import shipped
from watchgate.service.runners.handler_runner import HandlerRunner, ObserverQueue
from watchgate.service.system.system_clock import SystemClock
from watchgate.service.wire.framing import FrameHead

LIMIT_US = 30.0
EVENTS, BLOCK, BATCH = 9_000, 90, 256
"""`BLOCK` payloads are made at a time, whole turns, so that they are as fresh as from a socket."""

TOGETHER = MAX_ITEMS
"""Frames that a busy core gathers; one that has less to do has time for each."""


def lines_us() -> float:
    """CPU microseconds per event of a stream of lines, cut as the ingest socket cuts it."""
    feed = lines()
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        journal = Journal.open(Path(directory) / "journal.db")
        hub = _hub(journal, judged=False, later=_at_once)
        source, taken_s = Source("bench"), 0.0
        began_s, mine_s = time.process_time(), time.thread_time()
        while hub.recorder.state.seq < EVENTS:
            piece = b""
            while len(piece) < PIECE_BYTES:
                piece += next(feed)
            start_s = time.thread_time()
            for _ in hub.lines(piece, source, _nobody_asks):
                pass
            taken_s += time.thread_time() - start_s
        _written(journal)
        writer_s = time.process_time() - began_s - (time.thread_time() - mine_s)
        count, lost = hub.recorder.state.seq, journal.dropped
        journal.close()
    assert not lost, f"{lost} records lost"
    return (taken_s + writer_s) / count * 1e6


def _nobody_asks() -> PendingReply:
    raise AssertionError("the feed has no requests")


def frames_us(*, judged: bool, together: int) -> float:
    """CPU microseconds per event that comes in a hook frame of its own, so many in one moment.

    Unless `judged`, the policy's word on each call is left out: it is no part of recording.
    """
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        journal = Journal.open(Path(directory) / "journal.db")
        hub = _hub(journal, judged=judged, later=_never)
        conn = PendingReply(0, 0)
        feed = hook_events()
        taken_s = 0.0
        began_s, mine_s = time.process_time(), time.thread_time()
        for _ in range(0, EVENTS, BLOCK):
            frames = [
                (FrameHead(agent="claude", lane=Lane.OBSERVE, length=len(p), native=n), p)
                for n, p in itertools.islice(feed, BLOCK)
            ]
            start_s = time.thread_time()
            for number, (head, payload) in enumerate(frames, 1):
                hub.frame(head, payload, conn)
                if number % together == 0:
                    hub.catch_up()
            hub.catch_up()
            taken_s += time.thread_time() - start_s
        _written(journal)
        writer_s = time.process_time() - began_s - (time.thread_time() - mine_s)
        count, lost = hub.recorder.state.seq, journal.dropped
        journal.close()
    assert (count, lost) == (EVENTS, 0), f"{count} records, {lost} lost"
    return (taken_s + writer_s) / EVENTS * 1e6


def reference_us() -> float:
    """CPU of the least that could be called a store: decode, encode, a row in batches."""
    events = list(itertools.islice(hook_events(), EVENTS))
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        database = sqlite3.connect(Path(directory) / "journal.db", isolation_level=None)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        database.execute("CREATE TABLE record (seq INTEGER PRIMARY KEY, kind TEXT, data TEXT)")
        start_s = time.process_time()
        for at in range(0, EVENTS, BATCH):
            rows = [
                (native, msgspec.json.encode(msgspec.json.decode(payload)).decode())
                for native, payload in events[at : at + BATCH]
            ]
            database.execute("BEGIN")
            database.executemany("INSERT INTO record (kind, data) VALUES (?, ?)", rows)
            database.execute("COMMIT")
        taken_s = time.process_time() - start_s
        database.close()
    return taken_s / EVENTS * 1e6


class _Unjudged(PolicyGate):
    def assess(self, event: Event) -> Assessment | None:  # noqa: ARG002 - as the gate has it
        return None


def _never(call: Callable[[], None]) -> None:
    """The moment is over when the bench says so."""


def _at_once(call: Callable[[], None]) -> None:
    call()


def _hub(journal: Journal, *, judged: bool, later: Callable[[Callable[[], None]], object]) -> Hub:
    config = Config(profile="watch")
    kind = PolicyGate if judged else _Unjudged
    gate = kind(
        config.profile,
        lambda _cwd: shipped(),
        home="/home/alice",
        own=("/home/alice/.watchgate",),
    )
    chain = Chain("bench", START, lambda data: journal_json(data, config.journal.content))
    return Hub(
        engine=Engine(config, gate, ids=itertools.count().__str__, traits=traits_in(ADAPTERS)),
        recorder=Recorder(chain, journal, State(), SystemClock()),
        clock=SystemClock(),
        adapters=ADAPTERS,
        loop=Loop(later=later, soon=lambda call: call(), wake=lambda: None),
        agent_of=lambda _pid: None,
        handler_runner=HandlerRunner({}, ObserverQueue(), SystemClock()),
        askers=AgentProcesses(),
    )


def _written(journal: Journal) -> None:
    """Waits for the writer: its CPU belongs to these events, a core's loop is idle meanwhile."""
    done = threading.Event()
    journal.commit(lambda _ok: done.set())
    done.wait()


def figures(runs: int) -> Iterator[Figure]:
    """What recording an event costs; then what the policy's judgement of the calls adds."""
    cases = [
        lines_us,
        lambda: frames_us(judged=False, together=TOGETHER),
        lambda: frames_us(judged=False, together=1),
        lambda: frames_us(judged=True, together=TOGETHER),
        reference_us,
    ]
    core, frames, alone, judged, reference = interleaved_medians(cases, runs)
    least = Beside("decode, encode and a batched row in SQLite", reference)
    told = f"{EVENTS:,} events, medians of {runs}"
    name = "observed event, from its bytes to the disk, CPU"
    yield Figure(name, core, "us", least, LIMIT_US, f"a stream of lines; {told}", absolute=True)
    note = f"{TOGETHER} in a moment, as a busy core gathers them; {told}"
    name = "observed hook frame, from its bytes to the disk, CPU"
    yield Figure(name, frames, "us", least, LIMIT_US, note, absolute=True)
    note = f"caches are cold each time, and a process start is beside it; {told}"
    yield Figure("observed hook frame that comes alone, CPU", alone, "us", least, None, note)
    added = (judged - frames) * 9 / 4  # four calls in the nine events of a turn
    note = "profile watch only: elsewhere calls are gated, not observed"
    yield Figure("the policy's word on an observed call, CPU", added, "us", note=note)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    return report(figures(parser.parse_args().runs))


if __name__ == "__main__":
    sys.exit(main())
