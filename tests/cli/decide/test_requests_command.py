from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from tests.terminal import Terminal
from watchgate.cli.base.printing import Exit
from watchgate.cli.decide.request_page import print_request

Held = Callable[..., dict[str, Any]]
PAUSE_S = 0.3
"""Longer than what follows a paste at once, which counts as part of it."""

LS_FIELDS = {
    "id", "agent", "session", "lane", "tool", "summary", "risk", "reason", "digest",
    "received_at", "deadline_s",
}  # fmt: skip


def status(cli: Cli, request: dict[str, Any]) -> str:
    found: str = json.loads(cli("show", request["id"], "--json").out)["status"]
    return found


def test_ls_is_one_line_of_json_for_each_request(cli: Cli, held: Held) -> None:
    held()
    held("git reset --hard", "c2")
    lines = cli("ls", "--json").lines
    assert [line["summary"] for line in lines] == ["git push --force", "git reset --hard"]
    assert set(lines[0]) >= LS_FIELDS


def test_ls_for_people_names_the_call(cli: Cli, held: Held) -> None:
    request = held()
    said = cli("ls")
    assert said.code == Exit.DONE
    assert request["id"][:8] in said.out
    assert "git push --force" in said.out


def test_ls_tells_the_beginning_of_a_long_call_and_no_part_of_a_secret(
    cli: Cli, held: Held
) -> None:
    key = "AKIA" + "ABCDEFGH12345678"  # assembled, so that no scanner takes it for a leak
    request = held("git push --force " + "x" * 975 + f" {key} " + "y" * 100_000)
    found = cli("ls")
    (line,) = (each for each in found.out.splitlines() if each.startswith(request["id"][:8]))
    assert "git push --force xxx" in line
    assert line.endswith(f"… (watchgate show {request['id'][:8]})")
    assert "AKIA" not in line
    assert len(line) < 1_200
    (sent,) = cli("ls", "--json").lines
    assert sent["summary"].endswith(f" more characters: watchgate show {request['id'][:8]}")
    assert len(sent["summary"]) < 8_300
    assert "y" * 100_000 in json.loads(cli("show", request["id"], "--json").out)["summary"]


def test_ls_without_requests_or_sessions_says_so(cli: Cli, core: Core) -> None:
    assert cli("ls").out == "nothing pending\n"
    assert cli("ls", "--sessions").out == "no session was seen\n"
    assert cli("ls", "--json").out == ""


def test_ls_sessions(cli: Cli, held: Held) -> None:
    held()
    (session,) = cli("ls", "--sessions", "--json").lines
    assert (session["agent"], session["session"], session["pending"]) == ("claude", "s1", 1)
    assert "app" in cli("ls", "--sessions").out


def test_ls_shows_the_time_that_silence_still_has(cli: Cli, held: Held) -> None:
    request = held()
    head, line = cli("ls").out.splitlines()
    assert head.split()[:3] == ["ID", "LEFT", "AGENT"]
    minutes, seconds = map(int, line.split()[1].split(":"))
    assert 0 < 60 * minutes + seconds <= request["deadline_s"]


def test_ls_covers_secrets_in_json_too(cli: Cli, held: Held) -> None:
    key = "AKIA" + "ABCDEFGH12345678"  # assembled, so that no scanner takes it for a leak
    request = held(f"git push --force && export AWS_ACCESS_KEY_ID={key}")
    assert "git push --force" in request["summary"]
    assert key not in cli("ls", "--json").out
    assert key in cli("show", request["id"], "--json").out


def test_who_asks_in_its_own_terminal_is_named_below_the_requests(
    cli: Cli, asked: Callable[..., tuple[dict[str, Any], socket.socket]]
) -> None:
    asked("Bash", {"command": "git push --force"})
    assert "needs you there" not in cli("ls").out
    assert cli("handback").code == Exit.DONE
    said = cli("ls").out
    assert said.startswith("nothing pending\n")
    assert "app (claude) needs you there: it asks in its own terminal" in said
    (session,) = cli("ls", "--sessions", "--json").lines
    assert session["state"] == "needs you there"


def test_a_decision_without_an_id_is_about_the_only_request_that_waits(
    cli: Cli, held: Held
) -> None:
    none = cli("deny")
    assert none.code == Exit.REFUSED
    assert "nothing pending" in none.err
    first, second = held(), held("git reset --hard", "c2")
    several = cli("deny", "--reason", "no")
    assert several.code == Exit.USAGE
    assert several.err.splitlines()[0] == f"watchgate: {first['id'][:8]}  git push --force"
    assert "2 requests wait, so say which" in several.err
    assert all(each["id"][:8] in several.err for each in (first, second))
    assert cli("deny", first["id"]).code == Exit.DONE
    assert cli("deny", "--json").lines[0]["request"] == second["id"]


