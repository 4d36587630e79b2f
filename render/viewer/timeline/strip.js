// SPDX-License-Identifier: GPL-3.0-or-later
// The strip above a timeline: how busy the target was over the whole time, with a brush that selects a part of it.

import { lengthText, timeText } from './axis.js';
import { h } from '../common/dom.js';
import { digits } from '../common/format.js';

/** A pointer that is so near to an end of the brush moves that end, in pixels. */
const NEAR = 5;
/** A pointer that moves less than this makes no brush, in pixels. */
const LEAST_MOVE = 3;
/** How many requests a second there were is a line in this colour of a side, in light and in the dark. */
const RATE_COLOURS = [['#63666b', '#1c1d1f'], ['#a3a5aa', '#e8e8e6']];
const SIDES = ['base ', 'head '];
/** Room above the largest rate, in pixels. */
const RATE_TOP = 5;
/** How far a key moves the brush, as part of the whole time. */
const KEY_STEP = 1 / 50;

/** @typedef {import('../data/report.js').Rates} Rates */

/**
 * What the strip needs of the timeline.
 * @typedef {object} StripHost
 * @property {() => number} end of the whole time, in microseconds
 * @property {() => number[]|null} range that is selected
 * @property {() => number[]} shown the time that the chart shows
 * @property {(range: number[]|null, goesOn: boolean) => void} select `goesOn`: it changes what is being selected
 * @property {(text: string) => void} tell shows a text in the status line
 */

export class Strip {
  /** @param {StripHost} host */
  constructor(host) {
    this.host = host;
    this.canvas = h('canvas.strip', {
      'aria-label': 'Selected time: drag to select, double-click to select all',
      'aria-valuemin': 0,
      'aria-valuemax': 100,
      'aria-valuenow': 0,
      role: 'slider',
      tabIndex: 0,
      hidden: true,
    });
    /** @type {(Rates|null)[]} requests a second of each side */ this.rates = [];
    /** @type {{anchor: number, moves: number[]|null, x: number, begun: boolean}|null} */ this.drag = null;
    this.#bind();
  }

  #bind() {
    const { canvas } = this;
    canvas.addEventListener('pointerdown', (e) => this.#down(e));
    canvas.addEventListener('pointermove', (e) => this.#move(e));
    canvas.addEventListener('pointerup', () => (this.drag = null));
    canvas.addEventListener('pointercancel', () => (this.drag = null));
    canvas.addEventListener('dblclick', () => this.host.range() && this.host.select(null, false));
    canvas.addEventListener('keydown', (e) => this.#key(e));
  }

  /** @param {number} x */
  #timeAt(x) {
    const width = this.canvas.clientWidth || 1;
    return (Math.max(0, Math.min(x, width)) / width) * this.host.end();
  }

  /** @param {number} time */
  #xOf(time) {
    return (time / this.host.end()) * this.canvas.clientWidth;
  }

  /**
   * The end of the brush that stays when the pointer is dragged from a place, or the brush that moves as a whole.
   * @param {number} x
   */
  #grip(x) {
    const range = this.host.range();
    if (!range) return { anchor: this.#timeAt(x), moves: null };
    const [left, right] = range.map((time) => this.#xOf(time));
    if (Math.abs(x - left) <= NEAR) return { anchor: range[1], moves: null };
    if (Math.abs(x - right) <= NEAR) return { anchor: range[0], moves: null };
    return { anchor: this.#timeAt(x), moves: x > left && x < right ? range : null };
  }

  /** @param {PointerEvent} e */
  #down(e) {
    if (e.button !== 0) return;
    this.drag = { ...this.#grip(e.offsetX), x: e.offsetX, begun: false };
    this.canvas.setPointerCapture(e.pointerId);
  }

  /** @param {PointerEvent} e */
  #move(e) {
    const { drag, host } = this;
    if (!drag) {
      const { anchor, moves } = this.#grip(e.offsetX);
      const edge = host.range() && anchor !== this.#timeAt(e.offsetX);
      this.canvas.dataset.grip = moves ? 'move' : edge ? 'edge' : '';
      this.#tellAt(this.#timeAt(e.offsetX));
      return;
    }
    if (!drag.begun && Math.abs(e.offsetX - drag.x) < LEAST_MOVE) return;
    const time = this.#timeAt(e.offsetX);
    const goesOn = drag.begun;
    drag.begun = true;
    if (drag.moves) host.select(moved(drag.moves, time - drag.anchor, host.end()), goesOn);
    else if (time !== drag.anchor) host.select([Math.min(drag.anchor, time), Math.max(drag.anchor, time)], goesOn);
  }

  /** Arrows move the brush, with Shift its end; Delete takes it away. @param {KeyboardEvent} e */
  #key(e) {
    const { host } = this;
    const step = { ArrowLeft: -KEY_STEP, ArrowRight: KEY_STEP }[e.key];
    const range = host.range();
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (step) {
      const by = step * host.end();
      const [from, to] = range || host.shown();
      const first = [from, Math.min(to, from + host.end() / 10)];
      if (!e.shiftKey) host.select(range ? moved(range, by, host.end()) : first, false);
      else if (to + by > from) host.select([from, Math.min(host.end(), to + by)], false);
    } else if (range && (e.key === 'Delete' || e.key === 'Escape')) host.select(null, false);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Tells the rates of requests at a time, where they are known. @param {number} time */
  #tellAt(time) {
    const known = this.rates.map((rates, side) => {
      const rate = rates && rates.perSecond[Math.floor((time / rates.endUs) * rates.perSecond.length)];
      return rate === null || rate === undefined ? '' : `${this.rates[1 - side] ? SIDES[side] : ''}${digits(rate)}`;
    });
    const text = known.filter(Boolean).join(', ');
    this.host.tell(text && `at ${timeText(time, this.host.end())}: ${text} requests a second`);
  }

