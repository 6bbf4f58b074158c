"""The installed command line: what it runs, and what becomes of every failure."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.client.fake_core import answering, listening
from watchgate.agents.base import HookEntry
from watchgate.agents.registry import adapter
from watchgate.core.model.events import Lane
from watchgate.service.setup.forms.guarded_command import (
    PASSED,
    HookClient,
    denies_on_failure,
    hook_command,
    is_our_command,
    parse_command,
    status_line_command,
)

STAND_IN = """
import json, os, signal, sys
sys.stdout.write(json.dumps([sys.argv[1:], sys.stdin.read()]))
sys.stderr.write("words")
sys.stdout.flush(); sys.stderr.flush()
act = {act!r}
if act == "die": os.kill(os.getpid(), signal.SIGKILL)
sys.exit(act)
"""
GATE = HookEntry(event="PreToolUse", lane=Lane.GATE, timeout_s=86_400)
READ = HookEntry(event="PreToolUse", lane=Lane.GATE_READ, timeout_s=86_400)
RELAY = HookEntry(event="PermissionRequest", lane=Lane.RELAY, timeout_s=9)
OBSERVE = HookEntry(event="Stop", lane=Lane.OBSERVE, timeout_s=9)
OPEN = [(READ, "guard"), (RELAY, "guard"), (RELAY, "strict"), (OBSERVE, "strict")]
CLOSED = [(GATE, "guard"), (GATE, "strict"), (READ, "strict")]


def run(line: str, shell: str = "/bin/sh") -> subprocess.CompletedProcess[str]:
    return subprocess.run([shell, "-c", line], input='{"a": 1}', capture_output=True, text=True)


def reason(stdout: str) -> str:
    """What Claude Code tells the model."""
    return str(json.loads(stdout)["hookSpecificOutput"]["permissionDecisionReason"])


def line_for(entry: HookEntry, client: HookClient, profile: str = "guard") -> str:
    return hook_command(adapter("claude"), entry, client, profile)


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh", "fish"])
def test_the_client_gets_its_arguments_and_stdin_from_any_shell(
    client: HookClient, shell: str
) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"no {shell} here")
    client.script.write_text(STAND_IN.format(act=PASSED))

    done = run(line_for(GATE, client), found)

    arguments, stdin = json.loads(done.stdout)
    assert stdin == '{"a": 1}'
    assert arguments[:5] == [str(client.ingest_socket), "claude", "gate", "PreToolUse", "3660"]
    assert json.loads(arguments[5]) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "@",
        }
    }


@pytest.mark.parametrize(("entry", "profile"), OPEN)
def test_lanes_that_hand_back_give_the_client_no_denial_to_print(
    client: HookClient, entry: HookEntry, profile: str
) -> None:
    assert shlex.split(line_for(entry, client, profile))[-4:] == ["", "2", "", "77"]


@pytest.mark.parametrize(
    ("name", "told"), [("cursor", '{"permission":"allow"}'), ("claude", ""), ("codex", "")]
)
def test_only_an_agent_that_must_be_told_something_has_words_for_the_time_the_gate_is_off(
    client: HookClient, name: str, told: str
) -> None:
    agent = adapter(name)
    entry = next(each for each in agent.entries("guard") if each.lane is Lane.GATE)

    assert shlex.split(hook_command(agent, entry, client, "guard"))[13:] == [told, "77"]


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
@pytest.mark.parametrize(("act", "code"), [(77, 0), (2, 2)])
def test_a_gate_passes_on_what_the_client_says(
    client: HookClient, entry: HookEntry, profile: str, act: int, code: int
) -> None:
    client.script.write_text(STAND_IN.format(act=act))

    done = run(line_for(entry, client, profile))

    assert (done.returncode, done.stderr) == (code, "words")


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
@pytest.mark.parametrize("act", [0, 1, 3, 127, "die"])
def test_a_gate_denies_with_a_reason_when_the_client_fails(
    client: HookClient, entry: HookEntry, profile: str, act: int | str
) -> None:
    client.script.write_text(STAND_IN.format(act=act))

    done = run(line_for(entry, client, profile))

    assert done.returncode == 2
    assert "watchgate doctor claude" in done.stderr


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
@pytest.mark.parametrize("text", ["\0" * 601, "\0", "\n", '"""', "import sys\n", "#"])
def test_the_silence_of_what_is_no_client_any_more_is_a_denial(
    client: HookClient, entry: HookEntry, profile: str, text: str
) -> None:
    """Python runs each of these without a word and ends with 0."""
    client.script.write_text(text)

    done = run(line_for(entry, client, profile))

    assert done.returncode == 2
    assert "the hook client failed with status" in done.stderr


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
def test_an_empty_client_is_a_missing_one(
    client: HookClient, entry: HookEntry, profile: str
) -> None:
    client.script.write_text("")

    done = run(line_for(entry, client, profile))

    assert done.returncode == 2
    assert "watchgate install claude" in done.stderr


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
def test_a_gate_without_its_client_says_how_to_mend_it(
    client: HookClient, entry: HookEntry, profile: str
) -> None:
    done = run(line_for(entry, client, profile))

    assert done.returncode == 2
    assert "watchgate install claude" in done.stderr
    assert "the hook client is missing" in reason(done.stdout)


