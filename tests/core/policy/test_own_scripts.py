"""Scripts that the session wrote itself and then runs are held where nobody sits there."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import CWD, HOME
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.subject import EVERYTHING, Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.judging.written_files import changed_paths
from watchgate.core.policy.rules.profiles import gate_action
from watchgate.service.policies.policy_files import shipped


def subject(command: str, *changed: str) -> Subject:
    tool = Tool("Bash", "Bash", "shell", {"command": command}, "h")
    return Subject(
        tool=tool,
        agent="claude",
        session="s1",
        cwd=CWD,
        home=HOME,
        changed=frozenset(f"{CWD}/{path}" for path in changed),
    )


def rule_ids(asked: Subject) -> set[str]:
    return {finding.rule for finding in assess(asked, shipped(), 0).findings}


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("python x.py", "x.py"),
        ("python3 -u ./scripts/x.py --all", "scripts/x.py"),
        ("python -m app.cli", "app/cli.py"),
        ("python -m app", "app/__main__.py"),
        ("bash x.sh", "x.sh"),
        ("sh ./x.sh", "x.sh"),
        ("./x", "x"),
        ("cd scripts && ./x", "scripts/x"),
        ("timeout 9 ./x", "x"),
        (".venv/bin/pytest", ".venv/bin/pytest"),
        ("node src/a.js", "src/a.js"),
        ("deno run a.ts", "a.ts"),
        ("cp a.sh b.sh && ./b.sh", ""),
    ],
)
def test_a_file_of_its_own_is_held_where_nobody_sits_there(command: str, changed: str) -> None:
    asked = subject(command, *filter(None, [changed]))
    found = assess(asked, shipped(), 0)
    assert "shell.own-script" in rule_ids(asked)
    assert gate_action("guard", found, autonomous=True) == "hold"
    assert gate_action("guard", found, autonomous=False) == "handback"


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("python x.py", "y.py"),
        ("pytest tests/test_a.py", "tests/test_a.py"),
        ("cat x.sh", "x.sh"),
        ("wc -l x.py", "x.py"),
        ("python", "python"),
        ("make", "src/a.c"),
        ("chmod +x scripts/x.sh && ./scripts/x.sh", ""),
        ("gcc -o app a.c && ./app", ""),
        ("bash -n a.sh && mkdir out", ""),
    ],
)
def test_other_files_are_not(command: str, changed: str) -> None:
    assert "shell.own-script" not in rule_ids(subject(command, *filter(None, [changed])))


def test_of_a_session_that_wrote_very_much_all_files_count() -> None:
    asked = Subject(
        tool=Tool("Bash", "Bash", "shell", {"command": "bash x.sh"}, "h"),
        cwd=CWD,
        home=HOME,
        changed=EVERYTHING,
    )
    assert "shell.own-script" in rule_ids(asked)
    listed = Tool("Bash", "Bash", "shell", {"command": "ls -la src"}, "h")
    assert (
        assess(Subject(tool=listed, cwd=CWD, home=HOME, changed=EVERYTHING), shipped(), 0).risk
        == "low"
    )


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("make test", "Makefile"),
        ("npm test", "package.json"),
        ("cd web && npm run build", "web/package.json"),
        ("./gradlew build", "build.gradle.kts"),
        ("tox", "tox.ini"),
        ("cargo test", "build.rs"),
        ("go run main.go", "main.go"),
    ],
)
def test_a_recipe_that_it_changed_is_held_too(command: str, changed: str) -> None:
    asked = subject(command, changed)
    assert "work.changed-recipe" in rule_ids(asked)
    assert gate_action("guard", assess(asked, shipped(), 0), autonomous=True) == "hold"


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("chmod +x a.sh", []),
        ("touch a.py", []),
        ("mkdir -p a/b", []),
        ("chmod +x a.sh > log.txt", ["log.txt"]),
        ("gcc -o app a.c", []),
        ("gcc -E -o a.sh a.c", ["a.sh"]),
        ("cp a b", ["b", "b/a", "b/b"]),
    ],
)
def test_rights_and_builds_put_nothing_of_its_own_into_a_file(
    command: str, written: list[str]
) -> None:
    assert changed_paths(subject(command)) == {f"{CWD}/{path}" for path in written}
