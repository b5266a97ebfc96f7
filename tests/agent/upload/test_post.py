"""What the uploads to one server share: here, whom it wants to stop."""

from __future__ import annotations

from strobe.agent.upload.parcel import Share
from strobe.agent.upload.post import HEARTBEAT_S, Post
from strobe.journal.mark import Mark
from strobe.journal.segment import Header
from strobe.remote.link import Link
from strobe.remote.target import Target
from tests.remote.small_server import SmallServer

RUN = "me/p/r1"


def share() -> Share:
    return Share(Header(entity="local", project="p", run="r1", writer="w", attempt=1), [], Mark())


def test_a_wish_to_stop_that_the_server_no_longer_has_is_forgotten(server: SmallServer) -> None:
    now = [0.0]
    post = Post(Link(Target(base_url=server.url)), clock=lambda: now[0])
    server.stop = [RUN]
    post.send([share()])
    assert post.is_to_stop(RUN)
    server.stop = []
    post.send([share()])
    assert not post.is_to_stop(RUN)
    post.set_running(RUN, True)
    server.stop = [RUN, "me/p/r2"]
    post.beat()
    assert post.is_to_stop(RUN)
    assert post.is_to_stop("me/p/r2")
    server.stop = []
    now[0] += HEARTBEAT_S
    post.beat()
    assert not post.is_to_stop(RUN)
    assert post.is_to_stop("me/p/r2")  # which was not asked about
