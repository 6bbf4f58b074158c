"""The index of recorded history: where words, sessions and calls are found in the journal.

A journal comes in; the numbers of matching records go out. The index stands beside the journal as
`journal.index.db` and may lag, be missing or be thrown away: nothing is decided by it, and what it
does not hold is looked for in the journal. It imports journal.
"""
