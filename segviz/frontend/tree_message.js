// tree_message.js: what Python sent, unpacked. The other half is payload.py.

const SCORES = new Set(["initial", "final", "coherence"]); // float64; everything else is int32

/** The payload of payload.pack(): JSON values plus one typed array per column. */
export function unpack(message) {
  const bytes = message.slice(); // a fresh buffer: typed arrays need aligned offsets
  const headLength = new DataView(bytes.buffer).getUint32(0, true);
  const payload = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headLength)));
  for (const [name, [offset, length]] of Object.entries(payload.columns)) {
    const Column = SCORES.has(name) ? Float64Array : Int32Array;
    const start = 4 + headLength + offset;
    payload[name] = new Column(bytes.buffer, start, length / Column.BYTES_PER_ELEMENT);
  }
  return payload;
}
