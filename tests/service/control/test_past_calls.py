"""Before an allow for good is given, the calls that it would have answered are shown."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.core.builders import pre
from tests.core.gate.grants.calls import FOLDER, asked, call, finding, judged, tool
from tests.service.scribe import committed
from watchgate.core.chain.hash_chain import Chain
from watchgate.core.gate.grant_rules import exact_grant, grant_candidate
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Event
from watchgate.core.model.records import Draft
from watchgate.core.model.standing_grant import WIDTHS
from watchgate.core.secrets.redact import Content, journal_json
from watchgate.service.control.decision_verbs import PastCall, past_calls
from watchgate.service.control.decision_verbs import PastCalls as Counted
from watchgate.service.journal.writer import Journal

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


GRANT = grant_candidate(asked(call(BUILD), judged(BUILD)))


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path / "journal.db")


def test_the_newest_come_first_and_all_are_counted(past: Past) -> None:
    for number in range(60):
        past.of(f"{BUILD} {number}")
    past.close()
    found = past_calls(past.path, {"program": GRANT})["program"]
    assert found.past_count == 60
    assert [each.summary for each in found.past[:2]] == [f"{BUILD} 59", f"{BUILD} 58"]
    assert len(found.past) == 50
    newest = PastCall(60_000_000, f"{BUILD} 59", "claude", "one", "r")
    assert found.past[0] == newest


def test_each_width_counts_its_own(past: Past) -> None:
    work = (finding("work.build", effect="ordinary"),)
    for command in (BUILD, BUILD, f"{BUILD} x", "make"):
        past.asked(call(command), judged(command, findings=work))
    past.close()
    request = asked(call(BUILD), judged(BUILD, findings=work))
    grants = {width: grant_candidate(request, width=width) for width in WIDTHS}
    counts = [each.past_count for each in past_calls(past.path, grants).values()]
    assert counts == [2, 3, 4]


def test_one_call_of_a_tool_without_words_is_the_same_by_its_input(past: Past) -> None:
    edit, other = (tool("Edit", "edit", file_path=path) for path in ("a", "b"))
    for each in (edit, edit, other):
        past.asked(pre(each, cwd=FOLDER), judged("Edit"))
    past.close()
    view = exact_grant(asked(pre(edit, cwd=FOLDER), judged("Edit")), "session")
    assert past_calls(past.path, {"exact": view}, edit.input_hash)["exact"].past_count == 2


def test_only_what_the_grant_would_have_answered_counts(past: Past) -> None:
    past.of(BUILD)
    past.of("npm run other")
    past.of(BUILD, "git push")
    past.of(BUILD, cwd="/elsewhere")
    past.of(BUILD, agent="codex")
    past.asked(call(BUILD), judged(BUILD, risk="high"))
    past.asked(call(BUILD), judged(BUILD, findings=(finding("net.upload"),)))
    past.close()
    assert past_calls(past.path, {"program": GRANT})["program"].past_count == 1


def test_the_request_that_is_decided_is_not_of_the_past(past: Past) -> None:
    past.of(BUILD)
    past.asked(call(BUILD), judged(BUILD), GRANT.id)
    past.close()
    assert past_calls(past.path, {"program": GRANT})["program"].past_count == 1


def test_a_journal_that_keeps_no_commands_shows_none(tmp_path: Path) -> None:
    past = Past(tmp_path / "journal.db", "none")
    past.of(BUILD)
    past.close()
    assert past_calls(past.path, {"program": GRANT}) == {"program": Counted()}
