"""Values of summaries, as `log()` takes them: scalars, histograms, images, audio and text, in the old form and the new.

The old form has a field for each kind; the new one has a tensor, and a plugin's name that says what it means. The name
may come with the first value of a tag only. What has no counterpart here is counted, never guessed at.
"""

from __future__ import annotations

import math
from typing import Any

from strobe.data.audio import Audio
from strobe.data.histogram import Histogram
from strobe.data.image import Image
from strobe.importers.model import Report
from strobe.importers.protobuf import Message, WireError
from strobe.importers.tensorboard import fields
from strobe.importers.tensorboard.tensor import Tensor

HPARAMS = "hparams"


class Skipped(Exception):
    """A value that is not brought over; the message says of what kind it is."""


class SummaryReader:
    """Reads the values of one run's summaries."""

    def __init__(self, report: Report) -> None:
        self._report = report
        #: tag → plugin
        self._plugins: dict[str, str] = {}

    def read(self, message: Message) -> tuple[str, Any] | None:
        """Return tag and value, None for what is left out, which is counted."""
        tag = message.text(fields.Value.TAG)
        try:
            return tag, self._value(tag, message)
        except Skipped as kind:
            self._report.left_out[str(kind)] += 1
        except (WireError, ValueError, TypeError) as error:
            self._report.note(f"a value of {tag!r} cannot be read and was left out: {error}")
        return None

    def plugin(self, tag: str, message: Message) -> str:
        """Return the plugin that a value belongs to, "" if nothing says so."""
        metadata = message.message(fields.Value.METADATA)
        data = metadata.message(fields.Metadata.PLUGIN) if metadata is not None else None
        if data is not None and (name := data.text(fields.Metadata.PLUGIN_NAME)):
            self._plugins[tag] = name
        return self._plugins.get(tag, "")

    def _value(self, tag: str, message: Message) -> Any:
        plugin = self.plugin(tag, message)
        if fields.Value.SIMPLE in message:
            return message.single(fields.Value.SIMPLE)
        if (image := message.message(fields.Value.IMAGE)) is not None:
            return Image(image.content(fields.Image.CONTENT))
        if (histogram := message.message(fields.Value.HISTOGRAM)) is not None:
            return _old_histogram(histogram)
        if (audio := message.message(fields.Value.AUDIO)) is not None:
            return Audio(audio.content(fields.Audio.CONTENT))
        if (tensor := message.message(fields.Value.TENSOR)) is not None:
            return _from_tensor(Tensor(tensor), plugin)
        if fields.Value.OLD_HISTOGRAM in message:
            raise Skipped("histogram of a form that TensorBoard gave up")
        raise Skipped(f"value of plugin {plugin}" if plugin else "value without content")


def _from_tensor(tensor: Tensor, plugin: str) -> Any:
    if plugin == "images":
        # Width and height first, then a picture each.
        return _one_or_all([Image(content) for content in tensor.values[2:]])
    if plugin == "audio":
        clips = [row[0] for row in tensor.rows()] if len(tensor.shape) == 2 else tensor.values
        return _one_or_all([Audio(content) for content in clips])
    if plugin == "histograms":
        return _new_histogram(tensor.rows())
    if plugin == "text" or (not plugin and tensor.is_text):
        return _one_or_all([content.decode("utf-8", "replace") for content in tensor.values])
    if plugin in ("scalars", "") and len(tensor.values) == 1 and not tensor.is_text:
        return tensor.values[0]
    raise Skipped(f"value of plugin {plugin}" if plugin else "tensor that no plugin claims")


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _new_histogram(rows: list[list[float]]) -> Histogram:
    """Rows are (left edge, right edge, count)."""
    return _histogram([row[2] for row in rows], [row[0] for row in rows] + [row[1] for row in rows[-1:]])


def _old_histogram(message: Message) -> Histogram:
    """Each bucket has its upper limit only; the first reaches down to the minimum, the last up to the maximum."""
    limits = message.numbers_of(fields.Histogram.LIMITS, "d")
    counts = message.numbers_of(fields.Histogram.COUNTS, "d")
    if len(limits) != len(counts):
        raise WireError(f"a histogram has {len(limits)} limits and {len(counts)} counts")
    low, high = message.double(fields.Histogram.MIN), message.double(fields.Histogram.MAX)
    if counts and not counts[0] and len(counts) > 1:
        return _histogram(counts[1:], _within(limits, low, high))
    return _histogram(counts, _within([low, *limits], low, high))


def _within(edges: list[float], low: float, high: float) -> list[float]:
    """Return the edges in order, the outermost ones no further out than the values: else they are astronomic."""
    if len(edges) < 2 or not math.isfinite(low) or not math.isfinite(high):
        return edges
    return [max(edges[0], min(low, edges[1])), *edges[1:-1], min(edges[-1], max(high, edges[-2]))]


def _histogram(counts: list[float], edges: list[float]) -> Histogram:
    if not counts:
        return Histogram(np_histogram=([0], [0.0, 1.0]))
    while len(counts) > Histogram.MAX_LENGTH:  # neighbours are put together
        counts = [sum(counts[at : at + 2]) for at in range(0, len(counts), 2)]
        edges = [*edges[:-1:2], edges[-1]]
    return Histogram(np_histogram=([int(n) if float(n).is_integer() else n for n in counts], edges))
