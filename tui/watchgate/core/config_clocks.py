"""Clocks that must be nested: the broker's, then the hook client's, then the agent's own."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from watchgate.core.config_errors import ConfigError, Source

if TYPE_CHECKING:
    from watchgate.core.config import Approval

AGENT_MAX_S = 86_400


def check(times: Approval, source: Source, written: Collection[str]) -> None:
    """Raise `ConfigError` for clocks that are not nested.

    `written` are the dotted keys that the text sets: a fault of a default is one of those.
    """
    clocks = {
        "timeout_s": times.timeout_s,
        "unattended_timeout_s": times.unattended_timeout_s,
        "relay_timeout_s.racing": times.relay_timeout_s.racing,
        "relay_timeout_s.serial": times.relay_timeout_s.serial,
    }
    limit_s = times.client_deadline_s - times.margin_s
    late = {key: value for key, value in clocks.items() if value >= limit_s}
    if late:
        raise _late(late, times, source, written)
    if times.client_deadline_s + times.margin_s >= AGENT_MAX_S:
        raise _placed(
            ("client_deadline_s", "margin_s"),
            f"approval.client_deadline_s = {times.client_deadline_s} with margin_s ="
            f" {times.margin_s} must be below the longest that agents wait, {AGENT_MAX_S}:"
            f" set it to {AGENT_MAX_S - times.margin_s - 1} or less",
            source,
            written,
        )


def _late(
    late: dict[str, int], times: Approval, source: Source, written: Collection[str]
) -> ConfigError:
    def described(key: str, value: int) -> str:
        return f"{key} = {value}" + ("" if f"approval.{key}" in written else " (the default)")

    first = max(late, key=lambda key: (f"approval.{key}" in written, late[key]))
    others = [described(key, value) for key, value in late.items() if key != first]
    also = f", and so must {', '.join(others)}" if others else ""
    message = (
        f"approval.{described(first, late[first])} must end before the hook client gives up: with"
        f" {described('margin_s', times.margin_s)} it must be below"
        f" {described('client_deadline_s', times.client_deadline_s)}{also};"
        f" {', or '.join(_mends(late, times))}"
    )
    return _placed((first, "client_deadline_s", "margin_s"), message, source, written)


def _mends(late: dict[str, int], times: Approval) -> list[str]:
    """Return values to write instead, each of which this configuration would take."""
    needed_s = max(late.values()) + times.margin_s + 1
    limit_s = times.client_deadline_s - times.margin_s
    mends = []
    if needed_s + times.margin_s < AGENT_MAX_S:
        mends.append(f"set client_deadline_s to {needed_s} or more and run watchgate install again")
    if limit_s > 1:
        mends.append(f"set {' and '.join(late)} below {limit_s}")
    return mends or ["lower margin_s"]


def _placed(
    keys: tuple[str, ...], message: str, source: Source, written: Collection[str]
) -> ConfigError:
    """The error at the first of these keys that the text sets."""
    full = [f"approval.{key}" for key in keys]
    return source.error(next((key for key in full if key in written), full[0]), message)
