"""The ground of every pane: lines, safe text as rows, the words of a request.

It imports no other widget.
"""
