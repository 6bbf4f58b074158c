"""The screens: each arranges panes in a frame and shows a view model.

A `ViewModel` comes in, messages of panes go out. It imports widgets and what lies below them.
"""
