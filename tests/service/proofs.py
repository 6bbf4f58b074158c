"""What clients have proven, over a hub that a test moves by hand."""

from __future__ import annotations

from pathlib import Path

from tests.service.desk import Desk
from watchgate.service.identity.guesses import Guesses
from watchgate.service.identity.pin import Pin
from watchgate.service.identity.presence import CoreProcesses, Presences, Sealed
from watchgate.service.identity.proof_file import ProofFile
from watchgate.service.identity.sealed_file import SealedFile
from watchgate.service.identity.tokens import Tokens
from watchgate.service.identity.touch_key import TouchKey
from watchgate.service.identity.tries import Tries
from watchgate.service.identity.unlocking import Unlocking


def presences_of(desk: Desk, directory: Path, own: CoreProcesses | None = None) -> Presences:
    """How clients of this hub stand; PIN and tokens lie in the directory."""
    state, clock = desk.hub.recorder.state, desk.clock
    tries = Tries(directory / "pin-tries.json", clock)
    proofs, guesses = ProofFile(directory / "pin"), Guesses(tries)
    sealed = Sealed(
        pin=Pin(proofs, guesses),
        key=TouchKey(proofs, guesses),
        tokens=Tokens(SealedFile(directory / "tokens.json")),
    )
    return Presences(
        desk.hub.askers,
        sealed=sealed,
        unlocking=Unlocking(clock, alive=lambda _leader: True),
        sessions=state.sessions.values,
        now_us=lambda: clock.now().wall_us,
        own=own or CoreProcesses(),
    )
