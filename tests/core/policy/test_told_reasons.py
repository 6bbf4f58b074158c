"""The first reason on a card says what the command does, and is not one of another command's."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules

CODE_IS_FED = (
    "Runs the code that it is given on its standard input, which no rule understands as a whole"
)
WAITS = "Starts a shell that waits for commands, so what will run in it is not shown"
OF_A_NAME = "Stops every process called {}, whoever started it"
FOUND = "Stops whatever processes another command finds when it runs, so which ones is not shown"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("python3 - <<'EOF'\nexec(x)\nEOF", CODE_IS_FED),
        ("node - <<EOF\neval(x)\nEOF", CODE_IS_FED),
        ("X=1 ruby - <<'EOF' | cat\neval x\nEOF", CODE_IS_FED),
        ("python3 <<'EOF'\nexec(x)\nEOF", CODE_IS_FED),
        ("bash <<'EOF'\nmake test\nEOF", CODE_IS_FED),
        ("bash -s -- x <<'EOF'\nmake test\nEOF", CODE_IS_FED),
        ("python3 - --all <<'EOF'\nexec(x)\nEOF", CODE_IS_FED),
        ("python3 < script.py", CODE_IS_FED),
        ("cat script.py | python3 -", CODE_IS_FED),
        ("python3", WAITS),
        ("bash -i", WAITS),
        ("kill $(lsof -t +D .)", FOUND),
        ("kill -9 $(pgrep vite)", FOUND),
        ("kill $(cat server.pid)", FOUND),
        ("pgrep vite | xargs kill", FOUND),
        ("pkill api", OF_A_NAME.format("api")),
        ("killall node", OF_A_NAME.format("node")),
    ],
)
def test_the_first_reason_is_what_the_command_does(command: str, reason: str) -> None:
    found = judge_command(command)
    assert found.risk == "high"
    assert found.reason == reason


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/http:/https:/' src/config.ts",
        "sed -i '/http:/d' src/config.ts",
        "sed -i -E 's/(a|b):/c:/' src/config.ts",
        "sed -i.bak -e 's/a:/b:/' -e '/x:/d' src/config.ts",
        "sed -ne 's/a:/b:/p' -i src/config.ts",
        "sed -i '' 's/http:/https:/' src/config.ts",
        'sed -i "s/http:/$NEW:/" src/config.ts',
    ],
)
def test_the_script_of_an_editor_is_no_path(command: str) -> None:
    assert judge_command(command).risk == judge_command("sed -i 's/a/b/' src/x").risk == "medium"


def test_the_script_of_a_printing_editor_is_no_path_either() -> None:
    assert judge_command("sed 's/x:/y:/g' src/config.ts").decision == "allow"
    assert "files.write-outside" not in rules(judge_command("perl -pi -e 's/a:/b:/' src/x"))


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/a/b/' /opt/x",
        "sed -i -e 's/a/b/' /opt/x",
        "sed -ie 's/a/b/' /opt/x",
        "sed -i -f x.sed /opt/x",
        "sed -i --expression=p /opt/x",
        "sed -i --exp p /opt/x",
        "sed -i -- p /opt/x",
        "sed -i '' p /opt/x",
        "sed -i s/a/$B/ /opt/x",
        'sed -i "s/a/$B/" /opt/x',
        "sed -l 5 -i p /opt/x",
        "sed -i p x -e /opt/x",
        "sed -i -e p x -e /opt/x",
        "perl -pi -e 's/a/b/' /opt/x",
        'sed -i "-$Y" /opt/x',
        "perl -pi x.pl -e /opt/x",
        "perl -pi -- -e /opt/x",
        "perl -pie x.pl /opt/x",
    ],
)
def test_a_file_is_not_taken_for_the_script(command: str) -> None:
    assert "files.write-outside" in rules(judge_command(command))


@pytest.mark.parametrize("command", ['sed -i "$S" f', "sed -i s/a:/$B:/ f"])
def test_what_may_be_any_word_may_be_a_file(command: str) -> None:
    assert "files.write-unknown" in rules(judge_command(command))


def test_a_lone_dash_before_a_here_document_is_a_word() -> None:
    (segment,) = judge_command("cat x - <<'E'\nrm -rf /\nE").segments
    assert segment.words == ("cat", "x", "-")
    assert not judge_command("cat - <<'E'\nx\nE").opaque
    assert judge_command("cat - <<'E' && rm -rf y\nx\nE").risk == "high"


@pytest.mark.parametrize("home", ["/tmp/home", "/var/tmp/ci/home"])
def test_a_home_below_a_temporary_folder_is_as_grave_to_lose_as_any(home: str) -> None:
    for command in ("rm -rf ~", "rm -rf $HOME", f"rm -rf {home}"):
        assert judge_command(command, home=home).risk == "critical"
