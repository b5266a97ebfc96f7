"""Alerts on their way out: signed webhooks, e-mail, retries, and what must not be reached."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from strobe.errors import SettingsError, UsageError
from strobe.journal.entry import Noted
from strobe.journal.event import Alert
from strobe.server.alerts import AlertSettings, Courier, read_alert_settings, webhook
from strobe.server.alerts.address import is_allowed, parse_url
from strobe.server.alerts.courier import MAX_REFUSALS, MAX_TRIES, retry_after
from strobe.server.alerts.mail import check_address
from strobe.server.alerts.settings import EVERYWHERE
from strobe.store.address import open_database
from strobe.store.alerts import Alerts
from strobe.store.alerts.outbox import Outbox
from tests.server.alerts.sinks import hook_server, mail_server
from tests.server.test_serve import certificate
from tests.store.rows import make_project, make_run

ANYWHERE = AlertSettings(networks=EVERYWHERE)


class Scene:
    """A project with a run that says things, and a courier."""

    def __init__(self, path: Path) -> None:
        self.now_ns = time.time_ns()
        self.database = open_database(str(path / "strobe.db"))
        self.alerts = Alerts(self.database, lambda: self.now_ns)
        self.project = make_project(self.database, "team", "vision")
        self.run = make_run(self.database, self.project, name="r1")
        self.num_said = 0

    def say(self, title: str = "Loss exploded", text: str = "It is 1e9.", level: str = "ERROR") -> None:
        note = Noted(self.num_said, Alert(time_ns=self.now_ns, title=title, text=text, level=level))
        self.num_said += 1
        self.database.write(lambda cursor: self.alerts.add(cursor, self.run, 1, "w", [note]))

    def courier(self, settings: AlertSettings = ANYWHERE) -> Courier:
        return Courier(self.alerts.outbox, settings, clock=lambda: self.now_ns)

    @property
    def states(self) -> list[tuple[str, int]]:
        items = self.alerts.of_project(self.project).items
        return [(found.state, found.tries) for item in items for found in item.deliveries]

    @property
    def error(self) -> str:
        return self.alerts.of_project(self.project).items[0].deliveries[0].error


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    found = Scene(tmp_path)
    yield found
    found.database.close()


# --- webhooks


def test_a_webhook_gets_a_signed_alert_once(scene: Scene) -> None:
    with hook_server() as hook:
        sink = scene.alerts.sinks.add(scene.project, "hook", "webhook", [f"{hook.url}/in?room=a b".replace(" ", "%20")])
        scene.say()
        courier = scene.courier(AlertSettings(networks=EVERYWHERE, public_url="https://strobe.example"))
        assert courier.deliver_due() == 1
        assert courier.deliver_due() == 0
    ((path, headers, body),) = hook.got
    assert path == "/in?room=a%20b"
    fields = msgspec.json.decode(body)
    assert (fields["title"], fields["text"], fields["level"]) == ("Loss exploded", "It is 1e9.", "ERROR")
    assert (fields["entity"], fields["project"], fields["run"]) == ("team", "vision", "r1")
    assert fields["url"] == "https://strobe.example/team/vision/runs/r1"
    assert headers[webhook.DELIVERY_HEADER] == fields["id"]
    stamp, _, signature = headers[webhook.SIGNATURE_HEADER].partition(",")
    signed = stamp.removeprefix("t=").encode() + b"." + body
    assert signature == "v1=" + hmac.new(sink.secret.encode(), signed, hashlib.sha256).hexdigest()
    assert scene.states == [("sent", 1)]


@pytest.mark.parametrize(("form", "field"), [("slack", "text"), ("discord", "content")])
def test_chats_get_what_they_understand(scene: Scene, form: str, field: str) -> None:
    with hook_server() as hook:
        scene.alerts.sinks.add(scene.project, "chat", "webhook", [hook.url], format=form)  # type: ignore[arg-type]  # one of its forms
        scene.say(text="x" * 5000)
        scene.courier().deliver_due()
    message = msgspec.json.decode(hook.got[0][2])[field]
    assert "ERROR: Loss exploded" in message
    assert len(message) < (2000 if form == "discord" else 6000)


def test_a_webhook_behind_tls_is_checked(scene: Scene, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with hook_server(certificate=(cert, key)) as hook:
        scene.alerts.sinks.add(scene.project, "hook", "webhook", [hook.url])
        scene.say()
        scene.courier().deliver_due()
        assert scene.states == [("pending", 1)]
        assert "certificate" in scene.error.lower()
        scene.now_ns += 3600 * 10**9
        scene.courier(AlertSettings(networks=EVERYWHERE, ca_file=cert)).deliver_due()
    assert scene.states == [("sent", 2)]
    assert len(hook.got) == 1


def test_what_does_not_arrive_is_tried_again(scene: Scene) -> None:
    with hook_server(500, 503, 200) as hook:
        scene.alerts.sinks.add(scene.project, "hook", "webhook", [hook.url])
        scene.say()
        for expected in (("pending", 1), ("pending", 2), ("sent", 3)):
            scene.courier().deliver_due()
            assert scene.courier().deliver_due() == 0  # not before its time
            assert scene.states == [expected]
            scene.now_ns += 3600 * 10**9
    assert len({headers[webhook.DELIVERY_HEADER] for _, headers, _ in hook.got}) == 1


@pytest.mark.parametrize("status", [302, 404, 410])
def test_what_is_refused_is_given_up_soon_and_redirects_are_not_followed(scene: Scene, status: int) -> None:
    with hook_server(status) as hook:
        scene.alerts.sinks.add(scene.project, "hook", "webhook", [hook.url])
        scene.say()
        for _ in range(10):
            scene.courier().deliver_due()
            scene.now_ns += 3600 * 10**9
    assert scene.states == [("failed", MAX_REFUSALS)]
    assert [path for path, _, _ in hook.got] == ["/"] * MAX_REFUSALS
    assert str(status) in scene.error


def test_a_receiver_that_dawdles_is_cut_off(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "TOTAL_S", 0.4)
    listener = socket.create_server(("127.0.0.1", 0))
    is_over = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"HTTP/")
            while not is_over.wait(0.05):
                try:
                    connection.sendall(b"a")
                except OSError:
                    return

    thread = threading.Thread(target=drip)
    thread.start()
    scene.alerts.sinks.add(scene.project, "hook", "webhook", [f"http://127.0.0.1:{listener.getsockname()[1]}/"])
    scene.say()
    began = time.monotonic()
    scene.courier().deliver_due()
    assert time.monotonic() - began < 5
    assert scene.states == [("pending", 1)]
    is_over.set()
    thread.join()
    listener.close()


def test_one_receiver_that_is_away_does_not_hold_up_another(scene: Scene) -> None:
    with hook_server() as hook:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            nowhere = f"http://127.0.0.1:{gone.getsockname()[1]}/"
        scene.alerts.sinks.add(scene.project, "gone", "webhook", [nowhere])
        scene.alerts.sinks.add(scene.project, "hook", "webhook", [hook.url])
        scene.say()
        scene.courier().deliver_due()
    assert scene.states == [("pending", 1), ("sent", 1)]


def test_private_addresses_need_permission(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    with hook_server() as hook, caplog.at_level(logging.WARNING):
        secret_url = hook.url.replace("127.0.0.1", "localhost") + "/token-abc"
        scene.alerts.sinks.add(scene.project, "hook", "webhook", [secret_url])
        scene.say()
        scene.courier(AlertSettings()).deliver_due()
        assert hook.got == []
        assert "STROBE_SERVER_ALERT_NETWORKS" in scene.error
        scene.now_ns += 3600 * 10**9
        allowed = read_alert_settings({"STROBE_SERVER_ALERT_NETWORKS": "127.0.0.0/8, ::1/128"})
        scene.courier(allowed).deliver_due()
        assert len(hook.got) == 1
    assert "token-abc" not in caplog.text


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        ("93.184.216.34", True),
        ("2606:4700::1111", True),
        ("::ffff:93.184.216.34", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("192.168.1.1", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:7f00:1::", False),
        ("::127.0.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("64:ff9b:1::7f00:1", False),
        ("fec0::1", False),
        ("5f00::1", False),
    ],
)
def test_which_addresses_are_public(address: str, is_public: bool) -> None:
    assert is_allowed(ipaddress.ip_address(address), ()) is is_public
    assert is_allowed(ipaddress.ip_address(address), EVERYWHERE)


@pytest.mark.parametrize(
    "url",
    ["ftp://a/", "https://", "a", "http://u:p@host/", "http://host:99999/", "http://a b/", "http://a/\n", "x" * 3000],
)
def test_what_is_no_webhook(url: str) -> None:
    with pytest.raises(UsageError):
        parse_url(url)


def test_urls_are_sent_as_they_must_be() -> None:
    target = parse_url("https://bücher.example:8443/päth/%20?q=ä&b=1")
    assert (target.host, target.port, target.is_tls) == ("xn--bcher-kva.example", 8443, True)
    assert target.path == "/p%C3%A4th/%20?q=%C3%A4&b=1"
    assert target.host_header == "xn--bcher-kva.example:8443"
    assert parse_url("http://[::1]:80").host_header == "[::1]"


# --- e-mail


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
def test_a_mail_arrives_by_each_kind_of_connection(scene: Scene, tmp_path: Path, security: str) -> None:
    made = None if security == "none" else certificate(tmp_path)
    with mail_server(made, is_tls_from_start=security == "tls", needs_login=security == "starttls") as box:
        environment = {
            "STROBE_SERVER_SMTP_HOST": "127.0.0.1",
            "STROBE_SERVER_SMTP_PORT": str(box.port),
            "STROBE_SERVER_SMTP_SECURITY": security,
            "STROBE_SERVER_MAIL_FROM": "strobe@example.org",
            "STROBE_SERVER_URL": "https://strobe.example/",
        }
        if made is not None:
            environment |= {
                "STROBE_SERVER_SMTP_USER": "me",
                "STROBE_SERVER_SMTP_PASSWORD": "right",
                "STROBE_SERVER_ALERT_CA": str(made[0]),
            }
        scene.alerts.sinks.add(scene.project, "mail", "email", ["a@example.org", "b@example.org"])
        scene.say(title="Loss\r\nBcc: evil@example.org exploded", text="Größe: 1e9")
        courier = scene.courier(read_alert_settings(environment))
        assert courier.deliver_due() == 1
        assert courier.deliver_due() == 0
    ((sender, recipients, message),) = box.messages
    assert (sender, recipients) == ("strobe@example.org", ["a@example.org", "b@example.org"])
    assert message["Subject"] == "[vision] ERROR: Loss Bcc: evil@example.org exploded"
    assert message["Bcc"] is None
    assert "Größe: 1e9" in message.get_content()
    assert "https://strobe.example/team/vision/runs/r1" in message.get_content()
    assert "strobe-alert-" in message["Message-ID"]
    assert box.was_secure == [security != "none"]
    assert bool(box.logins) == (security != "none")
    assert scene.states == [("sent", 1)]


def test_a_mail_that_is_not_taken_is_tried_again(scene: Scene, tmp_path: Path) -> None:
    made = certificate(tmp_path)
    with mail_server(made, needs_login=True) as box:
        settings = AlertSettings(
            smtp_host="127.0.0.1", smtp_port=box.port, smtp_user="me", smtp_password="wrong", ca_file=made[0]
        )
        scene.alerts.sinks.add(scene.project, "mail", "email", ["a@example.org"])
        scene.say()
        scene.courier(settings).deliver_due()
    assert scene.states == [("pending", 1)]
    assert "wrong" not in scene.error
    assert box.messages == []


def test_without_a_mail_server_it_is_said_so(scene: Scene) -> None:
    scene.alerts.sinks.add(scene.project, "mail", "email", ["a@example.org"])
    scene.say()
    scene.courier(AlertSettings()).deliver_due()
    assert "STROBE_SERVER_SMTP_HOST" in scene.error


@pytest.mark.parametrize("text", ["", "a", "a@", "a b@c", "a@b\n", "<a@b>", "a@b,c@d"])
def test_what_is_no_mail_address(text: str) -> None:
    with pytest.raises(UsageError):
        check_address(text)


# --- the courier


def test_two_couriers_deliver_each_alert_once(scene: Scene) -> None:
    with hook_server() as hook:
        scene.alerts.sinks.add(scene.project, "hook", "webhook", [hook.url])
        for number in range(30):
            scene.say(title=str(number))
        couriers = [Courier(Outbox(scene.database), ANYWHERE) for _ in range(3)]
        threads = [threading.Thread(target=courier.deliver_due) for courier in couriers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    titles = [msgspec.json.decode(body)["title"] for _, _, body in hook.got]
    assert sorted(titles, key=int) == [str(number) for number in range(30)]


def test_a_courier_that_died_is_followed_by_another_with_the_same_id(scene: Scene) -> None:
    with hook_server() as hook:
        scene.alerts.sinks.add(scene.project, "hook", "webhook", [hook.url])
        scene.say()
        (lost,) = scene.alerts.outbox.claim(lease_ns=60 * 10**9)  # and then its process is killed
        assert scene.courier().deliver_due() == 0
        scene.now_ns += 61 * 10**9
        assert scene.courier().deliver_due() == 1
    assert hook.got[0][1][webhook.DELIVERY_HEADER] == lost.id


def test_tries_are_spaced_wider_and_end() -> None:
    waits = [retry_after(tries, OSError("away"), rng=lambda: 0.5) for tries in range(1, MAX_TRIES + 1)]
    assert waits[:3] == [5.0, 10.0, 20.0]
    assert waits[-1] is None
    spaced = [wait for wait in waits if wait is not None]
    assert max(spaced) == 3600
    assert 6 * 3600 < sum(spaced) < 24 * 3600


@pytest.mark.parametrize(
    "environment",
    [
        {"STROBE_SERVER_SMTP_SECURITY": "ssl"},
        {"STROBE_SERVER_SMTP_PORT": "x"},
        {"STROBE_SERVER_ALERT_NETWORKS": "10.0.0.0/8, nonsense"},
    ],
)
def test_settings_that_cannot_be(environment: dict[str, str]) -> None:
    with pytest.raises(SettingsError):
        read_alert_settings(environment)
