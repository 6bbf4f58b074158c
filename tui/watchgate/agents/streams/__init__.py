"""The formats of other programs' event streams, told apart by the shape of a line alone.

SynapsCLI's extension protocol is a stream here: its JSON-RPC requests, one a line, only watched. An
extension that answers is `watchgate.synaps_extension`; its events come as hook frames.
"""
