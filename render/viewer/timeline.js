// SPDX-License-Identifier: GPL-3.0-or-later
// The chronological view: a strip of how busy the target was, and a flame chart of one thread.

import { css, inkOn } from './colour.js';
import { isolated } from './format.js';

/** @typedef {import('./tree.js').Tree} Tree */
/** @typedef {import('./decode.js').Samples} Samples */
/** @typedef {import('./decode.js').Timeline} Timeline */

/**
 * The end of the longest run in microseconds, and the samples of each side by bucket of time.
 * @typedef {{end: number, counts: Float64Array[]}} Activity
 */

/**
 * A box of the flame chart: a frame from one time to another.
 * @typedef {{from: number, to: number, depth: number, node: number}} ChartBox
 */

/** Samples of a thread that are further apart than this do not belong together, in microseconds. */
const LONGEST_GAP = 2500;
/** How long a single sample is drawn, in microseconds. */
const SAMPLE_TIME = 1000;

/**
 * Samples by bucket of time, for each side.
 * @param {(Timeline|null)[]} timelines @param {(Samples|null)[]} samples @param {number} buckets
 * @param {((side: number, thread: number) => boolean)|undefined} keepThread all threads where it is missing
 * @returns {Activity}
 */
export function activity(timelines, samples, buckets, keepThread) {
  let end = 1;
  for (const timeline of timelines)
    if (timeline) for (let i = 0; i < timeline.count; i++) if (timeline.time[i] > end) end = timeline.time[i];
  const counts = timelines.map((timeline, side) => {
    const out = new Float64Array(buckets);
    const s = samples[side];
    if (timeline && s)
      for (let i = 0; i < timeline.count; i++)
        if (!keepThread || keepThread(side, s.thread[timeline.sample[i]]))
          out[Math.min(buckets - 1, Math.floor((timeline.time[i] / end) * buckets))]++;
    return out;
  });
  return { end, counts: counts.map(smoothed) };
}

/**
 * Mixes each bucket with its neighbours: a bucket holds few samples, so that the strip would look like a comb.
 * @param {Float64Array} counts
 */
function smoothed(counts) {
  return counts.map((value, i) => (value * 2 + (counts[i - 1] ?? value) + (counts[i + 1] ?? value)) / 4);
}

/**
 * The boxes of a flame chart. Equal frames of samples that follow each other closely are one box.
 * @param {Tree} tree @param {Samples} samples @param {Timeline} timeline @param {number} thread
 * @param {number[]} range [from, to) in microseconds
 * @returns {ChartBox[]}
 */
export function chart(tree, samples, timeline, thread, range) {
  const boxes = [];
  /** @type {ChartBox[]} */
  let open = [];
  let before = -1;
  for (let i = 0; i < timeline.count; i++) {
    const time = timeline.time[i];
    const sample = timeline.sample[i];
    if (samples.thread[sample] !== thread || time < range[0] || time >= range[1]) continue;
    const path = [];
    for (let node = samples.node[sample]; node > 0; node = tree.parent[node]) path.push(node);
    path.reverse();
    let same = 0;
    if (before >= 0 && time - before <= LONGEST_GAP)
      while (same < open.length && same < path.length && open[same].node === path[same]) same++;
    for (const box of open.slice(same)) boxes.push(box);
    open = open.slice(0, same);
    for (const box of open) box.to = time + SAMPLE_TIME;
    for (let depth = same; depth < path.length; depth++)
      open.push({ from: time, to: time + SAMPLE_TIME, depth, node: path[depth] });
    before = time;
  }
  return boxes.concat(open);
}

/** Clears a canvas and fits it to the screen. @param {HTMLCanvasElement} canvas */
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = Math.max(1, width * ratio);
  canvas.height = Math.max(1, height * ratio);
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  return { c, width, height };
}

/**
 * Draws the strip, and a brush over the time outside a range.
 * @param {HTMLCanvasElement} canvas @param {Activity} data @param {number[]|null} range
 * @param {string[]} colours by side
 */
export function drawStrip(canvas, data, range, colours) {
  const { c, width, height } = prepare(canvas);
  let most = 1;
  for (const side of data.counts) for (const value of side) if (value > most) most = value;
  data.counts.forEach((counts, side) => {
    c.fillStyle = colours[side];
    c.globalAlpha = 0.55;
    const step = width / counts.length;
    counts.forEach((value, i) => {
      const size = (value / most) * (height - 4);
      c.fillRect(i * step, height - size, Math.max(step - 0.3, 0.5), size);
    });
  });
  c.globalAlpha = 1;
  if (!range) return;
  c.fillStyle = 'rgba(120,120,130,.35)';
  const from = (range[0] / data.end) * width;
  const to = (range[1] / data.end) * width;
  c.fillRect(0, 0, from, height);
  c.fillRect(to, 0, width - to, height);
  c.strokeStyle = '#888';
  c.strokeRect(from + 0.5, 0.5, to - from - 1, height - 1);
}

/**
 * How the boxes of a flame chart look.
 * @typedef {object} ChartLook
 * @property {(node: number) => number[]} colour
 * @property {(node: number) => boolean} faint whether a frame is not what is searched for
 * @property {(node: number) => string} name
 * @property {number} row height of a row in pixels
 */

/**
 * Draws the flame chart.
 * @param {HTMLCanvasElement} canvas @param {ChartBox[]} boxes @param {number[]} range the time that fills the width
 * @param {ChartLook} look
 */
export function drawChart(canvas, boxes, range, { colour, faint, name, row }) {
  const { c, width } = prepare(canvas);
  const scale = width / (range[1] - range[0]);
  c.font = '11px system-ui, sans-serif';
  c.textBaseline = 'middle';
  for (const box of boxes) {
    const x = (box.from - range[0]) * scale;
    const w = Math.max((box.to - box.from) * scale, 0.5);
    const fill = colour(box.node);
    c.globalAlpha = faint(box.node) ? 0.25 : 1;
    c.fillStyle = css(fill);
    c.fillRect(x, box.depth * row, w > 2 ? w - 0.4 : w, row - 1);
    if (w < 40) continue;
    const text = name(box.node);
    const letters = Math.floor((w - 6) / 6.2);
    c.fillStyle = inkOn(fill);
    const shown = text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
    c.fillText(isolated(shown), x + 3, box.depth * row + row / 2);
  }
  c.globalAlpha = 1;
}
