"""The courier: takes deliveries that are due from the outbox, sends them side by side, and notes what became of them.

Runs in worker threads and blocks. What does not arrive is tried again later and later, for about half a day; what the
receiver refuses, for a minute. Several couriers over one store do not get into each other's way.
"""

from __future__ import annotations

import http.client
import logging
import random
import smtplib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from strobe.errors import Error, SettingsError, UsageError
from strobe.server.alerts import mail, webhook
from strobe.server.alerts.settings import AlertSettings
from strobe.store.alerts import Delivery, Outbox

_AT_ONCE = 8
_LEASE_S = 120.0
_FIRST_RETRY_S = 5.0
_LONGEST_RETRY_S = 3600.0
MAX_TRIES = 20
#: tries of what was refused: a receiver may be wrong for a moment
MAX_REFUSALS = 3


#: what sending can raise: the network, the settings, the receiver, and text that a header cannot hold
_FAILURES = (OSError, Error, webhook.Refused, http.client.HTTPException, smtplib.SMTPException, ValueError)


class Courier:
    """Delivers alerts."""

    def __init__(
        self,
        outbox: Outbox,
        settings: AlertSettings,
        *,
        clock: Callable[[], int] = time.time_ns,
        log: logging.Logger | None = None,
    ) -> None:
        self._outbox = outbox
        self._settings = settings
        self._clock = clock
        self._log = log or logging.getLogger("strobe.server")

    def deliver_due(self) -> int:
        """Try everything that is due now; return how many deliveries were tried."""
        due_ns = self._outbox.next_due_ns()
        if due_ns is None or due_ns > self._clock():
            return 0  # claiming writes; most of the time there is nothing to claim
        num_tried = 0
        while True:
            found = self._outbox.claim(lease_ns=int(_LEASE_S * 1e9), limit=_AT_ONCE)
            if not found:
                return num_tried
            num_tried += len(found)
            with ThreadPoolExecutor(len(found), thread_name_prefix="strobe-alert") as pool:
                list(pool.map(self._deliver, found))

    def try_once(self, delivery: Delivery) -> str:
        """Send without the outbox, as a test of the sink; return what went wrong, or nothing."""
        try:
            self._send(delivery)
        except _FAILURES as error:
            return _describe(error)
        return ""

    def _deliver(self, delivery: Delivery) -> None:
        try:
            self._send(delivery)
        except _FAILURES as error:
            retry_s = retry_after(delivery.tries, error)
            retry_ns = None if retry_s is None else self._clock() + int(retry_s * 1e9)
            # The address stays out of the log: it may hold a token.
            self._log.warning(
                "alert %s was not delivered to sink %r (try %d): %s",
                delivery.id, delivery.sink.name, delivery.tries, _describe(error),
            )  # fmt: skip
            self._outbox.note_failed(delivery, _describe(error), retry_ns=retry_ns)
        else:
            self._outbox.note_sent(delivery)

    def _send(self, delivery: Delivery) -> None:
        if delivery.sink.kind == "webhook":
            webhook.post(delivery, self._settings, now_s=self._clock() // 10**9)
        else:
            mail.send(delivery, self._settings)


def retry_after(tries: int, error: Exception, rng: Callable[[], float] = random.random) -> float | None:
    """Return how many seconds to wait after so many tries, or None to give up."""
    is_refusal = isinstance(error, UsageError) and not isinstance(error, SettingsError)
    is_refusal |= isinstance(error, webhook.Refused) and error.is_final
    if tries >= (MAX_REFUSALS if is_refusal else MAX_TRIES):
        return None
    return min(_LONGEST_RETRY_S, _FIRST_RETRY_S * 2.0 ** (tries - 1)) * (0.8 + 0.4 * rng())


def _describe(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
