"""Commands that open the console: `watchgate`, `attach`, `demo`, `popup`.

Arguments come in, a screen goes out. It imports base and the protocol of link, and the rest
when a command runs.
"""
