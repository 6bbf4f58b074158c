"""The line protocols between an agent and the program that drives it, as a proxy reads them.

A proxy stands between a program that drives an agent (the editor) and the agent, and reads what
both say line by line. A `Wire` is one protocol's part of it, pure: it remembers earlier lines,
and says what is to be done with the next one.
"""
