"""GitHub Copilot CLI, as a table.

Wire format: github/docs content/copilot/reference/hooks-reference.md, and payloads and answers of
Copilot CLI 1.0.102. Events registered in camelCase have camelCase fields; those in PascalCase have
Claude Code's fields and tool names, but `permissionRequest` keeps its own under either name.
"""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.base import ALL_OFF, Setup, Silencers
from watchgate.agents.hooks import gate, gate_read, match_others, match_reads, observed
from watchgate.agents.table import EventAnswers, EventRule, Fields, HookOutput, Modes, Table, alike
from watchgate.agents.table.answer_shapes import PRE_ANSWERS, REASON
from watchgate.core.model.events import ToolClass

_OWN: Final[dict[str, tuple[ToolClass, str]]] = {
    "bash": ("shell", "Bash"),
    "powershell": ("shell", "Bash"),
    "view": ("read", "Read"),
    "grep": ("read", "Grep"),
    "rg": ("read", "Grep"),
    "glob": ("read", "Glob"),
    "create": ("edit", "Write"),
    "edit": ("edit", "Edit"),
    "str_replace_editor": ("edit", "Edit"),
    "apply_patch": ("edit", "Edit"),
    "web_fetch": ("fetch", "WebFetch"),
    "web_search": ("fetch", "WebSearch"),
    "task": ("agent", "Agent"),
    "ask_user": ("question", "AskUserQuestion"),
    "update_todo": ("other", "TodoWrite"),
}
_OWN_CLASSES: Final = {name: cls for name, (cls, _) in _OWN.items()}


def _before(decision: str, **more: str) -> dict[str, Any]:
    return {"permissionDecision": decision, **more}


# Any other exit status than 0 denies whatever is printed; beside exit 2 the reason is still told.
_PRE: Final = EventAnswers(
    deny=HookOutput(stdout=_before("deny", permissionDecisionReason=REASON), stderr=REASON, exit=2),
    allow=HookOutput(stdout=_before("allow")),
    modify=HookOutput(
        stdout=_before("allow", modifiedArgs="{input}", additionalContext="{context}")
    ),
)
_PERMISSION: Final = EventAnswers(
    deny=HookOutput(stdout={"behavior": "deny", "message": REASON}),
    allow=HookOutput(stdout={"behavior": "allow"}),
    stop=HookOutput(stdout={"behavior": "deny", "message": REASON, "interrupt": True}),
)
_ASKS: Final = EventRule(kind="tool.permission", answers=_PERMISSION, every_call=True)

TABLE: Final = Table(
    name="copilot",
    title="Copilot",
    experimental=False,
    fields=Fields(
        event=("hook_event_name", "hookName"),
        exit_pattern=r"completed with exit code (-?\d+)",
        session=("sessionId", "session_id"),
        transcript=("transcriptPath", "transcript_path"),
        sub_id=("agentId", "agent_id"),
        sub_type=("agentType", "agent_type", "agentName", "agent_name"),
        tool=("toolName", "tool_name"),
        input=("toolArgs", "toolInput", "tool_input"),
        call_id=(),
        result=("toolResult.textResultForLlm", "tool_result.text_result_for_llm"),
    ),
    events={
        "preToolUse": EventRule(kind="tool.pre", answers=_PRE),
        "PreToolUse": EventRule(kind="tool.pre", answers=PRE_ANSWERS),
        "permissionRequest": _ASKS,
        "PermissionRequest": _ASKS,
        **alike("tool.post", "postToolUse", "PostToolUse"),
        **alike("tool.error", "postToolUseFailure", "PostToolUseFailure"),
        **alike("session.start", "sessionStart", "SessionStart", what="{source}"),
        **alike("session.end", "sessionEnd", "SessionEnd", what="{reason}"),
        **alike("prompt.submit", "userPromptSubmitted", "UserPromptSubmit", text=("prompt",)),
        **alike("notice", "userPromptTransformed", text=("transformedPrompt",)),
        **alike("turn.end", "agentStop", "Stop", text=("stopReason", "stop_reason")),
        **alike("turn.error", "errorOccurred", "ErrorOccurred", text=("error.message",)),
        **alike("agent.start", "subagentStart", "SubagentStart", text=("agentName", "agent_name")),
        **alike(
            "agent.stop",
            "subagentStop",
            "SubagentStop",
            text=("response", "last_assistant_message"),
        ),
        **alike("compact.pre", "preCompact", "PreCompact", what="{trigger}"),
        **alike("notice", "notification", "Notification", text=("title", "message")),
    },
    classes={**_OWN_CLASSES, **{shown: cls for cls, shown in _OWN.values()}, "Task": "agent"},
    names={**{name: shown for name, (_, shown) in _OWN.items()}, "Task": "Agent"},
    mcp=(),
    # No payload names the mode, and under --allow-all what is handed back runs.
    modes=Modes(always_unasked=True),
    hooks=(
        gate("preToolUse", match_others(_OWN_CLASSES)),
        gate_read("preToolUse", match_reads(_OWN_CLASSES)),
        # permissionRequest stays out: it comes for every call, after the gate has judged the same
        # one, and a hook on it that fails in any way denies the call.
        *observed(
            "postToolUse",
            "postToolUseFailure",
            "userPromptSubmitted",
            "sessionStart",
            "sessionEnd",
            "agentStop",
            "errorOccurred",
            "subagentStart",
            "subagentStop",
            "preCompact",
            "notification",
        ),
    ),
    setup=Setup(
        form="copilot",
        user="~/.copilot/hooks/watchgate.json",
        variable="COPILOT_HOME",
        no_project=(
            "Copilot has no hooks file of a project that surely stays out of its repository, and "
            "a committed one would run this machine's paths for everybody: use --scope user"
        ),
        owned=True,
        timeout_key="timeoutSec",
        extra={"version": 1},
        also_loads=("claude", "vscode"),
        process=("copilot",),
        silencers=Silencers(
            home=("settings.json", "hooks/watchgate.json"),
            project=(".github/copilot/settings.json", ".github/copilot/settings.local.json"),
            keys={"disableAllHooks": (True, ALL_OFF)},
        ),
    ),
)
