// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of a page and the columns in them, as `render/page_data.c` writes them.

/** @param {string} text @returns {Uint8Array} */
function fromBase64(text) {
  const modern = /** @type {{fromBase64?: (text: string) => Uint8Array}} */ (/** @type {unknown} */ (Uint8Array));
  if (modern.fromBase64) return modern.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * Unpacks bytes without a Blob or a Response: both go through another process, which takes longer than the work itself.
 * @param {Uint8Array} bytes
 */
async function gunzip(bytes) {
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  // The reader throws what is wrong with the data, so that the writer need not.
  writer.write(/** @type {Uint8Array<ArrayBuffer>} */ (bytes)).catch(() => {});
  writer.close().catch(() => {});
  const reader = stream.readable.getReader();
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** The bytes of one block of the page. @param {string} name @returns {Promise<Uint8Array>} */
export async function readBlock(name) {
  const element = document.getElementById(`data-${name}`);
  if (!element) throw new Error(`the page has no block "${name}"`);
  return gunzip(fromBase64(element.textContent || ''));
}

/**
 * The bytes of a block that stands after the script: it is whole when the whole page is loaded.
 * @param {string} name
 */
export async function readLater(name) {
  if (document.readyState === 'loading')
    await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }));
  return readBlock(name);
}

/** @typedef {Uint8Array|Uint16Array|Uint32Array|Float64Array} FixedColumn */

/** Array types by the width of a value in bytes. @type {Record<number, new (buffer: ArrayBuffer) => FixedColumn>} */
const KINDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array };

/**
 * Reads columns of LEB128 numbers (signed ones are zigzag) and of numbers as they stand in memory. Throws at the end
 * of the bytes.
 */
export class Columns {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  check() {
    if (this.at > this.bytes.length) throw new Error("the page's data is cut off");
  }

  varint() {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (this.at >= this.bytes.length) throw new Error("the page's data is cut off");
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  zigzag() {
    const value = this.varint();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }

  /** A column of numbers of 32 bits. Most take one byte, so that case comes first. @param {Int32Array} out */
  numbers(out) {
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < out.length; i++) {
      let value = bytes[at++];
      if (value >= 128) {
        let byte = bytes[at++];
        value = (value & 127) | ((byte & 127) << 7);
        for (let shift = 14; byte >= 128; shift += 7) {
          byte = bytes[at++];
          value |= (byte & 127) << shift;
        }
      }
      out[i] = value;
    }
    this.at = at;
    this.check();
    return out;
  }

  /** A column that is stored as differences of neighbours. @param {Int32Array} out */
  steps(out) {
    this.numbers(out);
    let sum = 0;
    for (let i = 0; i < out.length; i++) out[i] = sum += (out[i] >>> 1) ^ -(out[i] & 1);
    return out;
  }

  /**
   * A column of numbers of any size that is stored as differences of neighbours.
   * @param {number} count
   */
  longSteps(count) {
    const out = new Float64Array(count);
    const { bytes } = this;
    let { at } = this;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const first = bytes[at++];
      const second = first >= 128 ? bytes[at++] : 0;
      if (second < 128) {
        // Nearly all take one byte or two, which whole numbers of 32 bits hold.
        const value = (first & 127) | (second << 7);
        out[i] = sum += (value >>> 1) ^ -(value & 1);
        continue;
      }
      let value = (first & 127) | ((second & 127) << 7);
      for (let byte = 128, scale = 16384; byte >= 128; scale *= 128) {
        byte = bytes[at++];
        value += (byte & 127) * scale;
      }
      out[i] = sum += value % 2 ? -(value + 1) / 2 : value / 2;
    }
    this.at = at;
    this.check();
    return out;
  }

  /**
   * A column whose values are all as wide as the largest needs, so that nothing is left to decode.
   * @param {number} count
   */
  fixed(count) {
    const [width] = this.raw(1);
    return new KINDS[width](/** @type {ArrayBuffer} */ (this.raw(width * count).slice().buffer));
  }

  /** A fixed column of multiples of one quantum. @param {number} count */
  multiples(count) {
    const quantum = this.varint();
    const out = new Float64Array(this.fixed(count));
    if (quantum > 1) for (let i = 0; i < count; i++) out[i] *= quantum;
    return out;
  }

  /** A column of bytes. @param {number} count */
  raw(count) {
    const from = this.at;
    this.at += count;
    this.check();
    return this.bytes.subarray(from, this.at);
  }

  /** A column of 32-bit floats. @param {number} count */
  floats(count) {
    return new Float32Array(this.raw(4 * count).slice().buffer);
  }

  /** A column of doubles. @param {number} count */
  doubles(count) {
    return new Float64Array(this.raw(8 * count).slice().buffer);
  }

  /** A text in UTF-8. @param {number} size in bytes */
  text(size) {
    return new TextDecoder().decode(this.raw(size));
  }
}
