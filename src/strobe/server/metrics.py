"""The figures that this server keeps about itself; `docs/server.md` lists them, `/metrics` shows them."""

from __future__ import annotations

from strobe.server.registry import Counter, Family, Gauge, Histogram, render

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LAG_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0, 86400.0)


class Metrics:
    """One application's figures."""

    def __init__(self) -> None:
        self.requests = Counter("strobe_requests", "Requests answered.", labels=("method", "endpoint", "status"))
        self.request_seconds = Histogram(
            "strobe_request_seconds", "Time from a request's headers to the end of its answer.", _SECONDS,
            labels=("method", "endpoint"),
        )  # fmt: skip
        self.in_flight = Gauge("strobe_requests_in_flight", "Requests that are being answered.")
        self.errors = Counter("strobe_errors", "Answers that were problems, by kind.", labels=("kind",))
        self.ingest_batches = Counter("strobe_ingest_batches", "Batches, by what became of them.", labels=("status",))
        self.ingest_rows = Counter("strobe_ingest_rows", "Rows of log() that were stored.")
        self.ingest_points = Counter("strobe_ingest_points", "Values of rows that were stored.")
        self.ingest_bytes = Counter("strobe_ingest_bytes", "Bytes of batches as they came in, mostly compressed.")
        self.ingest_lag_seconds = Histogram(
            "strobe_ingest_lag_seconds", "Age of the newest value of a batch when it was stored.", _LAG_SECONDS
        )
        self.streams = Gauge("strobe_streams", "Live streams that are open.")
        self.store_bytes = Gauge("strobe_store_bytes", "Size of the store's database.")
        self.store_bytes.set(float("nan"))

    def text(self) -> str:
        """Return everything as OpenMetrics text."""
        families: list[Family] = list(vars(self).values())
        return render(families)
