"""Before an allow for good is given, the calls that it would have answered are shown."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.core.grants.calls import asked, call, finding, judged
from tests.service.scribe import committed
from watchgate.core.chain import Chain
from watchgate.core.events import Event
from watchgate.core.grants.candidate import candidate
from watchgate.core.policy.assessment import Assessment
from watchgate.core.records import Draft
from watchgate.core.redact import Content, journal_json
from watchgate.service.journal.writer import Journal
from watchgate.service.past_calls import past_calls

BUILD = "npm run build"


class Past:
    """A journal of requests, as a core writes it."""

    def __init__(self, path: Path, content: Content = "commands") -> None:
        self.path = path
        self.journal = Journal.open(path)
        self.chain = Chain("core-a", self.journal.head, lambda data: journal_json(data, content))

    def asked(self, event: Event, found: Assessment, request: str = "r") -> None:
        data = msgspec.to_builtins(asked(event, found).data)
        at = (self.chain.seq + 1) * 1_000_000
        draft = Draft(
            kind="approval.requested",
            at=at,
            data=data,
            agent=event.agent,
            session=event.session,
            request=request,
        )
        self.journal.append(self.chain.seal(draft)[1])

    def of(self, *commands: str, **fields: str) -> None:
        self.asked(call(*commands, **fields), judged(*commands))

    def close(self) -> None:
        assert committed(self.journal)
        self.journal.close()


GRANT = candidate(asked(call(BUILD), judged(BUILD)))


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path / "journal.db")


def test_the_newest_come_first_and_all_are_counted(past: Past) -> None:
    for number in range(60):
        past.of(f"{BUILD} {number}")
    past.close()
    found = past_calls(past.path, GRANT)
    assert found["past_count"] == 60
    assert [each["summary"] for each in found["past"][:2]] == [f"{BUILD} 59", f"{BUILD} 58"]
    assert len(found["past"]) == 50
    assert found["past"][0] == {
        "at": 60_000_000,
        "summary": f"{BUILD} 59",
        "agent": "claude",
        "session": "one",
        "request": "r",
    }


def test_only_what_the_grant_would_have_answered_counts(past: Past) -> None:
    past.of(BUILD)
    past.of("npm run other")
    past.of(BUILD, "git push")
    past.of(BUILD, cwd="/elsewhere")
    past.of(BUILD, agent="codex")
    past.asked(call(BUILD), judged(BUILD, risk="high"))
    past.asked(call(BUILD), judged(BUILD, findings=(finding("net.upload"),)))
    past.close()
    assert past_calls(past.path, GRANT)["past_count"] == 1


def test_the_request_that_is_decided_is_not_of_the_past(past: Past) -> None:
    past.of(BUILD)
    past.asked(call(BUILD), judged(BUILD), GRANT.id)
    past.close()
    assert past_calls(past.path, GRANT)["past_count"] == 1


def test_a_journal_that_keeps_no_commands_shows_none(tmp_path: Path) -> None:
    past = Past(tmp_path / "journal.db", "none")
    past.of(BUILD)
    past.close()
    assert past_calls(past.path, GRANT) == {"past": [], "past_count": 0}
