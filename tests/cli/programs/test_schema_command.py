from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.cli.conftest import Cli
from watchgate.cli.base.printing import Exit
from watchgate.link.protocol import Code, Presence, Request, TokenRow, Unlocked
from watchgate.service.wire.ingest_lines import Line


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if "$ref" in node else set()
        return own.union(*(references(each) for each in node.values()))
    if isinstance(node, list):
        return set().union(*(references(each) for each in node))
    return set()


@pytest.mark.parametrize("what", ["record", "ingest", "control"])
def test_a_schema_is_whole_every_reference_is_defined(cli: Cli, what: str) -> None:
    (schema,) = cli("schema", what).lines
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    defined = {f"#/$defs/{name}" for name in schema["$defs"]}
    assert references(schema) <= defined
    assert "$ref" in schema or "anyOf" in schema


def test_the_schemas_name_what_is_on_the_wire(cli: Cli) -> None:
    record = cli("schema", "record").lines[0]["$defs"]["Record"]
    assert {"seq", "core", "at", "kind", "agent", "session", "prev", "hash"} <= set(
        record["properties"]
    )
    line = cli("schema", "ingest").lines[0]["$defs"]["Line"]
    assert set(line["properties"]) == set(Line.__struct_fields__)
    request = cli("schema", "control").lines[0]["$defs"]["Request"]
    sent = msgspec.to_builtins(Request(id=1, verb="list", as_="kim"))
    assert set(sent) == set(request["properties"])
    assert request["additionalProperties"] is False


def test_the_answers_about_who_is_there_are_described(cli: Cli) -> None:
    (schema,) = cli("schema", "control").lines
    for kind in (Presence, Code, Unlocked, TokenRow):
        assert set(schema["$defs"][kind.__name__]["properties"]) == set(kind.__struct_fields__)
        assert {"$ref": f"#/$defs/{kind.__name__}"} in schema["anyOf"]


def test_every_code_of_a_refusal_is_named(cli: Cli) -> None:
    refusal = cli("schema", "control").lines[0]["$defs"]["Refusal"]
    assert set(refusal["properties"]["refused"]["enum"]) >= {
        "unknown_id",
        "already_settled",
        "digest_mismatch",
        "not_offered",
        "too_late",
        "self_approval",
        "not_armed",
        "bad_request",
    }


def test_another_schema_is_a_usage_error(cli: Cli) -> None:
    assert cli("schema", "spaceship").code == Exit.USAGE
