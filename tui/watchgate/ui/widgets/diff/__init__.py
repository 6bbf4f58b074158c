"""What an edit changes."""
