"""The actions of keys and of the palette, against the `Console` protocol.

The id of an action comes in; nothing goes out but what is asked of the console. It imports screens
and what lies below them, and never the app.
"""
