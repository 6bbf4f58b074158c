"""Records hold the beginning of what an agent said, and count the rest."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.builders import other, post
from watchgate.core.gate import record_builders
from watchgate.core.model.events import Text, ToolResult
from watchgate.core.model.records import NoteData, ResultData


@pytest.mark.parametrize(("chars", "left_out"), [(8_000, 0), (8_001, 1), (50_000, 42_000)])
def test_a_record_of_words_says_how_many_characters_it_leaves_out(
    chars: int, left_out: int
) -> None:
    said = msgspec.structs.replace(other("prompt.submit"), body=Text("y" * chars))
    note = record_builders.note(said).draft.data
    assert isinstance(note, NoteData)
    result = post()
    assert isinstance(result.body, ToolResult)
    body = msgspec.structs.replace(result.body, text="y" * chars)
    ended = record_builders.ended(result, body, None).draft.data
    assert isinstance(ended, ResultData)

    mark = f"... ({left_out} more characters)" if left_out else ""
    for text, counted in ((note.text, note.left_out_chars), (ended.result, ended.left_out_chars)):
        assert text == "y" * min(chars, 8_000) + mark
        assert counted == left_out
