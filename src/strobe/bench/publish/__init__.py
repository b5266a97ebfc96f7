"""`strobe bench publish`: results as one page that needs nothing else.

The page is a single file: markup, style, script and the figures themselves. It opens from a disk, an attachment or any
static host, and asks nobody for anything. `figures` says what is shown, `page` puts the file together.
"""

from strobe.bench.publish.page import publish, render

__all__ = ["publish", "render"]
