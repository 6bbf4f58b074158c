"""Committed keys become control requests; answers become one line."""

from __future__ import annotations

import pytest

from tests.ui.requests import ID, NOW, pending
from watchgate.core.model.standing_grant import GrantRule
from watchgate.link.protocol import Refusal, RefusalCode, Request, Result
from watchgate.ui.approval import decision_requests
from watchgate.ui.approval.arming import Commit, Intent
from watchgate.ui.approval.decision_requests import DecisionTerms

SENT = Request(id=7, verb="decide", request=ID, decision="deny")


def test_ap_12_an_allow_pins_what_was_shown() -> None:
    view = pending()
    sent = decision_requests.request(Commit("allow", ID, 1500, confirmed=True), view, 7)
    assert sent == Request(
        id=7,
        verb="decide",
        request=ID,
        digest=view.data.digest,
        decision="allow",
        shown_ms=1500,
        confirmed=True,
    )


def test_an_allow_of_a_question_carries_its_answers() -> None:
    view = pending(asks="question", offered=("answer", "deny", "handback"))
    sent = decision_requests.request(
        Commit("allow", ID, 1500), view, 1, DecisionTerms(answers=(("Redis",), ()))
    )
    assert (sent.decision, sent.digest) == ("answer", view.data.digest)
    assert sent.answers == (("Redis",), ())


@pytest.mark.parametrize(
    ("intent", "decision", "stop"),
    [
        ("deny", "deny", False),
        ("reply", "deny", False),
        ("deny_stop", "deny", True),
        ("handback", "handback", False),
    ],
)
def test_core_11_what_the_other_keys_ask_for(intent: Intent, decision: str, stop: bool) -> None:
    sent = decision_requests.request(
        Commit(intent, ID, 400), pending(), 1, DecisionTerms(reason="use make")
    )
    assert (sent.decision, sent.stop, sent.reason) == (decision, stop, "use make")


def test_an_edited_allow_pins_what_the_preview_showed() -> None:
    terms = DecisionTerms(input={"command": "ls"}, digest="e" * 64)
    sent = decision_requests.request(Commit("allow", ID, 900), pending(), 1, terms)
    assert (sent.digest, sent.input) == ("e" * 64, {"command": "ls"})
    assert decision_requests.answered(sent, Result(id=1), NOW) == "#a41f allowed as edited"


def test_an_allow_that_reaches_further_says_how_it_is_ended() -> None:
    rules = (GrantRule(("npm", "run"), more=True),)
    sent = decision_requests.request(
        Commit("allow", ID, 900), pending(), 1, DecisionTerms(scope="always", rules=rules)
    )
    assert (sent.scope, sent.rules) == ("always", rules)
    told = decision_requests.answered(sent, Result(id=1), NOW)
    assert told == "#a41f allowed, always: watchgate grants revoke a41f ends that"


def test_more_time() -> None:
    sent = decision_requests.request(Commit("more_time", ID, 400), pending(), 1)
    assert (sent.verb, sent.seconds) == ("extend", 60)
    assert decision_requests.answered(sent, Result(id=1), NOW) == "#a41f: 60 s more"


def test_ap_11_a_commit_reaches_no_other_request() -> None:
    with pytest.raises(ValueError, match="decided b7c2"):
        decision_requests.request(Commit("allow", "b7c2", 1500), pending(), 1)


def test_keys_that_only_open_something_are_no_decision() -> None:
    with pytest.raises(ValueError, match="edit decides nothing"):
        decision_requests.request(Commit("edit", ID, 1500), pending(), 1)


def test_what_was_carried_out() -> None:
    assert decision_requests.answered(SENT, Result(id=7), NOW) == "#a41f denied"


@pytest.mark.parametrize(
    ("code", "word", "by", "line"),
    [
        (
            "already_settled",
            "denied-by-operator",
            "operator on console 2",
            "already denied by operator on console 2, 1.2 s ago",
        ),
        ("too_late", "denied-by-timeout", "nobody", "too late: denied by timeout, 1.2 s ago"),
        ("already_settled", "withdrawn", "the agent", "already withdrawn by the agent, 1.2 s ago"),
    ],
)
def test_ap_5_who_was_faster(code: RefusalCode, word: str, by: str, line: str) -> None:
    refusal = Refusal(id=7, refused=code, message="", word=word, by=by, at=NOW - 1_200_000)
    assert decision_requests.answered(SENT, refusal, NOW) == f"#a41f: {line}"


def test_any_other_refusal_speaks_for_itself_made_safe() -> None:
    refusal = Refusal(id=7, refused="digest_mismatch", message="another digest\x1b]0;x")
    assert decision_requests.answered(SENT, refusal, NOW) == "#a41f: another digest<U+001B>]0;x"
