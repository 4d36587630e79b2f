// SPDX-License-Identifier: GPL-3.0-or-later
// How long answers took on each side, as two outlines on a logarithmic axis, beside what the program did in words.

import { h, svg } from '../common/dom.js';
import { amount } from '../common/format.js';
import { sumOf } from '../model/sums.js';

/** @typedef {import('../data/report.js').Latencies} Latencies */
/** @typedef {import('../data/report.js').Requests} Requests */

/** Buckets in each power of two; shorter latencies have a bucket each. */
const OF_POWER = 16;
/** What is left out at each end, so that a single answer does not stretch the axis. */
const RARE = 0.001;
/** The part of the axis that is left free at each end. */
const MARGIN = 0.04;

const WIDTH = 240;
export const HEIGHT = 48;
/** Room below the outlines for the marks of the axis. */
const AXIS = 11;
/** How wide a step of an outline is. */
const STEP = 3;

/** The lower end of a bucket in nanoseconds. @param {number} bucket */
export const bucketStart = (bucket) =>
  bucket < OF_POWER ? bucket : (OF_POWER + (bucket % OF_POWER)) * 2 ** (Math.floor(bucket / OF_POWER) - 1);

/** The place of a time on the axis. What takes no nanosecond stands at the first. @param {number} ns */
const log = (ns) => Math.log10(Math.max(ns, 1));

/** The time between the rare ones at both ends. @param {Latencies} side @returns {[number, number]} in nanoseconds */
function usual({ first, counts }) {
  const total = sumOf(counts);
  let before = 0;
  let low = -1;
  for (let i = 0; i < counts.length; i++) {
    before += counts[i];
    if (low < 0 && before > RARE * total) low = i;
    if (before >= (1 - RARE) * total) return [bucketStart(first + low), bucketStart(first + i + 1)];
  }
  return [bucketStart(first), bucketStart(first + counts.length)];
}

/**
 * The axis that both sides have room on: the logarithms of its ends.
 * @param {Latencies[]} sides @returns {[number, number]}
 */
export function axisOf(sides) {
  const ends = sides.map(usual);
  const low = log(Math.min(...ends.map(([from]) => from), ...sides.map(({ p50 }) => p50)));
  const high = log(Math.max(...ends.map(([, to]) => to), ...sides.map(({ p99 }) => p99)));
  const room = MARGIN * Math.max(high - low, 0.3);
  return [low - room, high + room];
}

/**
 * The part of a side's answers in each of `steps` steps of the axis. A bucket's are spread evenly over its width.
 * @param {Latencies} side @param {[number, number]} axis @param {number} steps
 */
export function shares({ first, counts }, [low, high], steps) {
  const list = new Array(steps).fill(0);
  const total = sumOf(counts);
  const place = (/** @type {number} */ ns) => ((log(ns) - low) / (high - low)) * steps;
  counts.forEach((count, i) => {
    const from = place(bucketStart(first + i));
    const to = Math.max(place(bucketStart(first + i + 1)), from + 1e-9);
    for (let k = Math.max(0, Math.floor(from)); count > 0 && k < Math.min(steps, to); k++)
      list[k] += ((count / total) * (Math.min(to, k + 1) - Math.max(from, k))) / (to - from);
  });
  return list;
}

/**
 * The times that are marked on an axis, in nanoseconds: powers of ten, and where there are not two of them, also their
 * double and fivefold.
 * @param {[number, number]} axis
 */
export function marks([low, high]) {
  const within = (/** @type {number[]} */ steps) => {
    const list = [];
    for (let power = Math.floor(low); power <= high; power++)
      for (const step of steps) if (log(step * 10 ** power) >= low && log(step * 10 ** power) <= high) list.push(step * 10 ** power);
    return list;
  };
  const decades = within([1]);
  return decades.length > 1 ? decades : within([1, 2, 5]);
}

/** A time on the axis: "10 ms". @param {number} ns */
export const markText = (ns) => amount(ns, 'nanoseconds').replace(/\.0+(?= )/, '');

/** The picture in words. @param {(Latencies|null)[]} sides */
export function latencyWords(sides) {
  const names = sides.length === 2 ? ['base', 'head'] : ['answers'];
  const told = sides.flatMap((side, i) =>
    side ? [`${names[i]} p50 ${amount(side.p50, 'nanoseconds')}, p99 ${amount(side.p99, 'nanoseconds')}`] : [],
  );
  return `Distribution of the time until an answer began, on a logarithmic axis: ${told.join('; ')}`;
}

/** The outline of a side in steps, closed along the axis. @param {number[]} list @param {number} most */
export function outline(list, most) {
  const floor = HEIGHT - AXIS;
  const steps = list.map((share, i) => {
    const y = (floor - (share / most) * (floor - 2)).toFixed(1);
    return `V${y}H${(i + 1) * STEP}`;
  });
  return `M0 ${floor}${steps.join('')}V${floor}`;
}

/**
 * The distributions of one or two sides; null where no side tells of them.
 * @param {Requests} requests
 */
function picture({ latencies, state }) {
  const known = /** @type {Latencies[]} */ (latencies.filter(Boolean));
  if (!known.length) return null;
  const axis = axisOf(known);
  const steps = WIDTH / STEP;
  const lists = latencies.map((side) => side && shares(side, axis, steps));
  const most = Math.max(...lists.flatMap((list) => list || []), 1e-9);
  const place = (/** @type {number} */ ns) => (((log(ns) - axis[0]) / (axis[1] - axis[0])) * WIDTH).toFixed(1);
  const floor = HEIGHT - AXIS;
  const words = latencyWords(latencies);
  const title = svg('title', {}, document.createTextNode(`${words}. Lines: p50; dashed: p99.`));
  const viewBox = `0 0 ${WIDTH} ${HEIGHT}`;
  const all = svg('svg', { class: 'latencies', 'data-state': state, viewBox, role: 'img', 'aria-label': words }, title);
  all.append(svg('path', { class: 'floor', d: `M0 ${floor}H${WIDTH}` }));
  let free = -Infinity;
  for (const ns of marks(axis)) {
    const x = Number(place(ns));
    all.append(svg('path', { class: 'floor', d: `M${x} ${floor}v2` }));
    // A mark has room for its text where the one before it ended.
    if (x < free + 34 || x < 14 || x > WIDTH - 14) continue;
    free = x;
    all.append(svg('text', { x, y: HEIGHT - 1 }, document.createTextNode(markText(ns))));
  }
  latencies.forEach((side, i) => {
    const list = lists[i];
    if (!side || !list) return;
    const name = latencies.length === 2 && i === 0 ? 'base' : 'head';
    all.append(
      svg('path', { class: name, d: outline(list, most) }),
      svg('path', { class: `${name} p50`, d: `M${place(side.p50)} ${floor}V0` }),
      svg('path', { class: `${name} p99`, d: `M${place(side.p99)} ${floor}V0` }),
    );
  });
  return all;
}

/** What the program did, with how long its answers took; false where nothing counted it. @param {Requests|null} [requests] */
export const requestsLine = (requests) =>
  !!requests && h('div.requests', {}, picture(requests), h('p', {}, requests.words));
