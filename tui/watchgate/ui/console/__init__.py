"""The app: one picture of one core, and the handlers of its parts' messages.

A source of records comes in, the line that is left in the shell goes out. It may import every other
room.
"""
