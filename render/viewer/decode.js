// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the page's blocks. The other side is render/page_data.c.

/** @param {string} text @returns {Uint8Array} */
function fromBase64(text) {
  if ('fromBase64' in Uint8Array) return /** @type {any} */ (Uint8Array).fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
async function gunzip(bytes) {
  const stream = new Blob([/** @type {any} */ (bytes)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The bytes of one block of the page. @param {string} name */
export async function readBlock(name) {
  const element = document.getElementById(`data-${name}`);
  if (!element) throw new Error(`the page has no block "${name}"`);
  return gunzip(fromBase64(element.textContent || ''));
}

/** Columns of LEB128 numbers; signed ones zigzag. */
export class Columns {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
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

  /** A column of multiples of one quantum. @param {number} count */
  values(count) {
    const quantum = this.varint();
    const out = new Float64Array(count);
    for (let i = 0; i < count; i++) out[i] = this.varint() * quantum;
    return out;
  }
}

/**
 * @typedef {object} Tree a tree in preorder; `values[side]` are self values
 * @property {number} count
 * @property {Int32Array} func function of a node, -1 for the root
 * @property {Int32Array} parent
 * @property {Int32Array} end id behind the last node of the subtree
 * @property {Uint16Array} depth
 * @property {Uint8Array} state
 * @property {Uint8Array} flags
 * @property {Float64Array[]} self [base, head], unscaled
 * @property {Float64Array[]} total likewise
 * @property {Map<number, number[]>} [intervals] node -> [low, high] of the total's difference
 */

/** Fills parent and end from depths. @param {Tree} tree */
export function linkTree(tree) {
  const path = new Int32Array(65537);
  for (let i = 0; i < tree.count; i++) {
    const depth = tree.depth[i];
    path[depth] = i;
    tree.parent[i] = depth ? path[depth - 1] : -1;
  }
  tree.end.fill(0);
  for (let i = tree.count - 1; i >= 0; i--) {
    if (tree.end[i] <= i) tree.end[i] = i + 1;
    const parent = tree.parent[i];
    if (parent >= 0 && tree.end[parent] < tree.end[i]) tree.end[parent] = tree.end[i];
  }
}

/** Totals from self values. @param {Tree} tree */
export function sumTree(tree) {
  for (let side = 0; side < 2; side++) {
    const total = tree.total[side];
    total.set(tree.self[side]);
    for (let i = tree.count - 1; i > 0; i--) total[tree.parent[i]] += total[i];
  }
}

/** An empty tree of `count` nodes. @param {number} count @returns {Tree} */
export function newTree(count) {
  return {
    count,
    func: new Int32Array(count).fill(-1),
    parent: new Int32Array(count),
    end: new Int32Array(count),
    depth: new Uint16Array(count),
    state: new Uint8Array(count),
    flags: new Uint8Array(count),
    self: [new Float64Array(count), new Float64Array(count)],
    total: [new Float64Array(count), new Float64Array(count)],
  };
}

/** @param {Uint8Array} bytes @param {number} sides @returns {Tree} */
export function decodeTree(bytes, sides) {
  const columns = new Columns(bytes);
  const count = columns.varint();
  const tree = newTree(count);
  let depth = 0;
  for (let i = 0; i < count; i++) {
    depth += columns.zigzag();
    tree.depth[i] = depth;
  }
  for (let i = 0; i < count; i++) tree.func[i] = columns.varint() - 1;
  for (let i = 0; i < count; i++) {
    const byte = columns.bytes[columns.at++];
    tree.state[i] = byte >> 4;
    tree.flags[i] = byte & 15;
  }
  for (let side = 2 - sides; side < 2; side++) tree.self[side] = columns.values(count);
  tree.intervals = new Map();
  let node = 0;
  for (let left = columns.varint(); left > 0; left--) {
    node += columns.varint();
    tree.intervals.set(node, [columns.zigzag(), columns.zigzag()]);
  }
  linkTree(tree);
  sumTree(tree);
  return tree;
}

/**
 * @typedef {object} Samples of one side
 * @property {number} count
 * @property {Int32Array} node
 * @property {Int32Array} thread
 * @property {Float64Array} times how often
 * @property {Float64Array} value
 */

/** @param {Uint8Array} bytes @param {number} sides @returns {(Samples|null)[]} [base, head] */
export function decodeSamples(bytes, sides) {
  const columns = new Columns(bytes);
  /** @type {(Samples|null)[]} */
  const out = [null, null];
  for (let side = 2 - sides; side < 2; side++) {
    const count = columns.varint();
    const samples = {
      count,
      node: new Int32Array(count),
      thread: new Int32Array(count),
      times: new Float64Array(count),
      value: new Float64Array(0),
    };
    let node = 0;
    for (let i = 0; i < count; i++) samples.node[i] = node += columns.zigzag();
    for (let i = 0; i < count; i++) samples.thread[i] = columns.varint();
    for (let i = 0; i < count; i++) samples.times[i] = columns.varint();
    samples.value = columns.values(count);
    out[side] = samples;
  }
  return out;
}

/**
 * @typedef {object} Timeline of one side: events by time within their run
 * @property {number} count
 * @property {Float64Array} time in microseconds since the start of the run
 * @property {Int32Array} sample
 */

/** @param {Uint8Array} bytes @param {number} sides @returns {(Timeline|null)[]} */
export function decodeTimeline(bytes, sides) {
  const columns = new Columns(bytes);
  /** @type {(Timeline|null)[]} */
  const out = [null, null];
  for (let side = 2 - sides; side < 2; side++) {
    const count = columns.varint();
    const timeline = { count, time: new Float64Array(count), sample: new Int32Array(count) };
    let time = 0;
    for (let i = 0; i < count; i++) timeline.time[i] = time += columns.zigzag();
    for (let i = 0; i < count; i++) timeline.sample[i] = columns.varint();
    out[side] = timeline;
  }
  return out;
}

/**
 * @typedef {object} Func a function as the page tells it
 * @property {number} id
 * @property {string} name
 * @property {string} module
 * @property {string} file
 * @property {number} line
 * @property {string} key
 * @property {number} origin index of ORIGINS
 * @property {number} rule
 * @property {number} source
 * @property {number} code 0 unknown, 1 same, 2 changed
 * @property {number} rank place in the shared order of siblings
 * @property {number[]} rawSelf
 * @property {number[]} rawTotal
 * @property {any} [self]
 * @property {any} [total]
 * @property {string} [tier]
 * @property {number|null} [movedTo]
 */

export const ORIGINS = ['unknown', 'user', 'library', 'system'];
export const STATES = ['same', 'unproven', 'more', 'less', 'new', 'gone', 'moved'];

/** @param {any} meta @returns {Func[]} */
export function decodeFunctions(meta) {
  const strings = meta.strings;
  return meta.functions.map((/** @type {any[]} */ f, /** @type {number} */ id) => ({
    id,
    name: strings[f[0]],
    module: strings[f[1]],
    file: strings[f[2]],
    line: f[3],
    key: strings[f[4]],
    origin: f[5],
    rule: f[6],
    source: f[7],
    code: f[8],
    rawSelf: f[9],
    rawTotal: f[10],
    self: f[11],
    total: f[12],
    tier: f[13],
    movedTo: f[14],
    rank: meta.ranks[id],
  }));
}

/** Everything but the timeline, which is decoded when it is opened. */
export async function readPage() {
  const meta = JSON.parse(new TextDecoder().decode(await readBlock('meta')));
  const [tree, samples] = await Promise.all([readBlock('tree'), readBlock('samples')]);
  return {
    meta,
    functions: decodeFunctions(meta),
    tree: decodeTree(tree, meta.sides),
    samples: decodeSamples(samples, meta.sides),
  };
}
