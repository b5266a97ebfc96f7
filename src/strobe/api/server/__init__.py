"""A server as a source of runs: the same questions as to a home, asked over HTTP.

`host` asks and says what went wrong; the others know one noun each. Answers are msgpack, so that values come as they
were logged. Needs urllib3, so nothing here is imported before a server is named.
"""
