"""What each preset makes of a list of verdicts, said once more in the plainest way.

Each model is written from the rules of its hook system, not from the loop. It is given the gates
that fit, in the order of the configuration, and what each would say; it knows nothing of time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import PresetName
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Decision,
    Defer,
    Failed,
    Inject,
    Modify,
    Verdict,
)

Said = Sequence[tuple[Handler, Verdict]]


class Expected(NamedTuple):
    """What has to come of it; `ran` are the gates that were asked."""

    decision: Decision
    by: str | None
    ran: list[str]
    input: dict[str, Any] | None = None
    texts: Sequence[str] = ()
    stop_turn: bool = False


Model = Callable[[Said, str], Expected]


def console(said: Said, kind: str) -> Expected:
    """By priority; a denial ends it; the strongest word counts, and the last rewrite."""
    ran: list[str] = []
    heard: list[tuple[Handler, Verdict]] = []
    for gate, verdict in sorted(said, key=lambda each: each[0].priority):
        ran.append(gate.id)
        if is_failure(verdict):
            if gate.on_failure != "open":
                return Expected("deny", gate.id, ran, texts=texts_of(heard))
            continue
        if isinstance(verdict, Block | Abort):
            ends_turn = isinstance(verdict, Abort)
            return Expected("deny", gate.id, ran, texts=texts_of(heard), stop_turn=ends_turn)
        heard.append((gate, verdict))
    return concluded(heard, ran, "none")


def codewhale_sinks(said: Said, kind: str) -> Expected:
    """Everybody is told, and nothing that anybody says steers; only a stated closed rule counts."""
    ran = [gate.id for gate, _ in said]
    for gate, verdict in said:
        if is_failure(verdict) and gate.on_failure == "closed":
            return Expected("deny", gate.id, ran)
    allowed = [gate.id for gate, verdict in said if isinstance(verdict, Allow)]
    deferred = [gate.id for gate, verdict in said if isinstance(verdict, Defer)]
    if deferred and not allowed:
        return Expected("none", deferred[0], ran)
    return Expected("allow", allowed[0] if allowed else None, ran)


def codex_fork_v1(said: Said, kind: str) -> Expected:
    """In order until one blocks; a failure to start or to be understood proceeds, others block."""
    proceeds = {"spawn", "parse"}
    ran: list[str] = []
    heard: list[tuple[Handler, Verdict]] = []
    for gate, verdict in said:
        ran.append(gate.id)
        if is_failure(verdict):
            if gate.on_failure == "open" or (
                gate.on_failure is None and cause(verdict) in proceeds
            ):
                continue
            return Expected("deny", gate.id, ran)
        if isinstance(verdict, Block):
            return Expected("deny", gate.id, ran)
        heard.append((gate, verdict))
    return concluded(heard, ran, "allow")


def codex_fork_v2(said: Said, kind: str) -> Expected:
    """All of them, whatever anybody says; the first block in order, the last rewrite, all texts."""
    blocks = {"timeout", "malformed"}
    return all_at_once(said, blocks, "allow", texts=True)


def codex_permission(said: Said, kind: str) -> Expected:
    """All of them; deny before allow before nothing; a rewrite of a permission is reserved."""
    if kind == "tool.permission":
        reserved = Block("reserved")
        said = [(gate, reserved if isinstance(v, Modify) and v.input else v) for gate, v in said]
    return all_at_once(said, {"malformed"}, "none", texts=False)


def sandbox_lifecycle(said: Said, kind: str) -> Expected:
    """In order; a failure ends the list and the flow where its hook says that it must not go on."""
    ran: list[str] = []
    for gate, verdict in said:
        ran.append(gate.id)
        if is_failure(verdict) and not goes_on(gate):
            return Expected("deny", gate.id, ran)
    done = [gate.id for gate, verdict in said if isinstance(verdict, Allow)]
    return Expected("allow", done[0] if done else None, ran)


def synaps_chain(said: Said, kind: str) -> Expected:
    """In order until one blocks, asks or rewrites a call; before a message all may add text."""
    ran: list[str] = []
    heard: list[tuple[Handler, Verdict]] = []
    steers = Block | Confirm | Modify if kind == "tool.pre" else ()
    for gate, verdict in said:
        ran.append(gate.id)
        if is_failure(verdict):
            malformed = cause(verdict) == "malformed"
            if gate.on_failure == "closed" or (gate.on_failure is None and malformed):
                return Expected("deny", gate.id, ran, texts=texts_of(heard))
            continue
        if isinstance(verdict, Allow | Defer) or (
            isinstance(verdict, Inject) and kind == "prompt.submit"
        ):
            heard.append((gate, verdict))
        elif steers and isinstance(verdict, steers):
            heard.append((gate, verdict))
            break
    return concluded(heard, ran, "allow")


def sdk_first_match(said: Said, kind: str) -> Expected:
    """Whoever returns first decides, whatever it says; an open failure goes on to the next."""
    ran: list[str] = []
    for gate, verdict in said:
        ran.append(gate.id)
        if is_failure(verdict):
            malformed = cause(verdict) == "malformed"
            if gate.on_failure == "closed" or (gate.on_failure is None and malformed):
                return Expected("deny", gate.id, ran)
            continue
        return concluded([(gate, verdict)], ran, "none")
    return Expected("none", None, ran)


MODELS: Mapping[PresetName, Model] = {
    "console": console,
    "codewhale-sinks": codewhale_sinks,
    "codex-fork-v1": codex_fork_v1,
    "codex-fork-v2": codex_fork_v2,
    "codex-permission": codex_permission,
    "sandbox-lifecycle": sandbox_lifecycle,
    "synaps-chain": synaps_chain,
    "sdk-first-match": sdk_first_match,
}


def all_at_once(said: Said, closed: set[str], no_match: Decision, *, texts: bool) -> Expected:
    """Nobody stops anybody; failures block for these causes only."""
    ran = [gate.id for gate, _ in said]
    heard: list[tuple[Handler, Verdict]] = []
    for gate, verdict in said:
        if not is_failure(verdict):
            heard.append((gate, verdict))
        elif gate.on_failure == "closed" or (gate.on_failure is None and cause(verdict) in closed):
            heard.append((gate, Block("failed")))
    expected = concluded(heard, ran, no_match)
    return expected if texts else expected._replace(texts=())


def concluded(heard: Said, ran: list[str], no_match: Decision) -> Expected:
    """Deny before ask before allow before nothing, the first who said so; the last rewrite."""
    texts = texts_of(heard)
    rewrites = [(gate.id, v.input) for gate, v in heard if isinstance(v, Modify)]
    last = rewrites[-1][1] if rewrites else None
    for kind, word in _STRENGTH:
        for gate, verdict in heard:
            if isinstance(verdict, kind):
                ends_turn = isinstance(verdict, Abort)
                kept = None if word == "deny" else last
                return Expected(word, gate.id, ran, kept, texts, ends_turn)
    return Expected(no_match, rewrites[-1][0] if rewrites else None, ran, last, texts)


_STRENGTH: list[tuple[Any, Decision]] = [
    (Block | Abort, "deny"),
    (Confirm, "confirm"),
    (Allow, "allow"),
    (Defer, "none"),
]


def texts_of(heard: Said) -> list[str]:
    """What was said to the model, in order."""
    return [verdict.text for _, verdict in heard if isinstance(verdict, Inject)]


def is_failure(verdict: Verdict) -> bool:
    """Whether the handler failed; a rewrite without an input is a failure too."""
    return isinstance(verdict, Failed) or (isinstance(verdict, Modify) and verdict.input is None)


def cause(verdict: Verdict) -> str:
    """Why it failed."""
    return verdict.cause if isinstance(verdict, Failed) else "malformed"


def goes_on(gate: Handler) -> bool:
    """Whether a lifecycle list goes on after this hook failed."""
    if gate.on_failure is not None:
        return gate.on_failure == "open"
    return gate.continue_on_failure is not False
