// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline on the page: the strip with its brush, which filters every view, and the lanes of the threads below an
// axis of time. What the lanes show of the time is no filter: it changes with the wheel and the keys.

import { Ancestors } from '../model/ancestors.js';
import { lengthText, timeText } from './axis.js';
import { TimelineBar } from './bar.js';
import { AXIS, Chart, HEAD, ROW } from './chart.js';
import { bindFingers } from '../picture/hands.js';
import { fullShade, reportBottleneck } from '../model/bottleneck.js';
import { rgb } from '../drawing/colour.js';
import { h, renew } from '../common/dom.js';
import { amount, count, digits, listName } from '../common/format.js';
import { allLanes } from './lanes.js';
import { packed } from '../drawing/pixels.js';
import { Memo } from '../common/memo.js';
import { Scrollbar } from '../common/scrollbar.js';
import { mostOfRates, moved, Strip } from './strip.js';
import { activity, countIn, waitsOf } from './timeline.js';
import { knownOf, placeOf } from '../model/waiting.js';
import { button } from '../common/widgets.js';

/** @typedef {import('./chart.js').ChartBox} ChartBox */
/** @typedef {import('./chart.js').Placed} Placed */
/** @typedef {import('../drawing/colour.js').Colours} Colours */
/** @typedef {import('./lanes.js').Lane} Lane */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */

const BUCKETS = 300;
const SIDE_COLOURS = ['#4393c3', '#d55e00'];
/** The colours of a report of one recording, which is the second side. */
const SINGLE_COLOURS = ['#888', '#4a90d9'];
const NO_COLOURS = ['#7d8188', '#7d8188'];
/** The difference, in points, that a proven change is coloured as. */
const POINTS = 5;
/** A pointer that moves less than this clicks, in pixels. */
const LEAST_MOVE = 3;
/** The shortest time that fills the width, in microseconds. */
const SHORTEST = 10;
/** How much a key zooms, and how far it moves, as part of what is shown. */
const KEY_ZOOM = 1.5;
const KEY_MOVE = 0.1;
/** How much a step of the wheel zooms. */
const WHEEL_ZOOM = 0.002;
/** The room around a frame that is zoomed to, as part of its time. */
const MARGIN = 0.05;
/** A lane that is not shown whole has at least so many rows. */
const LEAST_ROWS = 6;

/**
 * What the timeline needs of the page around it.
 * @typedef {object} TimelineHost
 * @property {Model} model
 * @property {Colours} colours
 * @property {(change: Change, replace?: boolean) => void} set changes the state
 * @property {(node: number, process: string) => void} select selects the frame of the flame graph that a frame of the
 *   report is, in a process
 * @property {(func: number, place: {x: number, y: number}) => void} menu opens the menu of a function; of none for -1
 * @property {(...content: (Node|string)[]) => void} tell shows a text in the status line
 */

const PALE_HINT = 'pale: not sampled then. Ctrl + wheel zooms; drag to select a time';
const RATE_HINT = 'the line in the strip: how many requests a second there were, of base thinner; pointing at it tells them';

/** How long a thread ran, and waited. @param {Lane} lane */
function timesText({ busy, waited }) {
  if (!waited) return lengthText(busy);
  return `${busy ? `${lengthText(busy)} on a CPU, ` : ''}${lengthText(waited)} waiting`;
}

