"""The numbers that a document promises are those of the program, each beside its sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from watchgate import client
from watchgate.client_api import core_dialog
from watchgate.core.base.patterns import allowance, pattern
from watchgate.core.gate import grant_book, operator_decisions, rate_limit, retries
from watchgate.core.model import large_inputs, standing_grant
from watchgate.core.policy.inputs import text_guards
from watchgate.core.policy.rules import load
from watchgate.core.report import report_html
from watchgate.link import paths
from watchgate.service.admission import socket_shares
from watchgate.service.bridges import core_client, tap
from watchgate.service.control import caller, query_verbs
from watchgate.service.history import record_pages
from watchgate.service.hub import ingest
from watchgate.service.identity import presence
from watchgate.service.journal import journal_retention, writer
from watchgate.service.runners import rpc_link
from watchgate.service.sinks import sink, webhook
from watchgate.service.watch.facts import facts_watch
from watchgate.service.wire import framing
from watchgate.ui.approval import arming
from watchgate.ui.fleet import fleet_calls, foreign_records
from watchgate.ui.notifications import notices
from watchgate.ui.source import film, record_source

ROOT = Path(__file__).resolve().parents[2]
MIB = 1024 * 1024
PATH = 103 if sys.platform == "darwin" else 107
PROMISES: list[tuple[str, str, object, object]] = [
    (
        "README.md",
        "until a request has been on screen for 0.6 s",
        operator_decisions.ARMED_AFTER_MS,
        600,
    ),
    ("README.md", "until a request has been on screen for 0.6 s", arming.DRAWN_S, 0.6),
    ("README.md", "within 0.25 s of any other key decides nothing", arming.TYPING_S, 0.25),
    ("README.md", "waits 0.15 s for the core at most", client.OBSERVER_BUDGET_S, 0.15),
    ("docs/python-api.md", "holds you up for 0.15 s at most", core_dialog.REPORT_BUDGET_S, 0.15),
    ("docs/sources.md", "told to the core within 150 ms", core_client.OBSERVER_BUDGET_S, 0.15),
    ("docs/sources.md", "up to 8 MiB wait for a core that is slow", tap.LIMIT_BYTES, 8 * MIB),
    ("docs/protocol.md", "A payload or a line may have 4 MiB", framing.MAX_PAYLOAD_BYTES, 4 * MIB),
    ("docs/protocol.md", "A payload or a line may have 4 MiB", client.PAYLOAD_LIMIT_BYTES, 4 * MIB),
    ("docs/protocol.md", "A connection has 10 s for its first byte", ingest.HEADER_LIMIT_S, 10.0),
    ("docs/protocol.md", "a payload 30 s for its last", socket_shares.LAST_BYTE_S, 30.0),
    ("docs/protocol.md", "A socket's path may have 107 bytes", paths.SOCKET_PATH_MAX_BYTES, PATH),
    ("docs/protocol.md", "An answer ends after half a second", record_pages.LONGEST_S, 0.5),
    ("docs/protocol.md", "half a second, 2,000 records", record_pages.PAGE, 2_000),
    ("docs/protocol.md", "good for 120 `seconds`", presence.CODE_S, 120),
    ("docs/protocol.md", "more than 30 calls or", caller.CALLS_PER_WINDOW, 30),
    ("docs/protocol.md", "30 other records in a tenth", caller.OTHERS_PER_WINDOW, 30),
    ("docs/protocol.md", "in a tenth of a second", caller.WINDOW_US, 100_000),
    ("docs/policy-reference.md", "comes again within five minutes", retries.REMEMBERED_S, 300.0),
    ("docs/policy-reference.md", "A session is paused for 60 s", rate_limit.PAUSE_S, 60.0),
    ("docs/policy-reference.md", "when it has 20 open requests", rate_limit.PENDING_MAX, 20),
    (
        "docs/policy-reference.md",
        "more than 30 of its calls came within",
        rate_limit.QUEUED_A_MINUTE,
        30,
    ),
    ("docs/policy-reference.md", "denied three such new tries", rate_limit.RETRIES_DENIED, 3),
    ("docs/policy-reference.md", "looks at this disk, for 0.3 s at most", facts_watch.LIMIT_S, 0.3),
    (
        "docs/policy-reference.md",
        "hidden characters, over 10,000 characters",
        text_guards.MAX_CHARS,
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
    ("docs/grants.md", "after 15 minutes, or with the session", grant_book._MINUTES_15_S, 900),
    ("docs/grants.md", "not used for 30 days", standing_grant.UNUSED_US, 30 * 86_400 * 1_000_000),
    ("docs/headless.md", "is cut after 8,192 characters", query_verbs.LISTED_CHARS, 8_192),
    ("docs/export.md", "more than 16,000 characters is cut", report_html.CUT_CHARS, 16_000),
    ("docs/extensions.md", "256 calls wait for it", rpc_link.IN_FLIGHT_LIMIT, 256),
    ("docs/extensions.md", "or 8 MiB it did not read", rpc_link.WAITING_LIMIT_BYTES, 8 * MIB),
    ("docs/journal.md", "at the latest 50 ms after", writer.STEADY.flush_s, 0.05),
    ("docs/journal.md", "An input of over 64 KiB is stored once", large_inputs.LARGE_BYTES, 65_536),
    ("docs/journal.md", "Each half minute the core looks", journal_retention.LOOK_EACH_S, 30.0),
    ("docs/sinks.md", "never more than 32 MiB of them", sink.LIMIT_BYTES, 32 * MIB),
    (
        "docs/sinks.md",
        "again after 200 ms and after 400 ms",
        webhook.WebhookTries().pauses_s,
        (0.2, 0.4),
    ),
    ("docs/notifications.md", "a request has 10 seconds left", notices.LAST_S, 10.0),
    ("docs/replay.md", "nothing was recorded for more than 5 s", film.IDLE_S, 5.0),
    ("docs/several-machines.md", "4 and up to 30 seconds", record_source.LONGEST_WAIT_S, 30.0),
    (
        "docs/several-machines.md",
        "more than 5,000 open requests",
        foreign_records.REQUESTS_MAX,
        5_000,
    ),
    ("docs/several-machines.md", "waited for 10 seconds", fleet_calls.ANSWERED_WITHIN_S, 10.0),
]


@pytest.mark.parametrize(("document", "sentence", "value", "promised"), PROMISES)
def test_a_promise_is_kept_to_the_number(
    document: str, sentence: str, value: object, promised: object
) -> None:
    assert sentence in " ".join((ROOT / document).read_text().split())
    assert value == promised
