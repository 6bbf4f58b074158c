"""Codex CLI: its 12 hook events, those of its fork, its answers, and the hooks to install.

Wire format: the hook schemas of Codex CLI 0.169, and `flat_payload`. A permission answer with any
key that Codex does not know is void, and an allow before a tool call is an error but beside another
input, which Codex then asks about by its own rules.
"""

from watchgate.agents.codex.adapter import ADAPTER as ADAPTER
