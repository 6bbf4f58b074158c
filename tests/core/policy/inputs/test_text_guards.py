from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, judge_tool, rules
from watchgate.core.model.assessment import Assessment
from watchgate.core.policy.inputs.text_guards import mixed_scripts

RULE = "text.mixed-scripts"

# Letters that look like Latin ones and are not.
CYRILLIC_A = "\u0430"
GREEK_OMICRON = "\u03bf"


def reason(found: Assessment) -> str:
    return next(each.reason for each in found.findings if each.rule == RULE)


@pytest.mark.parametrize(
    "name",
    [
        "notizen-über.md",
        "notizen-u\u0308ber.md",  # as macOS writes it
        "メモ.txt",
        "漢字かな交じり.txt",
        "отчёт-final_2.pdf",
        "/home/иван/Документы/v2/отчёт.docx",
        "σημειώσεις.md",
        "README.中文.md",
        "naïve café.txt",
        "ﬁle.txt",
        "😀.png",
        "",
    ],
)
def test_a_name_in_one_script_stays_as_it_is(name: str) -> None:
    assert list(mixed_scripts([(name, None)])) == []


@pytest.mark.parametrize("letter", [CYRILLIC_A, GREEK_OMICRON])
def test_a_latin_word_with_another_script_s_letter_is_asked_about_with_its_code_point(
    letter: str,
) -> None:
    (found,) = mixed_scripts([(f"src/p{letter}ypal.py", (3, 17))], 2)
    assert (found.rule, found.risk, found.decision) == (RULE, "medium", "ask")
    assert (found.span, found.segment) == ((3, 17), 2)
    assert f"U+{ord(letter):04X}" in found.reason
    assert f"p{letter}ypal" in found.reason


def test_an_accent_by_itself_does_not_part_the_letters_around_it() -> None:
    assert list(mixed_scripts([(f"pa\u0301{CYRILLIC_A}l", None)]))


def test_letters_are_told_once_and_not_all_of_a_long_word() -> None:
    (found,) = mixed_scripts([("x" * 300 + "абвгд" * 9, None)])
    assert found.reason.count("U+") == 3
    assert found.reason.endswith("and 2 more")
    assert len(found.reason) < 300


def test_prose_is_no_name() -> None:
    assert list(mixed_scripts([("about Δx and kΩ", None)])) == []


@pytest.mark.parametrize(
    "command",
    [
        f"cat notes/re{CYRILLIC_A}dme.md",
        f"cat notes/re''{CYRILLIC_A}'dme'.md",
        f"cat < re{CYRILLIC_A}dme.md",
        "cat $'re\\u0430dme.md'",
        f"git log --oneline m{CYRILLIC_A}in",
        f"ls --{CYRILLIC_A}ll",
        f"sudo cat re{CYRILLIC_A}dme.md",
        f"echo $(cat re{CYRILLIC_A}dme.md)",
    ],
)
def test_a_command_with_such_a_name_is_never_allowed_by_a_rule(command: str) -> None:
    found = judge_command(command)
    assert found.decision == "ask"
    assert RULE in rules(found)
    assert "U+0430" in reason(found)


@pytest.mark.parametrize(
    "command", ["cat notizen-über.md", "cat 'メモ.txt'", "ls Документы", "git log -- σημειώσεις.md"]
)
def test_a_command_that_only_reads_files_with_names_of_one_script_is_allowed(command: str) -> None:
    assert judge_command(command).decision == "allow"


def test_the_name_itself_is_marked_in_a_command() -> None:
    command = f"cat a.md re{CYRILLIC_A}dme.md"
    span = next(each.span for each in judge_command(command).findings if each.rule == RULE)
    assert span == (9, len(command))


def test_it_makes_no_call_less_grave() -> None:
    found = judge_command(f"rm -rf / p{CYRILLIC_A}ypal")
    assert found.risk == "critical"
    assert RULE in rules(found)


def test_paths_and_addresses_of_other_tools_are_looked_at_too() -> None:
    path, name = f"src/re{CYRILLIC_A}dme.md", f"https://p{CYRILLIC_A}ypal.com/"
    edit = judge_tool("Edit", "edit", {"file_path": path, "old_string": "a", "new_string": "b"})
    assert RULE in rules(edit)
    assert edit.decision == "ask"
    read = judge_tool("Read", "read", {"file_path": path})
    assert (read.decision, read.risk, rules(read)) == ("ask", "medium", {RULE})
    assert RULE in rules(judge_tool("WebFetch", "fetch", {"url": name}))
