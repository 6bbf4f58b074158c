from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.policy_files import own_policy
from watchgate.cli.base.printing import Exit

GOOD = {"permissions": {"deny": ["Bash(git push:*)"], "allow": ["Bash(frobnicate *)"]}}
MIXED = {"permissions": {"allow": ["Bash(frobnicate *)", "Bash"], "deny": ["Read(.env)"]}}


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "app" / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(GOOD))
    return path


def test_what_is_printed_is_a_policy_that_decides_as_the_lists_did(
    cli: Cli, settings: Path
) -> None:
    said = cli("policy", "import", "claude", str(settings))
    assert said.code == Exit.DONE
    assert "2 understood, 0 approximated, 0 refused" in said.err
    own_policy(said.out)
    words = [
        cli("policy", "check", "--json", command).lines[0]["decision"]
        for command in ("git push", "frobnicate x", "other")
    ]
    assert words == ["deny", "allow", "ask"]


def test_every_rule_there_has_its_line_and_a_refusal_is_no_success(
    cli: Cli, settings: Path
) -> None:
    settings.write_text(json.dumps(MIXED))
    said = cli("policy", "import", "claude", str(settings), "--json")
    assert said.code == Exit.REFUSED
    assert [(line["source"], line["outcome"]) for line in said.lines] == [
        ("Read(.env)", "approximated"),
        ("Bash(frobnicate *)", "understood"),
        ("Bash", "refused"),
    ]
    assert all(line["note"] for line in said.lines if line["outcome"] != "understood")
    assert said.lines[2]["toml"] is None
    text = cli("policy", "import", "claude", str(settings)).out
    assert "# refused: Bash\n#   allows every command" in text


def test_an_allow_that_a_shipped_rule_outweighs_names_that_rule(cli: Cli, settings: Path) -> None:
    settings.write_text(json.dumps({"allow": ["Bash(git push:*)"]}))
    said = cli("policy", "import", "claude", str(settings))
    assert said.code == Exit.DONE
    assert "0 understood, 1 approximated, 0 refused" in said.err
    assert "# approximated: Bash(git push:*)\n#   a shipped rule still asks about" in said.out
    own_policy(said.out)
    (checked,) = cli("policy", "check", "--json", "git push").lines
    assert checked["decision"] == "ask"


def test_paths_of_a_project_begin_at_its_folder_and_a_user_s_at_home(
    cli: Cli, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text(json.dumps({"deny": ["Edit(/src/**)"]}))
    (line,) = cli("policy", "import", "claude", str(settings), "--json").lines
    assert f'"{settings.parent.parent}/src/**"' in line["toml"]
    monkeypatch.setenv("HOME", str(settings.parent.parent))
    (line,) = cli("policy", "import", "claude", str(settings), "--json").lines
    assert '"~/.claude/src/**"' in line["toml"]


def test_a_folder_is_read_whole_with_ids_that_differ(cli: Cli, tmp_path: Path) -> None:
    for name in ("a", "b"):
        text = 'prefix_rule(pattern = ["make", "x"], decision = "prompt")\n'
        (tmp_path / f"{name}.rules").write_text(text)
    said = cli("policy", "import", "codex", str(tmp_path), "--json")
    assert [line["id"] for line in said.lines] == ["codex.ask-make-x", "codex.ask-make-x-2"]


def test_rules_can_be_kept_to_the_agent_and_added_to_a_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text('[[rule]]\ntoolName = "replace"\ndecision = "deny"\npriority = 1\n')
    said = cli("policy", "import", "gemini", str(file), "--only-agent", "--append")
    assert said.code == Exit.DONE
    assert 'agents = "gemini"' in said.out
    assert "version" not in said.out


@pytest.mark.parametrize(
    ("agent", "content", "says"),
    [
        ("claude", b"{", "not JSON"),
        ("codex", b"prefix_rule(", "line 1"),
        ("gemini", b"[[rule", "not TOML"),
        ("claude", b"\xff\xfe", "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_with_its_name(
    cli: Cli, tmp_path: Path, agent: str, content: bytes, says: str
) -> None:
    file = tmp_path / "rules"
    file.write_bytes(content)
    said = cli("policy", "import", agent, str(file))
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert f"{file}" in said.err
    assert says in said.err


def test_a_path_without_rules_is_said(cli: Cli, tmp_path: Path) -> None:
    assert "cannot be read" in cli("policy", "import", "claude", str(tmp_path / "none")).err
    assert "*.rules" in cli("policy", "import", "codex", str(tmp_path)).err