def test_a_gate_without_its_interpreter_denies(client: HookClient) -> None:
    client.script.write_text(STAND_IN.format(act=0))
    gone = HookClient(
        python=client.script.with_name("python"),
        script=client.script,
        ingest_socket=client.ingest_socket,
        deadline_s=1,
    )

    done = run(line_for(GATE, gone))

    assert done.returncode == 2
    assert "watchgate doctor claude" in done.stderr


@pytest.mark.parametrize(("entry", "profile"), OPEN)
@pytest.mark.parametrize("act", [0, 1, 3, "die", "missing"])
def test_elsewhere_every_failure_is_no_opinion(
    client: HookClient, entry: HookEntry, profile: str, act: int | str
) -> None:
    if act != "missing":
        client.script.write_text(STAND_IN.format(act=act))

    done = run(line_for(entry, client, profile))

    assert done.returncode == 0
    if entry is OBSERVE or act == "missing":
        assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_a_denial_reaches_every_agent_on_every_lane_that_waits(
    client: HookClient, agent: str
) -> None:
    """Kimi and Windsurf read nothing but the exit status, and would read on beside a 0."""
    spoken = adapter(agent)
    for entry in spoken.entries("guard"):
        if entry.lane.waits and spoken.can(entry.event).deny:
            denial = spoken.closed(entry.event, Lane.GATE, "No.")
            status = denial.exit_code
            passed = PASSED if denies_on_failure(entry, "guard") and status == 0 else status
            client.script.write_text(STAND_IN.format(act=passed))

            done = run(hook_command(spoken, entry, client, "guard"))

            assert (done.returncode, done.stderr) == (denial.exit_code, "words")


@pytest.mark.parametrize("code", [0, 1, 2])
def test_what_is_only_observed_never_denies(client: HookClient, code: int) -> None:
    client.script.write_text(STAND_IN.format(act=code))

    done = run(line_for(OBSERVE, client))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_installed_command_is_recognised(client: HookClient) -> None:
    line = line_for(READ, client)

    assert is_our_command(line)
    found = parse_command(line)
    assert found is not None
    assert (found.lane, found.event, found.deadline_s) == ("gate-read", "PreToolUse", 3660)
    assert (found.script, found.ingest_socket) == (client.script, client.ingest_socket)
    assert parse_command("/bin/sh -c 'exit 0' watchgate-hook of another form") is None
    assert not is_our_command("their-tool watchgate-hook")
    assert not is_our_command(None)


EARLIER = (
    '/bin/sh -c \'wg_p=$1; shift; if test -r "$1" && test -s "$1"; then "$wg_p" -I -S "$@"; '
    "wg_c=$?; case $wg_c in 0|2) exit $wg_c;; esac; fi; exit 2' watchgate-hook {} claude gate "
    "PreToolUse 60 @ 2"
)
"""A gate's command as it was before the client had a word of its own for 0."""


