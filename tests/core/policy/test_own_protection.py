"""The gate guards itself and the terminals in which an operator decides."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules
from watchgate.core.policy.rules.load import PolicyError, load
from watchgate.core.policy.rules.policy import Policy
from watchgate.service.policies.policy_files import shipped, shipped_files

OWN_FILES = [
    "echo 9999999999 > /run/user/1000/watchgate/off",
    "touch $XDG_RUNTIME_DIR/watchgate/off",
    "sqlite3 ~/.local/state/watchgate/journal.db",
    "rm -f $HOME/.config/watchgate/config.toml",
    "tee -a .watchgate/policy.toml",
    "cp x /etc/watchgate/policy.toml",
    "sed -i s/a/b/ ~/.claude/settings.json",
    "vi .claude/settings.local.json",
    "cp x ~/.codex/hooks.json",
    "tee .codex/config.toml",
    "mv ~/.claude ~/.old",
    "cd ~/.claude && rm settings.json",
    "ln -sf /dev/null ~/.gemini/settings.json",
    "truncate -s 0 ~/.cursor/hooks.json",
    "chmod 000 ~/.copilot/hooks/watchgate.json",
    "rm ~/.config/opencode/plugin/watchgate.js",
    "python3 patch.py ~/.qwen/settings.json",
    "cat x > ~/.kiro/agents/watchgate.json",
    "cp /bin/true ~/.local/bin/watchgate",
    "socat - UNIX-CONNECT:$XDG_RUNTIME_DIR/watchgate/control.sock",
    "nc -U /run/user/1000/watchgate/control.sock",
]
OWN_CONTROL = [
    "watchgate allow a41f --digest 00",
    "watchgate off",
    "wgate stop",
    "watchgate policy reload",
    "watchgate policy import x",
    "watchgate grants revoke 1",
    "/usr/bin/watchgate uninstall claude",
    "python3 -m watchgate handback a41f",
    "uvx watchgate off",
    "env watchgate allow 1",
    "sh -c 'watchgate allow 1'",
    "pkill -f watchgate",
    "kill $(pgrep watchgate)",
    "pgrep watchgate | xargs kill",
    "systemctl --user stop watchgate",
    "pip uninstall -y watchgate",
    "uv tool uninstall watchgate",
]
TERMINAL = [
    "tmux send-keys -t 0 a",
    "tmux -L x send -t 0 y Enter",
    "tmux new -d \\; send-keys a",
    "tmux neww 'watchgate allow 1'",
    "tmux -L x split-window ls",
    "tmux run-shell 'ls'",
    "tmux respawn-pane -k ls",
    "screen -S x -X stuff a",
    "zellij action write-chars a",
    "kitty @ send-text a",
    "wezterm cli send-text a",
    "script -c ls out",
    "xdotool key a",
    "nvim --server x --remote-send a",
    "reptyr 12",
    "gnome-terminal -- ./x.sh",
    "kgx -e ./x.sh",
    "SHELL=./x.sh setsid xterm",
    "systemd-run --user ./x",
    "qdbus org.kde.konsole /Sessions/1 runCommand ./x.sh",
    "open -a Terminal x.sh",
    'osascript -e \'tell application "System Events" to keystroke "a"\'',
    "ssh localhost ./x.sh",
    "ssh me@127.0.0.1 ./x.sh",
    "ssh ::1",
    "echo y > /dev/pts/3",
    "tmate",
]
HARMLESS = [
    "watchgate status",
    "watchgate ls --json",
    "watchgate policy check 'rm -rf x'",
    "watchgate --version",
    "ls .claude",
    "tmux ls",
    "tmux capture-pane -p",
    "screen -ls",
    "open README.md",
    "ssh -p 2222 localhost",
    "ssh localhost.example.org",
    "echo y > /dev/null",
    "echo hello > $XDG_RUNTIME_DIR/other",
    "rm $CODEX_HOME/x.md",
]


@pytest.mark.parametrize("command", OWN_FILES)
def test_our_files_and_the_agents_hook_settings_are_critical(command: str) -> None:
    found = judge_command(command)
    assert (found.decision, found.risk) == ("ask", "critical")
    assert any(rule.startswith("own.") for rule in rules(found))


@pytest.mark.parametrize("command", OWN_CONTROL)
def test_what_would_answer_for_or_stop_the_gate_is_critical(command: str) -> None:
    found = judge_command(command)
    assert (found.decision, found.risk) == ("ask", "critical")
    assert "own.control" in rules(found)


@pytest.mark.parametrize("command", TERMINAL)
def test_what_reaches_another_terminal_is_critical(command: str) -> None:
    found = judge_command(command)
    assert (found.decision, found.risk) == ("ask", "critical")
    assert any(rule.startswith("terminal.") for rule in rules(found))


@pytest.mark.parametrize("command", HARMLESS)
def test_what_only_sounds_alike_is_not_critical(command: str) -> None:
    assert not {r for r in rules(judge_command(command)) if r.startswith(("own.", "terminal."))}


@pytest.mark.parametrize(
    "command",
    [
        "claude --dangerously-skip-permissions -p x",
        "codex exec --yolo x",
        "gemini --approval-mode=yolo",
        "CLAUDE_CONFIG_DIR=/tmp/x claude -p y",
        "export WATCHGATE_RUNTIME_DIR=/tmp/x",
    ],
)
def test_an_agent_that_would_start_unwatched_is_high(command: str) -> None:
    found = judge_command(command)
    assert found.risk == "high"
    assert {"own.unwatched", "own.elsewhere"} & rules(found)


def test_no_grant_ever_answers_what_guards_the_gate() -> None:
    guards = [r for r in shipped().rules if r.id.startswith(("own.", "terminal."))]
    assert guards
    for rule in guards:
        assert rule.decision == "ask", rule.id
        assert rule.always_ask or rule.risk == "high", rule.id


@pytest.mark.parametrize("rule", ["own.files", "own.read", "terminal.codes"])
def test_what_guards_the_gate_cannot_be_switched_off(rule: str) -> None:
    user = load(f'version = 1\ndisable = ["{rule}"]\n', "policy.toml", "user")
    with pytest.raises(PolicyError, match=f"policy.toml:2: disable: {rule} protects"):
        Policy.of((*shipped_files(), user))
