"""A server with one of everything in projects of each access, and for every endpoint a request that makes sense there.

For tests that walk over all endpoints: a new endpoint without a request here makes them fail.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any

import httpx

from strobe.journal import event as ev
from strobe.journal.entry import Entry, Noted, Row
from strobe.journal.segment import Header
from strobe.server.endpoint import Endpoint
from strobe.wire import BATCHES, BUNDLE
from strobe.wire.batch import encode_batch
from strobe.wire.bundle import FileHead, encode_file
from strobe.wire.pack import pack
from tests.server.conftest import Stage

BODY = b"alpha"
SHA256 = hashlib.sha256(BODY).hexdigest()
ACCESSES = ("private", "team", "public")


@dataclass(frozen=True)
class Request:
    """What is sent, but for who sends it."""

    method: str
    path: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class World:
    """ada has the projects `private`, `team` and `public`, with the run `r` in each; bob is not in her team."""

    stage: Stage
    keys: dict[str, str]
    #: ids of what there is, by project
    ids: dict[str, dict[str, str]] = field(default_factory=dict)

    def ask(self, who: str | None, request: Request, **more: Any) -> httpx.Response:
        """Send a request with somebody's key; None: with none."""
        key = None if who is None else self.keys[who]
        return self.stage.ask(request.method, request.path, key=key, **{**request.options, **more})

    def _must(self, method: str, path: str, **options: Any) -> Any:
        answer = self.ask("owner", Request(method, path, options))
        assert answer.is_success, (method, path, answer.text)
        return answer.json() if answer.content else None

    def furnish(self, project: str) -> None:
        """Put one of everything into a project."""
        run, here, now = f"/api/v1/runs/ada/{project}/r", f"/api/v1/projects/ada/{project}", self.stage.clock()
        entries: list[Entry] = [
            Noted(0, ev.Started(time_ns=now), now),
            Noted(1, ev.Config(time_ns=now, changes={"lr": 0.1, "name": "one"}, removed=[]), now),
            Noted(2, ev.Console(time_ns=now, stream="stdout", text="hello\n"), now),
            Noted(3, ev.Alert(time_ns=now, title="look", text="here", level="WARN"), now),
            Row(4, 0, now, ("loss", "note"), [1.0, "text"], order_ns=now, record=4),
            Row(5, 1, now + 1, ("loss", "note"), [float("nan"), "more"], order_ns=now + 1, record=5),
        ]
        header = Header(entity="ada", project=project, run="r", writer="w", attempt=1)
        self.stage.store.projects.ensure("ada", project, now_ns=now)
        self._must("PATCH", here, json={"access": project})
        ids = self.ids[project] = {}
        sink = {"name": "s", "kind": "webhook", "addresses": ["http://127.0.0.1:9/hook"]}
        ids["sink"] = str(self._must("POST", f"{here}/alert-sinks", json=sink)["id"])
        taken = self.stage.store.ingest.take(pack(header, entries, first=0, until=6), now_ns=now)
        assert taken.ack.status == "stored"
        self.stage.store.settler.settle()
        rule = {"name": "n", "condition": {"kind": "nonfinite", "key": "loss"}}
        ids["rule"] = str(self._must("POST", f"{here}/alert-rules", json=rule)["id"])
        self._must("POST", f"{here}/views", json={"name": "v", "document": {"a": 1}})
        self._must("PUT", f"{run}/files/a.txt", content=BODY)
        ids["upload"] = self._start_upload(run, "up")
        self._must("PUT", f"/api/v1/uploads/{ids['upload']}/parts/0", content=BODY + b"up")
        drafts = f"/api/v1/artifacts/ada/{project}/drafts"
        made = self._must("POST", drafts, json=draft_of("data", "a.txt", BODY, run="r"))["draft"]["id"]
        self._must("PUT", f"/api/v1/artifact-drafts/{made}/files/a.txt", content=BODY)
        ids["version"] = self._must("POST", f"/api/v1/artifact-drafts/{made}/commit")["id"]
        for name in ("draft", "whole"):
            made = self._must("POST", drafts, json=draft_of(name, "b.txt", name.encode()))["draft"]
            ids[name] = made["id"]
        self._must("PUT", f"/api/v1/artifact-drafts/{ids['whole']}/files/b.txt", content=b"whole")

    def _link(self, method: str, project: str) -> str:
        goal = {"kind": "file", "entity": "ada", "project": project, "run": "r", "path": "a.txt"}
        url: str = self._must("POST", "/api/v1/links", json={"method": method, "goal": goal})["url"]
        return url.rpartition("/")[2]

    def _start_upload(self, run: str, tail: str) -> str:
        body = BODY + tail.encode()
        wanted = {"path": f"{tail}.txt", "size": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        made: str = self._must("POST", f"{run}/uploads", json=wanted)["id"]
        return made

    def request(self, endpoint: Endpoint, project: str, ids: dict[str, str] | None = None) -> Request:
        """Return a request to the endpoint that its owner may make, about that project (or things with other ids)."""
        known = self.ids[project] if ids is None else ids
        path = endpoint.route.replace(":path}", "}")
        for name, found in {
            "entity": "ada", "project": project, "run": "r", "view": "v", "path": "a.txt", "name": "data",
            "reference": "v0", "number": "0", "user": "bob", "team": "lab", "id": self.keys["spare"].split("_")[1],
            **known, "token": self._link(endpoint.method, project) if "{token}" in path else "",
        }.items():  # fmt: skip
            path = path.replace("{" + name + "}", found)
        if endpoint.name == "commit_draft":
            path = path.replace(known["draft"], known["whole"])
        if endpoint.name in ("put_draft_file",):
            path = path.replace("a.txt", "b.txt")
        method = "HEAD" if endpoint.name == "watch_live" else endpoint.method  # the stream would not end
        return Request(method, path, self._options(endpoint.name, project, known))

    def _options(self, name: str, project: str, ids: dict[str, str]) -> dict[str, Any]:
        run, now = f"ada/{project}/r", self.stage.clock()
        entries: list[Entry] = [Row(6, 2, now, ("loss",), [2.0], order_ns=now, record=6)]
        header = Header(entity="ada", project=project, run="r", writer="w", attempt=1)
        batch = encode_batch(pack(header, entries, first=6, until=7))
        condition = {"kind": "nonfinite", "key": "loss"}
        sink = {"name": "t", "kind": "webhook", "addresses": ["http://127.0.0.1:9/hook"]}
        goal = {"kind": "file", "entity": "ada", "project": project, "run": "r", "path": "a.txt"}
        upload = {"path": "n.txt", "size": 3, "sha256": hashlib.sha256(b"new").hexdigest()}
        known: dict[str, dict[str, Any]] = {
            "login": {"json": {"key": self.keys["owner"]}},
            "add_key": {"json": {"label": "x", "scope": "read"}},
            "change_session": {"json": {"email": "ada@example.com"}},
            "add_user": {"json": {"name": "eve"}},
            "change_user": {"json": {"email": "bob@example.com"}},
            "add_team": {"json": {"name": "ops", "owner": "bob"}},
            "set_member": {"json": {"role": "viewer"}},
            "ingest": {"content": batch, "headers": {"content-type": BATCHES}},
            "heartbeat": {"json": {"runs": [run]}},
            "query_series": {"json": {"runs": [run], "keys": ["loss"], "format": "json"}},
            "query_keys": {"json": {"runs": [run]}},
            "query_digests": {"json": {"runs": [run], "keys": ["loss"]}},
            "list_object_steps": {"params": {"keys": "note"}},
            "get_chart": {"params": {"run": run, "key": "loss"}},
            "create_project": {"json": {"entity": "ada", "name": f"{project}-new"}},
            "change_project": {"json": {"description": "d"}},
            "list_groups": {"params": {"by": "config.lr", "metrics": "summary.loss"}},
            "list_texts": {"params": {"field": "config.name"}},
            "edit_run": {"json": {"name": "other"}},
            "diff_runs": {"json": {"runs": [run, run], "everything": True}},
            "create_view": {"json": {"name": "w", "document": {}}},
            "change_view": {"json": {"version": 1, "document": {}}},
            "search_console": {"params": {"text": "hello"}},
            "list_objects": {"params": {"key": "note"}},
            "nearest_objects": {"params": {"keys": "note", "step": "1"}},
            "create_alert_rule": {"json": {"name": "m", "condition": condition}},
            "change_alert_rule": {"json": {"level": "ERROR"}},
            "create_alert_sink": {"json": sink},
            "change_alert_sink": {"json": {"name": "u"}},
            "watch_live": {"params": {"runs": run}},
            "put_file": {"content": b"beta"},
            "put_files": {"content": bundle_of({"a.txt": b"beta"}), "headers": {"content-type": BUNDLE}},
            "put_draft_files": {"content": bundle_of({"b.txt": b"draft"}), "headers": {"content-type": BUNDLE}},
            "start_upload": {"json": upload},
            "put_part": {"content": BODY + b"up"},
            "create_draft": {"json": draft_of("more", "c.txt", b"c")},
            "put_draft_file": {"content": b"draft"},
            "start_draft_upload": {"json": {"path": "b.txt", "sha256": hashlib.sha256(b"draft").hexdigest()}},
            "edit_collection": {"json": {"description": "d"}},
            "edit_version": {"json": {"description": "d"}},
            "delete_version": {"params": {"aliases": "true"}},
            "use_artifact": {"json": {"version": ids["version"]}},
            "create_link": {"json": {"method": "GET", "goal": goal}},
            "put_link": {"content": b"gamma"},
        }
        return known.get(name, {})

    def prepare(self, name: str, project: str) -> None:
        """Do what has to be done before the owner can make the request."""
        if name == "restore_run":
            self._must("DELETE", f"/api/v1/runs/ada/{project}/r")
        if name == "remove_member":
            self._must("PUT", "/api/v1/teams/lab/members/bob", json={})
        if name == "restore_version":
            path = f"/api/v1/artifacts/ada/{project}/collections/data/versions/v0"
            self._must("DELETE", path, params={"aliases": "true"})


def build(stage: Stage) -> World:
    """Return a world with the keys owner, reader (ada), outsider and outreader (bob), root, spare, expired, revoked."""
    admin = stage.key("ada", "admin")
    keys = {
        "owner": admin,
        "writer": stage.key("ada", "write"),
        "reader": stage.key("ada", "read"),
        "outsider": stage.key("bob", "admin"),
        "outreader": stage.key("bob", "read"),
        "root": stage.key("root", "admin", is_admin=True),
        "spare": stage.key("ada", "read"),
        "revoked": stage.key("ada", "admin"),
        "expired": stage.store.accounts.keys.add("ada", scope="admin", expires_ns=stage.clock() + 1)[1],
    }
    stage.store.accounts.keys.revoke(keys["revoked"].split("_")[1])
    stage.clock.now_ns += 10
    stage.store.accounts.add_team("lab", owner="ada")
    world = World(stage, keys)
    for access in ACCESSES:
        world.furnish(access)
    return world


def bundle_of(bodies: dict[str, bytes], **said: Any) -> bytes:
    heads = [
        FileHead(path=path, size=len(body), sha256=hashlib.sha256(body).hexdigest(), **said)
        for path, body in bodies.items()
    ]
    return b"".join(encode_file(head, body) for head, body in zip(heads, bodies.values(), strict=True))


def draft_of(name: str, path: str, body: bytes, *, run: str | None = None) -> dict[str, Any]:
    entry = {"digest": base64.b64encode(hashlib.md5(body).digest()).decode(), "size": len(body)}
    manifest = {"version": 1, "storagePolicy": "x", "storagePolicyConfig": {}, "contents": {path: entry}}
    return {"name": name, "type": "dataset", "manifest": manifest, "run": run}
