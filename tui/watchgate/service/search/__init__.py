"""The index of recorded history: where words, sessions and calls are found in the journal.

It is made of the journal and stands beside it as `journal.index.db`. It may lag, be missing or be
thrown away: nothing is decided by it, and what it does not hold is looked for in the journal.
"""
