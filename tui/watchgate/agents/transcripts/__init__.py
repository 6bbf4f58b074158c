"""The transcripts of agents: their places, and readers of the tool calls in them.

`CALL_READERS` read whole files, for a look back at what agents wanted to do. OpenCode's parts are
rows or files of their own, and not among them: see `OpenCodeCalls`. The reader of calls that ran
follows one file, for the calls that no hook reported.
"""

from watchgate.agents.transcripts.ran import CALLS_KEPT as CALLS_KEPT
from watchgate.agents.transcripts.ran import READS as READS
from watchgate.agents.transcripts.ran import Reader as Reader
from watchgate.agents.transcripts.readers import CALL_READERS as CALL_READERS
from watchgate.agents.transcripts.readers import CallReader as CallReader
