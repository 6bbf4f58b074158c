"""Commands on requests: `ls`, `show`, `allow`, `deny`, `handback`, `answer`, `grants`.

Arguments come in, text and an exit code go out. It imports base, presence, the clock, the protocol
of link and the words of the core, and the rest when a command runs.
"""
