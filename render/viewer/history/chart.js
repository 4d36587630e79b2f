// SPDX-License-Identifier: GPL-3.0-or-later
// The chart of a series: its picture, the profile that is pointed at, and what keys and clicks mean in it.

import { h, svg } from '../common/dom.js';
import { Labels } from '../drawing/labels.js';
import { geometryOf, plot } from './plot.js';
import { told, spoken } from './telling.js';

/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./plot.js').Geometry} Geometry */
/** @typedef {import('./plot.js').View} View */

/**
 * What the chart needs of the page around it.
 * @typedef {object} ChartHost
 * @property {(point: number) => void} open opens a point
 * @property {(key: string) => void} choose selects a line and makes the axis fit it; "": all again
 */

/** How near to a point a click means it, and to a dot its line, in pixels. */
const NEAR_POINT = 7;
const NEAR_LINE = 18;
/** How far a tooltip stands from what it tells of, and from the edges of the window at least. */
const BESIDE = 14;
const MARGIN = 4;

export class Chart {
  /** @param {ChartHost} host */
  constructor(host) {
    this.host = host;
    /** @type {View|null} */ this.view = null;
    /** @type {Geometry|null} */ this.geometry = null;
    /** The profile that is told of; -1: none. */ this.at = -1;
    /** The line that is pointed at. */ this.hot = '';
    this.labels = new Labels(/** @type {CanvasRenderingContext2D} */ (h('canvas').getContext('2d')));
    this.picture = svg('svg', { class: 'plot', 'aria-hidden': 'true' });
    this.cursor = svg('svg', { class: 'plot', 'aria-hidden': 'true' });
    this.tip = h('div.tip', { hidden: true, 'aria-hidden': 'true' });
    this.overlay = h('div.chart-profiles', {
      role: 'slider',
      tabIndex: 0,
      'aria-label': 'Profiles: arrows move in time, Page Up and Page Down to the next deploy or change, Enter opens it',
      onpointermove: (/** @type {PointerEvent} */ e) => this.#pointed(e),
      onpointerleave: () => this.#leave(),
      onclick: (/** @type {MouseEvent} */ e) => this.#clicked(e),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.#key(e),
      onfocus: () => this.overlay.matches(':focus-visible') && this.#goTo(this.at < 0 ? this.#last : this.at),
      onblur: () => this.#leave(),
    });
    this.element = h('div.history-chart', {}, this.overlay, this.tip);
    this.overlay.before(this.picture, this.cursor);
    new ResizeObserver(() => this.#resized()).observe(this.element);
  }

  get #last() {
    return (this.view?.series.profiles.length || 0) - 1;
  }

  /** @param {View} view */
  show(view) {
    const isOther = view.series !== this.view?.series;
    this.view = view;
    if (isOther) this.at = -1;
    this.geometry = null;
    const { overlay } = this;
    overlay.setAttribute('aria-valuemin', '1');
    overlay.setAttribute('aria-valuemax', String(Math.max(1, view.series.profiles.length)));
    this.#resized();
    this.#speak();
  }

