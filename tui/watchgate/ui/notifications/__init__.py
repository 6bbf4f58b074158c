"""Notifications for whoever looks elsewhere."""
