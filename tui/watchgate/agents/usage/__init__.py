"""The usage of agents: the places where they write it down, and the interface of its readers.

Sources: the documented folders and variables of Claude Code 2.1, Codex CLI 0.169, Gemini CLI,
Qwen Code, OpenCode and Copilot CLI; `GEMINI_DATA_DIR`, `OPENCODE_DATA_DIR` and `QWEN_DATA_DIR` are
what counters of usage have in common for agents that have no variable of their own.
"""
