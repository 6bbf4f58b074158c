"""From keys to decisions."""
