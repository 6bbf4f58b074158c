"""What clients have proven, over a hub that a test moves by hand."""

from __future__ import annotations

from pathlib import Path

from tests.service.desk import Desk
from watchgate.service.identity.pin import Pin
from watchgate.service.identity.presence import CoreProcesses, Presences
from watchgate.service.identity.sealed_file import SealedFile
from watchgate.service.identity.tokens import Tokens
from watchgate.service.identity.unlocking import Unlocking


def presences_of(desk: Desk, directory: Path, own: CoreProcesses | None = None) -> Presences:
    """How clients of this hub stand; PIN and tokens lie in the directory."""
    state, clock = desk.hub.recorder.state, desk.clock
    return Presences(
        desk.hub.askers,
        pin=Pin(SealedFile(directory / "pin"), directory / "pin-tries.json", clock),
        tokens=Tokens(SealedFile(directory / "tokens.json")),
        unlocking=Unlocking(clock, alive=lambda _leader: True),
        sessions=state.sessions.values,
        now_us=lambda: clock.now().wall_us,
        own=own or CoreProcesses(),
    )
