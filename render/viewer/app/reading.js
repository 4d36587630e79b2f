// SPDX-License-Identifier: GPL-3.0-or-later
// What a state needs of the report beside the first picture: it is read before the state is shown.

import { needsBottlenecks } from '../model/bottleneck.js';
import { needsLineStacks } from '../model/lines.js';

/** @typedef {import('../data/report.js').Report} Report */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').State} State */

/** Reads the tables that the model needs for a state, one after the other. @param {Report} report @param {Model} model @param {State} state */
export async function readFor(report, model, state) {
  const { narrowing } = model;
  if (narrowing.needsSamples(state)) await report.readSamples();
  const slow = narrowing.slowExpressions(state);
  if (slow.length) await narrowing.expressions.read(slow);
  if (state.source || narrowing.needsLines(state)) await report.readLines();
  if (needsLineStacks(model, state)) await report.readLineStacks();
  if (needsBottlenecks(model, state)) await report.readBottlenecks();
}
