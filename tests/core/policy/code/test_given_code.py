"""Code that stands in a command is found, and is unread wherever that is not sure."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules

PRINTS = "print(1)"

FOUND = [
    f"python3 -c '{PRINTS}'",
    f"python3 -c'{PRINTS}'",
    f"python3 -Bc '{PRINTS}' a b",
    f"python3 -W ignore -X utf8 -uc '{PRINTS}' --all",
    f"python3.12 -I -c '{PRINTS}' -i",
    f".venv/bin/python -c '{PRINTS}'",
    f"python3 - <<'E'\n{PRINTS}\nE",
    f"python3 <<E\n{PRINTS}\nE",
    f"python3 - a --b <<'E' 2>&1\n{PRINTS}\nE",
    f"python3 <<< '{PRINTS}'",
    f"echo '{PRINTS}' | python3",
    f"echo '{PRINTS}' | python3 -",
    f"printf '{PRINTS}\\n' | python3 -",
    f"cat <<'E' | python3 -\n{PRINTS}\nE",
    f"cat > z.py <<'E'\n{PRINTS}\nE\npython3 z.py --all",
    f"echo '{PRINTS}' > z.py && chmod +x z.py && cat z.py && python3 ./z.py",
    f"python3 -m timeit '{PRINTS}'",
    f"python3 -m timeit -n 5 -s '{PRINTS}' '{PRINTS}'",
    f"timeout 5 python3 -c '{PRINTS}' \"$X\"",
    f"cd web && python3 -c '{PRINTS}'",
    f"python3 -c '{PRINTS}' \"$(cat x)\"",
]

NOT_SURE = [
    "python3 -c 'exec(x)'",
    f"python2 -c '{PRINTS}'",
    f"/usr/bin/python2.7 -c '{PRINTS}'",
    f"python3 -ic '{PRINTS}'",
    f"python3 -x -c '{PRINTS}'",
    f"python3 --odd -c '{PRINTS}'",
    f'python3 $X -c "{PRINTS}"',
    'python3 -c "$X"',
    "python3 -c",
    f'python3 -c "{PRINTS}; $X"',
    f"\"$X\"/python3 -c '{PRINTS}'",
    f"python3 - <<E\n{PRINTS}\n$X\nE",
    f"python3 - <<'E' < other.py\n{PRINTS}\nE",
    f"{{ echo '{PRINTS}'; cat x; }} | python3 -",
    f"echo '{PRINTS}\\nx' | python3 -",
    f"echo '{PRINTS}' > x | python3 -",
    "cat x | python3 -",
    f"echo '{PRINTS}' > z.py; cp x z.py; python3 z.py",
    f"echo '{PRINTS}' > z.py; cat x >> z.py; python3 z.py",
    f"echo '{PRINTS}' > z.py; ./gen; python3 z.py",
    f"echo '{PRINTS}' > z.py; cd sub; python3 ../z.py",
    f"echo '{PRINTS}\\n' > z.py; python3 z.py",
    "python3 -m timeit 'exec(x)'",
    f"python3 -m timeit -s 'exec(x)' '{PRINTS}'",
    "A=-c; python3 $A 'exec(x)'",
]


@pytest.mark.parametrize("command", FOUND)
def test_code_that_the_text_shows_is_read(command: str) -> None:
    found = judge_command(command)
    assert found.decision == "ask"
    assert found.risk == "medium"
    assert "code.read" in rules(found)


@pytest.mark.parametrize("command", NOT_SURE)
def test_code_that_is_not_sure_to_be_all_of_it_is_not(command: str) -> None:
    found = judge_command(command)
    assert "code.read" not in rules(found)
    assert found.decision == "ask"
    assert found.risk in ("high", "critical", "unknown")


def test_code_is_never_allowed_by_what_feeds_it_or_runs_it() -> None:
    for command in FOUND:
        assert judge_command(f"ls; {command}").decision == "ask"
