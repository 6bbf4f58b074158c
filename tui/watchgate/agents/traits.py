"""Questions to the adapters: traits of an agent, its event kinds, and the agent of a payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from watchgate.agents.base import Adapter
from watchgate.core.coverage import Traits


def traits_in(adapters: Mapping[str, Adapter]) -> Callable[[str], Traits]:
    """Returns a function that looks up an agent's traits: an adapter is imported only then."""

    def traits(agent: str) -> Traits:
        adapter = adapters.get(agent)
        if adapter is None or adapter.setup is None:
            return Traits()
        setup = adapter.setup
        return Traits(must_trust=setup.must_trust, hookless=setup.hookless, live=setup.live)

    return traits
