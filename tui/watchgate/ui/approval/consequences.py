"""The consequences of silence and of each key, for this agent and this lane, in words."""

from __future__ import annotations

from watchgate.core.base.text import safe_text
from watchgate.core.model.events import Conduct
from watchgate.core.model.questions import describe_choices
from watchgate.core.model.records import Asks, RequestData
from watchgate.ui.approval.arming import Intent
from watchgate.ui.base.formats import person
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.source.agent_titles import title

ALLOWING: dict[Asks, str] = {"approval": "allow", "question": "answer", "plan": "approve"}
"""Names of the key that lets something go on."""

_ALLOWED: dict[Conduct, str] = {
    "runs": "runs it at once, nothing else asks",
    "confined": "runs it, in its sandbox if any",
    "asks": "will still ask in its own terminal",
    "runs-or-asks": "may run it, or ask by its own rules",
    "runs-or-refuses": "may run it, or refuse it: it asks nobody when headless",
    "refuses": "refuses it by its own rules",
}
_MAYBE = ("runs-or-asks", "runs-or-refuses")

BATCHED_RISKS = ("low", "medium")
"""Risks that may be allowed more than once, or together with requests alike."""

_DENIALS: tuple[Intent, ...] = ("deny", "reply", "deny_stop")


def seconds_left(data: RequestData, now_us: int) -> float | None:
    """Returns the seconds until silence counts, never below zero; None without a deadline."""
    if not data.deadline_at:
        return None
    return max(0.0, (data.deadline_at - now_us) / 1_000_000)


def silence(data: RequestData, agent: str, left_s: float | None, *, whole: bool = False) -> str:
    """Returns the outcome if nobody answers, with the time left: `denied in 0:23`.

    The `whole` of it where there is room: that the agent's own dialog stands there meanwhile.
    """
    if left_s is None:
        if data.silence == "deny":
            return "held until somebody decides"
        return f"{title(agent)} asks as well" if data.lane == "relay" else "waits for the agent"
    races = whole and data.races and data.silence == "handback" and not data.runs_unasked
    race = f"{title(agent)} asks as well; " if races else ""
    return f"{race}{_silent_end(data, agent)} in {person(left_s)}"


def _silent_end(data: RequestData, agent: str) -> str:
    if data.silence == "deny":
        return "denied"
    if data.runs_unasked:
        return f"{title(agent)} {_runs(data)}"
    by_itself = data.lane == "relay" and not data.races
    return f"{title(agent)} asks by itself" if by_itself else "handed back"


def after_silence(data: RequestData, agent: str) -> str:
    """Says what the agent makes of silence: `Claude is told nobody answered`."""
    if data.silence == "deny":
        return f"{title(agent)} is told nobody answered"
    if data.runs_unasked:
        return after_handback(data, agent)
    if data.races:
        return f"{title(agent)} goes on asking in its own dialog"
    return f"{title(agent)} asks in its own terminal"


def why_so_long(data: RequestData) -> str:
    """Says why the wait is as long as it is, where an operator would not expect it."""
    if not data.unattended or data.silence != "deny" or not data.deadline_at:
        return ""
    span = person(data.timeout_s)
    return f"{span} in all, as no console that may allow was attached when it came"


def after_handback(data: RequestData, agent: str) -> str:
    """Returns the words for a call handed back to an agent that runs it without asking."""
    return f"{title(agent)} {_runs(data)} without asking"


def _runs(data: RequestData) -> str:
    """Says whether a call that is handed back runs: unknown for agents that hide their mode."""
    by_itself = data.own_rules.handed_back
    certain = by_itself == "runs" or (data.mode is not None and by_itself not in _MAYBE)
    return "runs it" if certain else "may run it"


def after_allow(data: RequestData, agent: str) -> str:
    """Returns the words for the outcome of an allow or an answer."""
    if data.asks == "plan":
        return f"{title(agent)} carries the plan out; its calls still pass the gate"
    if data.asks == "question":
        return f"{title(agent)} is told your answer"
    return f"{title(agent)} {_ALLOWED[data.once_allowed]}"


