"""Alerts: messages that should reach a person, raised by runs themselves or by rules of their project.

    condition   what a rule looks for
    rules       the rules of a project
    sinks       where its alerts go
    raising     an alert and its deliveries, written in one transaction, once per source
    points      rules about numbers, looked at while they are taken in
    watch       rules about the life of runs, looked at now and then
    outbox      deliveries: claimed by one server, tried until they are through or given up

Nothing here sends anything: `strobe.server.alerts` does.
"""

from strobe.store.alerts.alerts import AlertPage, Alerts, LoggedAlert
from strobe.store.alerts.condition import Condition, Level, Nonfinite, Stall, StateChange, Threshold
from strobe.store.alerts.outbox import Delivery, Outbox
from strobe.store.alerts.rules import Rule, Rules
from strobe.store.alerts.sinks import Sink, Sinks

__all__ = [
    "AlertPage", "Alerts", "Condition", "Delivery", "Level", "LoggedAlert", "Nonfinite", "Outbox", "Rule", "Rules",
    "Sink", "Sinks", "Stall", "StateChange", "Threshold",
]  # fmt: skip
