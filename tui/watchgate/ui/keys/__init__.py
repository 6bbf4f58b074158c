"""Keys: the keymap in use, labels to jump by, and how a key is written in a sentence.

The registry of keys is in `commands`, and hands its defaults over. It imports base.
"""
