"""What the agents' own transcripts tell of tool calls: those that ran, and all that were asked for.

`Reader` follows one file for the calls that no hook told of; `CALL_READERS` read whole files, for a
look back at what agents wanted to do.
"""

from watchgate.agents.transcripts.ran import CALLS_KEPT, READS, Reader
from watchgate.agents.transcripts.readers import CALL_READERS, CallReader

__all__ = ["CALLS_KEPT", "CALL_READERS", "READS", "CallReader", "Reader"]
