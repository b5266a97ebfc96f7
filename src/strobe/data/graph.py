"""Model graphs: nodes (layers) and the edges between them."""

from __future__ import annotations

from typing import Any

from strobe.data.media import Media, MediaFiles


class Node:
    """One layer: any of id, name, class_name, size, parameters, output_shape, is_output, num_parameters."""

    __slots__ = ("attributes",)

    def __init__(self, **attributes: Any) -> None:
        unknown = set(attributes) - _ATTRIBUTES
        if unknown:
            raise TypeError(f"a Node has no {', '.join(sorted(unknown))}; it has {', '.join(sorted(_ATTRIBUTES))}")
        self.attributes = {name: value for name, value in attributes.items() if value is not None}

    @property
    def id(self) -> Any:
        return self.attributes.get("id")


_ATTRIBUTES = frozenset(
    [
        "id",
        "name",
        "class_name",
        "size",
        "parameters",
        "output_shape",
        "is_output",
        "num_parameters",
        "functions",
        "is_constant",
    ]
)


class Graph(Media):
    """The structure of a model: fill it with `add_node` and `add_edge`, then log it."""

    _log_type = "graph-file"

    def __init__(self, format: str = "keras") -> None:
        self.format = format
        self.nodes: list[Node] = []
        self.edges: list[tuple[Node, Node]] = []
        self._by_id: dict[Any, Node] = {}

    def __getitem__(self, node_id: Any) -> Node:
        return self._by_id[node_id]

    def add_node(self, node: Node | None = None, **attributes: Any) -> Node:
        """Add a node, given or made from `attributes`; one without an id gets its position."""
        added = node or Node(**attributes)
        added.attributes.setdefault("id", len(self.nodes))
        if added.id in self._by_id:
            raise ValueError(f"the graph has a node {added.id!r} already")
        self.nodes.append(added)
        self._by_id[added.id] = added
        return added

    def add_edge(self, from_node: Node, to_node: Node) -> None:
        """Connect two nodes of the graph."""
        self.edges.append((from_node, to_node))

    def record(self, files: MediaFiles, key: str, step: int) -> dict[str, Any]:
        import msgspec

        body = {
            "format": self.format,
            "nodes": [node.attributes for node in self.nodes],
            "edges": [[source.id, target.id] for source, target in self.edges],
        }
        content = msgspec.json.encode(body, enc_hook=str)
        path = files.write("graph", key, step, "graph.json", content)
        return {"_type": self._log_type, "path": path, "size": len(content)}
