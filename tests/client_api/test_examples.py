"""The examples of docs/python-api.md run as they stand there, with stand-ins for the frameworks."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from watchgate.client_api import Answer, Denied
from watchgate.client_api.calls import Call
from watchgate.client_api.core_dialog import CallQuestion

PAGE = Path(__file__).parents[2] / "docs" / "python-api.md"
PLAIN, LANGCHAIN_LIKE, AGENTS_LIKE = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


class Chosen:
    """A gate whose answer a test has chosen, and what it was asked."""

    def __init__(self, answer: Callable[[dict[str, Any]], Answer]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, dict[str, Any], str]] = []
        self.calls: list[Call] = []

    def call(self, tool: str, args: Mapping[str, Any], tool_class: str) -> Call:
        self.asked.append((tool, dict(args), tool_class))
        answer = self.answer(dict(args))
        if not answer.may_run:
            raise Denied(answer)
        asked = CallQuestion(
            tool=tool, input=dict(args), tool_class="other", call_id="c", deadline_s=1
        )
        self.calls.append(Call(asked, answer))
        return self.calls[-1]


class Gate(Chosen):
    @contextmanager
    def tool_call(
        self,
        tool: str,
        input: Any,  # noqa: A002 - the field's own word
        *,
        tool_class: str = "other",
    ) -> Any:
        yield self.call(tool, input, tool_class)


class AsyncGate(Chosen):
    @asynccontextmanager
    async def tool_call(
        self,
        tool: str,
        input: Any,  # noqa: A002 - the field's own word
        *,
        tool_class: str = "other",
    ) -> Any:
        yield self.call(tool, input, tool_class)


def allowed(args: dict[str, Any]) -> Answer:
    return Answer(decision="allow", input={**args, "q": "edited"})


def denied(args: dict[str, Any]) -> Answer:
    return Answer(decision="deny", input=args, reason="not on a Friday")


def names(source: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(source, found)
    return found


class Tool:
    """A tool with the methods of LangChain's."""

    name, description = "search", "looks things up"

    def __init__(self) -> None:
        self.ran: list[Any] = []

    def invoke(self, args: Any, config: Any = None) -> str:
        self.ran.append(args)
        return "found"


@dataclass(frozen=True)
class FunctionTool:
    """A tool with the fields of the OpenAI Agents SDK's."""

    name: str
    on_invoke_tool: Callable[[Any, str], Awaitable[str]]


def test_a_langchain_like_tool_runs_what_was_allowed() -> None:
    gate, tool = Gate(allowed), Tool()
    wrapped = names(LANGCHAIN_LIKE)["Gated"](tool, gate)
    assert wrapped.invoke({"q": "asked"}) == "found"
    assert gate.asked == [("search", {"q": "asked"}, "other")]
    assert tool.ran == [{"q": "edited"}]
    assert gate.calls[0].returned == "found"


def test_a_langchain_like_tool_tells_the_model_why_it_did_not_run() -> None:
    tool = Tool()
    wrapped = names(LANGCHAIN_LIKE)["Gated"](tool, Gate(denied))
    assert wrapped.invoke({"q": "asked"}) == "Denied: not on a Friday"
    assert tool.ran == []


@pytest.mark.parametrize(("answer", "says"), [(allowed, "found"), (denied, "not on a Friday")])
async def test_a_function_tool_of_an_agents_sdk_is_behind_the_gate(
    answer: Callable[[dict[str, Any]], Answer], says: str
) -> None:
    ran: list[dict[str, Any]] = []

    async def search(_context: Any, arguments: str) -> str:
        ran.append(json.loads(arguments))
        return "found"

    gate = AsyncGate(answer)
    tool = names(AGENTS_LIKE)["gated"](FunctionTool("search", search), gate)
    assert says in await tool.on_invoke_tool(None, '{"q": "asked"}')
    assert ran == ([{"q": "edited"}] if answer is allowed else [])


def test_the_first_example_runs_nothing_without_a_core(capsys: pytest.CaptureFixture[str]) -> None:
    ran: list[str] = []
    exec(PLAIN, {"run": ran.append})
    assert ran == []
    assert capsys.readouterr().out.startswith("not run: The core could not be asked")
