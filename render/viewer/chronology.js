// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline on the page: the strip with its brush, which filters every view, and the flame chart of one thread.

import { STATES } from './codes.js';
import { h, renew } from './dom.js';
import { count } from './format.js';
import { activity, chart, drawChart, drawStrip } from './timeline.js';
import { signButton } from './widgets.js';

/** @typedef {import('./colour.js').Colours} Colours */
/** @typedef {import('./decode.js').Samples} Samples */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').Change} Change */
/** @typedef {import('./state.js').State} State */

const ROW = 16;
const BUCKETS = 300;
/** A brush over a smaller share of the whole time is a click. */
const SMALLEST_RANGE = 1 / 400;
const SIDE_COLOURS = ['#4393c3', '#d55e00'];
/** The colours of a report of one recording, which is the second side. */
const SINGLE_COLOURS = ['#888', '#4a90d9'];
/** The difference, in points, that a proven change is coloured as. */
const POINTS = 5;

/**
 * What the timeline needs of the page around it.
 * @typedef {object} ChronologyHost
 * @property {Model} model
 * @property {Colours} colours
 * @property {(change: Change, replace?: boolean) => void} set changes the state
 * @property {(func: number) => void} pick chooses a function
 * @property {(...content: (Node|string)[]) => void} tell shows a text in the status line
 */

export class Chronology {
  /** @param {ChronologyHost} host */
  constructor(host) {
    this.host = host;
    this.model = host.model;
    this.strip = h('canvas.strip', {
      'aria-label': 'Samples over time: drag to select a range, double-click to clear it',
      role: 'img',
    });
    this.canvas = h('canvas.chart', { 'aria-label': 'Flame chart of one thread in order of time', role: 'img' });
    this.caption = h('p.caption.dim');
    this.element = h('div.chart-host', {}, this.caption, this.canvas);
    /** @type {import('./timeline.js').Activity} */ this.activity = { end: 1, counts: [] };
    /** @type {import('./timeline.js').ChartBox[]} */ this.boxes = [];
    /** @type {number[]} the time that the chart shows, in microseconds */ this.range = [0, 1];
    /** The place of the thread that is shown, with the busiest thread first. */ this.place = 0;
    /** The side and the filter that this place belongs to. */ this.placeOf = '';
    this.#bindBrush();
    this.canvas.addEventListener('mousemove', (/** @type {MouseEvent} */ e) => this.#hover(e));
    this.canvas.addEventListener('click', (/** @type {MouseEvent} */ e) => {
      const box = this.#hit(e);
      if (box) host.pick(this.model.tables.tree.func[box.node]);
    });
  }

  #bindBrush() {
    const { host, strip } = this;
    let from = -1;
    const timeAt = (/** @type {PointerEvent} */ e) =>
      (Math.max(0, Math.min(e.offsetX, strip.clientWidth)) / strip.clientWidth) * this.activity.end;
    strip.addEventListener('pointerdown', (/** @type {PointerEvent} */ e) => {
      from = timeAt(e);
      strip.setPointerCapture(e.pointerId);
    });
    strip.addEventListener('pointerup', () => (from = -1));
    strip.addEventListener('pointermove', (/** @type {PointerEvent} */ e) => {
      const to = timeAt(e);
      if (from >= 0 && Math.abs(to - from) > this.activity.end * SMALLEST_RANGE)
        host.set({ range: [Math.min(from, to), Math.max(from, to)] }, true);
    });
    strip.addEventListener('dblclick', () => host.set({ range: null }));
  }

