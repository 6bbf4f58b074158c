"""The Agent Client Protocol: messages between an editor and any agent that speaks it.

Our proxy (`watchgate acp`) wraps each message (see `wrapped`) and sends the answer on. An answer is
the rest of a JSON-RPC response, `{"result": ...}`; the proxy puts the id to it.
"""

from watchgate.agents.acp.adapter import ADAPTER as ADAPTER
