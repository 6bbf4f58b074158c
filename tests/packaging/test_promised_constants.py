"""The numbers that a document promises are those of the program, each beside its sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from watchgate import client
from watchgate.client_api import speaking
from watchgate.core import decisions, pacing, retries
from watchgate.core.grants import book, grant
from watchgate.core.large_inputs import reference
from watchgate.core.patterns import allowance, pattern
from watchgate.core.policy import guards, load
from watchgate.core.report import elements
from watchgate.link import paths
from watchgate.service import framing, history, ingest, ingest_client, shown, tap, thinning
from watchgate.service.admission import door
from watchgate.service.facts import watch
from watchgate.service.identity import unlocking
from watchgate.service.journal import retention, writer
from watchgate.service.runners import rpc_link
from watchgate.service.sinks import waiting, webhook
from watchgate.ui import source
from watchgate.ui.deciding import arming
from watchgate.ui.fleet import calls, reading
from watchgate.ui.replay import film
from watchgate.ui.telling import notices

ROOT = Path(__file__).resolve().parents[2]
MIB = 1024 * 1024
PATH = 103 if sys.platform == "darwin" else 107
PROMISES: list[tuple[str, str, object, object]] = [
    ("README.md", "until a request has been on screen for 0.6 s", decisions.ARMED_AFTER_MS, 600),
    ("README.md", "until a request has been on screen for 0.6 s", arming.DRAWN_S, 0.6),
    ("README.md", "within 0.25 s of any other key decides nothing", arming.TYPING_S, 0.25),
    ("README.md", "waits 0.15 s for the core at most", client.OBSERVER_BUDGET_S, 0.15),
    ("docs/python-api.md", "holds you up for 0.15 s at most", speaking.REPORT_BUDGET_S, 0.15),
    ("docs/sources.md", "told to the core within 150 ms", ingest_client.OBSERVER_BUDGET_S, 0.15),
    ("docs/sources.md", "up to 8 MiB wait for a core that is slow", tap.LIMIT_BYTES, 8 * MIB),
    ("docs/protocol.md", "A payload or a line may have 4 MiB", framing.MAX_PAYLOAD_BYTES, 4 * MIB),
    ("docs/protocol.md", "A payload or a line may have 4 MiB", client.PAYLOAD_LIMIT_BYTES, 4 * MIB),
    ("docs/protocol.md", "A connection has 10 s for its first byte", ingest.HEADER_LIMIT_S, 10.0),
    ("docs/protocol.md", "a payload 30 s for its last", door.LAST_BYTE_S, 30.0),
    ("docs/protocol.md", "A socket's path may have 107 bytes", paths.SOCKET_PATH_MAX_BYTES, PATH),
    ("docs/protocol.md", "An answer ends after half a second", history.LONGEST_S, 0.5),
    ("docs/protocol.md", "half a second, 2,000 records", history.PAGE, 2_000),
    ("docs/protocol.md", "good for 120 `seconds`", unlocking.CODE_S, 120),
    ("docs/protocol.md", "more than 30 calls or", thinning.CALLS_PER_WINDOW, 30),
    ("docs/protocol.md", "30 other records in a tenth", thinning.OTHERS_PER_WINDOW, 30),
    ("docs/protocol.md", "in a tenth of a second", thinning.WINDOW_US, 100_000),
    ("docs/policy-reference.md", "comes again within five minutes", retries.REMEMBERED_S, 300.0),
    ("docs/policy-reference.md", "A session is paused for 60 s", pacing.PAUSE_S, 60.0),
    ("docs/policy-reference.md", "when it has 20 open requests", pacing.PENDING_MAX, 20),
    (
        "docs/policy-reference.md",
        "more than 30 of its calls came within",
        pacing.QUEUED_A_MINUTE,
        30,
    ),
    ("docs/policy-reference.md", "denied three such new tries", pacing.RETRIES_DENIED, 3),
    ("docs/policy-reference.md", "looks at this disk, for 0.3 s at most", watch.LIMIT_S, 0.3),
    (
        "docs/policy-reference.md",
        "hidden characters, over 10,000 characters",
        guards.MAX_CHARS,
        10_000,
    ),
    (
        "docs/policy-reference.md",
        "45 ms of processor time to judge",
        allowance.ALLOWED_NS,
        45_000_000,
    ),
    ("docs/policy-reference.md", "is held against 65,536 characters", pattern.MAX_CHARS, 65_536),
    ("docs/policy-reference.md", "file has 50,000 characters", load.PROJECT_CHARS, 50_000),
    (
        "docs/policy-reference.md",
        "50,000 characters and 100 rules at most",
        load.PROJECT_RULES,
        100,
    ),
    ("docs/grants.md", "after 15 minutes, or with the session", book._MINUTES_15_S, 900),
    ("docs/grants.md", "not used for 30 days", grant.UNUSED_US, 30 * 86_400 * 1_000_000),
    ("docs/headless.md", "is cut after 8,192 characters", shown.LISTED_CHARS, 8_192),
    ("docs/export.md", "more than 16,000 characters is cut", elements.CUT_CHARS, 16_000),
    ("docs/extensions.md", "256 calls wait for it", rpc_link.IN_FLIGHT_LIMIT, 256),
    ("docs/extensions.md", "or 8 MiB it did not read", rpc_link.WAITING_LIMIT_BYTES, 8 * MIB),
    ("docs/journal.md", "at the latest 50 ms after", writer.STEADY.flush_s, 0.05),
    ("docs/journal.md", "An input of over 64 KiB is stored once", reference.LARGE_BYTES, 65_536),
    ("docs/journal.md", "Each half minute the core looks", retention.LOOK_EACH_S, 30.0),
    ("docs/sinks.md", "never more than 32 MiB of them", waiting.LIMIT_BYTES, 32 * MIB),
    ("docs/sinks.md", "again after 200 ms and after 400 ms", webhook.Tries().pauses_s, (0.2, 0.4)),
    ("docs/notifications.md", "a request has 10 seconds left", notices.LAST_S, 10.0),
    ("docs/replay.md", "nothing was recorded for more than 5 s", film.IDLE_S, 5.0),
    ("docs/several-machines.md", "4 and up to 30 seconds", source.LONGEST_WAIT_S, 30.0),
    ("docs/several-machines.md", "more than 5,000 open requests", reading.OPEN_AT_MOST, 5_000),
    ("docs/several-machines.md", "waited for 10 seconds", calls.ANSWERED_WITHIN_S, 10.0),
]


@pytest.mark.parametrize(("document", "sentence", "value", "promised"), PROMISES)
def test_a_promise_is_kept_to_the_number(
    document: str, sentence: str, value: object, promised: object
) -> None:
    assert sentence in " ".join((ROOT / document).read_text().split())
    assert value == promised
