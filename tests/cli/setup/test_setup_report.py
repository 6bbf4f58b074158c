"""What `--dry-run` shows of a change, to a person and to a script."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.cli.conftest import Cli
from watchgate.cli.base.printing import Exit
from watchgate.link.paths import paths


@pytest.fixture
def settings() -> Path:
    return Path(os.environ["CLAUDE_CONFIG_DIR"]) / "settings.json"


def test_it_says_what_would_happen_and_shows_the_diff(
    cli: Cli, settings: Path, tmp_path: Path
) -> None:
    shown = cli("install", "claude", "--dry-run")
    assert shown.code == Exit.DONE
    first, *rest = shown.out.splitlines()
    assert first.startswith(f"claude: {settings} would be written: 25 events, and the status line")
    assert first.endswith(", 299 lines more, 0 lines less")
    assert '+    "PreToolUse": [' in rest
    assert not settings.exists()
    assert not (tmp_path / "data").exists()


def test_the_command_of_a_hook_is_written_out_once_for_each_lane(cli: Cli) -> None:
    lines = cli("install", "claude", "--dry-run").out.splitlines()
    long = [line for line in lines if "/bin/sh -c" in line]
    assert [line.split(" = ")[0].split()[0] for line in long] == [
        "<relay",
        "<gate",
        "<gate-read",
        "<observe",
    ]
    assert any('"command": "<gate hook of claude for PreToolUse>"' in line for line in lines)
    assert any("--dry-run --json" in line for line in lines), "that it is abbreviated is said"
    [diff] = [at for at, line in enumerate(lines) if line.startswith("--- ")]
    assert max(map(len, lines[diff + 2 :])) < 100


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_no_agent_drowns_the_reader(cli: Cli, agent: str) -> None:
    lines = cli("install", agent, "--dry-run").out.splitlines()
    assert not any("\\n" in line for line in lines if line.startswith("---"))
    assert sum("watchgate-hook" in line for line in lines) <= 4
    assert len(lines) < 320


def test_a_script_gets_each_diff_in_full(cli: Cli, settings: Path) -> None:
    [claude, codex] = cli("install", "claude", "codex", "--dry-run", "--json").lines
    assert (claude["agent"], claude["path"], claude["needed"]) == ("claude", str(settings), True)
    assert (len(claude["events"]), codex["agent"]) == (25, "codex")
    added = [line[1:] for line in claude["diff"].splitlines()[3:]]
    cli("install", "claude")
    assert json.loads("\n".join(added)) == json.loads(settings.read_text())
    [same] = cli("install", "claude", "--dry-run", "--json").lines
    assert (same["needed"], same["diff"]) == (False, "")
    [gone] = cli("uninstall", "claude", "--dry-run", "--json").lines
    assert gone["removes"] is True


def test_a_change_of_a_file_is_counted_and_what_is_up_to_date_is_said(
    cli: Cli, settings: Path
) -> None:
    cli("install", "claude")
    shown = cli("install", "claude", "--dry-run").out
    assert shown == f"claude: nothing to change in {settings}\n"
    settings.write_text(settings.read_text().replace("3660", "60"))
    first, *_ = cli("install", "claude", "--dry-run").out.splitlines()
    assert "would be changed: 25 events, 4 lines more, 4 lines less" in first


def test_uninstall_shows_the_same_and_leaves_all_there(cli: Cli, settings: Path) -> None:
    cli("install", "claude")
    before = settings.read_bytes()
    shown = cli("uninstall", "--all", "--dry-run")
    assert f"claude: {settings} would be removed: 0 lines more, 299 lines less" in shown.out
    assert '-    "PreToolUse": [' in shown.out
    assert settings.read_bytes() == before
    assert paths(os.environ).client.exists()


def test_json_of_a_command_that_writes_is_a_usage_error(cli: Cli, settings: Path) -> None:
    said = cli("install", "claude", "--json")
    assert (said.code, "--dry-run" in said.err) == (Exit.USAGE, True)
    assert not settings.exists()


def test_a_line_without_an_end_is_told_and_counted(cli: Cli, settings: Path) -> None:
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"model": "x"}')
    first, *rest = cli("install", "claude", "--dry-run").out.splitlines()
    assert first.endswith(", 1 line more, 1 line less")
    [gone, its, come, end] = rest[-4:]
    assert (gone, come[:15]) == ('-{"model": "x"}', '+{"model": "x",')
    assert its == end == "\\ No newline at end of file"


def test_a_line_is_what_ends_in_a_newline(cli: Cli, settings: Path) -> None:
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{\n  "a": "\u2028\u2028\x85", "b": "\x7f"\n}\n')
    first, *_ = cli("install", "claude", "--dry-run").out.splitlines()
    assert first.endswith(" lines more, 1 line less")
    shown = json.loads(cli("install", "claude", "--dry-run", "--json").out)
    assert '-  "a": "\u2028\u2028\x85", "b": "\x7f"\n' in shown["diff"]


@pytest.fixture
def kimi() -> Path:
    path = Path.home() / ".kimi" / "config.toml"
    path.parent.mkdir()
    return path


@pytest.mark.parametrize(
    "command",
    [
        "\"/bin/sh -c 'echo \\U0001F600'\"",
        '"/bin/sh -c \'echo \\u007F \\"x\\" \\\\ \\n\'"',
        "'/bin/sh -c \"echo \\U0001F600 \\q\"'",
        '"""/bin/sh -c \'echo ""\\U0001F600\'"""',
    ],
)
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_the_escapes_of_toml_are_shown_as_they_stand_in_the_file(
    cli: Cli, kimi: Path, verb: str, command: str
) -> None:
    kimi.write_text(f'[[hooks]]\nevent = "Stop"\ncommand = {command}\n')
    if verb == "uninstall":
        cli("install", "kimi")
    shown = cli(verb, "kimi", "--dry-run")
    assert (shown.code, shown.err) == (Exit.DONE, "")
    assert f" command = {command}" in shown.out.splitlines()


