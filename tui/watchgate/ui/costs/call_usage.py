"""The usage of the model call that asked for a tool call, in words."""

from __future__ import annotations

from watchgate.core.base.amounts import UNKNOWN, count, tokens
from watchgate.core.usage.usage_fold import UsageFold
from watchgate.ui.costs.cost_sums import LOWER_BOUND_MARK, of_session, part_dollars


def asked_by(usage: UsageFold, agent: str, session: str, call: str | None) -> str:
    """Writes `a model call of $0.012 (computed), 14.0 k tokens, shared by 2 calls`, or nothing.

    The money is the model call's: of several tool calls that it asked for none has a part of it.
    """
    part = usage.tool_cost(agent, session, call) if call else None
    if part is None:
        return ""
    used = usage.sessions.get((agent, session))
    source = of_session(used) if used is not None else "unknown"
    cost = f"cost {UNKNOWN}"
    if part.cost is not None:
        cost = part_dollars(part.cost) + LOWER_BOUND_MARK * part.is_lower_bound
        cost += f" ({source})" if source != "unknown" else ""
    words = f"a model call of {cost}, {tokens(part.tokens)} tokens"
    return f"{words}, shared by {count(part.shared)} calls" if part.shared > 1 else words
