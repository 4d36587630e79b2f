// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline on the page: the strip with its brush, which filters every view, and the flame chart of one thread.

import { h, renew } from './dom.js';
import { count } from './format.js';
import { activity, chart, drawChart, drawStrip } from './timeline.js';

/** @typedef {import('./app.js').App} App */

const ROW = 16;
const BUCKETS = 300;
/** Below this share of the whole the brush is a click. */
const SMALLEST_RANGE = 1 / 400;
const SIDE_COLOURS = ['#4393c3', '#d55e00'];
const STATES = ['same', 'unproven', 'more', 'less', 'new', 'gone', 'moved'];

export class Chronology {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.strip = h('canvas.strip', {
      'aria-label': 'Samples over time: drag to select a range, double-click to clear it',
      role: 'img',
    });
    this.canvas = h('canvas.chart', { 'aria-label': 'Flame chart of one thread in order of time', role: 'img' });
    this.caption = h('p.caption.dim');
    this.element = h('div.chart-host', {}, this.caption, this.canvas);
    /** @type {ReturnType<typeof activity>} */ this.activity = { end: 1, counts: [] };
    /** @type {ReturnType<typeof chart>} */ this.boxes = [];
    /** @type {number[]} */ this.range = [0, 1];
    /** Which thread is shown, of those allowed, in order of their time. */ this.place = 0;
    /** Of what threads that is the place. */ this.placeOf = '';
    this.bindBrush();
    this.canvas.addEventListener('mousemove', (/** @type {MouseEvent} */ e) => this.hover(e));
    this.canvas.addEventListener('click', (/** @type {MouseEvent} */ e) => {
      const box = this.hit(e);
      if (box) app.pickFunction(app.model.page.tree.func[box.node]);
    });
  }

  bindBrush() {
    const { app, strip } = this;
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
        app.set({ range: [Math.min(from, to), Math.max(from, to)] }, true);
    });
    strip.addEventListener('dblclick', () => app.set({ range: null }));
  }

  /** @param {MouseEvent} e */
  hit(e) {
    const time = this.range[0] + (e.offsetX / this.canvas.clientWidth) * (this.range[1] - this.range[0]);
    const depth = Math.floor(e.offsetY / ROW);
    return this.boxes.find((box) => box.depth === depth && time >= box.from && time < box.to);
  }

  /** @param {MouseEvent} e */
  hover(e) {
    const { model } = this.app;
    const box = this.hit(e);
    this.canvas.classList.toggle('over', !!box);
    if (!box) return;
    const ms = (box.to - box.from) / 1000;
    const name = h('bdi', {}, model.functions[model.page.tree.func[box.node]].name);
    this.app.status.replaceChildren(
      name,
      ` — at ${(box.from / 1e6).toFixed(3)} s, sampled over ${ms.toFixed(ms < 10 ? 1 : 0)} ms`,
    );
  }

  draw() {
    const { model, state } = this.app;
    const ids = state.thread ? model.threadNames().get(state.thread) : null;
    this.activity = activity(
      model.timelines,
      model.page.samples,
      BUCKETS,
      ids ? (side, thread) => ids[side].has(thread) : undefined,
    );
    drawStrip(this.strip, this.activity, state.range, model.sides === 2 ? SIDE_COLOURS : ['#888', '#4a90d9']);
    if (state.tab === 'timeline') this.drawThread(ids);
  }

  /** @param {Set<number>[]|null} ids */
  drawThread(ids) {
    const { model, state, colours } = this.app;
    const side = model.sides === 2 && state.view === 'base' ? 0 : 1;
    const samples = model.page.samples[side];
    const timeline = model.timelines[side];
    this.boxes = [];
    if (!samples || !timeline) return;
    const { tree } = model.page;
    const threads = byTime(samples, ids && ids[side]);
    const of = `${side} ${state.thread}`;
    if (this.placeOf !== of) this.place = 0;
    this.placeOf = of;
    this.place = Math.min(this.place, Math.max(0, threads.length - 1));
    const thread = threads[this.place] ?? -1;
    this.range = state.range || [0, this.activity.end];
    this.boxes = chart(tree, samples, timeline, thread, this.range, (node) => node);
    const deepest = this.boxes.reduce((most, box) => Math.max(most, box.depth), 0);
    this.canvas.style.height = `${(deepest + 1) * ROW}px`;
    const colour = (/** @type {number} */ node) =>
      state.colour === 'diff'
        ? colours.difference(model.shownMetric.tested ? STATES[tree.state[node]] : 'same', 5)
        : colours.of(tree.func[node], '', 0);
    const hits = model.matches && model.functionHits;
    const faint = (/** @type {number} */ node) => !!hits && !hits[tree.func[node]];
    renew(this.caption, [
      document.createTextNode(this.captionOf(side, thread, threads.length)),
      threads.length > 1 && this.step(-1, 'Busier thread', '◀', this.place > 0),
      threads.length > 1 && this.step(1, 'Less busy thread', '▶', this.place + 1 < threads.length),
    ]);
    drawChart(this.canvas, this.boxes, this.range, colour, faint, (node) => model.functions[tree.func[node]].name, ROW);
  }

  /** @param {number} by @param {string} label @param {string} text @param {boolean} possible */
  step(by, label, text, possible) {
    const onclick = () => {
      this.place += by;
      this.draw();
    };
    return h('button', { type: 'button', title: label, 'aria-label': label, disabled: !possible, onclick }, text);
  }

  /** @param {number} side @param {number} thread @param {number} threads how many there are */
  captionOf(side, thread, threads) {
    const { model } = this.app;
    const recording = model.meta.recordings[model.sides === 1 ? 0 : side];
    const t = recording.threads[thread];
    const name = t ? `${t[4] || t[3] || 'thread'} (${t[2]})` : 'one thread';
    const which = model.sides === 1 ? '' : side ? ' of head' : ' of base';
    const place = threads > 1 ? `, ${count(this.place + 1)} of ${count(threads)} threads, the busiest first` : '';
    return `${name}${which}${place}. Drag across the strip to zoom in${model.sides === 2 ? ' (base blue, head orange)' : ''}. `;
  }
}

/** Threads in order of their time, the greatest first, of those allowed. @param {import('./decode.js').Samples} samples @param {Set<number>|null} allowed */
function byTime(samples, allowed) {
  const sums = new Map();
  for (let i = 0; i < samples.count; i++) {
    const thread = samples.thread[i];
    if (!allowed || allowed.has(thread)) sums.set(thread, (sums.get(thread) || 0) + samples.times[i]);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).map(([thread]) => thread);
}
