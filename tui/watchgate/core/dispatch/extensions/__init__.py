"""The protocol of extensions: processes that stay, and are asked over JSON-RPC.

Manifests and frames come in, hooks, verdicts and answers go out.
"""
