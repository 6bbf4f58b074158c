"""Panes that draw their own lines, in a folder for each thing that is shown.

Values of the view model come in, lines and messages go out. A pane decides nothing and asks no
core. It imports view_model and what lies below it.
"""
