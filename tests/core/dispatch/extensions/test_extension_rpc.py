from __future__ import annotations

import json
from typing import Any

import pytest

from watchgate.core.dispatch.extensions import extension_rpc
from watchgate.core.dispatch.extensions.extension_rpc import (
    PeerNotification,
    PeerRequest,
    PeerResponse,
    RpcError,
    RpcRefusal,
)


def read(**fields: Any) -> PeerResponse | PeerRequest | PeerNotification:
    return extension_rpc.read_message(json.dumps({"jsonrpc": "2.0", **fields}).encode())


def test_sy_25_a_request_is_written_with_its_id_and_null_for_no_parameters() -> None:
    assert extension_rpc.encode_request(7, "shutdown", None) == (
        b'{"jsonrpc":"2.0","id":7,"method":"shutdown","params":null}'
    )


def test_sy_25_id_without_method_is_an_answer() -> None:
    assert read(id=1, result={"action": "continue"}) == PeerResponse(1, {"action": "continue"})


def test_sy_25_id_and_method_is_a_request_and_method_alone_a_notification() -> None:
    assert read(id="a", method="memory.query", params={}) == PeerRequest("a", "memory.query", {})
    assert read(method="log", params={}) == PeerNotification("log")


def test_sy_25_our_answers_echo_the_id() -> None:
    assert json.loads(extension_rpc.encode_answer("a", {"ok": True})) == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {"ok": True},
    }
    refused = json.loads(
        extension_rpc.encode_answer(3, RpcRefusal(extension_rpc.METHOD_NOT_FOUND, "no"))
    )
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
    assert read(id=1, error=error) == PeerResponse(1, None, words)


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b"null"])
def test_what_is_no_message_is_told(body: bytes) -> None:
    with pytest.raises(RpcError, match="not a JSON-RPC message"):
        extension_rpc.read_message(body)
