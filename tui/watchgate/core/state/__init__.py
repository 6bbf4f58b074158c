"""The one fold from records to what is shown: a core, a console and a replay hold the same `State`.

Records come in one after the other, views of sessions, calls, requests and the gate go out. It
imports usage, dispatch and what lies below them.
"""
