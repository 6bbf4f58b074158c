"""Notifications for whoever looks elsewhere: which changes call for one, and how it is sent.

States come in, terminal sequences go out. It imports approval, costs, source and base.
"""