  /**
   * Draws how busy each side was, how many requests there were, the selected time and the time that is shown.
   * @param {Float64Array[]} counts samples by bucket of time, for each side @param {string[]} colours by side
   * @param {(Rates|null)[]} rates of each side @param {boolean} dark
   */
  draw(counts, colours, rates, dark) {
    this.rates = rates;
    const { canvas, host } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const pixels = { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) };
    if (canvas.width !== pixels.width || canvas.height !== pixels.height) Object.assign(canvas, pixels);
    const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const most = counts.reduce((max, side) => side.reduce((a, b) => Math.max(a, b), max), 1);
    counts.forEach((side, i) => drawBars(c, side, colours[i], most, width, height));
    drawRates(c, rates, RATE_COLOURS[Number(dark)], (time) => this.#xOf(time), height);
    this.#drawBrush(c, width, height);
    this.#describe(host.range());
  }

  /** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height */
  #drawBrush(c, width, height) {
    const range = this.host.range();
    const shown = this.host.shown().map((time) => this.#xOf(time));
    if (shown[0] > 0.5 || shown[1] < width - 0.5) {
      c.fillStyle = '#7d8188';
      c.fillRect(shown[0], height - 3, Math.max(2, shown[1] - shown[0]), 3);
    }
    if (!range) return;
    const [from, to] = range.map((time) => this.#xOf(time));
    c.fillStyle = 'rgba(120,120,130,.35)';
    c.fillRect(0, 0, from, height);
    c.fillRect(to, 0, width - to, height);
    c.strokeStyle = '#888';
    c.strokeRect(from + 0.5, 0.5, Math.max(0, to - from - 1), height - 1);
  }

  /** Tells screen readers what is selected. @param {number[]|null} range */
  #describe(range) {
    const end = this.host.end();
    const now = range ? Math.round((50 * (range[0] + range[1])) / end) : 50;
    this.canvas.setAttribute('aria-valuenow', String(now));
    const text = range ? `${rangeText(range)} of ${lengthText(end)}` : `all ${lengthText(end)}`;
    this.canvas.setAttribute('aria-valuetext', text);
  }
}

/**
 * Draws how busy a side was.
 * @param {CanvasRenderingContext2D} c @param {Float64Array} counts @param {string} colour
 * @param {number} most the largest count of any side @param {number} width @param {number} height
 */
function drawBars(c, counts, colour, most, width, height) {
  const step = width / counts.length;
  c.fillStyle = colour;
  c.globalAlpha = 0.55;
  counts.forEach((value, i) => {
    const size = (value / most) * (height - 4);
    c.fillRect(i * step, height - size, Math.max(step - 0.3, 0.5), size);
  });
  c.globalAlpha = 1;
}

/** The largest rate of any side; 0 where none is known. @param {(Rates|null)[]} rates */
export const mostOfRates = (rates) => rates.reduce((most, one) => Math.max(most, ...(one?.perSecond || [])), 0);

/**
 * Draws how many requests a second there were as a thin line of each side, on one scale.
 * @param {CanvasRenderingContext2D} c @param {(Rates|null)[]} rates @param {string[]} colours by side
 * @param {(time: number) => number} xOf @param {number} height
 */
function drawRates(c, rates, colours, xOf, height) {
  const most = mostOfRates(rates);
  rates.forEach((one, side) => {
    if (!one || !most) return;
    const { endUs, perSecond } = one;
    c.strokeStyle = colours[side];
    c.lineWidth = side ? 1.5 : 1;
    c.beginPath();
    perSecond.forEach((rate, i) => {
      const y = height - 1 - (rate / most) * (height - 1 - RATE_TOP);
      c.lineTo(xOf((i * endUs) / perSecond.length), y);
      c.lineTo(xOf(((i + 1) * endUs) / perSecond.length), y);
    });
    c.stroke();
  });
  c.lineWidth = 1;
}

/** A range that is moved as far as it can be. @param {number[]} range @param {number} by @param {number} end */
export function moved([from, to], by, end) {
  const far = Math.max(-from, Math.min(end - to, by));
  return [from + far, to + far];
}

/** A range of time in words. @param {number[]} range */
function rangeText([from, to]) {
  return `${timeText(from, to - from)} to ${timeText(to, to - from)}`;
}
