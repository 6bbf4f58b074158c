"""Usage in a transcript of Claude Code: one call for each response of the model.

Source: Claude Code 2.1, `projects/<folder>/<session>.jsonl` and, for sub-agents,
`<session>/subagents/**/agent-<id>.jsonl`; earlier versions wrote sub-agents into the session's file
as side chains, or beside it.
"""

from __future__ import annotations

from watchgate.agents.usage import FileFacts
from watchgate.agents.usage.claude_responses import (
    ContentBlock,
    Key,
    PartialResponse,
    ResponseMessage,
    ResponseUsage,
    TranscriptLine,
    call_of,
    extra_calls,
    merged,
    transcript_lines,
)
from watchgate.agents.usage.reader_base import pieces
from watchgate.core.usage.usage_calls import UsageCall

AGENT_FILE = "agent-"
UNNAMED = "sidechain"
"""The sub-agent of an inline side chain: early versions did not say which one it was."""


class ClaudeReader:
    """Reads one transcript, of a session or of a sub-agent."""

    def __init__(self, path: str) -> None:
        session, sub = _session_and_sub(path)
        self._path = path
        self.facts = FileFacts(session=session, sub=sub)
        self.unreadable = 0
        self._session, self._sub = session, sub
        self._calls: dict[Key, UsageCall] = {}
        self._drafts: dict[Key, PartialResponse] = {}
        self._turn = self._timestamp = self._newest = ""
        self._filling: PartialResponse | None = None
        self._cwd: str | None = None
        self._nameless = 0

    def read(self, chunk: bytes) -> None:
        """Takes whole lines in; a `progress` line and a quoted one hold usage not counted."""
        for piece in pieces(chunk):
            lines, unreadable = transcript_lines(piece)
            self.unreadable += unreadable
            self._read(lines)
        self._know()

    def _read(self, lines: list[TranscriptLine]) -> None:
        draft, name, request, side = None, "", None, None
        for line in lines:
            message = line.message
            if message is None:
                continue
            usage = message.usage
            if usage is None or line.type != "assistant":
                if line.type == "user":
                    self._asked(line, message.content)
                continue
            if (
                draft is None
                or message.id != name
                or not name
                or line.request_id != request
                or line.is_sidechain != side
            ):
                draft = self._draft(line, message, usage)
                name, request, side = message.id or "", line.request_id, line.is_sidechain
            if usage.output_tokens != draft.usage.output_tokens and (
                _written(usage) > _written(draft.usage)
            ):
                draft.usage, draft.model = usage, message.model or draft.model
            if message.stop_reason is not None:
                draft.stopped = True
            if message.content.__class__ is list:
                draft.content += message.content

    def take(self) -> list[UsageCall]:
        """Returns the calls that are new or reported anew."""
        calls: dict[Key, UsageCall] = {}
        for key, draft in self._drafts.items():
            call = call_of(key, draft)
            if call is not None:
                calls[key] = call
            if draft.usage.iterations:
                for call in extra_calls(key, draft):
                    calls[call.id, call.request, call.side] = call
        for key in calls.keys() & self._calls.keys():
            calls[key] = merged(self._calls[key], calls[key])
        self._drafts = {}
        self._calls.update(calls)
        return list(calls.values())

    def _draft(
        self, line: TranscriptLine, message: ResponseMessage, usage: ResponseUsage
    ) -> PartialResponse:
        """Returns the draft of the response that the line is of, perhaps a new one."""
        if line.timestamp:
            self._timestamp = line.timestamp
        side = line.is_sidechain or self._sub != ""
        name, request = message.id, line.request_id or ""
        if not name:
            name, request = self._named(line), ""
        key = (name, request, side)
        draft = self._drafts.get(key)
        if draft is None:
            draft = self._drafts[key] = PartialResponse(
                usage,
                message.model or "",
                self._timestamp,
                line.session_id or self._session,
                (self._sub or line.agent_id or UNNAMED) if side else "",
                self._turn,
                False,
                [],
            )
        if not side and self._timestamp >= self._newest and draft.model != "<synthetic>":
            self._newest, self._filling, self._cwd = self._timestamp, draft, line.cwd
        return draft

    def _named(self, line: TranscriptLine) -> str:
        if line.uuid:
            return line.uuid
        self._nameless += 1
        return f"{self._path}#{self._nameless}"

    def _asked(self, line: TranscriptLine, content: list[ContentBlock] | str | None) -> None:
        """Notes a turn, which a prompt begins; an inline side chain belongs to its turn."""
        if line.is_sidechain and not self._sub:
            return
        if line.prompt_id:
            self._turn = line.prompt_id
        elif line.uuid and not line.is_meta and not _is_result(content):
            self._turn = line.uuid

    def _know(self) -> None:
        """Notes the context of the newest call: a file can end with copies of earlier lines."""
        draft = self._filling
        if draft is None:
            return
        self._filling = None
        self.facts.session = draft.session
        self.facts.cwd = self._cwd or self.facts.cwd
        own = [each for each in draft.usage.iterations or () if each.type == "message"]
        self.facts.context_used = (own[-1] if len(own) > 1 else draft.usage).read()


def _written(usage: ResponseUsage) -> int:
    return usage.output_tokens or 0


def _is_result(content: list[ContentBlock] | str | None) -> bool:
    """Returns whether the content is a tool's result, which is no prompt."""
    return bool(content) and isinstance(content, list) and content[0].type == "tool_result"


def _session_and_sub(path: str) -> tuple[str, str]:
    """Returns the session and the sub-agent that a transcript is of, by its path."""
    parts = path.replace("\\", "/").split("/")
    stem = parts[-1].removesuffix(".jsonl")
    if "subagents" in parts[1:-1]:
        folder = len(parts) - 2 - parts[-2::-1].index("subagents")
        return parts[folder - 1], stem.removeprefix(AGENT_FILE)
    if stem.startswith(AGENT_FILE):
        return stem, stem.removeprefix(AGENT_FILE)
    return stem, ""
