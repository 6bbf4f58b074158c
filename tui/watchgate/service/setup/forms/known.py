"""Edits files that are wholly ours, and chooses the editor for each form of hook file."""

from __future__ import annotations

from watchgate.agents.base import Setup
from watchgate.service.setup.forms.editor import Editor, StatusLine
from watchgate.service.setup.forms.json_table import JsonTable
from watchgate.service.setup.forms.script import Script
from watchgate.service.setup.forms.toml_tables import TomlTables


def editor(
    setup: Setup, *, event: str = "", status_line: str = "", wish: StatusLine = "set"
) -> Editor:
    """Returns the editor of one file of this form; a script is that of one event.

    `status_line` is the command for the line that some agents show, `wish` what becomes of that.
    """
    if setup.form == "kimi":
        return TomlTables(setup)
    if setup.form == "scripts":
        return Script(event)
    return JsonTable(setup, status_line, wish)
