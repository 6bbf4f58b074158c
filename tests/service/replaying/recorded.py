"""A world whose records can be decided again: its clock never stands still."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.core.builders import pre, shell
from tests.core.world import Rules, World
from watchgate.agents.registry import ADAPTERS
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.gate.effects import Send
from watchgate.core.model.events import Event, Tool, ToolBatch, ToolCall, ToolResult
from watchgate.core.model.records import Record
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.verdicts import Defer
from watchgate.core.policy.rules.profiles import Profile
from watchgate.core.tools.tool_input import input_hash
from watchgate.service.replaying.inferred_inputs import ReplayGate
from watchgate.service.replaying.replay_comparison import ReplayResult, decide_again

TICK_S = 0.001


class RulesAgain(ReplayGate, Rules):
    """The rules of these worlds for a replay."""


class RecordedWorld(World):
    """A world in which no two things happen at the same moment, as in a real one."""

    def __init__(
        self,
        profile: Profile = "guard",
        *,
        handlers: tuple[Handler, ...] = (),
        auto_allow: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(profile, handlers=handlers, auto_allow=auto_allow, retries=True, **more)
        self.handlers = handlers
        self.auto_allow = auto_allow

    def do(self, effects: list[Any]) -> list[str]:
        """Carries out effects; then a moment passes, and what was sent arrived."""
        kinds = super().do(effects)
        self.now = self.now.plus(TICK_S)
        for effect in effects:
            if isinstance(effect, Send) and effect.request is not None:
                kinds += super().do(self.engine.sent(effect.request, True, self.now))
        return kinds

    def send(self, event: Event, conn: int = 0) -> list[str]:
        """An event arrives, with the hash that an adapter makes."""
        return super().send(msgspec.structs.replace(event, body=_hashed(event.body)), conn)

    def ask_through(self, command: str, conn: int) -> ApprovalRequest:
        """A call that its gate handler lets pass, and that is held then."""
        self.send(pre(shell(command, f"c{conn}")), conn)
        self.says("guard", Defer())
        return self.broker.open[self.broker.of_conn(conn) or ""]

    def kept(self) -> list[Record]:
        """The records as they come back from a journal."""
        return msgspec.json.decode(msgspec.json.encode(self.records), type=list[Record])

    def again(self, records: list[Record] | None = None, **other: Any) -> ReplayResult:
        """What comes of the records when they are decided again, under `other` rules if given."""
        profile = other.get("profile", self.config.profile)
        config = msgspec.structs.replace(self.config, profile=profile)
        return decide_again(
            self.kept() if records is None else records,
            config,
            lambda: other.get("rules", RulesAgain)(
                profile, auto_allow=self.auto_allow, retries=True
            ),
            other.get("handlers", self.handlers),
            ADAPTERS,
        )


def _hashed(body: Any) -> Any:
    match body:
        case ToolCall(tool=tool) | ToolResult(tool=tool):
            return msgspec.structs.replace(body, tool=_whole(tool))
        case ToolBatch(tools=tools):
            return ToolBatch(tuple(_whole(tool) for tool in tools))
        case _:
            return body


def _whole(tool: Tool) -> Tool:
    return msgspec.structs.replace(tool, input_hash=input_hash(tool.input, tool.cls))
