"""Tool calls: the command, paths and addresses of an input, its summary, and what an edit changes.

The input of any agent's tool comes in, the parts that everybody means go out. It imports secrets,
model and base.
"""
