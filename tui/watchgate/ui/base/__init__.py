"""The ground of the screen: numbers, times, covered text, colours, ASCII.

Plain values come in, texts and styles go out. It imports no other room of the console.
"""
