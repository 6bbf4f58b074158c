"""Claude Code: its hooks, and what it speaks beside them."""
