"""The client side: everything a console or a script needs to talk to a core."""
