"""E-mail: an alert as a plain message, handed to the server's own mail server."""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from datetime import datetime, timezone
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from strobe.errors import SettingsError, UsageError
from strobe.server.alerts.settings import AlertSettings
from strobe.server.alerts.webhook import link_to
from strobe.store.alerts import Delivery

TIMEOUT_S = 15.0
_ADDRESS = re.compile(r"[^\s@<>,;:\"()\\\[\]]{1,64}@[A-Za-z0-9.-]{1,253}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def check_address(text: str) -> str:
    """Return an e-mail address as it is; raise UsageError for what is none."""
    if not _ADDRESS.fullmatch(text):
        raise UsageError(f"{text[:100]!r} is no e-mail address; give one such as name@example.org")
    return text


def send(delivery: Delivery, settings: AlertSettings) -> None:
    """Send an alert to the sink's addresses; raise SettingsError, OSError or smtplib's own if it did not leave."""
    if not settings.smtp_host:
        raise SettingsError("no mail server is set; whoever runs the server sets STROBE_SERVER_SMTP_HOST")
    message = compose(delivery, settings)
    context = ssl.create_default_context(cafile=settings.ca_file)
    if settings.smtp_security == "tls":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(
            settings.smtp_host, settings.smtp_port, timeout=TIMEOUT_S, context=context
        )
    else:
        connection = smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=TIMEOUT_S)
    with connection:
        if settings.smtp_security == "starttls":
            connection.starttls(context=context)
        if settings.smtp_user:
            connection.login(settings.smtp_user, settings.smtp_password)
        refused = connection.send_message(message)
    if refused:
        raise smtplib.SMTPRecipientsRefused(refused)


def compose(delivery: Delivery, settings: AlertSettings) -> EmailMessage:
    """Return the message; the same delivery has the same Message-ID at every try."""
    message = EmailMessage()
    sender = settings.mail_from or f"strobe@{socket.getfqdn()}"
    message["From"] = Address("Strobe", addr_spec=sender)
    message["To"] = tuple(Address(addr_spec=address) for address in delivery.sink.addresses)
    message["Subject"] = _CONTROLS.sub(" ", f"[{delivery.project}] {delivery.level}: {delivery.title}")[:200]
    message["Date"] = format_datetime(datetime.fromtimestamp(delivery.raised_ns / 1e9, timezone.utc))
    message["Message-ID"] = f"<strobe-alert-{delivery.id}-{delivery.raised_ns}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    path = f"{delivery.entity}/{delivery.project}/{delivery.run}"
    lines = [delivery.title, "", delivery.text, "", f"Run: {path}", link_to(delivery, settings)]
    message.set_content("\n".join(lines).rstrip() + "\n")
    return message
