"""The section of a request that shows an edit: changes by file, remarks by line, other input."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import msgspec

from watchgate.core import tool_input
from watchgate.core.diff.blocks import blocks
from watchgate.core.events import Tool
from watchgate.core.policy.assessment import Finding
from watchgate.core.records import RequestData
from watchgate.ui.covered import covered
from watchgate.ui.formats import width
from watchgate.ui.widgets.request.request_words import Rest, rest

HEADING_CELLS = 24
"""The cells that the heading of a change needs besides its path."""


def besides(data: RequestData, *, bare: bool = False) -> Rest:
    """Returns the input besides the text and the changes that are drawn of it."""
    if data.tool.cls != "edit":
        return rest(data, bare=bare)
    left = _undrawn(data.tool)
    return rest(
        msgspec.structs.replace(data, tool=msgspec.structs.replace(data.tool, input=left)),
        bare=bare,
    )


def names_itself(data: RequestData, cells: int) -> bool:
    """Returns whether the heading of an edit's changes shows all that its text would show."""
    paths = tool_input.paths(data.tool)
    if data.tool.cls != "edit" or len(paths) != 1:
        return False
    marked = path_findings(data)
    if any(each.span and each not in marked for each in data.findings):
        return False
    if width(covered(paths[0])) + HEADING_CELLS > cells:
        return False
    if not tool_input.patch(data.tool):
        return any(tool_input.replacements(data.tool))
    changes = blocks(data.tool, bare=True)
    return bool(changes) and all(block.path == paths[0] for block in changes)


def path_findings(data: RequestData) -> list[Finding]:
    """Returns the findings about the one path of an edit, which the change's heading marks."""
    paths = tool_input.paths(data.tool)
    if len(paths) != 1:
        return []
    written = (paths[0], paths[0].rpartition("/")[2])
    spans = [(each, data.summary[slice(*each.span)]) for each in data.findings if each.span]
    return [
        each for each, text in spans if text in written or (text and paths[0].endswith(f"/{text}"))
    ]


def _undrawn(tool: Tool) -> dict[str, Any]:
    """Returns the fields of an edit that are neither an old or new text nor a patch."""
    if patch := tool_input.patch(tool):
        drawn = {patch}  # nothing else of the input is drawn then
    else:
        drawn = {each for old, new in tool_input.replacements(tool) for each in (*old, *new)}
    if len(paths := tool_input.paths(tool)) == 1:
        drawn.add(paths[0])
    return {key: value for key, value in tool.input.items() if not _is_drawn(key, value, drawn)}


def _is_drawn(key: str, value: object, drawn: Set[str]) -> bool:
    """Returns whether the changes show a field; equal words in another field do not count."""
    if key in tool_input.PARTED and isinstance(value, list):
        return all(
            isinstance(part, dict) and all(_is_text_drawn(*each, drawn) for each in part.items())
            for part in value
        )
    return _is_text_drawn(key, value, drawn)


def _is_text_drawn(key: str, value: object, drawn: Set[str]) -> bool:
    return key in tool_input.EDIT_KEYS and isinstance(value, str) and value in drawn