@pytest.mark.parametrize(("answer", "code"), [(b"0 0 0\n", 0), (b"2 0 0\n", 2)])
def test_a_command_of_an_earlier_version_is_recognised_and_works_with_this_client(
    installed: HookClient, answer: bytes, code: int
) -> None:
    places = installed.python, installed.script, installed.ingest_socket
    line = EARLIER.format(shlex.join(map(str, places)))
    installed.ingest_socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with listening(installed.ingest_socket, answering(answer)):
        assert run(line).returncode == code

    found = parse_command(line)
    assert is_our_command(line)
    assert found is not None
    assert (found.python, found.script, found.ingest_socket) == places


def test_the_environment_moves_neither_socket_nor_client(client: HookClient) -> None:
    client.script.write_text(STAND_IN.format(act=PASSED))
    env = {**os.environ, "WATCHGATE_RUNTIME_DIR": "/elsewhere", "PYTHONPATH": "/elsewhere"}

    done = subprocess.run(
        ["/bin/sh", "-c", line_for(GATE, client)], env=env, input="", capture_output=True, text=True
    )

    assert json.loads(done.stdout)[0][0] == str(client.ingest_socket)


@pytest.mark.parametrize(
    ("timeout_s", "waits_s"), [(86_400, 3660), (600, 595), (30, 25), (5, 1), (1, 1)]
)
def test_ap_16_the_client_answers_before_an_agent_with_less_patience(
    client: HookClient, timeout_s: int, waits_s: int
) -> None:
    entry = HookEntry(event="PreToolUse", lane=Lane.GATE, timeout_s=timeout_s)

    found = parse_command(line_for(entry, client))

    assert found is not None
    assert found.deadline_s == waits_s


@pytest.mark.parametrize("agent", INSTALLABLE)
@pytest.mark.parametrize("profile", ["guard", "strict"])
def test_every_gate_of_every_agent_is_denied_without_its_client(
    client: HookClient, agent: str, profile: str
) -> None:
    spoken = adapter(agent)
    for entry in spoken.entries(profile):
        if not denies_on_failure(entry, profile):
            continue
        done = run(hook_command(spoken, entry, client, profile))

        closed = spoken.closed(entry.event, Lane.GATE, "@")
        assert done.returncode == closed.exit_code
        assert "the hook client is missing" in done.stderr
        assert bool(done.stdout) is bool(closed.stdout)
        if closed.stdout:
            json.loads(done.stdout)
            assert "the hook client is missing" in done.stdout
        else:
            assert done.returncode == 2


@pytest.mark.parametrize("agent", INSTALLABLE)
@pytest.mark.parametrize("profile", ["guard", "strict"])
def test_every_gate_of_every_agent_is_denied_without_a_core(
    installed: HookClient, agent: str, profile: str
) -> None:
    spoken = adapter(agent)
    for entry in spoken.entries(profile):
        if not denies_on_failure(entry, profile):
            continue
        done = run(hook_command(spoken, entry, installed, profile))

        assert done.returncode == spoken.closed(entry.event, Lane.GATE, "@").exit_code
        assert "core is not running" in done.stderr


def test_no_variable_of_the_environment_can_get_into_the_guard(client: HookClient) -> None:
    """Gemini and Qwen put its values for $NAME into every text of their settings."""
    line = line_for(GATE, client)

    assert set(re.findall(r"\$(?:(\w+)|{)", line)) <= {
        "",
        *"137",
        "wg_p",
        "wg_c",
        "wg_w",
        "wg_t",
        "wg_x",
        "8",
        "HOME",
    }


def test_the_status_line_is_silent_over_every_failure(client: HookClient) -> None:
    line = status_line_command(adapter("claude"), client)

    done = run(line)

    found = parse_command(line)
    assert found is not None
    assert (found.lane, found.event, found.deadline_s) == ("relay", "StatusLine", 1)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
