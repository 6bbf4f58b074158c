"""The hooks of SynapsCLI's extension protocol 1, and the canonical events that they stand for.

Permissions and allowed results are not repeated here: the permissions of `handlers` and the preset
`synaps-chain` have them.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import msgspec

from watchgate.core.registration import WITH_TOOL

HookName = Literal[
    "before_tool_call",
    "after_tool_call",
    "before_message",
    "on_message_complete",
    "on_compaction",
    "on_session_start",
    "on_session_end",
]
HOOK_NAMES: Final[tuple[HookName, ...]] = get_args(HookName)


class Hook(msgspec.Struct, frozen=True):
    """One hook: its canonical events, and whether an answer can change anything there.

    Where it cannot, nobody waits for the extension: its handler is an observer.
    """

    name: HookName
    on: frozenset[str]
    steers: bool = False

    @property
    def about_tools(self) -> bool:
        """Returns whether its events have a tool that a filter could name."""
        return self.on <= WITH_TOOL


HOOKS: Final[dict[str, Hook]] = {
    hook.name: hook
    for hook in (
        Hook("before_tool_call", frozenset({"tool.pre"}), steers=True),
        Hook("after_tool_call", frozenset({"tool.post", "tool.error"})),
        Hook("before_message", frozenset({"prompt.submit"}), steers=True),
        Hook("on_message_complete", frozenset({"message"})),
        Hook("on_compaction", frozenset({"compact.post"})),
        Hook("on_session_start", frozenset({"session.start"})),
        Hook("on_session_end", frozenset({"session.end"})),
    )
}
HOOK_OF: Final[dict[str, HookName]] = {kind: h.name for h in HOOKS.values() for kind in h.on}