  /** Draws for the size that the chart has, where that is another one than before. */
  #resized() {
    const { clientWidth: width, clientHeight: height } = this.element;
    const { geometry, labels, view } = this;
    if (!view || !width || (geometry?.width === width && geometry.height === height)) return;
    this.geometry = geometryOf(view, width, height);
    for (const one of [this.picture, this.cursor]) one.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.picture.replaceChildren(...plot(view, this.geometry, labels));
    this.#emphasize();
    this.#leave();
  }

  /** Shows a line before all others: that which is pointed at, or the selected one. @param {string} [key] */
  #emphasize(key = this.hot || this.view?.selected || '') {
    this.picture.classList.toggle('has-hot', this.#lines.some((line) => line.key === key));
    for (const one of this.picture.querySelectorAll('[data-key]'))
      one.classList.toggle('hot', one.getAttribute('data-key') === key);
  }

  /** Shows a line before the others while something else points at it. @param {string} key */
  emphasize(key) {
    this.hot = key;
    this.#emphasize();
  }

  /** @returns {Line[]} */
  get #lines() {
    const { view } = this;
    return view ? [...(view.whole ? [view.whole] : []), ...view.lines] : [];
  }

  /** The profile that is nearest to a place. @param {number} x */
  #profileAt(x) {
    const xs = this.geometry?.xs || [];
    let [low, high] = [0, xs.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low > 0 && x - xs[low - 1] < xs[low] - x ? low - 1 : low;
  }

  /** Where the dot of a line lies. @param {Line} line @param {number} at */
  #yOf({ func, values }, at) {
    const g = /** @type {Geometry} */ (this.geometry);
    return (func === null ? g.yWhole : g.y)(values[at]);
  }

  /** The line whose dot is near to a place; "" for none. @param {number} at @param {number} y */
  #lineAt(at, y) {
    let [best, key] = [NEAR_LINE, ''];
    for (const line of this.#lines) {
      const distance = Math.abs(this.#yOf(line, at) - y);
      if (distance < best) [best, key] = [distance, line.key];
    }
    return key;
  }

  /** The line whose name is at a place. @param {number} x @param {number} y */
  #nameAt(x, y) {
    if (!this.geometry || x < this.geometry.right + 8) return '';
    const texts = [...this.picture.querySelectorAll('.name')];
    const { top } = this.element.getBoundingClientRect();
    const found = texts.find((one) => {
      const box = /** @type {Element} */ (one.querySelector('text')).getBoundingClientRect();
      return y >= box.top - top && y <= box.bottom - top;
    });
    return found?.getAttribute('data-key') || '';
  }

  /** The point at a place, or -1: a finger and a mouse mean the nearest. @param {number} x @param {number} y */
  #pointAt(x, y) {
    const g = this.geometry;
    if (!g || !this.view) return -1;
    const { points } = this.view.series;
    let [best, found] = [NEAR_POINT, -1];
    for (let i = 0; i < points.length; i++) {
      const distance = Math.abs(g.points[i] - x);
      if (distance < best) [best, found] = [distance, i];
    }
    return found >= 0 ? found : this.#flagAt(x, y);
  }

  /** The point whose flag is at a place. @param {number} x @param {number} y */
  #flagAt(x, y) {
    if (y > 22) return -1;
    const { left } = this.element.getBoundingClientRect();
    const flags = [...this.picture.querySelectorAll('.flag')];
    const found = flags.find((one) => {
      const box = one.getBoundingClientRect();
      return x >= box.left - left && x <= box.right - left;
    });
    return found ? Number(found.parentElement?.dataset.point) : -1;
  }

  /** @param {MouseEvent} e */
  #placeOf({ clientX, clientY }) {
    const { left, top } = this.element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  /** @param {PointerEvent} e */
  #pointed(e) {
    const { x, y } = this.#placeOf(e);
    if (!this.geometry || this.#last < 0) return;
    const named = this.#nameAt(x, y);
    const point = named ? -1 : this.#pointAt(x, y);
    this.at = this.#profileAt(x);
    this.hot = named || this.#lineAt(this.at, y);
    this.overlay.classList.toggle('over', point >= 0 || !!this.hot);
    this.#emphasize();
    this.#tell(named ? -1 : this.at, point, { x: e.clientX, y: e.clientY });
  }

  #leave() {
    this.tip.hidden = true;
    this.hot = '';
    this.cursor.replaceChildren();
    this.#emphasize();
  }

  /** @param {MouseEvent} e */
  #clicked(e) {
    const { x, y } = this.#placeOf(e);
    const named = this.#nameAt(x, y);
    const point = named ? -1 : this.#pointAt(x, y);
    const line = named || this.#lineAt(this.#profileAt(x), y);
    if (point >= 0) this.host.open(point);
    else if (line || this.view?.selected) this.host.choose(line === this.view?.selected ? '' : line);
  }

  /**
   * Tells of a profile, and of a point beside it.
   * @param {number} at -1: of none @param {number} point -1: of none
   * @param {{x: number, y: number}} place in the window
   */
  #tell(at, point, place) {
    const { cursor, geometry: g, hot, tip, view } = this;
    tip.hidden = at < 0;
    cursor.replaceChildren();
    if (at < 0 || !g || !view) return;
    const x = g.xs[at];
    const lines = this.#lines;
    cursor.append(svg('path', { class: 'cursor', d: `M${x} 22V${g.bottom}` }));
    for (const line of lines) {
      const y = this.#yOf(line, at);
      if (y > 0) cursor.append(svg('circle', { class: line.key === hot ? 'ring hot' : 'ring', cx: x, cy: y, r: 4 }));
    }
    tip.replaceChildren(...told(view, lines, at, point, hot || view.selected));
    this.#place(place);
  }

  /** @param {{x: number, y: number}} place */
  #place({ x, y }) {
    const { offsetWidth, offsetHeight } = this.tip;
    const beside = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ room) =>
      at + BESIDE + size + MARGIN <= room ? at + BESIDE : Math.max(MARGIN, at - BESIDE - size);
    this.tip.style.transform = `translate(${beside(x, offsetWidth, innerWidth)}px, ${beside(y, offsetHeight, innerHeight)}px)`;
  }

  /** Tells screen readers of the profile. */
  #speak() {
    const { at, overlay, view } = this;
    if (!view) return;
    const shown = at < 0 ? this.#last : at;
    overlay.setAttribute('aria-valuenow', String(shown + 1));
    overlay.setAttribute('aria-valuetext', shown < 0 ? 'no profiles' : spoken(view, this.#lines, shown));
  }

  /** Moves to a profile by a key. @param {number} at */
  #goTo(at) {
    const g = this.geometry;
    if (!g || !this.view || this.#last < 0) return;
    this.at = Math.max(0, Math.min(this.#last, at));
    const { left, top } = this.element.getBoundingClientRect();
    this.#speak();
    this.#tell(this.at, this.#pointOf(this.at), { x: left + g.xs[this.at], y: top + g.top });
  }

  /** The point directly before a profile, or -1. @param {number} at */
  #pointOf(at) {
    return this.view ? this.view.series.points.findIndex((point) => point.at === at) : -1;
  }

  /** The profile behind the next point. @param {number} by 1 or -1 */
  #nextPoint(by) {
    const list = (this.view?.series.points || []).map(({ at }) => at).filter((at) => Math.sign(at - this.at) === by);
    return by > 0 ? Math.min(this.#last, ...list) : Math.max(0, ...list);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.at < 0) this.at = this.#last;
    const point = this.#pointOf(this.at);
    if (key === 'ArrowLeft' || key === 'ArrowDown') this.#goTo(this.at - 1);
    else if (key === 'ArrowRight' || key === 'ArrowUp') this.#goTo(this.at + 1);
    else if (key === 'PageUp') this.#goTo(this.#nextPoint(-1));
    else if (key === 'PageDown') this.#goTo(this.#nextPoint(1));
    else if (key === 'Home') this.#goTo(0);
    else if (key === 'End') this.#goTo(this.#last);
    else if (key === 'Enter' && point >= 0) this.host.open(point);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
