"""The forms of MCP elicitation: a flat JSON schema as questions, and answers as its content.

Source: the elicitation part of the Model Context Protocol, which allows strings, numbers, booleans
and enumerations. Used by every agent that passes such a form on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.events import Choice, Question
from watchgate.core.model.questions import Value, value_of

Content = dict[str, Value | list[Value]]


class _Titled(msgspec.Struct, frozen=True):
    const: str
    title: str = ""


class _Items(msgspec.Struct, frozen=True, rename={"any_of": "anyOf", "one_of": "oneOf"}):
    enum: tuple[str, ...] = ()
    any_of: tuple[_Titled, ...] = ()
    one_of: tuple[_Titled, ...] = ()


class _Field(_Items, frozen=True, rename={"enum_names": "enumNames"}):
    type: Literal["string", "number", "integer", "boolean", "array"] = "string"
    title: str = ""
    description: str = ""
    enum_names: tuple[str, ...] = ()
    items: _Items = _Items()
    minimum: float | None = None
    maximum: float | None = None


class _Schema(msgspec.Struct, frozen=True):
    properties: dict[str, _Field]
    required: tuple[str, ...] = ()


_YES_NO = (Choice("yes", value="true"), Choice("no", value="false"))


def form(schema: Any) -> tuple[Question, ...]:
    """Returns one question per field; none when a field is of a kind that cannot be asked for."""
    try:
        fields = decoding.convert(schema, _Schema)
    except msgspec.ValidationError:
        return ()
    asked = [_question(key, field, fields.required) for key, field in fields.properties.items()]
    return () if any(each is None for each in asked) else tuple(each for each in asked if each)


def values(questions: Sequence[Question], answers: Sequence[Sequence[str]]) -> Content:
    """Returns the form's content: each answer as a value of its own type, without skipped fields.

    Raises `ValueError` for words that are not of the field's type.
    """
    content: Content = {}
    for question, given in zip(questions, answers, strict=True):
        field_values = [value_of(question, words) for words in given]
        if field_values:
            content[question.key] = field_values if question.multiple else field_values[0]
    return content


def _question(key: str, field: _Field, required: tuple[str, ...]) -> Question | None:
    multiple = field.type == "array"
    choices = _choices(field.items if multiple else field, field.enum_names)
    if multiple and not choices:
        return None
    return Question(
        text=_text(key, field),
        key=key,
        header=key,
        choices=_YES_NO if field.type == "boolean" else choices,
        multiple=multiple,
        free_text=not choices and field.type != "boolean",
        required=key in required,
        type="string" if field.type == "array" else field.type,
    )


def _choices(among: _Items, names: tuple[str, ...]) -> tuple[Choice, ...]:
    titled = among.any_of or among.one_of
    pairs = [(each.const, each.title) for each in titled] or [
        (value, names[at] if at < len(names) else "") for at, value in enumerate(among.enum)
    ]
    labels = [title or value for value, title in pairs]
    if len(set(labels)) < len(labels):
        return tuple(Choice(value, title) for value, title in pairs)
    return tuple(
        Choice(label, value=value if value != label else "")
        for (value, _), label in zip(pairs, labels, strict=True)
    )


def _text(key: str, field: _Field) -> str:
    parts = [field.description, _bounds(field)]
    hints = "; ".join(part for part in parts if part)
    return f"{field.title or key} ({hints})" if hints else field.title or key


def _bounds(field: _Field) -> str:
    if field.minimum is not None and field.maximum is not None:
        return f"from {field.minimum:g} to {field.maximum:g}"
    if field.minimum is not None:
        return f"at least {field.minimum:g}"
    return f"at most {field.maximum:g}" if field.maximum is not None else ""
