// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the lanes of a timeline below an axis of time. The canvas is as large as the window on them and no larger: a
// canvas that holds all rows breaks where it has more than 65,535 pixels.

import { ticks } from './axis.js';
import { css, inkOn } from '../drawing/colour.js';
import { isolated } from '../common/format.js';
import { Memo } from '../common/memo.js';
import { blend, SUBPIXELS, unpacked } from '../drawing/pixels.js';
import { GAP, GAP_FROM, LABEL_FROM, Surface } from '../drawing/surface.js';
import { busyShares, waitsIn, walkLane } from './timeline.js';
import { CLASSES, mostOf } from '../model/waiting.js';

/** @typedef {import('../model/ancestors.js').Ancestors} Ancestors */
/** @typedef {import('./lanes.js').Lane} Lane */

/** Height of a row of frames, of the head of a lane, and of the axis, in pixels. */
export const ROW = 17;
export const HEAD = 22;
export const AXIS = 20;
/** Height of the bar in the head of a lane that shows when the thread was sampled. */
const BAR = 4;
/** Width of the parts of that bar. */
const BAR_PART = 3;
const PAD = 3;
/** How thick the outline of the selected frame is, and the width from which on a box has all of it, in pixels. */
const MARK = 2;
const MARK_FROM = 8;
/** A box is as wide as this at least. */
const LEAST_WIDTH = 0.8;
/** How much of a colour is left of frames that are not searched for, and while a thread is not sampled. */
const FAINT = 0.28 * SUBPIXELS;
const PALE = 0.45 * SUBPIXELS;
/** How much of a colour is left under a text where the box is pale in part. */
const BETWEEN = (PALE + SUBPIXELS) / 2;
/** How much of the picture is left outside of the selected time. */
const SHADED = 0.4;
/** Room that the text of a tick takes. */
const TICK_ROOM = 90;
const FONT = '11px system-ui, sans-serif';
/** The colours of the page around the lanes. */
const LIGHT = { ink: '#1c1d1f', dim: '#63666b', line: '#dcdcd8', panel: '#f6f6f4' };
const DARK = { ink: '#e8e8e6', dim: '#a3a5aa', line: '#37393d', panel: '#202124' };

/**
 * A lane in its place.
 * @typedef {{lane: Lane, top: number, rows: number}} Placed
 */

/**
 * What is to be drawn.
 * @typedef {object} ChartScene
 * @property {Placed[]} lanes @property {number} height of all lanes in pixels
 * @property {Ancestors} ancestors
 * @property {number[]} range the time that fills the width, in microseconds
 * @property {number[]|null} brush the time that is selected
 * @property {(node: number) => number} colour as a pixel
 * @property {((node: number) => boolean)|null} matches whether a frame is searched for
 * @property {((node: number, process: string) => boolean)|null} marked whether a frame of a process is selected
 * @property {(node: number) => string} name
 * @property {number[]} sides colours of the sides, as pixels
 * @property {number[]} waits colours of the classes of waits, as pixels
 * @property {boolean} dark
 */

/** @typedef {{from: number, to: number, x: number, y: number, w: number}} BoxPlace */

/**
 * A frame in the chart: its place in pixels and its time in microseconds.
 * @typedef {BoxPlace & {lane: Lane, node: number, kind: number}} ChartBox `kind`: the class of waits that it is, or 0
 */

/**
 * A text in a box, and the colour that lies under it.
 * @typedef {{x: number, w: number, y: number, node: number, ground: number}} Text
 */

/** @typedef {ReturnType<typeof ticks>} Ticks */

/**
 * Where a text has room: in the selected time, where that will do, else in the wider part outside of it.
 * @param {Text} text @param {number[]|null} edges of the selected time, in pixels
 */
function roomIn({ x, w }, edges) {
  if (!edges) return { x, w, isShaded: false };
  const [from, to] = edges.map((edge) => Math.max(x, Math.min(x + w, edge)));
  if (to - from >= LABEL_FROM) return { x: from, w: to - from, isShaded: false };
  return from - x > x + w - to ? { x, w: from - x, isShaded: true } : { x: to, w: x + w - to, isShaded: true };
}

