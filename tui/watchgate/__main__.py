"""`python -m watchgate` is the `watchgate` command."""

from __future__ import annotations

import sys

from watchgate.cli import main

if __name__ == "__main__":
    sys.exit(main())
