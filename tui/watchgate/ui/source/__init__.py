"""The sources of a console: a core, a recording, or a page of recorded calls.

Records and answers come in from `link`, a `State` and its changes go out. It imports no other room
of the console.
"""
