"""Every way in for bytes from outside, by name: the one table of the fuzzer and its tests."""

from __future__ import annotations

from typing import Final

from tests.fuzz.of_adapters import ADAPTER_TARGETS
from tests.fuzz.of_core import CORE
from tests.fuzz.of_files import FILES
from tests.fuzz.of_frames import FRAMES
from tests.fuzz.of_hooks import HOOKS
from tests.fuzz.of_identity import IDENTITY
from tests.fuzz.of_records import RECORDS
from tests.fuzz.of_streams import STREAMS
from tests.fuzz.of_texts import TEXTS
from tests.fuzz.of_transcripts import TRANSCRIPTS
from tests.fuzz.target import Target

TARGETS: Final[dict[str, Target]] = {
    **FRAMES,
    **CORE,
    **STREAMS,
    **ADAPTER_TARGETS,
    **HOOKS,
    **FILES,
    **IDENTITY,
    **RECORDS,
    **TRANSCRIPTS,
    **TEXTS,
}
