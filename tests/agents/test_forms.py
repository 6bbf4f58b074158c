"""Forms of MCP servers become questions, and answers become the form's content."""

from __future__ import annotations

from typing import Any

import pytest

from watchgate.agents.forms import form, values
from watchgate.core.model.events import Choice, Question


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("field", "question"),
    [
        ({"type": "string"}, Question("f", key="f", header="f", required=False)),
        (
            {"type": "string", "title": "Name", "description": "as in git"},
            Question("Name (as in git)", key="f", header="f", required=False),
        ),
        (
            {"type": "integer", "minimum": 1, "maximum": 9},
            Question("f (from 1 to 9)", key="f", header="f", required=False, type="integer"),
        ),
        (
            {"type": "number", "minimum": 0.5},
            Question("f (at least 0.5)", key="f", header="f", required=False, type="number"),
        ),
        (
            {"type": "boolean"},
            Question(
                "f",
                key="f",
                header="f",
                choices=(Choice("yes", value="true"), Choice("no", value="false")),
                free_text=False,
                required=False,
                type="boolean",
            ),
        ),
    ],
)
def test_each_kind_of_field_is_a_question(field: dict[str, Any], question: Question) -> None:
    assert form(schema(f=field)) == (question,)


@pytest.mark.parametrize(
    ("field", "choices"),
    [
        ({"enum": ["r", "g"]}, (Choice("r"), Choice("g"))),
        (
            {"enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            (Choice("Red", value="r"), Choice("Green", value="g")),
        ),
        ({"oneOf": [{"const": "r", "title": "Red"}]}, (Choice("Red", value="r"),)),
        (
            {"enum": ["a", "b"], "enumNames": ["Same", "Same"]},
            (Choice("a", "Same"), Choice("b", "Same")),
        ),
    ],
)
def test_an_enumeration_is_chosen_from(field: dict[str, Any], choices: tuple[Choice, ...]) -> None:
    (found,) = form(schema("f", f={"type": "string", **field}))

    assert found.choices == choices
    assert found.required
    assert not found.free_text


def test_several_of_an_enumeration_are_several_choices() -> None:
    (found,) = form(schema(f={"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}))

    assert found.multiple
    assert values([found], [("a", "b")]) == {"f": ["a", "b"]}


@pytest.mark.parametrize(
    "unreadable",
    [
        None,
        [],
        {"type": "object"},
        schema(f={"type": "object"}),
        schema(f={"type": "array", "items": {"type": "string"}}),
        schema(f={"type": "string"}, g={"type": "null"}),
    ],
)
def test_a_form_with_a_field_that_cannot_be_asked_for_is_not_asked(unreadable: Any) -> None:
    assert form(unreadable) == ()


def test_answers_become_values_of_the_fields_types() -> None:
    asked = form(
        schema(
            name={"type": "string"},
            age={"type": "integer"},
            share={"type": "number"},
            sure={"type": "boolean"},
            size={"type": "string", "oneOf": [{"const": "s", "title": "Small"}]},
            more={"type": "string"},
        )
    )

    content = values(asked, [("7",), ("7",), ("0.5",), ("no",), ("Small",), ()])

    assert content == {"name": "7", "age": 7, "share": 0.5, "sure": False, "size": "s"}
