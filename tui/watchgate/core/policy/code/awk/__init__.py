"""Awk programs as commands are given them."""
