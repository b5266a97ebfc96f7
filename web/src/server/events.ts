// Server-Sent Events from a byte stream. Own code instead of EventSource: that one cannot be told the last id when it
// has to be opened anew, and does not say why it failed.

export interface ServerEvent {
  name: string;
  data: string;
  id: string | null;
}

/** Cuts text that comes in pieces into events. */
export class EventParser {
  #rest = "";

  /** Return the events that are complete with this piece. */
  push(piece: string): ServerEvent[] {
    const blocks = (this.#rest + piece.replaceAll("\r\n", "\n")).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(parseBlock).filter((event) => event !== null);
  }
}

function parseBlock(block: string): ServerEvent | null {
  let name = "message";
  let id: string | null = null;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue; // a comment: the server's sign of life
    const field = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  return data.length ? { name, data: data.join("\n"), id } : null;
}
