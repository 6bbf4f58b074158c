"""What silence and each key will really do, for this agent and this lane, in words."""

from __future__ import annotations

from watchgate.core.records import RequestData
from watchgate.core.text import safe_text
from watchgate.ui.arming import Intent
from watchgate.ui.formats import person

TITLES = {
    "claude": "Claude",
    "codex": "Codex",
    "copilot": "Copilot",
    "gemini": "Gemini",
    "qwen": "Qwen",
    "opencode": "OpenCode",
    "cursor": "Cursor",
    "goose": "Goose",
    "kimi": "Kimi",
    "crush": "Crush",
    "kiro": "Kiro",
    "droid": "Droid",
    "cline": "Cline",
    "windsurf": "Windsurf",
    "vscode": "VS Code",
    "codewhale": "CodeWhale",
    "synaps": "SynapsCLI",
    "acp": "the agent",
}


_DENIALS: tuple[Intent, ...] = ("deny", "reply", "deny_stop")


def title(agent: str) -> str:
    """The agent's name as a sentence writes it."""
    return TITLES.get(agent) or safe_text(agent)


def seconds_left(data: RequestData, now_us: int) -> float | None:
    """How long silence still has, never below zero; None where nothing runs out."""
    if not data.deadline_at:
        return None
    return max(0.0, (data.deadline_at - now_us) / 1_000_000)


def silence(data: RequestData, agent: str, left_s: float | None) -> str:
    """What happens when nobody answers, and when: `denied in 0:23`."""
    if left_s is None:
        if data.silence == "deny":
            return "held until somebody decides"
        return f"{title(agent)} asks as well" if data.lane == "relay" else "waits for the agent"
    return f"{_silent_end(data, agent)} in {person(left_s)}"


def _silent_end(data: RequestData, agent: str) -> str:
    if data.silence == "deny":
        return "denied"
    if data.runs_unasked:
        return f"{title(agent)} runs it"
    return f"{title(agent)} asks by itself" if data.lane == "relay" else "handed back"


def after_silence(data: RequestData, agent: str) -> str:
    """What the agent makes of silence: `Claude is told nobody answered`."""
    if data.silence == "deny":
        return f"{title(agent)} is told nobody answered"
    if data.runs_unasked:
        return f"{title(agent)} runs it without asking"
    return f"{title(agent)} asks in its own terminal"


def after_allow(data: RequestData, agent: str) -> str:
    """What an allow leads to."""
    if data.asks_again and data.runs_unasked:
        return f"{title(agent)} runs it by its own rules"
    if data.asks_again:
        return f"{title(agent)} will still ask in its own terminal"
    return f"{title(agent)} runs it at once, nothing else asks"


def note(data: RequestData, agent: str) -> str:
    """What could surprise the operator: an allow that settles nothing, a handback that does."""
    parts = [after_allow(data, agent)] if data.asks_again else []
    if data.runs_unasked:
        mode = f" in {safe_text(data.mode)} mode" if data.mode else ""
        parts.append(f"handed back, {title(agent)}{mode} runs it")
    return "; ".join(parts)


def allow_label(data: RequestData) -> str:
    """What the allow key does: `allow`, `allow, twice` or `allow, type yes`."""
    return "allow" + _confirmation(data.risk)


def handback_label(data: RequestData, agent: str) -> str:
    """What the handback key does; it is confirmed like an allow where the agent would just run."""
    if not data.runs_unasked:
        return "hand back"
    return f"hand back: {title(agent)} runs it" + _confirmation(data.risk)


def _confirmation(risk: str) -> str:
    return {"low": "", "medium": "", "critical": ", type yes"}.get(risk, ", twice")


def blocked(data: RequestData, agent: str) -> dict[Intent, str]:
    """Why keys cannot decide this request, by what is offered for it."""
    name = title(agent)
    reasons: dict[Intent, str] = {}
    if "allow" not in data.offered:
        reasons["allow"] = f"{name} takes no allow for this"
    if "allow" not in data.offered or len(data.scopes) < 2:
        reasons["allow_more"] = "this request can only be allowed once"
    if "stop" not in data.offered:
        reasons["deny_stop"] = f"{name} cannot be told to end its turn: d denies, r says why"
    if "deny" not in data.offered:
        reasons |= dict.fromkeys(_DENIALS, f"{name} takes no denial here")
    if "handback" not in data.offered:
        reasons["handback"] = f"{name} has no prompt of its own for this"
    return reasons
