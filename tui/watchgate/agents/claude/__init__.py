"""Claude Code: its 33 hook events, its answers, and the hooks to install.

Wire format: the hook JSON of Claude Code 2.1.
"""

from watchgate.agents.claude.adapter import ADAPTER as ADAPTER
