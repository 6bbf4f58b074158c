"""What clients have proven, over a hub that a test moves by hand."""

from __future__ import annotations

from pathlib import Path

from tests.service.desk import Desk
from watchgate.service.identity.presence import CoreProcesses, Presences, Sealed, UnlockedTerminals
from watchgate.service.identity.sealed_files import ProofFile, SealedFile, TokenRegistry
from watchgate.service.identity.unlock_proofs import Guesses, Pin, PinTries, TouchKey


def presences_of(desk: Desk, directory: Path, own: CoreProcesses | None = None) -> Presences:
    """How clients of this hub stand; PIN and tokens lie in the directory."""
    state, clock = desk.hub.recorder.state, desk.clock
    tries = PinTries(directory / "pin-tries.json", clock)
    proofs, guesses = ProofFile(directory / "pin"), Guesses(tries)
    sealed = Sealed(
        pin=Pin(proofs, guesses),
        key=TouchKey(proofs, guesses),
        tokens=TokenRegistry(SealedFile(directory / "tokens.json")),
    )
    return Presences(
        desk.hub.askers,
        sealed=sealed,
        unlocking=UnlockedTerminals(clock, alive=lambda _leader: True),
        sessions=state.sessions.values,
        now_us=lambda: clock.now().wall_us,
        own=own or CoreProcesses(),
    )
