"""The report of a session: its records made into one page that needs nothing but a browser."""
