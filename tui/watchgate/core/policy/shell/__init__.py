"""A shell text read into commands: words, redirects, wrappers, and what could not be read.

A text comes in, a `Script` goes out. It imports no other folder of the policy.
"""
