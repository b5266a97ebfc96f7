"""Delivering alerts: webhooks and e-mail, from the store's outbox.

settings   the mail server, and which private addresses webhooks may reach
address    a host name to addresses that may be connected to
webhook    a signed JSON POST
mail       a message to a mail server
courier    takes what is due, sends it, notes what became of it
"""

from strobe.server.alerts.courier import Courier
from strobe.server.alerts.settings import AlertSettings, read_alert_settings

__all__ = ["AlertSettings", "Courier", "read_alert_settings"]
