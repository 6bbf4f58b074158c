"""OpenCode: its plugin hooks and bus events, and what our plugin and stream client are told.

OpenCode runs no hook commands. Our plugin asks before each tool call, and answers permissions and
questions over OpenCode's own HTTP interface; the stream client does the latter for a server
without the plugin. The answers here are read by those two: `{"decision", "args"?, "reason"?}` for
a call, else the body to post.
"""

from watchgate.agents.opencode.adapter import ADAPTER as ADAPTER
