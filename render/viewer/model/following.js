// SPDX-License-Identifier: GPL-3.0-or-later
// What of a link is not in this report: it may come from a page of earlier recordings. Functions, modules, threads and
// processes are found by their names, so that most of a view is there again; what is not is said, and never left out in
// silence.

import { listName } from '../common/format.js';
import { DEFAULTS, pathEnd } from './state.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').State} State */

/** What a filter is about that this report lacks. @type {Record<string, string>} */
const SUBJECTS = { module: 'a module', line: 'a line', process: 'a process' };
/** How much of a name that was typed is repeated. */
const LONGEST_NAME = 40;

/** A name from the address. @param {string} name */
const quoted = (name) => `“${name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name}”`;

/** @param {Model} model @param {string} path @param {string} what @param {number} shown the node that is shown */
function pathNote(model, path, what, shown) {
  const { node, left } = pathEnd(model.tree, model.functions, path);
  if (left > 0) return `${what} (${node > 0 ? `the nearest caller here is ${listName(model.nameOf(node))}` : 'nor any caller of it'})`;
  return node !== shown && node > model.tree.twin ? `${what}, which takes nothing here` : '';
}

/** Frames that a link leads to. @param {Model} model @param {State} state */
function frameNotes(model, { zoom, selected }) {
  const zoomNote = zoom && pathNote(model, zoom, 'the zoomed frame', model.zoom);
  // A frame that is both is named once.
  const selectedNote = selected && !(zoomNote && selected === zoom) && pathNote(model, selected, 'the selected frame', model.selected);
  return [zoomNote, selectedNote];
}

/** Functions, threads and metrics that a link names. @param {Model} model @param {State} state */
function nameNotes(model, state) {
  const { callers, callees, metric, picked, source, thread } = state;
  const lacks = (/** @type {string} */ hash) => !!hash && !model.functionOf(hash);
  const filters = model.meant.filter(({ subject }) => subject === undefined);
  const of = filters.length === 1 && (SUBJECTS[filters[0].filter.kind] || 'a function');
  const metrics = model.meta.metrics || [];
  return [
    (lacks(callers) || lacks(callees)) && 'the function whose callers or callees were shown',
    lacks(picked) && 'the function that was outlined',
    lacks(source) && 'the function whose lines were shown',
    filters.length > 0 && (of ? `${of} of a filter` : `what ${filters.length} filters are about`),
    thread && !model.narrowing.threadNames().has(thread) && `the thread ${quoted(thread)}`,
    metric && !metrics.some(({ name }) => name === metric) && `the metric ${quoted(metric)}`,
  ];
}

/** When the later recording of a report ends, in nanoseconds. @param {Model} model */
const endOf = ({ meta }) => Math.max(...meta.recordings.map(({ durationNs }) => durationNs || 0));

/** A time that a link shows. @param {Model} model @param {State} state */
function rangeNote(model, { range }) {
  if (!range) return '';
  const [from, to] = range.map((us) => (us / 1e6).toFixed(2));
  const what = `the time ${from}–${to} s`;
  if (!model.hasTimeline) return `${what}, since its recordings do not tell when samples were taken`;
  const end = endOf(model);
  return end > 0 && range[0] * 1e3 >= end ? `${what}: it ends at ${(end / 1e9).toFixed(2)} s` : '';
}

/** Views that a report of one recording, or without waits, does not have. @param {Model} model @param {State} state */
function viewNotes(model, { colour, tab, view }) {
  const colours = { waiting: model.hasWaits, bottleneck: !!model.meta.hasBottlenecks, diff: model.sides === 2 };
  const lacksColour = colour !== DEFAULTS.colour && /** @type {Record<string, boolean>} */ (colours)[colour] === false;
  return [
    model.sides === 1 && view === 'base' && 'a base to show',
    lacksColour && `colours by ${colour}`,
    tab === 'timeline' && !model.hasTimeline && 'a timeline',
  ];
}

/**
 * What of the state of a link is not in this report, in one sentence; empty where all is.
 * @param {Model} model that shows the state @param {State} state
 */
export function unfollowed(model, state) {
  const notes = [...frameNotes(model, state), ...nameNotes(model, state), rangeNote(model, state), ...viewNotes(model, state)];
  const lacking = notes.filter(Boolean);
  return lacking.length ? `Not in this report: ${lacking.join('; ')}.` : '';
}
