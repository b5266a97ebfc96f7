"""Settings of delivery, which belong to whoever runs the server: read from the environment, secrets among them."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

import msgspec

from strobe.errors import SettingsError

Security = Literal["starttls", "tls", "none"]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_PORTS: dict[str, int] = {"starttls": 587, "tls": 465, "none": 25}


class AlertSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How alerts leave the server."""

    #: STROBE_SERVER_SMTP_HOST; without it no e-mail is sent
    smtp_host: str = ""
    #: STROBE_SERVER_SMTP_SECURITY: starttls (port 587), tls (465) or none (25); STROBE_SERVER_SMTP_PORT for another
    smtp_security: Security = "starttls"
    smtp_port: int = 587
    #: STROBE_SERVER_SMTP_USER and STROBE_SERVER_SMTP_PASSWORD; without a user nobody logs in
    smtp_user: str = ""
    smtp_password: str = ""
    #: STROBE_SERVER_MAIL_FROM; strobe@<host> by default
    mail_from: str = ""
    #: STROBE_SERVER_ALERT_NETWORKS: networks besides the public ones that webhooks may reach
    networks: tuple[Network, ...] = ()
    #: STROBE_SERVER_ALERT_CA: a file with certificates to trust, instead of the system's
    ca_file: Path | None = None
    #: STROBE_SERVER_URL: where people find this server, for links
    public_url: str = ""


EVERYWHERE: tuple[Network, ...] = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))


def read_alert_settings(environment: Mapping[str, str], *, is_local: bool = False) -> AlertSettings:
    """Return the settings; who runs a server for himself alone (`is_local`) may send to any address."""
    security = environment.get("STROBE_SERVER_SMTP_SECURITY", "starttls").lower()
    if security not in get_args(Security):
        raise SettingsError(f"STROBE_SERVER_SMTP_SECURITY is {security!r}; it can be {', '.join(get_args(Security))}")
    port = environment.get("STROBE_SERVER_SMTP_PORT", str(_PORTS[security]))
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise SettingsError(f"STROBE_SERVER_SMTP_PORT is {port!r}; give a number from 1 to 65535")
    ca_file = environment.get("STROBE_SERVER_ALERT_CA", "")
    return AlertSettings(
        smtp_host=environment.get("STROBE_SERVER_SMTP_HOST", ""),
        smtp_security=security,  # type: ignore[arg-type]  # it was looked up above
        smtp_port=int(port),
        smtp_user=environment.get("STROBE_SERVER_SMTP_USER", ""),
        smtp_password=environment.get("STROBE_SERVER_SMTP_PASSWORD", ""),
        mail_from=environment.get("STROBE_SERVER_MAIL_FROM", ""),
        networks=EVERYWHERE if is_local else _networks(environment.get("STROBE_SERVER_ALERT_NETWORKS", "")),
        ca_file=Path(ca_file) if ca_file else None,
        public_url=environment.get("STROBE_SERVER_URL", "").rstrip("/"),
    )


def _networks(text: str) -> tuple[Network, ...]:
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(ipaddress.ip_network(part, strict=False))
        except ValueError as error:
            raise SettingsError(
                f"STROBE_SERVER_ALERT_NETWORKS has {part!r}: {error}; give networks as 10.0.0.0/8"
            ) from error
    return tuple(found)
