"""The live calls and their sessions."""