export class Chart extends Surface {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    super(canvas);
    /** @type {ChartScene|null} */ this.scene = null;
    /** @type {Text[]} */ this.texts = [];
    /** @type {{x: number, w: number, y: number}[]} boxes of the selected frame */ this.marks = [];
    /** @type {number[][]} where each line of pixels goes: from, to */ this.spans = [];
    this.memo = new Memo();
    /**
     * How much each part of the bar of a lane is sampled, and waited by class, in the time that is shown.
     * @type {Map<Lane, {busy: Float64Array, waited: Float64Array|null}>}
     */
    this.shares = new Map();
  }

  /** The height that lanes have. */
  get room() {
    return Math.max(0, this.height - AXIS);
  }

  /** The lanes that are on the screen. @param {ChartScene} scene */
  #visible({ lanes }) {
    const { room, scroll } = this;
    return lanes.filter(({ top, rows }) => top < scroll + room && top + HEAD + rows * ROW > scroll);
  }

  /** The visible rows [first, behind) of a lane. @param {Placed} placed */
  #rowsOf({ top, rows }) {
    const from = this.scroll - top - HEAD;
    const first = Math.max(0, Math.floor(from / ROW));
    return [first, Math.max(first, Math.min(rows, Math.ceil((from + this.room) / ROW)))];
  }

  /** Where a row of the picture lies on the canvas. @param {number} y @param {number} height */
  #span(y, height) {
    const top = AXIS + y - this.scroll;
    return [Math.round(top * this.ratio), Math.round((top + height) * this.ratio)];
  }

  /** @param {number} time @param {number[]} range */
  #xOf(time, [from, to]) {
    return ((time - from) / (to - from)) * this.width;
  }

  /** @param {number} x */
  timeAt(x) {
    const [from, to] = this.scene ? this.scene.range : [0, 1];
    return from + (Math.max(0, Math.min(this.width, x)) / this.width) * (to - from);
  }

  /** @param {ChartScene} scene */
  draw(scene) {
    const { pixels } = this;
    this.dark = scene.dark;
    const lanes = this.#visible(scene);
    this.scene = scene;
    this.texts = [];
    this.marks = [];
    this.spans = [];
    let lines = 0;
    for (const placed of lanes) lines += 1 + this.#rowsOf(placed)[1] - this.#rowsOf(placed)[0];
    pixels.begin(this.canvas.width, Math.max(1, lines), this.paper, false);
    for (const placed of lanes) this.#lane(scene, placed);
    this.put((line) => this.spans[line] || [0, 0], 0);
    const inks = scene.dark ? DARK : LIGHT;
    const marks = ticks(scene.range, this.width / TICK_ROOM);
    this.#rule(scene, lanes, marks, inks);
    this.#label(scene);
    this.#outline(inks);
    this.#axis(scene, marks, inks);
  }

  /** Paints a lane. @param {ChartScene} scene @param {Placed} placed */
  #lane(scene, placed) {
    const { paper, pixels, spans } = this;
    const { range } = scene;
    const [first, behind] = this.#rowsOf(placed);
    const grain = this.ratio * SUBPIXELS;
    this.#bar(scene, placed);
    if (behind <= first) return;
    const start = spans.length;
    for (let row = first; row < behind; row++) spans.push(this.#span(placed.top + HEAD + row * ROW, ROW - 1));
    const covered = new Uint8Array(pixels.width + 1);
    const scale = this.width / (range[1] - range[0]);
    const view = { from: range[0], to: range[1], step: 1 / scale, first, behind };
    walkLane(placed.lane, scene.ancestors, view, {
      sampled: (from, to) => {
        const x = Math.max(0, Math.floor((from - range[0]) * scale * this.ratio));
        covered.fill(1, x, Math.max(x + 1, Math.ceil((to - range[0]) * scale * this.ratio)));
      },
      box: (row, from, to, node, kind) => {
        const x = (from - range[0]) * scale;
        const w = Math.max((to - from) * scale, LEAST_WIDTH);
        const own = kind ? scene.waits[kind] : scene.colour(node);
        const colour = scene.matches && !scene.matches(node) ? blend(paper, own, FAINT) : own;
        const right = Math.min(x + (w >= GAP_FROM ? w - GAP : w), this.width);
        const left = Math.max(x, 0);
        const line = start + row - first;
        const y = placed.top + HEAD + row * ROW;
        pixels.fill(line, (left * grain) | 0, (right * grain) | 0, colour);
        if (scene.marked?.(node, placed.lane.process)) this.marks.push({ x: left, w: right - left, y });
        if (right - left < LABEL_FROM) return;
        const gap = covered.indexOf(0, left * this.ratio);
        // The time of a wait is known, so that little of its box is pale.
        const ground = !kind && gap >= 0 && gap < right * this.ratio - 1 ? blend(paper, colour, BETWEEN) : colour;
        this.texts.push({ x: left, w: right - left, y, node, ground });
      },
    });
    this.#fade(covered, start, start + behind - first);
  }

  /**
   * Makes frames pale where their thread was not sampled.
   * @param {Uint8Array} covered @param {number} first @param {number} behind lines of pixels
   */
  #fade(covered, first, behind) {
    const { paper } = this;
    const { lines, width } = this.pixels;
    for (let x = 0; x < width; x++) {
      if (covered[x]) continue;
      for (let at = first * width + x; at < behind * width; at += width)
        if (lines[at] !== paper) lines[at] = blend(paper, lines[at], PALE);
    }
  }

  /**
   * Paints how much of the time a thread was sampled on a CPU, or what it waited for longest.
   * @param {ChartScene} scene @param {Placed} placed
   */
  #bar({ range, sides, waits }, { lane, top }) {
    const { paper, pixels, spans } = this;
    const line = spans.length;
    const grain = this.ratio * SUBPIXELS;
    const { busy, waited } = this.#sharesOf(lane, range);
    const length = (range[1] - range[0]) / busy.length;
    spans.push(this.#span(top + HEAD - BAR - 1, BAR));
    busy.forEach((share, i) => {
      const kind = waited ? mostOf(waited, i * CLASSES) : 0;
      const waiting = kind && waited ? waited[i * CLASSES + kind] / length : 0;
      const isWait = waiting > share;
      const part = Math.round((0.25 + 0.75 * Math.min(1, Math.max(share, waiting))) * SUBPIXELS);
      const [from, to] = [(i * BAR_PART * grain) | 0, ((i + 1) * BAR_PART * grain) | 0];
      if (share > 0 || isWait) pixels.fill(line, from, to, blend(paper, isWait ? waits[kind] : sides[lane.side], part));
    });
  }

  /** How much of each part of the bar of a lane is sampled, and waited. @param {Lane} lane @param {number[]} range */
  #sharesOf(lane, range) {
    if (this.memo.isNew('shares', ...range, this.width)) this.shares.clear();
    const known = this.shares.get(lane);
    if (known) return known;
    const parts = Math.max(1, Math.ceil(this.width / BAR_PART));
    const made = { busy: busyShares(lane, range, parts), waited: lane.track.kinds && waitsIn(lane, range, parts) };
    this.shares.set(lane, made);
    return made;
  }

  /**
   * Writes the names of frames. What lies under a name is filled with one colour, on which its ink can be read: a box
   * may be pale in part, crossed by a line of the axis, and shaded outside of the selected time.
   * @param {ChartScene} scene
   */
  #label({ brush, name, range }) {
    const { context, labels, paper, texts } = this;
    const edges = brush && brush.map((time) => this.#xOf(time, range));
    for (const text of texts) {
      const { x, w, isShaded } = roomIn(text, edges);
      const words = labels.fit(name(text.node), w - 2 * PAD);
      if (!words) continue;
      const top = AXIS + text.y - this.scroll;
      const ground = unpacked(isShaded ? blend(paper, text.ground, SHADED * SUBPIXELS) : text.ground);
      context.fillStyle = css(ground);
      context.fillRect(x, top, Math.min(w - GAP, labels.width(words) + 2 * PAD), ROW - 1);
      context.fillStyle = inkOn(ground);
      context.fillText(isolated(words), x + PAD, top + ROW / 2 - 0.5);
    }
  }

  /** Outlines the boxes of the selected frame; narrow ones have a line above and below. @param {typeof LIGHT} inks */
  #outline({ ink }) {
    const { context, marks, scroll } = this;
    context.fillStyle = ink;
    for (const { x, w, y } of marks) {
      const top = AXIS + y - scroll;
      context.fillRect(x, top, w, MARK);
      context.fillRect(x, top + ROW - 1 - MARK, w, MARK);
      if (w < MARK_FROM) continue;
      context.fillRect(x, top, MARK, ROW - 1);
      context.fillRect(x + w - MARK, top, MARK, ROW - 1);
    }
  }

  /**
   * Draws lines between lanes and at the ticks of the axis, and shades the time that is not selected.
   * @param {ChartScene} scene @param {Placed[]} lanes @param {Ticks} marks @param {typeof LIGHT} inks
   */
  #rule({ brush, range }, lanes, marks, inks) {
    const { context, height, width } = this;
    context.fillStyle = inks.line;
    for (const { top } of lanes) context.fillRect(0, AXIS + top - this.scroll, width, 1);
    context.globalAlpha = 0.3;
    for (const { time } of marks) context.fillRect(Math.round(this.#xOf(time, range)), AXIS, 1, height);
    context.globalAlpha = 1;
    if (!brush) return;
    const [left, right] = brush.map((time) => Math.max(-2, Math.min(width + 2, this.#xOf(time, range))));
    context.fillStyle = `rgba(${unpacked(this.paper)},${1 - SHADED})`;
    context.fillRect(0, AXIS, left, height);
    context.fillRect(right, AXIS, width - right, height);
    context.fillStyle = inks.ink;
    context.fillRect(Math.round(left) - 1, AXIS, 1, height);
    context.fillRect(Math.round(right), AXIS, 1, height);
  }

  /** Draws the axis. @param {ChartScene} scene @param {Ticks} marks @param {typeof LIGHT} inks */
  #axis({ range }, marks, inks) {
    const { context, width } = this;
    context.fillStyle = inks.panel;
    context.fillRect(0, 0, width, AXIS);
    context.font = FONT;
    this.labels.reset();
    for (const { time, text } of marks) {
      const x = this.#xOf(time, range);
      context.fillStyle = inks.dim;
      context.fillRect(Math.round(x), AXIS - 5, 1, 5);
      context.fillStyle = inks.ink;
      const last = width - context.measureText(text).width - PAD;
      context.fillText(text, Math.max(PAD, Math.min(x + PAD, last)), AXIS / 2);
    }
  }

  /** The lane at a height; null for none. @param {number} y @returns {Placed|null} */
  #laneAt(y) {
    const at = y - AXIS + this.scroll;
    if (y < AXIS || !this.scene) return null;
    return this.scene.lanes.find(({ top, rows }) => at >= top && at < top + HEAD + rows * ROW) || null;
  }

  /** The box at a point; null for none. @param {number} x @param {number} y @returns {ChartBox|null} */
  hit(x, y) {
    const placed = this.#laneAt(y);
    if (!placed || !this.scene) return null;
    const row = Math.floor((y - AXIS + this.scroll - placed.top - HEAD) / ROW);
    if (row < 0 || row >= placed.rows) return null;
    const { ancestors, range } = this.scene;
    const step = (range[1] - range[0]) / this.width;
    const time = this.timeAt(x);
    /** @type {ChartBox|null} */
    let found = null;
    walkLane(placed.lane, ancestors, { from: range[0], to: range[1], step, first: row, behind: row + 1 }, {
      box: (_, from, to, node, kind) => {
        if (time < from || time >= Math.max(to, from + step)) return;
        const left = Math.max(0, this.#xOf(from, range));
        const w = Math.min(this.width, this.#xOf(to, range)) - left;
        const y = AXIS + placed.top + HEAD + row * ROW - this.scroll;
        found = { lane: placed.lane, node, kind, from, to, x: left, y, w };
      },
    });
    return found;
  }
}