def after(data: RequestData, agent: str) -> str:
    """Returns the words for the outcome of each key on a question or a plan."""
    allow = key_for("allow")
    if data.asks == "plan":
        denies = f"{key_for('reply')} denies with words that the model reads"
        return f"{allow} approves: {title(agent)} carries it out; {denies}"
    words = (
        describe_choices(data.questions[0])
        if len(data.questions) == 1
        else "one question after another"
    )
    return f"{allow} answers: {words}; {key_for('deny')} declines"


def note(data: RequestData, agent: str) -> str:
    """Warns of what could surprise: an allow that settles nothing, a handback that does."""
    if data.asks != "approval":
        return ""
    allowed, handed_back = data.once_allowed, data.own_rules.handed_back
    if allowed in _MAYBE and allowed == handed_back:
        return f"allowed or handed back, {title(agent)} {_ALLOWED[allowed]}"
    if allowed != "runs":
        return after_allow(data, agent)
    if not data.runs_unasked:
        return ""
    mode = f" in {safe_text(data.mode)} mode" if data.mode else ""
    rules = ", or ask by its own rules" if _runs(data) != "runs it" else ""
    return f"handed back, {title(agent)}{mode} {_runs(data)}{rules}"


def allow_label(data: RequestData) -> str:
    """Returns the allow key's label: `allow`, `allow, twice` or `allow, type yes`."""
    if data.asks != "approval":
        return ALLOWING[data.asks]
    return "allow" + _confirmation(data.risk)


def handback_label(data: RequestData, agent: str) -> str:
    """Labels the handback key; it is confirmed like an allow where the agent would just run."""
    if not data.runs_unasked:
        asks = data.asks != "approval"
        return f"hand back: {title(agent)} asks" if asks else "hand back"
    return f"hand back: {title(agent)} {_runs(data)}" + _confirmation(data.risk)


def _confirmation(risk: str) -> str:
    return {"low": "", "medium": "", "critical": ", type yes"}.get(risk, ", twice")


def blocked(data: RequestData, agent: str) -> dict[Intent, str]:
    """Returns the reasons keys cannot decide this request, by what is offered for it."""
    name = title(agent)
    reasons: dict[Intent, str] = {}
    if not {"allow", "answer"} & set(data.offered):
        reasons["allow"] = f"{name} takes no allow for this"
    if "allow" not in data.offered:
        reasons |= dict.fromkeys(("allow_more", "edit", "mark"), f"{name} takes no allow for this")
    elif data.asks != "approval":
        reasons |= dict.fromkeys(("allow_more", "edit", "mark"), f"a {data.asks} is answered once")
    else:
        reasons |= _beyond_once(data, name)
    if "stop" not in data.offered:
        instead = f"{key_for('deny')} denies, {key_for('reply')} says why"
        reasons["deny_stop"] = f"{name} cannot be told to end its turn: {instead}"
    if "deny" not in data.offered:
        reasons |= dict.fromkeys(_DENIALS, f"{name} takes no denial here")
    if "handback" not in data.offered:
        reasons["handback"] = f"{name} has no prompt of its own for this"
    return reasons


def _beyond_once(data: RequestData, name: str) -> dict[Intent, str]:
    """Returns the reasons a call can only be allowed once, or only as it is."""
    reasons: dict[Intent, str] = {}
    if len(data.scopes) < 2:
        grave = data.risk not in BATCHED_RISKS
        why = f": it is {safe_text(data.risk)}" if grave else ""
        reasons["allow_more"] = f"this request can only be allowed once{why}"
    if "edit" not in data.offered:
        instead = f"{key_for('reply')} denies and says why"
        reasons["edit"] = f"{name} takes no other input than its own: {instead}"
    return reasons