export class TimelineView {
  /** @param {TimelineHost} host */
  constructor(host) {
    this.host = host;
    this.model = host.model;
    /** @type {State|null} the state that was last drawn */ this.state = null;
    /** @type {{lanes: Lane[], end: number}} */ this.all = { lanes: [], end: 1 };
    this.severalProcesses = false;
    /** @type {Ancestors|null} made when the lanes are */ this.ancestors = null;
    /** @type {Float64Array[]} */ this.counts = [];
    this.memo = new Memo();
    /** @type {ReturnType<Model['narrowing']['keepsThread']>} whether the filters keep a thread */
    this.keepsThread = undefined;
    /** The time that the lanes show, in microseconds. */ this.shown = [0, 1];
    /** @type {number[]|null} the range of the state that was last drawn */ this.range = null;
    /** Whether the pointer was dragged, so that no click follows. */ this.dragged = false;
    /** Whether a range is being selected in the lanes, which then stay where they are. */ this.selecting = false;
    /** @type {Map<Lane, number>} rows of the lanes that somebody opened or closed */ this.rows = new Map();
    /** @type {Placed[]} */ this.placed = [];
    this.height = 0;
    this.frame = 0;
    /** @type {ChartBox|null} */ this.hover = null;
    this.strip = new Strip({
      end: () => this.all.end,
      range: () => this.state?.range || null,
      shown: () => this.shown,
      select: (range, goesOn) => host.set({ range }, goesOn),
      tell: host.tell,
    });
    const canvas = h('canvas.chart', { 'aria-hidden': 'true' });
    this.chart = new Chart(canvas);
    this.mark = h('div.mark', { hidden: true });
    this.overlay = h('div.chart-overlay', {
      role: 'application',
      tabIndex: 0,
      'aria-label':
        'Threads over time: left and right move, up and down scroll, plus and minus zoom, 0 shows everything, ' +
        'Enter selects the time that is shown',
    });
    this.heads = h('div.lane-heads');
    this.scrollbar = new Scrollbar((by) => this.#scrollBy(by));
    this.bar = new TimelineBar((change) => host.set(change), () => this.all.end);
    this.view = h('div.chart-view', {}, canvas, this.overlay, this.mark, this.heads, this.scrollbar.element);
    this.element = h('div.chart-host', {}, this.bar.element, this.view);
    this.#bind();
    new ResizeObserver(([{ contentRect }]) => {
      const { height, width } = this.chart;
      // What is drawn in this size already is not drawn again.
      if (Math.floor(contentRect.width) === width && Math.floor(contentRect.height) === height) return;
      if (this.state) this.#drawLanes(this.state);
    }).observe(this.view);
  }

  #bind() {
    const { host, overlay, view } = this;
    overlay.addEventListener('pointerdown', (e) => this.#down(e));
    overlay.addEventListener('click', (e) => this.#clicked(e));
    bindFingers(overlay, {
      pan: (x, y) => {
        const before = this.shown;
        if (x) this.#move((x / this.chart.width) * this.#span());
        return this.#scrollBy(y) || before !== this.shown;
      },
      magnify: (factor, x) => this.#zoom(1 / factor, this.chart.timeAt(x)),
    });
    overlay.addEventListener('mousemove', (e) => this.#pointAt(this.chart.hit(e.offsetX, e.offsetY)));
    overlay.addEventListener('mouseleave', () => this.#pointAt(null));
    overlay.addEventListener('contextmenu', (e) => {
      const box = this.chart.hit(e.offsetX, e.offsetY);
      e.preventDefault();
      host.menu(box ? this.model.tables.tree.func[box.node] : -1, { x: e.clientX, y: e.clientY });
    });
    overlay.addEventListener('dblclick', (e) => this.#zoomTo(this.chart.hit(e.offsetX, e.offsetY)));
    view.addEventListener('wheel', (e) => this.#wheeled(e), { passive: false });
  }

  /** Selects a range of time by dragging; fingers move the lanes. @param {PointerEvent} e */
  #down(e) {
    const { chart, host, overlay } = this;
    this.dragged = false;
    if (e.button !== 0 || e.pointerType === 'touch') return;
    const x = e.offsetX;
    const from = chart.timeAt(x);
    let begun = false;
    overlay.setPointerCapture(e.pointerId);
    const move = (/** @type {PointerEvent} */ at) => {
      if (!begun && Math.abs(at.offsetX - x) < LEAST_MOVE) return;
      const to = chart.timeAt(at.offsetX);
      this.selecting = true;
      if (to !== from) host.set({ range: [Math.min(from, to), Math.max(from, to)] }, begun);
      begun = this.dragged = true;
    };
    const up = () => {
      overlay.removeEventListener('pointermove', move);
      overlay.removeEventListener('pointerup', up);
      overlay.removeEventListener('pointercancel', up);
    };
    overlay.addEventListener('pointermove', move);
    overlay.addEventListener('pointerup', up);
    overlay.addEventListener('pointercancel', up);
  }

  /** Selects a frame. @param {MouseEvent} e */
  #clicked(e) {
    const box = this.dragged ? null : this.chart.hit(e.offsetX, e.offsetY);
    if (box) this.host.select(box.node, box.lane.process);
  }

  /** @param {WheelEvent} e */
  #wheeled(e) {
    const { chart } = this;
    const x = e.clientX - this.view.getBoundingClientRect().left;
    const sideways = e.shiftKey ? e.deltaY || e.deltaX : e.deltaX;
    if (e.ctrlKey || e.metaKey) this.#zoom(Math.exp(e.deltaY * WHEEL_ZOOM), chart.timeAt(x));
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.#move((sideways / chart.width) * this.#span());
    else if (!this.#scrollBy(e.deltaY)) return;
    e.preventDefault();
  }

  #span() {
    return this.shown[1] - this.shown[0];
  }

  /** Shows another part of the time. @param {number[]} range */
  #show([from, to]) {
    const { end } = this.all;
    const span = Math.max(Math.min(SHORTEST, end), Math.min(to - from, end));
    const start = Math.max(0, Math.min(end - span, (from + to - span) / 2));
    this.shown = [start, start + span];
    this.#redraw();
  }

  /** Shows `by` times as much time; a point in time stays in its place. @param {number} by @param {number} at */
  #zoom(by, at) {
    const [from, to] = this.shown;
    const span = Math.max(SHORTEST, Math.min(this.all.end, (to - from) * by));
    const left = at - ((at - from) / (to - from)) * span;
    this.#show([left, left + span]);
  }

  /** @param {number} by in microseconds */
  #move(by) {
    this.#show(moved(this.shown, by, this.all.end));
  }

