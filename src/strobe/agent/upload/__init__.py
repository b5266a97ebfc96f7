"""Uploading: journals, files and artifacts of runs to a server, by the agent or, in the foreground, by `strobe sync`.

`course.Course` is the upload of one run, step by step; `crew.Crew` gives runs their turn on a few threads;
`uploader.Uploader` is the agent's duty made of them. What the server has acknowledged is the only truth: everything
else is sent again, and changes nothing there.
"""
