"""The measurements behind every performance figure, each a ratio of two things run side by side."""
