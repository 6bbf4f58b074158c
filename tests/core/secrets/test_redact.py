"""What the journal keeps: no secrets, and of a record only what the configuration says."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.model.assessment import Finding
from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, EffectData, NoteData, RequestData, ResultData
from watchgate.core.secrets.redact import Content, journal_json, redact, redacted_span
from watchgate.core.secrets.secret_finder import marked, secrets

# Assembled, so that no scanner takes this file for a leak.
AWS = "AKIA" + "ABCDEFGH12345678"
GITHUB = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"aws s3 ls --key {AWS}", "aws s3 ls --key <aws-key, 20 chars>"),
        (f"git clone {GITHUB}", "git clone <github-token, 40 chars>"),
        ("x github_pat_" + "A" * 30, "x <github-token, 41 chars>"),
        ("glpat-" + "a" * 20, "<gitlab-token, 26 chars>"),
        ("xoxb-" + "1" * 12, "<slack-token, 17 chars>"),
        ("sk_live_" + "a" * 24, "<stripe-key, 32 chars>"),
        ("npm_" + "b" * 36, "<npm-token, 40 chars>"),
        ("pypi-AgEI" + "c" * 60, "<pypi-token, 69 chars>"),
        ("AIza" + "d" * 35, "<google-key, 39 chars>"),
        ("sk-ant-api03-" + "e" * 20, "<anthropic-key, 33 chars>"),
        ("sk-proj-" + "f" * 40, "<openai-key, 48 chars>"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "<jwt, 30 chars>"),
        (
            "curl -H 'Authorization: Bearer abcdef123' x",
            "curl -H 'Authorization: Bearer <authorization, 9 chars>' x",
        ),
        ("git clone https://u:hunter2@h/x", "git clone https://u:<url-password, 7 chars>@h/x"),
        ("login --password=hunter22", "login --password=<password, 8 chars>"),
        ("DB_PASSWORD='hunter22' ./run", "DB_PASSWORD='<password, 8 chars>' ./run"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb",
            "a\n<private-key, 65 chars>\nb",
        ),
        ("-----BEGIN PRIVATE KEY-----\n" + "A1b/" * 16, "<private-key, 92 chars>"),
        ("hf_" + "a" * 34, "<huggingface-token, 37 chars>"),
        ("dop_v1_" + "a1" * 32, "<digitalocean-token, 71 chars>"),
        ("SG." + "a" * 22 + "." + "b" * 43, "<sendgrid-key, 69 chars>"),
        ("hvs." + "c" * 24, "<vault-token, 28 chars>"),
        ("AGE-SECRET-KEY-1" + "Q" * 58, "<age-key, 74 chars>"),
        ("AccountName=x;AccountKey=" + "d" * 40, "AccountName=x;AccountKey=<azure-key, 40 chars>"),
        (
            "curl https://hooks.slack.com/services/T000/B000/" + "x" * 24,
            "curl https://hooks.slack.com/services/<slack-webhook, 34 chars>",
        ),
        ("curl -H 'X-Api-Key: abc12345'", "curl -H 'X-Api-Key: <api-key, 8 chars>'"),
        ("AWS_SECRET_ACCESS_KEY=abc/def123 x", "AWS_SECRET_ACCESS_KEY=<password, 10 chars> x"),
    ],
)
def test_a_secret_is_replaced_by_what_it_is(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "git commit -m 'add token refresh'",
        "TOKEN=$(pass show x)",
        'PASSWORD="$PW" ./run',
        "https://example.org:8080/a@b",
        "task-management-service-deployment",
        "cat .env",
        "deadbeef" * 8,
        "pytest -k secrets",
        "curl -H 'Authorization: Bearer $TOKEN'",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "TOKEN=`reboot`",
        "DB_PASSWORD=$(reboot;reboot)",
        "git clone https://u:`reboot`@h/x",
        "git clone https://u:$(reboot)@h/x",
        "curl -H Authorization:Bearer;reboot",
        "--token=public&reboot>reboot",
    ],
)
def test_what_a_shell_would_run_is_never_taken_for_a_secret(text: str) -> None:
    assert redact(text).count("reboot") == text.count("reboot")


@pytest.mark.parametrize(
    "inside", ["; rm -rf /\n", "\nrm -rf /\n", "\n/usr/bin/env sh -c reboot\n", "\n$(reboot)\n"]
)
def test_no_command_hides_between_the_marks_of_a_key(inside: str) -> None:
    text = f"echo -----BEGIN PRIVATE KEY-----{inside}-----END PRIVATE KEY-----"
    assert inside.strip() in redact(text)


def test_a_secret_does_not_cover_up_a_character_that_nobody_can_see() -> None:
    assert "\u200b" in redact("--password=hunter\u200b22")


def test_a_value_that_is_a_word_of_its_own_is_redacted_too() -> None:
    data = {"segments": [{"words": ["curl", "--token", "hunter22", "x"]}], "summary": AWS}
    (segment,) = journal_view(data, "full")["segments"]
    assert segment["words"] == ["curl", "--token", "<password, 8 chars>", "x"]


SECRETS = (
    "gh[pousr]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|npm_[A-Za-z0-9]{30}",
    "[rs]k_(live|test)_[A-Za-z0-9]{10}|sk-ant-[a-z-]{16}|sk-(proj-|svcacct-)?[a-z-]{20}",
    "glpat-[a-z-]{16}|xox[abeoprs]-[A-Za-z0-9-]{10}|pypi-AgE[a-z-]{30}",
    "(AKIA|ASIA)[0-9A-Z]{16}|AIza[a-z-]{35}|eyJ[a-z]{8}[.][a-z]{8}[.][a-z]",
    "(?i:authorization) ?: ?(?i:bearer|basic|token) [a-z]{6}|https://[a-z]*:[a-z]+@h",
    "--(db-)?(?i:password|passwd|token|secret|api-?key)[= ][a-z]{6}",
    "(DB_)?(?i:password|passwd|token|secret|api_?key)=[a-z]{6}",
    "-----BEGIN (RSA |EC )?PRIVATE KEY-----\nMII",
)


@given(
    st.sampled_from(SECRETS).flatmap(lambda shape: st.from_regex(shape, fullmatch=True)),
    st.sampled_from(["", " ", "\n", "\x1f", '"', "\\", "é "]),
)
def test_a_secret_is_seen_in_the_data_of_a_record_as_it_is_in_its_text(
    secret: str, before: str
) -> None:
    assert secrets(before + secret)
    assert marked({"command": [before + secret, "x"]})


@given(st.text())
def test_redaction_is_stable(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    ("span", "piece"),
    [
        ((0, 4), "curl"),
        ((26, 33), "| sh -x"),
        ((0, 26), "curl <aws-key, 20 chars> "),
        ((7, 9), "<aws-key, 20 chars>"),
        ((5, 25), "<aws-key, 20 chars>"),
    ],
)
def test_the_span_that_caused_a_risk_is_never_hidden(span: tuple[int, int], piece: str) -> None:
    text = f"curl {AWS} | sh -x"
    start, end = redacted_span(text, span)
    assert redact(text)[start:end] == piece


TOOL = Tool("Bash", "Bash", "shell", {"command": f"echo {AWS} | sh"}, "hash", "t1")


def built(data: Any) -> dict[str, Any]:
    made = msgspec.to_builtins(data)
    assert isinstance(made, dict)
    return made


def journal_view(data: dict[str, Any], content: Content) -> dict[str, Any]:
    view: dict[str, Any] = msgspec.json.decode(journal_json(data, content))
    return view


def call() -> dict[str, Any]:
    return built(
        CallData(native="PreToolUse", lane="gate", tool=TOOL, summary="echo x", gate="held")
    )


def result() -> dict[str, Any]:
    return built(
        ResultData(native="PostToolUse", tool=TOOL, summary="echo", ok=True, result="12345")
    )


def test_commands_keeps_what_was_done_and_drops_what_was_said() -> None:
    view = journal_view(call(), "commands")
    assert view["tool"]["input"] == {"command": "echo <aws-key, 20 chars> | sh"}
    assert view["summary"] == "echo x"
    view = journal_view(result(), "commands")
    assert "result" not in view
    assert view["result_chars"] == 5
    view = journal_view(built(NoteData(native="UserPromptSubmit", text="hello")), "commands")
    assert view == {"native": "UserPromptSubmit", "text_chars": 5}


def test_an_input_that_happens_to_be_called_text_is_kept() -> None:
    data = {"native": "x", "tool": {"name": "mcp__a__b", "input": {"text": "hi", "raw": "r"}}}
    assert journal_view(data, "commands") == data


def test_none_keeps_digests_and_the_tools_name_only() -> None:
    view = journal_view(call(), "none")
    assert view["tool"]["input"] == {}
    assert view["tool"]["input_bytes"] == len(msgspec.json.encode(TOOL.input))
    assert view["tool"]["input_hash"] == "hash"
    assert view["summary"] == "Bash"
    assert AWS not in repr(view)
    ran = EffectData(word="denied-by-operator", what="rm -rf x", alarm="DENIED BUT RAN")
    view = journal_view(built(ran), "none")
    assert "rm -rf" not in repr(view)
    assert view["alarm"] == "DENIED BUT RAN"


def test_full_keeps_everything_but_secrets() -> None:
    view = journal_view(result(), "full")
    assert view["result"] == "12345"
    assert AWS not in repr(view)


@pytest.mark.parametrize("content", ["commands", "full", "none"])
def test_what_is_kept_can_be_read_as_the_same_record_again(content: Any) -> None:
    for data, kind in ((call(), CallData), (result(), ResultData)):
        msgspec.convert(journal_view(data, content), kind)


def request(summary: str) -> dict[str, Any]:
    finding = Finding("net.x", "Runs code", "critical", (26, 30), 2)
    return built(
        RequestData(
            digest="d" * 64,
            lane="gate",
            native="PreToolUse",
            tool=TOOL,
            summary=summary,
            risk="critical",
            rule="net.x",
            reason="Runs code",
            findings=(finding,),
        )
    )


def test_marks_move_with_the_redacted_command() -> None:
    view = journal_view(request(f"echo {AWS} | sh"), "commands")
    start, end = view["findings"][0]["span"]
    assert view["summary"][start:end] == "| sh"
    assert view["digest"] == "d" * 64


def test_without_the_command_there_is_nothing_to_mark() -> None:
    view = journal_view(request("rm -rf x"), "none")
    assert view["findings"] == [
        {"rule": "net.x", "reason": "Runs code", "risk": "critical", "segment": 2}
    ]


def test_the_given_data_is_left_alone() -> None:
    data = call()
    before = msgspec.json.encode(data)
    journal_view(data, "none")
    assert msgspec.json.encode(data) == before


def test_without_content_the_words_of_handlers_are_not_kept() -> None:
    trace = {"native": "PreToolUse", "decided_by": "guard", "reason": "it says rm", "rows": []}
    call = {"native": "PreToolUse", "rule": "handler guard", "reason": "it says rm"}
    for data in (trace, call):
        kept = msgspec.json.decode(journal_json(data, "none"))
        assert "reason" not in kept
        assert kept["reason_chars"] == 10


def test_segments_move_with_the_command_and_go_with_it() -> None:
    data = request(f"echo {AWS} | sh")
    data["segments"] = [{"number": 2, "span": [28, 30], "words": ["sh"]}]
    (kept,) = journal_view(data, "commands")["segments"]
    assert journal_view(data, "commands")["summary"][kept["span"][0] : kept["span"][1]] == "sh"
    view = journal_view(data, "none")
    assert (view["segments_count"], "segments" in view) == (1, False)


def test_without_content_nothing_quotes_a_call() -> None:
    quoted = "One level higher: denied 9 s ago as rm -rf x"
    data = request("rm -rf x")
    data |= {"raised": quoted, "reason": quoted, "before": {"command": "rm -rf x"}}
    data["findings"] = [{"rule": "policy.retry", "reason": quoted, "risk": "critical"}]
    facts = {"facts": [{"text": "deletes rm -rf x"}]}
    for each in (data, facts):
        assert "rm -rf" not in bytes(journal_json(each, "none")).decode()
