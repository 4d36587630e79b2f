// SPDX-License-Identifier: GPL-3.0-or-later
// The chronological view: how busy the target was, with a brush that filters everything, and a flame chart of one thread.

import { css, inkOn } from './colour.js';
import { isolated } from './format.js';

/** @typedef {import('./decode.js').Tree} Tree */
/** @typedef {import('./decode.js').Samples} Samples */
/** @typedef {import('./decode.js').Timeline} Timeline */

export const STRIP_HEIGHT = 46;

/**
 * Samples per bucket of time, each side.
 * @param {(Timeline|null)[]} timelines @param {(Samples|null)[]} samples @param {number} buckets @param {((side: number, thread: number) => boolean)|undefined} keepThread
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

/** Buckets hold a few samples each: without their neighbours they would draw a comb. @param {Float64Array} counts */
function smoothed(counts) {
  return counts.map((value, i) => (value * 2 + (counts[i - 1] ?? value) + (counts[i + 1] ?? value)) / 4);
}

/**
 * A flame chart's boxes: equal frames of samples that follow each other closely are one.
 * @param {Tree} tree @param {Samples} samples @param {Timeline} timeline @param {number} thread @param {number[]} range @param {(node: number) => number} mapped
 * @returns {{from: number, to: number, depth: number, node: number}[]}
 */
export function chart(tree, samples, timeline, thread, range, mapped) {
  const boxes = [];
  /** @type {{from: number, to: number, depth: number, node: number}[]} */
  let open = [];
  let before = -1;
  let gap = 2500;
  for (let i = 0; i < timeline.count; i++) {
    const time = timeline.time[i];
    const sample = timeline.sample[i];
    if (samples.thread[sample] !== thread || time < range[0] || time >= range[1]) continue;
    const path = [];
    for (let node = mapped(samples.node[sample]); node > 0; node = tree.parent[node]) path.push(node);
    path.reverse();
    let same = 0;
    if (before >= 0 && time - before <= gap)
      while (same < open.length && same < path.length && open[same].node === path[same]) same++;
    for (const box of open.slice(same)) boxes.push(box);
    open = open.slice(0, same);
    for (const box of open) box.to = time + 1000;
    for (let depth = same; depth < path.length; depth++) open.push({ from: time, to: time + 1000, depth, node: path[depth] });
    before = time;
  }
  return boxes.concat(open);
}

/** @param {HTMLCanvasElement} canvas @returns {{c: CanvasRenderingContext2D, width: number, height: number}} */
export function prepare(canvas) {
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

/** @param {HTMLCanvasElement} canvas @param {ReturnType<typeof activity>} data @param {number[]|null} range @param {string[]} colours */
export function drawStrip(canvas, data, range, colours) {
  const { c, width, height } = prepare(canvas);
  let most = 1;
  for (const side of data.counts) for (const value of side) if (value > most) most = value;
  data.counts.forEach((counts, side) => {
    c.fillStyle = colours[side];
    c.globalAlpha = 0.55;
    const step = width / counts.length;
    counts.forEach((value, i) =>
      c.fillRect(i * step, height - (value / most) * (height - 4), Math.max(step - 0.3, 0.5), (value / most) * (height - 4)),
    );
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
 * @param {HTMLCanvasElement} canvas @param {ReturnType<typeof chart>} boxes @param {number[]} range
 * @param {(node: number) => number[]} colour @param {(node: number) => boolean} faint @param {(node: number) => string} name @param {number} row
 */
export function drawChart(canvas, boxes, range, colour, faint, name, row) {
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
    c.fillText(isolated(text.length > letters ? `${text.slice(0, letters - 1)}…` : text), x + 3, box.depth * row + row / 2);
  }
  c.globalAlpha = 1;
}
