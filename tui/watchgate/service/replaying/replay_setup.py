"""Builds what a core on this machine would decide with now: its policy and handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from watchgate.core.config.config import Config
from watchgate.core.dispatch.handlers import Handler
from watchgate.link.paths import Paths
from watchgate.service.hub.components import build_components
from watchgate.service.hub.core_environment import real_environment
from watchgate.service.policies.link_finder import LinkFinder
from watchgate.service.policies.policy_store import read_policies
from watchgate.service.replaying.inferred_inputs import ReplayGate
from watchgate.service.runners.child_pool import ChildPool


def replay_gates(
    paths: Paths, config: Config, *, policy: Path | None = None
) -> Callable[[], ReplayGate]:
    """Returns a maker of gates with the policy in force, or with `policy` as the user's file.

    Raises `PolicyFault` for a file that cannot be used: nothing is decided by half a policy.
    """
    policies = read_policies(paths, user=policy)
    if policies.fault:
        raise PolicyFault(policies.fault)
    stage = real_environment(paths)
    links = LinkFinder(stage.home)
    return lambda: ReplayGate(
        config.profile,
        policies,
        home=stage.home,
        own=stage.protected,
        links=links,
        auto_allow=config.policy.auto_allow,
    )


class PolicyFault(ValueError):
    """The policy cannot be used; the message says where and why."""


def replay_handlers(
    paths: Paths, config: Config, environ: Mapping[str, str]
) -> tuple[Handler, ...]:
    """Returns the configured handlers, none of which is run; raises `EquipmentError`."""
    pool = ChildPool()
    try:
        return build_components(config, paths, environ, pool, prints=False).handlers
    finally:
        pool.close()