def test_show_has_the_whole_request(cli: Cli, held: Held) -> None:
    request = held("git push --force\nrm -rf build")
    (whole,) = cli("show", request["id"], "--json").lines
    assert whole["tool"]["input"] == {"command": "git push --force\nrm -rf build"}
    assert whole["status"] == "pending"
    said = cli("show", request["id"][:4]).out
    for part in ("  git push --force\n", "  rm -rf build\n", request["digest"], "/srv/app"):
        assert part in said


def test_nothing_of_an_agents_text_reaches_the_terminal_as_it_is(cli: Cli, held: Held) -> None:
    request = held("git push --force \x1b]0;owned\x07 \u202e")
    for said in (cli("ls"), cli("show", request["id"])):
        assert "\x1b" not in said.out
        assert "\u202e" not in said.out
        assert "<U+001B>" in said.out


def test_allow_with_the_digest_lets_it_run(cli: Cli, core: Core, held: Held) -> None:
    request = held()
    said = cli("allow", request["id"][:6], "--digest", request["digest"], "--as", "kim")
    assert (said.code, said.out) == (
        Exit.DONE,
        f"#{request['id'][:4]} allowed by program tests (token), signed kim\n",
    )
    (whole,) = cli("show", request["id"], "--json").lines
    assert whole["ended"]["by"] == "program tests (token), signed kim"


def test_a_decision_prints_json_where_asked(cli: Cli, held: Held) -> None:
    request = held()
    said = cli("deny", request["id"], "--reason", "no", "--stop", "--json")
    (line,) = said.lines
    assert (line["request"], line["word"]) == (request["id"], "denied-by-operator")
    assert re.fullmatch(r"operator \w+ \(pid \d+, clear\)", line["by"])


def test_handback_leaves_it_to_the_agent(cli: Cli, held: Held) -> None:
    request = held()
    assert cli("handback", request["id"]).out.endswith("handed back by program tests (token)\n")


def test_the_second_decision_exits_4_and_names_the_first(cli: Cli, held: Held) -> None:
    request = held()
    cli("deny", request["id"], "--as", "kim")
    late = cli("allow", request["id"], "--digest", request["digest"])
    assert (late.code, late.out) == (Exit.TOO_LATE, "")
    assert "already_settled" in late.err
    assert re.search(r"at \d\d:\d\d:\d\d$", late.err.strip())
    assert "kim" in late.err


def test_what_is_refused_exits_1(cli: Cli, held: Held) -> None:
    request = held()
    wrong = cli("allow", request["id"], "--digest", "0" * 64)
    assert (wrong.code, "digest_mismatch" in wrong.err) == (Exit.REFUSED, True)
    digest = ("--digest", request["digest"])
    scope = cli("allow", request["id"], *digest, "--scope", "always")
    assert (scope.code, "not_offered" in scope.err) == (Exit.REFUSED, True)
    for verb in ("show", "deny", "handback"):
        unknown = cli(verb, "zzzzzz")
        assert (unknown.code, "unknown_id" in unknown.err) == (Exit.REFUSED, True)
    assert len(cli("ls", "--json").lines) == 1


def test_a_prefix_that_fits_two_is_not_guessed(cli: Cli, held: Held) -> None:
    held()
    for number in range(2, 12):
        request = held("git reset --hard", f"c{number}")
    assert request["id"].startswith("req1")
    refused = cli("deny", "req1")
    assert refused.code == Exit.REFUSED
    assert "fits" in refused.err


@pytest.mark.parametrize(
    "args",
    [("allow", "req1"), ("allow",), ("allow", "req1", "--scope", "forever")],
)
def test_usage_errors_exit_2(cli: Cli, core: Core, args: tuple[str, ...]) -> None:
    said = cli(*args)
    assert said.code == Exit.USAGE
    assert said.err
    assert said.out == ""


@pytest.mark.parametrize(
    "args",
    [
        ("ls",),
        ("show", "abcd"),
        ("deny", "abcd"),
        ("deny",),
        ("handback",),
        ("allow", "abcd", "--digest", "0"),
        ("allow", "abcd"),
        ("allow",),
        ("answer", "abcd", "1"),
        ("tail",),
    ],
)
def test_without_a_core_it_exits_3_and_says_how_to_start_one(
    cli: Cli, args: tuple[str, ...]
) -> None:
    said = cli(*args)
    assert (said.code, said.out) == (Exit.NO_CORE, "")
    assert "watchgate serve" in said.err


def test_allow_at_a_terminal_shows_the_whole_request_and_asks(cli: Cli, held: Held) -> None:
    request = held("git push --force\nrm -rf build")
    with Terminal("allow", request["id"]) as terminal:
        terminal.wait_for("Type yes")
        for part in ("git push --force", "rm -rf build", request["digest"], "/srv/app"):
            assert part in terminal.seen
        terminal.type("no\n")
        assert terminal.code() == Exit.REFUSED
        assert "still waits" in terminal.seen
    with Terminal("allow", request["id"], "--as", "kim") as terminal:
        terminal.wait_for("Type yes")
        terminal.type("yes\n")
        terminal.wait_for("It is HIGH")
        terminal.wait_for("Type yes again")
        terminal.type("yes\n")
        assert terminal.code() == Exit.DONE
        assert "allowed by operator" in terminal.seen