  /** The box at the pointer. @param {MouseEvent} e */
  #hit(e) {
    const time = this.range[0] + (e.offsetX / this.canvas.clientWidth) * (this.range[1] - this.range[0]);
    const depth = Math.floor(e.offsetY / ROW);
    return this.boxes.find((box) => box.depth === depth && time >= box.from && time < box.to);
  }

  /** Tells what is at the pointer. @param {MouseEvent} e */
  #hover(e) {
    const { functions, tables } = this.model;
    const box = this.#hit(e);
    this.canvas.classList.toggle('over', !!box);
    if (!box) return;
    const ms = (box.to - box.from) / 1000;
    const name = h('bdi', {}, functions[tables.tree.func[box.node]].name);
    this.host.tell(name, ` — at ${(box.from / 1e6).toFixed(3)} s, sampled over ${ms.toFixed(ms < 10 ? 1 : 0)} ms`);
  }

  /** Draws the strip, and the chart where the state shows it. @param {State} state */
  draw(state) {
    const { model } = this;
    const { samples, timelines } = model.tables;
    const ids = (state.thread && model.threadNames().get(state.thread)) || null;
    const isShown = (/** @type {number} */ side, /** @type {number} */ thread) => !!ids && ids[side].has(thread);
    this.activity = activity(timelines, samples, BUCKETS, ids ? isShown : undefined);
    drawStrip(this.strip, this.activity, state.range, model.sides === 2 ? SIDE_COLOURS : SINGLE_COLOURS);
    if (state.tab === 'timeline') this.#drawThread(state, ids);
  }

  /**
   * Draws the chart of one thread.
   * @param {State} state @param {Set<number>[]|null} ids the threads that are shown, by side
   */
  #drawThread(state, ids) {
    const { model } = this;
    const { tree } = model.tables;
    const side = model.sides === 2 && state.view === 'base' ? 0 : 1;
    const samples = model.tables.samples[side];
    const timeline = model.tables.timelines[side];
    this.boxes = [];
    if (!samples || !timeline) return;
    const threads = byTime(samples, ids && ids[side]);
    const of = `${side} ${state.thread}`;
    if (this.placeOf !== of) this.place = 0;
    this.placeOf = of;
    this.place = Math.min(this.place, Math.max(0, threads.length - 1));
    const thread = threads[this.place] ?? -1;
    this.range = state.range || [0, this.activity.end];
    this.boxes = chart(tree, samples, timeline, thread, this.range);
    const deepest = this.boxes.reduce((most, box) => Math.max(most, box.depth), 0);
    this.canvas.style.height = `${(deepest + 1) * ROW}px`;
    renew(this.caption, [
      document.createTextNode(this.#captionOf(side, thread, threads.length)),
      threads.length > 1 && this.#step(state, -1, 'Busier thread', '◀', this.place > 0),
      threads.length > 1 && this.#step(state, 1, 'Less busy thread', '▶', this.place + 1 < threads.length),
    ]);
    drawChart(this.canvas, this.boxes, this.range, this.#look(state));
  }

  /** How frames look. @param {State} state @returns {import('./timeline.js').ChartLook} */
  #look(state) {
    const { model } = this;
    const { colours } = this.host;
    const { tree } = model.tables;
    const hits = model.matches && model.functionHits;
    const { tested } = model.shownMetric;
    return {
      colour: (node) =>
        state.colour === 'diff'
          ? colours.difference(tested ? STATES[tree.state[node]] : 'same', POINTS)
          : colours.of(tree.func[node], '', 0),
      faint: (node) => !!hits && !hits[tree.func[node]],
      name: (node) => model.functions[tree.func[node]].name,
      row: ROW,
    };
  }

  /**
   * A button that shows another thread.
   * @param {State} state @param {number} by @param {string} label @param {string} text @param {boolean} possible
   */
  #step(state, by, label, text, possible) {
    const show = () => {
      this.place += by;
      this.draw(state);
    };
    return signButton(text, label, label, show, !possible);
  }

  /**
   * The text above the chart.
   * @param {number} side @param {number} thread @param {number} threads how many there are
   */
  #captionOf(side, thread, threads) {
    const { meta, sides } = this.model;
    const shown = meta.recordings[sides === 1 ? 0 : side].threads[thread];
    const name = shown ? `${shown[4] || shown[3] || 'thread'} (${shown[2]})` : 'one thread';
    const which = sides === 1 ? '' : side ? ' of head' : ' of base';
    const place = threads > 1 ? `, ${count(this.place + 1)} of ${count(threads)} threads, the busiest first` : '';
    const legend = sides === 2 ? ' (base blue, head orange)' : '';
    return `${name}${which}${place}. Drag across the strip to zoom in${legend}. `;
  }
}

/**
 * Threads in order of their samples, the busiest first.
 * @param {Samples} samples @param {Set<number>|null} allowed the threads that count; null for all @returns {number[]}
 */
function byTime(samples, allowed) {
  const sums = new Map();
  for (let i = 0; i < samples.count; i++) {
    const thread = samples.thread[i];
    if (!allowed || allowed.has(thread)) sums.set(thread, (sums.get(thread) || 0) + samples.times[i]);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).map(([thread]) => thread);
}
