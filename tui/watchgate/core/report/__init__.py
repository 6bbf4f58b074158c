"""The report of a session: its records made into one page that needs nothing but a browser.

The records of a session and of the core come in, pieces of HTML go out. It imports filters,
history, state and what lies below them; no other room of `core` imports it.
"""