def test_what_is_typed_ahead_or_pasted_answers_only_one_question(cli: Cli, held: Held) -> None:
    request = held()
    with Terminal("allow", request["id"]) as terminal:
        terminal.wait_for("Type yes")
        terminal.type("yes\nyes\n")
        terminal.wait_for("Type yes again")
        terminal.type("\n")
        assert terminal.code() == Exit.REFUSED
    assert status(cli, request) == "pending"


def test_critical_wants_the_word_by_hand_and_no_paste_counts(cli: Cli, held: Held) -> None:
    request = held("rm -rf /")
    with Terminal("allow", request["id"]) as terminal:
        terminal.wait_for("yes, by hand: ")
        terminal.type("yes")
        terminal.wait_for("a paste does not count")
        time.sleep(PAUSE_S)
        terminal.by_hand("yes", behind="by hand: ")
        assert terminal.code() == Exit.DONE
    assert status(cli, request) == "allowed"


def test_a_critical_call_can_be_denied_or_left_where_it_is_asked_about(
    cli: Cli, held: Held
) -> None:
    request = held("rm -rf /")
    for key, code, becomes in (("\x1b", Exit.REFUSED, "pending"), ("d", Exit.DONE, "denied")):
        with Terminal("allow", request["id"]) as terminal:
            terminal.wait_for("yes, by hand: ")
            terminal.type(key)
            assert terminal.code() == code
        assert status(cli, request) == becomes


def test_a_digest_at_a_terminal_still_asks_about_what_is_high(cli: Cli, held: Held) -> None:
    request = held()
    with Terminal("allow", request["id"], "--digest", request["digest"]) as terminal:
        terminal.wait_for("Type yes again")
        terminal.type("yes\n")
        assert terminal.code() == Exit.DONE


def test_a_request_is_shown_page_by_page_before_anybody_is_asked(cli: Cli, held: Held) -> None:
    request = held("git push --force\n" + "\n".join(f"echo {n}" for n in range(60)))
    with Terminal("allow", request["id"], size=(80, 24)) as terminal:
        terminal.wait_for("Enter shows on")
        assert "echo 59" not in terminal.seen
        terminal.type("q\n")
        assert terminal.code() == Exit.REFUSED
        assert "Type yes" not in terminal.seen
    with Terminal("allow", request["id"], size=(80, 24)) as terminal:
        for pages in range(1, 4):
            terminal.wait_for("Enter shows on", pages)
            terminal.type("\n")
        terminal.wait_for("Type yes")
        assert "echo 59" in terminal.seen


@pytest.mark.parametrize("verb", ["allow", "answer", "handback"])
def test_without_a_terminal_what_runs_needs_a_registered_program(
    cli: Cli, held: Held, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.delenv("WATCHGATE_TOKEN")
    request = held()
    digest = () if verb == "handback" else ("--digest", request["digest"])
    said = cli(verb, request["id"], *digest)
    if verb == "allow":
        assert (said.code, status(cli, request)) == (Exit.USAGE, "pending")
        assert "watchgate token add" in said.err
    assert status(cli, request) != "allowed"


def test_a_token_file_that_others_may_read_is_not_used(
    cli: Cli, held: Held, tmp_path: Path
) -> None:
    request, file = held(), tmp_path / "token"
    file.write_text("t0k\n")
    file.chmod(0o640)
    allow = ("allow", request["id"], "--digest", request["digest"], "--token-file", str(file))
    said = cli(*allow)
    assert (said.code, "chmod 600" in said.err) == (Exit.USAGE, True)
    assert "t0k" not in said.err + said.out
    missing = cli(*allow[:-1], str(tmp_path / "none"))
    assert (missing.code, "no token can be read" in missing.err) == (Exit.USAGE, True)
    assert status(cli, request) == "pending"


def test_the_end_of_input_decides_nothing(cli: Cli, held: Held) -> None:
    request = held()
    with Terminal("allow", request["id"]) as terminal:
        terminal.wait_for("Type yes")
        terminal.type("\x04")
        assert terminal.code() == Exit.REFUSED
        assert "Traceback" not in terminal.seen
    assert json.loads(cli("show", request["id"], "--json").out)["status"] == "pending"


def test_show_says_that_an_agents_own_dialog_is_open_meanwhile(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = {
        **dict.fromkeys(("reason", "rule", "digest", "summary", "status"), "x"),
        "id": "a41f",
        "agent": "claude",
        "risk": "high",
        "lane": "relay",
        "timeout_s": 83.0,
        "tool": {"name": "Bash", "input": {}},
        "silence": "handback",
        "races": True,
    }
    print_request(found)
    assert "silence  handback after 83 s; claude asks as well" in capsys.readouterr().out
