// The one place that knows the messages of Python (the other half is message.py): uint32
// length of the header, header in JSON, columns. The header holds plain values and, under
// "columns", [dtype, offset, bytes] of each column, counted from the end of the header.

const ALIGNED = 8;
/** @type {Record<string, Int32ArrayConstructor | Float64ArrayConstructor>} */
const ARRAYS = { int32: Int32Array, float64: Float64Array };

/** @param {Uint8Array} bytes */
function readHead(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return { head: JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))),
    begin: 4 + length };
}

/** The plain values of a message and one typed array per column.
 * @param {Uint8Array} message */
export function unpack(message) {
  const bytes = message.slice(); // a fresh buffer: typed arrays need aligned offsets
  const { head, begin } = readHead(bytes);
  for (const [name, [dtype, offset, length]] of Object.entries(head.columns)) {
    const Column = ARRAYS[dtype];
    if (!Column) throw new TypeError(`column ${name}: ${dtype}, expected int32 or float64`);
    head[name] = new Column(bytes.buffer, begin + offset, length / Column.BYTES_PER_ELEMENT);
  }
  return head;
}

/** What tells a column of numbers from another: its 32-bit words times 1, 3, 5 …, summed
 * modulo 2³².
 * @param {Float64Array} column */
export function checksum(column) {
  const words = new Uint32Array(column.buffer, column.byteOffset, column.byteLength / 4);
  let sum = 0;
  for (let i = 0; i < words.length; i++) sum = (sum + Math.imul(words[i], 2 * i + 1)) >>> 0;
  return sum;
}

/** A function that computes something of a column once: what is in a column does not change.
 * @template T
 * @template {any[]} Rest
 * @param {(column: Float64Array, ...rest: Rest) => T} compute
 * @returns {(column: Float64Array, ...rest: Rest) => T} */
export function once(compute) {
  const known = new WeakMap();
  return (column, ...rest) => {
    if (!known.has(column)) known.set(column, compute(column, ...rest));
    return known.get(column);
  };
}

/** The message with other plain values in its header.
 * @type {(message: Uint8Array, values: Record<string, unknown>) => Uint8Array} */
export function withValues(message, values) {
  const { head, begin } = readHead(message);
  const text = new TextEncoder().encode(JSON.stringify({ ...head, ...values }));
  const length = Math.ceil((4 + text.length) / ALIGNED) * ALIGNED - 4;
  const columns = message.subarray(begin);
  const changed = new Uint8Array(4 + length + columns.length).fill(32);
  new DataView(changed.buffer).setUint32(0, length, true);
  changed.set(text, 4);
  changed.set(columns, 4 + length);
  return changed;
}
