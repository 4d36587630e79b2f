// SPDX-License-Identifier: GPL-3.0-or-later
// Which frame of the call tree on the screen a frame of the report is. The timeline shows stacks as they were recorded;
// in the call tree they may stand below a row of their process, and without frames that were taken out.

/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../data/tree.js').Tree} Tree */

const UNKNOWN = -1;

export class ShownFrames {
  /** @param {Tree} report its tree @param {Tree} shown the one on the screen @param {Func[]} functions */
  constructor(report, shown, functions) {
    this.report = report;
    this.shown = shown;
    this.functions = functions;
    /** Whether both have the same nodes. */ this.areSame = report.func === shown.func;
    /** @type {Map<string, Int32Array>} what is known of the frames of a process */ this.known = new Map();
  }

  /** The child with a function, or -1. @param {number} node @param {(func: number) => boolean} is */
  #child(node, is) {
    const { shown } = this;
    for (let child = shown.first(node); child >= 0; child = shown.next(child)) if (is(shown.func[child])) return child;
    return -1;
  }

  /** What is known of the frames of a process. @param {string} process */
  #knownOf(process) {
    const known = this.known.get(process) || new Int32Array(this.report.count).fill(UNKNOWN);
    if (this.known.has(process)) return known;
    const row = this.#child(0, (func) => !!this.functions[func].isProcess && this.functions[func].name === process);
    known[0] = Math.max(0, row);
    this.known.set(process, known);
    return known;
  }

  /**
   * The frame on the screen that a frame of the report is; its next caller that is shown where it was taken out; 0
   * where none is.
   * @param {number} node @param {string} process that it is of
   */
  of(node, process) {
    if (this.areSame) return node;
    const { func, parent } = this.report;
    const known = this.#knownOf(process);
    const path = [];
    let at = node;
    for (; known[at] === UNKNOWN; at = parent[at]) path.push(at);
    for (let inner = path.pop(); inner !== undefined; inner = path.pop()) {
      const child = this.#child(known[at], (one) => one === func[inner]);
      known[inner] = child < 0 ? known[at] : child;
      at = inner;
    }
    return known[node];
  }
}
