// SPDX-License-Identifier: GPL-3.0-or-later
// What verdicts are about: the figures of the whole report in the tested metric, whatever is shown.

import { hasInterpreters, selfWithInterpreter } from './interpreter.js';
import { functionSums, withoutInterrupts } from './sums.js';
import { withMovedSelf } from '../data/tree.js';

/** @typedef {import('../data/report.js').Tables} Tables */
/** @typedef {import('../data/tree.js').Tree} Tree */

export class Tested {
  /** @param {Tables} tables */
  constructor(tables) {
    this.tables = tables;
    /** @type {Tree|null} */ this.treeMade = null;
    /** @type {{self: Float64Array[], total: Float64Array[]}|null} */ this.sumsMade = null;
  }

  /** The call tree of the report, with the time of an interpreter's frames at the functions that they run. */
  get tree() {
    if (this.treeMade) return this.treeMade;
    const { functions, tree } = this.tables;
    const made = withMovedSelf(tree, hasInterpreters(functions) ? selfWithInterpreter(tree, functions) : tree.self);
    made.own = withoutInterrupts(tree);
    return (this.treeMade = made);
  }

  /** Self and total of every function. */
  get sums() {
    const { length } = this.tables.functions;
    // Rows of processes are added to the functions later.
    if (this.sumsMade?.self[0].length !== length) this.sumsMade = functionSums(this.tree, length);
    return this.sumsMade;
  }

  /** Totals [base, head] of everything, scaled. */
  totals() {
    const [base, head] = this.tree.figures;
    return [base[0], head[0] * (this.tables.meta.factor || 1)];
  }
}
