from __future__ import annotations

import json
from typing import Any

import pytest

from watchgate.core.extensions import rpc
from watchgate.core.extensions.rpc import Answered, Asked, Refusal, RpcError, Told


def read(**fields: Any) -> Answered | Asked | Told:
    return rpc.read(json.dumps({"jsonrpc": "2.0", **fields}).encode())


def test_sy_25_a_request_is_written_with_its_id_and_null_for_no_parameters() -> None:
    assert rpc.request(7, "shutdown", None) == (
        b'{"jsonrpc":"2.0","id":7,"method":"shutdown","params":null}'
    )


def test_sy_25_id_without_method_is_an_answer() -> None:
    assert read(id=1, result={"action": "continue"}) == Answered(1, {"action": "continue"})


def test_sy_25_id_and_method_is_a_request_and_method_alone_a_notification() -> None:
    assert read(id="a", method="memory.query", params={}) == Asked("a", "memory.query", {})
    assert read(method="log", params={}) == Told("log")


def test_sy_25_our_answers_echo_the_id() -> None:
    assert json.loads(rpc.answer("a", {"ok": True})) == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {"ok": True},
    }
    refused = json.loads(rpc.answer(3, Refusal(rpc.METHOD_NOT_FOUND, "no")))
    assert refused["error"] == {"code": -32601, "message": "no"}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"code": -32000, "message": "boom"}, "error -32000: boom"),
        ({"code": -32000}, "error -32000: without words"),
        ({"message": "boom"}, "error: boom"),
        ("boom", "error without words"),
    ],
)
def test_sy_b10_an_error_answer_is_an_answer_with_words(error: Any, words: str) -> None:
    assert read(id=1, error=error) == Answered(1, None, words)


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b"null"])
def test_what_is_no_message_is_told(body: bytes) -> None:
    with pytest.raises(RpcError, match="not a JSON-RPC message"):
        rpc.read(body)
