"""Commands that run beside an agent: `acp`, `stream-json`, `tap`, and Claude Code's tools.

An agent's messages come in and are passed on. It imports base, and the rest when a command runs.
"""
