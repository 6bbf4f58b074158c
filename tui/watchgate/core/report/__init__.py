"""The report of a session: its records made into one page that needs nothing but a browser.

In come the records of a session and of the core; out come pieces of HTML. Imports the state, the
history and the filters' text of a record, and what lies below them; nothing in `core` imports it.
"""
