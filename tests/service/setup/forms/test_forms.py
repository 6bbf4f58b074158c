"""Our entries among those of others, in every form: put in, replaced, taken out, no byte moved."""

from __future__ import annotations

import pytest

from tests.service.setup.forms.cases import OURS, SETUPS, hooks, texts
from watchgate.agents.base import Setup
from watchgate.service.setup.forms.editor_choice import editor_of
from watchgate.service.setup.forms.form_editor import Editor, FormError

CASES = [
    pytest.param(setup, text, id=f"{name}: {what}")
    for name, setup in SETUPS.items()
    for what, text in texts(setup).items()
]
FORMS = [pytest.param(setup, id=name) for name, setup in SETUPS.items()]


def installed(edits: Editor, text: str, *words: str) -> str:
    return edits.install(text, edits.table(hooks(*words)))


@pytest.mark.parametrize(("setup", "text"), CASES)
def test_taking_out_what_was_put_in_gives_the_same_bytes(setup: Setup, text: str) -> None:
    edits = editor_of(setup)

    after = installed(edits, text)

    assert edits.ours(after) == edits.table(hooks())
    assert "their-tool" not in text or "their-tool" in after
    assert edits.uninstall(after, text) == text


@pytest.mark.parametrize("comment", ["# mine", "# line\u2028separator", "# next\x85line"])
def test_a_comment_behind_our_tables_is_not_ours(comment: str) -> None:
    edits = editor_of(SETUPS["kimi"])
    before = "a = 1\n"
    after = f"{installed(edits, before)}{comment}\n[b]\n"

    assert edits.uninstall(after) == f"{before}{comment}\n[b]\n"


@pytest.mark.parametrize(("setup", "text"), CASES)
def test_a_second_installation_changes_nothing(setup: Setup, text: str) -> None:
    edits = editor_of(setup)
    once = installed(edits, text)

    assert installed(edits, once) == once


@pytest.mark.parametrize(("setup", "text"), CASES)
def test_an_update_replaces_all_of_ours_and_nothing_else(setup: Setup, text: str) -> None:
    edits = editor_of(setup)
    once = installed(edits, text)

    again = installed(edits, once, "gate-2", "read-2", "stop-2")

    assert edits.ours(again) == edits.table(hooks("gate-2", "read-2", "stop-2"))
    assert edits.uninstall(again, text) == text


@pytest.mark.parametrize(("setup", "text"), CASES)
def test_lines_end_as_they_did(setup: Setup, text: str) -> None:
    if "\r\n" not in text:
        return

    after = installed(editor_of(setup), text)

    assert after.count("\n") == after.count("\r\n")


@pytest.mark.parametrize("setup", FORMS)
@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_file_gets_what_is_ours_alone(setup: Setup, text: str) -> None:
    edits = editor_of(setup)

    after = installed(edits, text)

    assert edits.ours(after) == edits.table(hooks())
    assert edits.displaced(after) == ()
    assert "watchgate" not in edits.uninstall(after, text)


@pytest.mark.parametrize("setup", FORMS)
def test_fewer_entries_leave_none_behind(setup: Setup) -> None:
    edits = editor_of(setup)
    once = installed(edits, texts(setup)["hooks of others"])
    fewer = edits.table(hooks()[2:])

    after = edits.install(once, fewer)

    assert edits.ours(after) == fewer
    assert OURS.format("gate") not in after


@pytest.mark.parametrize("setup", FORMS)
def test_each_entry_says_how_long_the_agent_waits(setup: Setup) -> None:
    edits = editor_of(setup)

    written = list(edits.written(edits.table(hooks())))

    assert [each.timeout_s for each in written] == [600, 600, 5]
    assert [each.command for each in written] == [each.command for each in hooks()]


@pytest.mark.parametrize("setup", FORMS)
def test_limits_are_whole_numbers_in_the_agents_unit(setup: Setup) -> None:
    text = installed(editor_of(setup), "")

    assert ("600000" in text) is (setup.unit == "ms")
    assert "600.0" not in text
    if setup.closing:
        assert text.count(next(iter(setup.closing))) == 1, "only on the entry that denies"


@pytest.mark.parametrize(
    ("form", "text", "says"),
    [
        ("groups", "[]", "does not hold a JSON object"),
        ("groups", '{"hooks": []}', '"hooks" is not an object'),
        ("flat", '{"hooks":\n {"Stop": {}}}', 'line 2: "hooks.Stop" is not an array'),
        ("copilot", '{"hooks": {}, "hooks": {}}', "stands twice"),
        ("groups", '{"a": 1', "missing"),
        ("groups", "{ // note\n}", "a comment, which JSON does not have"),
        ("groups", '{"a": [1,]}', "not expected"),
        ("crush", "{ /* note }", "a comment without an end"),
        ("kimi", "a = ", "Invalid value"),
        ("kimi", 'hooks = [{ event = "Stop", command = "x" }]', "write them so"),
        ("kimi", "hooks = 3", "write them so"),
    ],
)
def test_a_file_of_another_form_is_refused(form: str, text: str, says: str) -> None:
    with pytest.raises(FormError, match=says):
        installed(editor_of(SETUPS[form]), text)
