"""Types of parameters and JSON fields that many endpoints have: text that a database takes, numbers in their bounds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

#: PostgreSQL has no text with a NUL in it
_NO_NUL = r"^[^\x00]*\Z"

Name = Annotated[str, Meta(min_length=1, max_length=128, pattern=_NO_NUL)]
#: the name of something that was logged
Key = Annotated[str, Meta(min_length=1, max_length=4000, pattern=_NO_NUL)]
#: a run: entity/project/run
PathText = Annotated[str, Meta(max_length=400, pattern=_NO_NUL)]
FilePath = Annotated[str, Meta(max_length=1024, pattern=_NO_NUL)]
Text = Annotated[str, Meta(max_length=100_000, pattern=_NO_NUL)]
Token = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
#: the content that a file is to replace, `none` for a file that is not there yet
Over = Annotated[str, Meta(pattern=r"^([0-9a-f]{64}|none)\Z")]
#: nanoseconds since the epoch, and other counts
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Limit = Annotated[int, Meta(ge=1, le=1000)]
