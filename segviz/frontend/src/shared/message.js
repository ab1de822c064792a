// The one place that knows the messages of Python (the other half is message.py): uint32
// length of the header, header in JSON, columns. The header holds plain values and, under
// "columns", [dtype, offset, bytes] of each column, counted from the end of the header.

/** @type {Record<string, Int32ArrayConstructor | Float32ArrayConstructor>} */
const ARRAYS = { int32: Int32Array, float32: Float32Array };

/** The plain values of a message and one typed array per column.
 * @param {Uint8Array} message */
export function unpack(message) {
  const bytes = message.slice(); // a fresh buffer: typed arrays need aligned offsets
  const begin = 4 + new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, begin)));
  for (const [name, [dtype, offset, length]] of Object.entries(head.columns)) {
    const Column = ARRAYS[dtype];
    if (!Column) throw new TypeError(`column ${name}: ${dtype}, expected int32 or float32`);
    head[name] = new Column(bytes.buffer, begin + offset, length / Column.BYTES_PER_ELEMENT);
  }
  return head;
}
