"""Watchgate for programs that are not agents: report what happens, ask before what is risky.

    from watchgate.client_api import Gate

    with Gate("nightly-etl") as gate:
        with gate.tool_call("Bash", {"command": command}, tool_class="shell") as call:
            call.returned = run(call.input["command"])

`AsyncGate` is the same for async code. Whatever goes wrong on the way to the core denies the call.
"""

from watchgate.client_api.asynchronous import AsyncGate
from watchgate.client_api.calls import Call
from watchgate.client_api.core_dialog import Answer, Denied
from watchgate.client_api.synchronous import Gate

__all__ = ["Answer", "AsyncGate", "Call", "Denied", "Gate"]
