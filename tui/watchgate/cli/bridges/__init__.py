"""Commands that run beside an agent: `acp`, `stream-json`, `tap`, and Claude Code's tools."""
