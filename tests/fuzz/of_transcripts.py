"""Transcripts of agents: the calls that they ask for, what ran, and what was used."""

from __future__ import annotations

from functools import partial

from tests.fuzz.target import Target, demand
from watchgate.agents.transcripts import CALL_READERS, READS, RanCallReader
from watchgate.agents.transcripts.opencode_transcript import OpenCodeCalls
from watchgate.agents.usage.usage_readers import READERS
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.usage.usage_calls import UsageCall


def calls(agent: str, data: bytes) -> None:
    """The calls of a file; its lines taken one by one tell the same."""
    whole = CALL_READERS[agent]("stem", "/w")
    found = whole.read(data)
    by_line = CALL_READERS[agent]("stem", "/w")
    again = [each for line in data.splitlines(keepends=True) for each in by_line.read(line)]
    demand(len(found) <= data.count(b"\n") + len(data) // 8 + 1, "no more calls than were told")
    if b"\r" not in data:
        demand(list(map(_what, again)) == list(map(_what, found)), "the same line by line")


def _what(asked: TranscriptCall) -> tuple[str, str, int]:
    return asked.session, asked.tool.input_hash, asked.at_us


def ran(data: bytes) -> None:
    """What transcripts say has run or was broken off, for each agent whose are followed."""
    for agent in READS:
        reader = RanCallReader(agent, "stem", 0)
        reader.ran(data)
        reader.ran(data)
        reader.interrupted(data)


def usage(agent: str, data: bytes) -> None:
    """What a file adds up to: whole amounts that are never below nothing."""
    reader = READERS[agent]("/home/me/.x/projects/-w/s-1.jsonl")
    for _ in range(2):
        reader.read(data)
        for call in reader.take():
            _sound(call)
    reader.facts.limits  # noqa: B018 - read as it is when it is told


def _sound(call: UsageCall) -> None:
    figures = [getattr(call, name) for name in call.__struct_fields__]
    numbers = [each for each in figures if type(each) is int]
    demand(all(abs(each) <= 2**63 for each in numbers), "a figure that can be stored")
    tokens = (call.input, call.output, call.cache_read)
    demand(all(each >= 0 for each in tokens), "no tokens are taken back")
    call.id.encode()


def opencode_parts(data: bytes) -> None:
    """OpenCode's files of a session and of its parts."""
    reader = OpenCodeCalls()
    reader.session(data)
    reader.read(data, "", 3)


_CLAUDE = (
    b'{"type":"user","sessionId":"s","cwd":"/w","timestamp":"2026-11-20T10:00:00.000Z",'
    b'"message":{"role":"user","content":"hi"}}\n'
    b'{"type":"assistant","sessionId":"s","cwd":"/w","timestamp":"2026-11-20T10:00:01.000Z",'
    b'"requestId":"r","uuid":"u","message":{"id":"msg_0123456789abcdef","model":"m","role":'
    b'"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}],'
    b'"usage":{"input_tokens":3,"output_tokens":4,"cache_read_input_tokens":5,'
    b'"cache_creation":{"ephemeral_5m_input_tokens":1}}}}\n'
    b'{"type":"user","sessionId":"s","timestamp":"2026-11-20T10:00:02.000Z","message":{"role":'
    b'"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a"}]}}\n'
    b'{"type":"user","sessionId":"s","timestamp":"2026-11-20T10:00:03.000Z","message":{"role":'
    b'"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}\n'
)
_CODEX = (
    b'{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"s",'
    b'"cwd":"/w","originator":"o"}}\n'
    b'{"timestamp":"2026-11-20T10:00:00.500Z","type":"turn_context","payload":{"model":"m"}}\n'
    b'{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":{"type":'
    b'"function_call","name":"shell","arguments":"{\\"command\\":[\\"ls\\"]}","call_id":"c"}}\n'
    b'{"timestamp":"2026-11-20T10:00:02.000Z","type":"response_item","payload":{"type":'
    b'"function_call_output","call_id":"c","output":"{}"}}\n'
    b'{"timestamp":"2026-11-20T10:00:03.000Z","type":"event_msg","payload":{"type":"token_count",'
    b'"info":{"total_token_usage":{"input_tokens":9,"output_tokens":4,"cached_input_tokens":1,'
    b'"total_tokens":13},"last_token_usage":{"input_tokens":9,"output_tokens":4},'
    b'"model_context_window":100},"rate_limits":{"primary":{"used_percent":1.5,'
    b'"window_minutes":300,"resets_at":1795000000}}}}\n'
    b'{"timestamp":"2026-11-20T10:00:04.000Z","type":"event_msg","payload":{"type":'
    b'"turn_aborted","reason":"interrupted"}}\n'
)
_GEMINI = (
    b'{"sessionId":"s","projectHash":"p","startTime":"2026-11-20T10:00:00.000Z","messages":['
    b'{"id":"m","type":"gemini","timestamp":"2026-11-20T10:00:00.000Z","model":"g","content":"",'
    b'"tokens":{"input":3,"output":4,"cached":1,"total":7},"toolCalls":[{"id":"c","name":'
    b'"run_shell_command","args":{"command":"ls"},"timestamp":"2026-11-20T10:00:00.000Z"}]}]}\n'
)
_QWEN = (
    b'{"sessionId":"s","cwd":"/w","uuid":"u","timestamp":"2026-11-20T10:00:00.000Z","type":'
    b'"assistant","model":"q","message":{"role":"model","parts":[{"functionCall":{"id":"c","name":'
    b'"run_shell_command","args":{"command":"ls"}}}]},"usageMetadata":{"promptTokenCount":3,'
    b'"candidatesTokenCount":4,"totalTokenCount":7}}\n'
)
_OPENCODE = (
    b'{"id":"msg_1","session_id":"s","parent_id":"","data":{"id":"msg_1","sessionID":"s","role":'
    b'"assistant","modelID":"m","providerID":"p","cost":0.25,"path":{"cwd":"/w"},"time":{"created":'
    b'1795000000000,"completed":1795000001000},"tokens":{"input":3,"output":4,"reasoning":0,'
    b'"cache":{"read":1,"write":2}}}}\n'
)
_COPILOT = (
    b'{"type":"session.start","timestamp":"2026-11-20T10:00:00.000Z","id":"e","data":{"sessionId":'
    b'"s","context":{"cwd":"/w"}}}\n'
    b'{"type":"session.shutdown","timestamp":"2026-11-20T10:00:01.000Z","id":"f","data":'
    b'{"modelMetrics":{"m":{"requests":{"count":1,"cost":1},"usage":{"inputTokens":3,'
    b'"outputTokens":4,"cacheReadTokens":1,"cacheWriteTokens":0}}}}}\n'
)
SEEDS = {
    "claude": _CLAUDE,
    "codex": _CODEX,
    "gemini": _GEMINI,
    "qwen": _QWEN,
    "opencode": _OPENCODE,
    "copilot": _COPILOT,
}

TRANSCRIPTS = {
    **{
        f"calls-{agent}": Target(feed=partial(calls, agent), seeds=(SEEDS[agent],))
        for agent in CALL_READERS
    },
    **{
        f"usage-{agent}": Target(feed=partial(usage, agent), seeds=(SEEDS[agent],))
        for agent in READERS
    },
    "ran": Target(feed=ran, seeds=(_CLAUDE, _CODEX, _GEMINI, _QWEN, _COPILOT)),
    "opencode-parts": Target(
        feed=opencode_parts,
        seeds=(
            (
                b'{"id":"s","directory":"/w","parentID":"t","type":"tool","tool":"bash","callID":"c",'
                b'"sessionID":"s","state":{"input":{"command":"ls"},"time":{"start":1795000000000}}}'
            ),
        ),
    ),
}
