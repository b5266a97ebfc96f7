// Reads msgpack, which table files are written in. Pure. Integers beyond what a double holds come as bigint; types of
// others (ext) come as their bytes.

export class MsgpackError extends Error {
  override name = "MsgpackError";
}

export function decodeMsgpack(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const value = reader.value();
  if (!reader.isAtEnd) throw new MsgpackError("more bytes than one value; the file is damaged");
  return value;
}

class Reader {
  readonly #view: DataView;
  #at = 0;

  constructor(readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  value(): unknown {
    const head = this.#take(1, (at) => this.#view.getUint8(at));
    if (head < 0x80) return head;
    if (head < 0x90) return this.#map(head & 15);
    if (head < 0xa0) return this.#list(head & 15);
    if (head < 0xc0) return this.#text(head & 31);
    if (head >= 0xe0) return head - 256;
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return this.#bytes(this.#size(1));
      case 0xc5:
        return this.#bytes(this.#size(2));
      case 0xc6:
        return this.#bytes(this.#size(4));
      case 0xc7:
        return this.#ext(this.#size(1));
      case 0xc8:
        return this.#ext(this.#size(2));
      case 0xc9:
        return this.#ext(this.#size(4));
      case 0xca:
        return this.#take(4, (at) => this.#view.getFloat32(at));
      case 0xcb:
        return this.#take(8, (at) => this.#view.getFloat64(at));
      case 0xcc:
        return this.#size(1);
      case 0xcd:
        return this.#size(2);
      case 0xce:
        return this.#size(4);
      case 0xcf:
        return short(this.#take(8, (at) => this.#view.getBigUint64(at)));
      case 0xd0:
        return this.#take(1, (at) => this.#view.getInt8(at));
      case 0xd1:
        return this.#take(2, (at) => this.#view.getInt16(at));
      case 0xd2:
        return this.#take(4, (at) => this.#view.getInt32(at));
      case 0xd3:
        return short(this.#take(8, (at) => this.#view.getBigInt64(at)));
      case 0xd9:
        return this.#text(this.#size(1));
      case 0xda:
        return this.#text(this.#size(2));
      case 0xdb:
        return this.#text(this.#size(4));
      case 0xdc:
        return this.#list(this.#size(2));
      case 0xdd:
        return this.#list(this.#size(4));
      case 0xde:
        return this.#map(this.#size(2));
      case 0xdf:
        return this.#map(this.#size(4));
    }
    if (head >= 0xd4 && head <= 0xd8) return this.#ext(1 << (head - 0xd4));
    throw new MsgpackError(`there is no type ${head}; the file is damaged`);
  }

  #take<T>(size: number, read: (at: number) => T): T {
    if (this.#at + size > this.bytes.length) throw new MsgpackError("it ends too early; the file is damaged");
    const value = read(this.#at);
    this.#at += size;
    return value;
  }

  #size(width: 1 | 2 | 4): number {
    return this.#take(width, (at) => {
      if (width === 1) return this.#view.getUint8(at);
      return width === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
    });
  }

  #bytes(size: number): Uint8Array {
    return this.#take(size, (at) => this.bytes.subarray(at, at + size));
  }

  #ext(size: number): Uint8Array {
    this.#size(1);
    return this.#bytes(size);
  }

  #text(size: number): string {
    return new TextDecoder().decode(this.#bytes(size));
  }

  #list(size: number): unknown[] {
    const list: unknown[] = [];
    for (let i = 0; i < size; i++) list.push(this.value());
    return list;
  }

  #map(size: number): Record<string, unknown> {
    const map: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (let i = 0; i < size; i++) {
      const key = this.value();
      map[String(key)] = this.value();
    }
    return map;
  }
}

function short(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}