def test_a_tab_in_a_text_of_toml_is_shown_as_one(cli: Cli, kimi: Path) -> None:
    kimi.write_text('[[hooks]]\nevent = "Stop"\ncommand = "/bin/sh -c \'a\tb\'"\n')
    shown = cli("install", "kimi", "--dry-run")
    assert (shown.code, shown.err) == (Exit.DONE, "")
    assert " command = \"/bin/sh -c 'a\\tb'\"" in shown.out.splitlines()


def test_a_command_that_would_be_changed_has_two_names(cli: Cli, kimi: Path) -> None:
    cli("install", "kimi")
    kimi.write_text(kimi.read_text().replace("ingest.sock", "old.sock"))
    lines = cli("install", "kimi", "--dry-run").out.splitlines()
    name = "gate hook of kimi for PreToolUse>"
    assert f'-command = "<{name}"' in lines
    assert f'+command = "<other {name}"' in lines
    (old,) = [line for line in lines if line.startswith("  <gate hook of")]
    (new,) = [line for line in lines if line.startswith("  <other gate hook of")]
    assert ("old.sock" in old, "ingest.sock" in new) == (True, True)


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"])
def test_a_line_of_a_diff_is_a_line_of_the_file(
    cli: Cli, kimi: Path, separator: str, end: str
) -> None:
    kimi.write_text(f"# a{separator}{separator}b{end}", newline="")
    for verb in ("install", "uninstall"):
        shown = cli(verb, "kimi", "--dry-run")
        assert (shown.code, shown.err) == (Exit.DONE, "")
        first, *lines = shown.out.splitlines()
        diff = [line for line in lines[lines.index(f"--- {kimi}") + 3 :] if line[0] != "\\"]
        escape = f"<U+{ord(separator):04X}>" * 2
        assert f"# a{escape}b" in [line[1:] for line in diff]
        added, taken = ([line[0] for line in diff].count(sign) for sign in "+-")
        assert f"{added} line" in first
        assert f"{taken} line" in first
        cli("install", "kimi")


def test_a_last_line_that_does_not_end_is_marked_as_diff_does_it(cli: Cli, kimi: Path) -> None:
    kimi.write_text("# mine")
    [plan] = cli("install", "kimi", "--dry-run", "--json").lines
    assert plan["diff"].startswith(
        f"--- {kimi}\n+++ {kimi}\n@@ -1 +1,{plan['diff'].count(chr(10) + '+') - 1} @@\n"
        "-# mine\n\\ No newline at end of file\n+# mine\n+\n+[[hooks]]\n"
    )
