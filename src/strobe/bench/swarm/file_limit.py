"""The number of files and sockets that a process may have open: a thousand peers need more than the usual limit."""

from __future__ import annotations

from strobe.errors import UsageError

_WANTED = 1 << 15


def increase() -> str:
    """Raise the limit of this process and those it starts; return what was done, in hivemind's words."""
    try:
        import resource
    except ImportError:
        return "File limit left as it is - this system has none for sockets"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The hard limit is the system's: it is not lowered, and raised only if that is allowed.
    new = max(soft, _WANTED if hard == resource.RLIM_INFINITY else min(_WANTED, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (new, hard))
    return f"Increasing file limit - soft {soft}=>{new}, hard {hard}=>{hard}"


def check(num_files: int) -> None:
    """Raise UsageError if so many files cannot be opened."""
    try:
        import resource
    except ImportError:
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and num_files > soft:
        raise UsageError(f"about {num_files} files and sockets are needed, {soft} are allowed; --increase_file_limit")
