"""A Strobe server seen from a client: the connection, how it waits and paces itself, and what is known of a run there.

Everything but `link` works without a network library; `link` needs urllib3 and is imported when there is something to
send. Nothing here reads journals.
"""