  /** Shows the time of a frame; all of it again where there is none. @param {ChartBox|null} box */
  #zoomTo(box) {
    const room = box ? (box.to - box.from) * MARGIN : 0;
    this.#show(box ? [box.from - room, box.to + room] : [0, this.all.end]);
  }

  /** Scrolls the lanes, and tells whether that was possible. @param {number} by in pixels */
  #scrollBy(by) {
    const { chart } = this;
    const before = chart.scroll;
    chart.scroll = Math.max(0, Math.min(this.height - chart.room, before + by));
    if (chart.scroll === before) return false;
    this.#redraw();
    return true;
  }

  /** Draws strip and lanes with the next frame of the browser. */
  #redraw() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (!this.state) return;
      this.#pointAt(null);
      this.#drawStrip();
      this.#drawLanes(this.state);
    });
  }

  /** Does what a key means in the timeline, and tells whether it means something. @param {KeyboardEvent} e */
  onKey(e) {
    const { chart, host, shown, state } = this;
    const target = /** @type {HTMLElement} */ (e.target);
    if (e.ctrlKey || e.metaKey || e.altKey || target.closest('input, select, textarea')) return false;
    const middle = (shown[0] + shown[1]) / 2;
    /** @type {Record<string, () => unknown>} */
    const keys = {
      ArrowLeft: () => this.#move(-KEY_MOVE * this.#span()),
      ArrowRight: () => this.#move(KEY_MOVE * this.#span()),
      ArrowUp: () => this.#scrollBy(-3 * ROW),
      ArrowDown: () => this.#scrollBy(3 * ROW),
      PageUp: () => this.#scrollBy(-chart.room),
      PageDown: () => this.#scrollBy(chart.room),
      Home: () => this.#move(-this.all.end),
      End: () => this.#move(this.all.end),
      '+': () => this.#zoom(1 / KEY_ZOOM, middle),
      '=': () => this.#zoom(1 / KEY_ZOOM, middle),
      '-': () => this.#zoom(KEY_ZOOM, middle),
      0: () => this.#reset(),
    };
    if (!target.closest('button')) keys.Enter = () => host.set({ range: [...shown] });
    if (state?.range) keys.Escape = () => host.set({ range: null });
    if (!keys[e.key]) return false;
    keys[e.key]();
    e.preventDefault();
    return true;
  }

  /** Shows all of the time, from the first lane on. */
  #reset() {
    this.chart.scroll = 0;
    this.#show([0, this.all.end]);
  }

  /** Points at a frame, and tells of it. @param {ChartBox|null} box */
  #pointAt(box) {
    const { mark, model } = this;
    this.overlay.classList.toggle('over', !!box);
    mark.hidden = !box;
    this.hover = box;
    if (!box) return;
    mark.style.transform = `translate(${box.x}px, ${Math.max(AXIS, box.y)}px)`;
    mark.style.width = `${Math.max(1, box.w)}px`;
    mark.style.height = `${ROW - 1}px`;
    const { tree } = model.tables;
    const { all, having } = countIn(box.lane, tree, box.node, box.from, box.to);
    const waits = waitsOf(box.lane, tree, box.node, box.from, box.to);
    const span = box.to - box.from;
    const name = h('bdi', {}, model.functions[tree.func[box.node]].name);
    const part = having === all ? `${count(all)}` : `${count(having)} of ${count(all)}`;
    const when = `from ${timeText(box.from, span)} on, ${lengthText(span)}`;
    const waited = waits.count ? ` · ${this.#waitText(box, waits)}` : '';
    this.host.tell(name, ` — ${when}, in ${part} sample${all === 1 ? '' : 's'} of ${box.lane.name}${waited}`);
  }

  /**
   * What is told of the waits in a box: of a single class what for, where, and who ended them.
   * @param {ChartBox} box @param {ReturnType<typeof waitsOf>} waits
   */
  #waitText({ kind, lane }, { count: waits, last, time }) {
    const { classes, functions, tables, waitClasses } = this.model;
    const many = waits === 1 ? 'waits' : `${count(waits)} waits,`;
    const text = `${many} ${amount(time * 1000, 'nanoseconds')}`;
    if (!kind || !classes) return `${text} in all`;
    const place = placeOf(tables.tree, functions, classes, last);
    const where = place >= 0 ? ` in ${listName(functions[place].name)}` : '';
    const releases = tables.releases[lane.side];
    const [by, ...others] = releases ? knownOf(releases, (node) => node === last, () => place).releasers : [];
    const often = others.length ? 'mostly ' : '';
    const who = by && releases ? `; ${often}released by ${listName(releases.releasers[by.releaser].name)}` : '';
    return `${text} ${waitClasses[kind].reason}${where}${who}`;
  }

  /** Draws the strip, and the lanes where the state shows them. @param {State} state */
  draw(state) {
    this.state = state;
    this.strip.canvas.hidden = state.tab !== 'timeline' && !state.range;
    if (this.strip.canvas.hidden) return;
    this.#prepare(state);
    if (this.range !== state.range) {
      this.range = state.range;
      if (!this.selecting) this.shown = state.range ? [...state.range] : [0, this.all.end];
    }
    this.selecting = false;
    this.#drawStrip();
    if (state.tab === 'timeline') this.#drawLanes(state);
  }

  /** Makes lanes and counts where what they depend on has changed. @param {State} state */
  #prepare(state) {
    const { model } = this;
    const { filters, thread } = state;
    const { samples, timelines, tree } = model.tables;
    if (!this.memo.isNew('counts', timelines, filters, thread, model.tables.lineStacks)) return;
    const kept = model.narrowing.keptIn(state);
    if (this.memo.isNew('lanes', timelines, kept)) this.all = allLanes(model.tables, kept, model.classes);
    if (this.memo.isNew('timelines', timelines)) {
      this.severalProcesses = new Set(this.all.lanes.map(({ process }) => process)).size > 1;
      this.ancestors = new Ancestors(tree);
      this.shown = [0, this.all.end];
    }
    this.keepsThread = model.narrowing.keepsThread(thread, model.narrowing.processIn(state));
    this.counts = activity(timelines, samples, this.all.end, BUCKETS, this.keepsThread, kept);
    this.chart.scroll = 0;
  }

  #drawStrip() {
    const { meta, sides } = this.model;
    const rates = meta.requests?.rates || [];
    const colours = sides === 2 ? SIDE_COLOURS : SINGLE_COLOURS;
    this.strip.draw(this.counts, colours, sides === 1 ? [null, ...rates] : rates, this.host.colours.dark);
  }

  /** The lanes that the state shows. @param {State} state @returns {Lane[]} */
  #lanes({ view }) {
    const { keepsThread } = this;
    const only = this.model.sides === 1 || view === 'diff' ? -1 : view === 'base' ? 0 : 1;
    return this.all.lanes.filter(
      ({ side, thread }) => (only < 0 || side === only) && (!keepsThread || keepsThread(side, thread)),
    );
  }

  /**
   * Gives each lane its place: the first ones are open, as far as they have room, and the others are folded.
   * @param {Lane[]} lanes
   */
  #place(lanes) {
    const { room } = this.chart;
    const most = this.#mostRows(lanes.length);
    // Threads that only wait are told by their bars.
    const isAnyBusy = lanes.some(({ busy }) => busy > 0);
    let top = 0;
    this.placed = lanes.map((lane) => {
      const opens = top < room && (lane.busy > 0 || !isAnyBusy);
      const rows = this.rows.get(lane) ?? (opens ? Math.min(most, lane.depth) : 0);
      const placed = { lane, top, rows };
      top += HEAD + rows * ROW;
      return placed;
    });
    this.height = top;
    this.chart.scroll = Math.max(0, Math.min(this.chart.scroll, top - room));
  }

  /** How many rows a lane has at first: two lanes have room side by side. @param {number} lanes how many there are */
  #mostRows(lanes) {
    if (lanes < 2) return Infinity;
    return Math.max(LEAST_ROWS, Math.floor((this.chart.room / 2 - HEAD) / ROW));
  }

  /** Draws the lanes. @param {State} state */
  #drawLanes(state) {
    const { chart, model, view } = this;
    if (state.tab !== 'timeline' || !this.ancestors) return;
    const { width, height } = view.getBoundingClientRect();
    chart.resize(width, height);
    if (chart.width <= 1) return;
    const lanes = this.#lanes(state);
    this.#place(lanes);
    const { tree } = model.tables;
    const { tested } = model.shownMetric;
    const hits = model.matches && model.functionHits;
    chart.draw({
      lanes: this.placed,
      height: this.height,
      ancestors: this.ancestors,
      range: this.shown,
      brush: state.range,
      colour: this.host.colours.painter(tree, tested, () => POINTS, { bottleneck: (node) => fullShade(reportBottleneck(model, node)) }),
      matches: hits ? (node) => !!hits[tree.func[node]] : null,
      marked: this.#marked(),
      name: (node) => model.functions[tree.func[node]].name,
      waits: model.waitClasses.map(({ colour }) => (colour ? packed(rgb(colour)) : 0)),
      sides: this.#sideColours(state).map((hex) => packed(rgb(hex))),
      dark: this.host.colours.dark,
    });
    this.scrollbar.show(chart.scroll, chart.room, this.height);
    this.#drawHeads();
    this.#drawBar(lanes, state);
  }

  /**
   * Whether a frame of a process is the one that is selected in the flame graph; null where none is.
   * @returns {((node: number, process: string) => boolean)|null}
   */
  #marked() {
    const { model } = this;
    const { selected, turned } = model;
    const { func } = model.tables.tree;
    if (selected <= 0) return null;
    const wanted = model.tree.func[selected];
    return (node, process) => func[node] === wanted && (!!turned || model.shownFrames.of(node, process) === selected);
  }

  /**
   * The colours of CPU time in the bars of both sides; it has none where colours tell what for threads wait.
   * @param {State} state
   */
  #sideColours({ colour }) {
    if (colour === 'waiting') return NO_COLOURS;
    return this.model.sides === 2 ? SIDE_COLOURS : SINGLE_COLOURS;
  }

  /** Puts the names of the visible lanes in their places, as buttons that open and close them. */
  #drawHeads() {
    const { chart, heads, placed } = this;
    const visible = placed.filter(({ top }) => top + HEAD > chart.scroll && top < chart.scroll + chart.room);
    const key = `${chart.scroll} ${visible.map(({ lane, top, rows }) => [this.all.lanes.indexOf(lane), top, rows])}`;
    if (heads.dataset.key === key) return;
    heads.dataset.key = key;
    renew(
      heads,
      visible.map((at) => this.#head(at)),
    );
  }

  /** @param {Placed} placed */
  #head({ lane, top, rows }) {
    const { model } = this;
    const most = this.#mostRows(2);
    const process = this.severalProcesses && lane.process && lane.process !== lane.name ? `${lane.process} › ` : '';
    const { runs } = model.meta.recordings[model.sides === 1 ? 0 : lane.side];
    const run = runs > 1 ? `, run ${lane.run + 1}` : '';
    const side = model.sides === 2 ? (lane.side ? 'head ' : 'base ') : '';
    const text = `${side}${process}${lane.name} (${lane.tid}${run})`;
    const line = h(
      'div.lane-head',
      {},
      button(
        'button',
        { 'aria-expanded': rows > 0, onclick: () => this.#setRows(lane, rows ? 0 : Math.min(lane.depth, most)) },
        rows ? '▾ ' : '▸ ',
        h('bdi', {}, text),
        h('span.dim', {}, ` ${timesText(lane)}`),
      ),
      rows > 0 && rows < lane.depth && this.#rowsButton(`all ${count(lane.depth)} rows`, lane, lane.depth),
      rows > most && this.#rowsButton('fewer rows', lane, most),
    );
    line.style.transform = `translateY(${AXIS + top - this.chart.scroll}px)`;
    return line;
  }

  /** A button that gives a lane other rows. @param {string} text @param {Lane} lane @param {number} rows */
  #rowsButton(text, lane, rows) {
    return button('button', { onclick: () => this.#setRows(lane, rows) }, text);
  }

  /** @param {Lane} lane @param {number} rows */
  #setRows(lane, rows) {
    this.rows.set(lane, rows);
    if (this.state) this.#drawLanes(this.state);
  }

  /** Draws the bar. @param {Lane[]} lanes @param {State} state */
  #drawBar(lanes, state) {
    const zoomed = this.#span() < this.all.end * 0.999;
    const threads = lanes.length === 1 ? '1 thread' : `${count(lanes.length)} threads, the busiest first`;
    const setAll = (/** @type {(lane: Lane) => number} */ rows) => {
      for (const lane of lanes) this.rows.set(lane, rows(lane));
      this.chart.scroll = 0;
      this.#drawLanes(state);
    };
    const most = this.#mostRows(lanes.length);
    const openAll = () => setAll((lane) => Math.min(most, lane.depth));
    const choices = this.model.narrowing.threadChoices;
    const fastest = mostOfRates(this.model.meta.requests?.rates || []);
    this.bar.draw(state, choices, JSON.stringify([threads, zoomed, most, state.thread, state.filters, state.view]), () => [
      h('span.dim', { title: PALE_HINT }, threads),
      fastest > 0 && h('span.dim', { title: RATE_HINT }, `line: up to ${digits(fastest)} requests a second`),
      lanes.length > 1 && button('button', { onclick: openAll }, 'Open all'),
      lanes.length > 1 && button('button', { onclick: () => setAll(() => 0) }, 'Fold all'),
      zoomed && button('button', { title: '0', onclick: () => this.#reset() }, `Show all ${lengthText(this.all.end)}`),
    ]);
  }
}
