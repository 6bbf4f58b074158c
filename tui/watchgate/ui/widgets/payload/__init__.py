"""Inputs as trees."""
