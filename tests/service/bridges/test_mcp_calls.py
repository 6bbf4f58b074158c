"""The permission tool outlives a client that names its calls badly."""

from __future__ import annotations

import json
import os
from typing import Any

import anyio
import pytest

from watchgate.service.bridges.permission_tool import TOOL, McpServer

pytestmark = pytest.mark.anyio


async def test_ids_used_twice_or_unusable_do_not_end_the_server() -> None:
    async def approve(_message: dict[str, Any]) -> bytes:
        await anyio.lowlevel.checkpoint()
        return b"{}"

    call = {"method": "tools/call", "id": 1, "params": {"name": TOOL}}
    odd = {"method": "notifications/cancelled", "params": {"requestId": [1]}}
    source, into = os.pipe()
    out, sink = os.pipe()
    os.write(into, b"".join(json.dumps(each).encode() + b"\n" for each in (call, call, odd)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(McpServer(approve).serve, source, sink)
        with anyio.fail_after(30):
            said = b""
            while said.count(b"\n") < 2:
                await anyio.wait_readable(out)
                said += os.read(out, 65_536)
        os.close(into)
    assert [json.loads(line)["id"] for line in said.splitlines()] == [1, 1]
    for each in (source, out, sink):
        os.close(each)
