"""The page of a session says what was recorded, and nothing that was not."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import msgspec
import pytest

from tests.core.report.told import NOON_US, Told, edit, shell
from watchgate.core.report.call_view import LINES_OPEN, LINES_SHOWN
from watchgate.core.report.html_page import JournalProof


@pytest.fixture
def told() -> Told:
    told = Told()
    told.add("session.start", native="SessionStart", cwd="/srv/app", mode="plan")
    told.add("prompt.submit", native="UserPromptSubmit", text_chars=214)
    return told


def test_the_head_names_session_agent_folder_model_and_times(told: Told) -> None:
    told.add("usage", native="usage", model="opus-9", total_cost_usd=1.25, input=1_000, output=50)
    page = told.page()
    assert page.of("h1.") + page.of("span.agent") == [" claude"]
    assert page.of("title.") == ["app - claude - watchgate"]
    facts = dict(zip(page.of("dt."), page.of("dd."), strict=False))
    assert facts["session"] == "s1"
    assert facts["folder"] == "/srv/app"
    assert facts["model"] == "opus-9"
    assert facts["mode"] == "plan"
    assert facts["time"] == "Fri 20 Nov 2026, 12:00:00 to 12:00:02 (UTC+00:00), 2.0 s"


def test_the_figures_count_what_became_of_the_calls(told: Told) -> None:
    told.add("usage", native="usage", total_cost_usd=1.25, input=1_000, output=50)
    told.ran("c1", "ls")
    told.ran("c2", "make", ok=False)
    for call, word in (("c3", "allowed-by-operator"), ("c4", "denied-by-operator")):
        told.held(call, shell("git push"))
        told.decided(call, word)
    told.held("c5", shell("git push --force"))
    told.decided("c5", "denied-by-timeout", "nobody", 60)
    told.asked("c6", shell("sudo rm"), "denied", word="denied-by-rule")
    told.add("effect.contradicted", "c6", word="deny", what="rm", alarm="DENIED BUT RAN")
    page = told.page()
    names, figures = page.of("span.name"), page.of("strong.")
    assert dict(zip(names, figures, strict=True)) == {
        "calls": "6", "asked": "3", "allowed": "1", "denied": "2", "alarms": "1", "cost": "$1.25",
    }  # fmt: skip
    about = " / ".join(page.of("span.about"))
    assert "1 failed" in about
    assert "1 by a person, 1 timed out" in about
    assert "answered after 0:14 (median)" in about
    assert "1,000 tokens read, 50 tokens written" in about


def test_a_denial_is_put_down_to_a_rule_only_where_a_rule_denied(told: Told) -> None:
    told.asked("c1", shell("git push -f"), "denied", word="denied-by-rule", rule="team.no-push")
    told.asked("c2", shell("git push -f"), "denied", word="denied-no-journal")
    told.held("c3", shell("git push -f"))
    told.decided("c3", "denied-no-approver", "watchgate", 0)
    assert "1 by rule, 2 with nobody asked" in " / ".join(told.page().of("span.about"))


def test_a_cost_that_nobody_told_is_not_zero(told: Told) -> None:
    told.ran("c1", "ls")
    page = told.page()
    assert page.of("strong.")[-1] == "?"
    assert "not told by the agent" in page.text


def test_a_held_call_tells_why_who_and_after_how_long(told: Told) -> None:
    findings = [
        {"rule": "git.force", "reason": "Rewrites history", "risk": "high", "suggest": "ask"},
        {"rule": "git.push", "reason": "Sends commits", "risk": "medium"},
    ]
    told.held("c1", shell("git push -f"), findings=findings, raised="seen before", silence="deny")
    told.add("approval.facts", "c1", "request-c1", facts=[{"text": "origin/main"}])
    told.add("approval.escalated", "c1", "request-c1", to="ana", waited_s=30)
    told.decided("c1", "denied-by-operator", "operator ana (console 2)", 14)
    page = told.page()
    for words in (
        "Rewrites history", "git.force", "safer: ask", "Sends commits", "raised: seen before",
        "would touch: ", "origin/main", "HIGH; silence means deny after 1:00", "told ana",
        "denied by operator", "operator ana (console 2), waited 0:14",
    ):  # fmt: skip
        assert words in page.text, words
    assert page.of("span.end denied") == ["x denied"] * 2, "in the index and at its place"


def test_a_question_tells_what_was_answered_and_a_sub_agent_is_named(told: Told) -> None:
    told.held("c1", {**shell(""), "cls": "question", "input": {"q": 1}}, asks="question")
    told.records[-2].data["sub"] = {"id": "a1", "type": "explore"}
    given = [["red", "blue"], []]
    told.add("approval.decided", "c1", "request-c1", word="answered-by-operator", by="operator kim",
             waited_s=3, answers=given)  # fmt: skip
    page = told.page()
    assert "for sub-agent explore" in page.text
    assert "operator kim, waited 0:03, red and blue; nothing" in page.text


def test_an_alarm_stands_first_in_the_index(told: Told) -> None:
    told.held("c1", shell("git push"))
    told.decided("c1", "allowed-by-operator")
    told.asked("c2", shell("rm -rf /"), "denied", word="denied-by-rule")
    told.add("effect.contradicted", "c2", word="deny", what="it ran", alarm="DENIED BUT RAN")
    page = told.page()
    index = page.html[page.html.index("<nav>") : page.html.index("</nav>")]
    assert re.findall(r'class="what">([^<]*)', index) == ["rm -rf /", "git push"]
    assert "it ran all the same" in page.text


def test_every_link_leads_to_a_call_of_the_page(told: Told) -> None:
    told.held("c1", shell("git push"))
    told.ran("c2", "ls")
    page = told.page()
    ids = {value for name, value in page.attributes if name == "id"}
    assert {value for name, value in page.attributes if name == "href"} == {f"#{id}" for id in ids}


def test_edits_are_told_line_by_line(told: Told) -> None:
    told.asked("c1", edit("a < b", "a > b"), "handback")
    page = told.page()
    assert page.of("span.del") == ["- a < b\n"]
    assert page.of("span.add") == ["+ a > b\n"]
    assert page.of("code.")[0] == "src/a.py"
    assert "figure" in page.tags


def test_a_long_edit_is_folded_and_a_very_long_one_cut(told: Told) -> None:
    told.asked("c1", edit("a", "b\n" * LINES_OPEN), "handback")
    page = told.page()
    assert "figure" not in page.tags
    assert len(page.of("span.add")) == LINES_OPEN
    told.asked("c2", edit("a", "b\n" * 2 * LINES_SHOWN), "handback")
    page = told.page()
    assert len(page.of("span.add")) == LINES_OPEN + LINES_SHOWN - 1
    assert page.of("p.left") == [f"{LINES_SHOWN + 1} more lines"]


def test_a_command_of_several_lines_keeps_them(told: Told) -> None:
    told.ran("c1", "make\n\tall")
    page = told.page()
    assert page.of("pre.command") == ["make\n\tall"]
    assert page.of("code.what") == ["make\\n\\tall"], "one line of it cannot pass for two words"


def test_hooks_are_folded_away(told: Told) -> None:
    told.asked("c1", shell("ls"), "handback")
    rows = [
        {"handler": "fmt", "role": "gate", "status": "ran", "verdict": "defer", "duration_ms": 3.5},
        {"handler": "lint", "role": "gate", "status": "skipped", "why": "matcher"},
    ]
    told.add("hook.trace", "c1", native="PreToolUse", kind="tool.pre", decision="none",
             took_ms=4.2, rows=rows)  # fmt: skip
    page = told.page()
    assert page.of("summary.") == ["hooks: 1 ran, 4 ms"]
    assert page.of("td.name") == ["fmt", "lint"]
    assert "not for this call" in page.text
    assert ("open", "") not in page.attributes


def test_what_was_not_kept_is_said_to_be_so(told: Told) -> None:
    told.asked("c1", {**shell(""), "input": {}}, "handback", summary="")
    told.records.append(msgspec.structs.replace(told.records[-1], seq=9, kind="tool.post", data={}))
    page = told.page()
    assert page.of("code.what") == ["not kept in the journal"]
    assert "214 characters, not kept" in page.text


def test_what_a_running_core_holds_is_pending_and_without_one_withdrawn(told: Told) -> None:
    told.held("c1", shell("git push"))
    for core, ended in (("core-a", "? pending"), ("core-b", "- withdrawn"), ("", "- withdrawn")):
        assert set(told.page(core=core).of("span.end")) == {ended}, core


def test_a_call_of_a_new_core_is_another_call_though_it_has_the_same_id(told: Told) -> None:
    told.ran("~1", "ls")
    told.of_core("policy.started", what="core started", profile="guard")
    told.ran("~1", "make")
    page = told.page()
    assert page.of("code.what") == ["ls", "make"]
    assert "core started" in page.of("span.kind")


def test_the_gate_that_was_off_is_told_in_its_place(told: Told) -> None:
    told.of_core("policy.off", what="gate off", until=0, name="ana", detail="for 10 min")
    told.ran("c1", "ls")
    assert told.page().of("span.said")[-1] == "for 10 min, ana"


def test_the_proof_names_the_ends_of_the_chain_and_what_the_page_leaves_out(told: Told) -> None:
    told.add("usage", native="usage", input=1)
    page = told.page()
    first, last = told.records[0], told.records[-1]
    assert {first.hash, last.hash} <= set(page.of("code."))
    assert {"record 1 ", "record 3 ", "unbroken"} <= set(page.of("dd."))
    assert "1 usage" in page.text


def test_a_journal_that_is_not_sound_is_said_on_top(told: Told) -> None:
    broken = JournalProof(sound=False, words="record 7 is missing", made_at=NOON_US, program="w")
    page = told.page(broken)
    assert page.of("p.broken") == ["The journal is not sound: record 7 is missing"]
    assert page.html.index("The journal is not sound") < page.html.index('class="figures"')


def test_the_page_loads_nothing_and_runs_nothing(told: Told) -> None:
    told.ran("c1", "curl http://203.0.113.7")
    page = told.page()
    style = page.of("style.")[0]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policies = [value for name, value in page.attributes if name == "content"]
    assert any("default-src 'none'" in each and digest in each for each in policies)
    assert not {"script", "img", "link", "iframe", "object", "form", "base"} & page.tags
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
