"""The permission tool of `claude -p`, spoken to over pipes as an MCP client does."""

from __future__ import annotations

import json
import os
from typing import Any

import anyio
import pytest

from watchgate.service.bridges.permission_tool import TOOL, McpServer

pytestmark = pytest.mark.anyio


async def approve(message: dict[str, Any]) -> bytes:
    await anyio.lowlevel.checkpoint()
    return json.dumps({"about": message["params"]["arguments"]}).encode()


async def said(*messages: dict[str, Any] | bytes) -> list[dict[str, Any]]:
    """What a server answers to these lines, by the ids in their order."""
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
    wanted = sum(isinstance(each, dict) and "id" in each for each in messages)
    source, into = os.pipe()
    out, sink = os.pipe()
    os.write(into, b"".join(line + b"\n" for line in lines))
    told = b""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(McpServer(approve).serve, source, sink)
        with anyio.fail_after(30):
            while told.count(b"\n") < wanted:
                await anyio.wait_readable(out)
                told += os.read(out, 65_536)
        os.close(into)
    for each in (source, out, sink):
        os.close(each)
    return sorted((json.loads(line) for line in told.splitlines()), key=lambda each: each["id"])


@pytest.mark.parametrize(
    ("wanted", "spoken"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")]
)
async def test_it_speaks_the_client_s_version_or_its_newest(wanted: str, spoken: str) -> None:
    hello = {"method": "initialize", "id": 1, "params": {"protocolVersion": wanted}}
    (answer,) = await said(hello)
    assert answer["result"]["protocolVersion"] == spoken


async def test_it_has_one_tool() -> None:
    (answer,) = await said({"method": "tools/list", "id": 1})
    assert [tool["name"] for tool in answer["result"]["tools"]] == [TOOL]


async def test_a_call_is_answered_with_what_was_decided_about_it() -> None:
    call = {"name": TOOL, "arguments": {"tool_name": "Bash"}}
    (answer,) = await said({"method": "tools/call", "id": 1, "params": call})
    assert answer["result"] == {"about": {"tool_name": "Bash"}}


async def test_whatever_else_is_asked_for_is_an_error_with_its_code() -> None:
    answers = await said(
        {"method": "tools/call", "id": 1, "params": {"name": "other"}},
        {"method": "resources/list", "id": 2},
    )
    assert [each["error"]["code"] for each in answers] == [-32602, -32601]


async def test_what_is_no_request_is_passed_over() -> None:
    notice = {"method": "notifications/initialized"}
    assert [
        each["id"] for each in await said(b"{", b"[]", notice, {"method": "ping", "id": 3})
    ] == [3]
