"""The fault matrix: every fault, in the order of docs/faults.md."""

from __future__ import annotations

from tests.faults.of_client import CLIENT
from tests.faults.of_console import CONSOLE
from tests.faults.of_core import CORE
from tests.faults.of_handlers import HANDLERS
from tests.faults.of_journal import JOURNAL
from tests.faults.of_place import CLOCK, PLACE

FAULTS = (*CLIENT, *CORE, *CONSOLE, *HANDLERS, *JOURNAL, *PLACE, *CLOCK)
