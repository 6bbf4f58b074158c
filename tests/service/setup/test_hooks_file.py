"""Our entries among those of others: put in, replaced, taken out, and no other byte moved."""

from __future__ import annotations

import json

import pytest

from watchgate.service.setup import hooks_file
from watchgate.service.setup.json_scan import JsonError

OURS = "/bin/sh -c 'exit 0' watchgate-hook {}"
THEIRS = {"hooks": [{"type": "command", "command": "their-tool"}]}


def group(word: str) -> hooks_file.Group:
    return {"matcher": "*", "hooks": [{"type": "command", "command": OURS.format(word)}]}


TABLE = {"PreToolUse": [group("gate"), group("read")], "Stop": [group("stop")]}
ALONE = json.dumps({"hooks": TABLE}, indent=2) + "\n"


def indented(value: object, unit: int | str, newline: str = "\n", end: str = "\n") -> str:
    return (json.dumps(value, indent=unit) + end).replace("\n", newline)


FILES = {
    "an empty object": "{}\n",
    "no final newline": "{}",
    "two spaces": indented({"model": "x", "hooks": {"Stop": [THEIRS]}}, 2),
    "four spaces": indented({"hooks": {"PreToolUse": [THEIRS, THEIRS]}, "z": [1, 2]}, 4),
    "tabs": indented({"a": {}, "hooks": {"Stop": [THEIRS]}, "b": []}, "\t"),
    "CRLF": indented({"hooks": {"Stop": [THEIRS], "Other": [THEIRS]}}, 2, "\r\n"),
    "one line": json.dumps({"hooks": {"Stop": [THEIRS]}, "env": {"A": "é"}}, ensure_ascii=False),
    "compact": '{"hooks":{"Stop":[{"hooks":[]}]},"a":1}',
    "own spacing": '{ "hooks" : {\n\n   "Stop" :\n   [ {"hooks" : [ ] } ]\n\n }\n ,"x":1 }\n\n',
    "no hooks yet": indented({"permissions": {"allow": ["Bash"]}}, 2, end=""),
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_taking_out_what_was_put_in_gives_the_same_bytes(text: str) -> None:
    installed = hooks_file.install(text, TABLE)

    assert hooks_file.ours(installed) == TABLE
    assert hooks_file.uninstall(installed) == text


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_what_others_wrote_stays_in_its_order(text: str) -> None:
    before = json.loads(text)

    after = json.loads(hooks_file.install(text, TABLE))

    assert {**after, "hooks": None} == {**before, "hooks": None}
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event] == groups + TABLE.get(event, [])


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_a_second_installation_changes_nothing(text: str) -> None:
    once = hooks_file.install(text, TABLE)

    assert hooks_file.install(once, TABLE) == once


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_end_as_they_did(newline: str) -> None:
    installed = hooks_file.install(indented({"model": "x"}, 2, newline), TABLE)

    assert installed.count("\n") == installed.count(newline)


@pytest.mark.parametrize(("unit", "depth"), [(2, "      "), (4, " " * 12), ("\t", "\t\t\t")])
def test_new_lines_are_indented_like_the_old(unit: int | str, depth: str) -> None:
    installed = hooks_file.install(indented({"a": 1}, unit), TABLE)

    assert f"\n{depth}{{\n" in installed
    assert installed == indented({"a": 1, "hooks": TABLE}, unit)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_file_gets_a_table_of_ours_alone(text: str) -> None:
    assert hooks_file.install(text, TABLE) == ALONE


def test_another_tools_entry_behind_ours_stays_behind() -> None:
    value = {"hooks": {"PreToolUse": [*TABLE["PreToolUse"], THEIRS], "Stop": TABLE["Stop"]}}
    newer = {**TABLE, "PreToolUse": [group("gate-2"), group("read")]}

    updated = hooks_file.install(indented(value, 2), newer)

    assert json.loads(updated)["hooks"]["PreToolUse"] == [group("gate-2"), group("read"), THEIRS]
    assert hooks_file.displaced(updated) == ("PreToolUse",)
    assert json.loads(hooks_file.uninstall(updated)) == {"hooks": {"PreToolUse": [THEIRS]}}


def test_an_event_that_is_no_longer_wanted_goes() -> None:
    fewer = {"PreToolUse": [group("observe")]}

    updated = hooks_file.install(hooks_file.install(FILES["two spaces"], TABLE), fewer)

    assert hooks_file.ours(updated) == fewer
    assert json.loads(updated)["hooks"]["Stop"] == [THEIRS]


def test_a_hook_of_ours_in_somebody_elses_group_goes_alone() -> None:
    theirs = THEIRS["hooks"][0]
    merged = {"hooks": [theirs, group("gate")["hooks"][0]]}
    value = {"hooks": {"PreToolUse": [merged]}}

    assert json.loads(hooks_file.uninstall(indented(value, 2))) == {
        "hooks": {"PreToolUse": [THEIRS]}
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "does not hold a JSON object"),
        ('{"hooks": []}', '"hooks" is not an object'),
        ('{"hooks":\n {"Stop": {}}}', 'line 2: "hooks.Stop" is not an array'),
        ('{"hooks": {}, "hooks": {}}', "stands twice"),
        ('{"a": 1', "missing"),
    ],
)
def test_a_file_of_another_form_is_refused(text: str, says: str) -> None:
    with pytest.raises(JsonError, match=says):
        hooks_file.install(text, TABLE)
