"""Builds what a core on this machine would decide with now: its policy and handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from watchgate.core.config import Config
from watchgate.core.handlers import Handler
from watchgate.link.paths import Paths
from watchgate.service.equipment import equip
from watchgate.service.policy.links import LinkFinder
from watchgate.service.policy.store import read_policies
from watchgate.service.replaying.judge import Judge
from watchgate.service.runners.pool import ChildPool
from watchgate.service.stage import real_stage


def judges(paths: Paths, config: Config, *, policy: Path | None = None) -> Callable[[], Judge]:
    """Returns a maker of gates with the policy in force, or with `policy` as the user's file.

    Raises `PolicyFault` for a file that cannot be used: nothing is decided by half a policy.
    """
    policies = read_policies(paths, user=policy)
    if policies.fault:
        raise PolicyFault(policies.fault)
    stage = real_stage(paths)
    links = LinkFinder(stage.home)
    return lambda: Judge(
        config.profile,
        policies,
        home=stage.home,
        own=stage.protected,
        links=links,
        auto_allow=config.policy.auto_allow,
    )


class PolicyFault(ValueError):
    """The policy cannot be used; the message says where and why."""


def handlers(paths: Paths, config: Config, environ: Mapping[str, str]) -> tuple[Handler, ...]:
    """Returns the configured handlers, none of which is run; raises `EquipmentError`."""
    pool = ChildPool()
    try:
        return equip(config, paths, environ, pool, prints=False).handlers
    finally:
        pool.close()
