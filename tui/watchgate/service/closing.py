"""The answer to a hook frame that could not be judged: on a gate lane, a denial."""

from __future__ import annotations

from collections.abc import Mapping

from watchgate.agents.base import Adapter, Answer
from watchgate.core.events import Lane
from watchgate.service.boundary import contained
from watchgate.service.framing import Head


def closed_text(why: str) -> str:
    """Returns the reason of the denial, for the agent's model to read."""
    return f"watchgate: {why}. The call is denied; this is not a refusal by a person."


def closed_answer(
    head: Head | None, why: str, *, adapters: Mapping[str, Adapter], strict: bool
) -> Answer | None:
    """Returns a denial in the agent's own format where the lane denies; None where nothing waits.

    A frame whose head is unknown is taken for a gate's. `strict` closes gate-read as well.
    """
    lane = head.lane if head else Lane.GATE
    if not lane.waits:
        return None
    if lane is Lane.GATE_READ and strict:
        lane = Lane.GATE
    adapter = adapters.get(head.agent) if head else None
    if head is not None and adapter is not None:
        made: list[Answer] = []
        # An adapter may be foreign code, and this is what answers for its faults.
        with contained(lambda _fault: None):
            made.append(adapter.closed(head.native, lane, closed_text(why)))
        if made:
            return made[0]
    if lane is Lane.GATE:
        return Answer(stderr=closed_text(why).encode() + b"\n", exit_code=2)
    return Answer()
