// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a function: base and head side by side with the time of each, as they were when they were recorded. Only
// the lines that are in the window stand in the page.

import { h, renew } from '../common/dom.js';
import { baseName, count, listName } from '../common/format.js';
import { asToolbar } from '../common/toolbar.js';
import { button, signButton, toggle } from '../common/widgets.js';
import { Memo } from '../common/memo.js';
import { STATES } from '../data/codes.js';
import { hashOf } from '../data/hash.js';
import { hasFilter, withFilter, withoutFilter } from '../model/filters.js';
import { Lines } from '../model/lines.js';
import { lineName, lineWords, rowNamed } from '../model/throughlines.js';
import { heatStrip } from './heat.js';
import { figureWords, itemWords, LONGEST, rowCells, shownCode, titles } from './sourcerows.js';

/** @typedef {import('../common/dom.js').Child} Child */
/** @typedef {import('../data/lines.js').LineText} LineText */
/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../model/lines.js').Item} Item */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */

/** How high a line is for a mouse, and for a finger, in pixels. */
const ROW_HEIGHT = 20;
const FINGER_HEIGHT = 32;
/** Below this width base and head share a column. */
const TWO_COLUMNS = 760;
/** How many lines above and below the window stand in the page. */
const MARGIN = 6;
const PRECISE_HINT = 'samples of this event have no precise addresses: a line may have time of the one before it';
/** How far an arrow moves texts that are wider than their column, in letters. */
const SHIFT = 8;
/**
 * What the pane needs of the page around it.
 * @typedef {object} SourceHost
 * @property {(change: Change, replace?: boolean) => void} set changes the state
 * @property {(element: HTMLElement) => void} place puts the pane on the page, when it is opened for the first time
 * @property {() => void} closed the focus goes where the pane was opened from
 */

/** Where a text is from, in words. @param {LineText} text */
function placeWords({ isCut, isThere, words }) {
  if (isCut) return 'its text has no room in this page';
  return isThere ? `text ${words}` : words;
}

export class SourcePane {
  /** @param {Model} model @param {SourceHost} host */
  constructor(model, host) {
    this.model = model;
    this.host = host;
    this.memo = new Memo();
    this.rowHeight = matchMedia('(pointer: coarse)').matches ? FINGER_HEIGHT : ROW_HEIGHT;
    /** @type {State|null} */ this.state = null;
    /** @type {Lines|null} of the function that is shown */ this.lines = null;
    /** @type {Func|undefined} */ this.func = undefined;
    /** @type {Item[]} */ this.items = [];
    /** @type {Set<number>} the first rows of what was unfolded */ this.open = new Set();
    /** The row that keys are about; -1 for none. */ this.active = -1;
    /** @type {import('./sourcerows.js').Columns} */ this.columns = 'single';
    this.shift = 0;
    /** Whether the function's lines have not been on the screen yet. */ this.isFresh = true;
    this.isExpected = false;
    /** @type {{items: Item[], first: number, last: number}} what stands in the page */
    this.painted = { items: [], first: 0, last: 0 };
    this.title = h('h2', {});
    this.about = h('span.dim.about');
    this.tools = asToolbar(h('div.tools', { 'aria-label': 'Lines' }));
    this.head = h('div.source-head', { 'aria-hidden': 'true' });
    this.space = h('div.grid-space', { role: 'presentation' });
    const listeners = {
      onscroll: () => this.paint(),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.#key(e),
      onwheel: (/** @type {WheelEvent} */ e) => this.#wheel(e),
    };
    this.body = h('div.source-body', { tabIndex: 0, role: 'grid', 'aria-label': 'Lines', ...listeners }, this.space);
    this.heat = heatStrip((at) => this.#scrollTo(at * this.items.length));
    this.told = h('div.source-told');
    this.element = h(
      'section.source',
      { hidden: true, 'aria-label': 'Source', onkeydown: (/** @type {KeyboardEvent} */ e) => this.#leave(e) },
      h('div.bar', {}, this.title, this.about, this.tools),
      this.head,
      h('div.source-view', {}, this.body, this.heat.element),
      this.told,
    );
    this.element.style.setProperty('--row', `${this.rowHeight}px`);
    new ResizeObserver(() => this.#resized()).observe(this.body);
  }

  /** The lines get the focus when they are there. */
  expect() {
    this.isExpected = true;
  }

  /** Shows what the state says. @param {State} state */
  draw(state) {
    this.state = state;
    const { model } = this;
    const isOpen = !!state.source;
    this.element.hidden = !isOpen;
    if (!isOpen) return;
    if (!this.element.isConnected) this.host.place(this.element);
    if (this.isExpected) this.body.focus();
    this.isExpected = false;
    const { filters, inlined, line, range, thread, metric } = state;
    const { lineStacks, lines, timelines } = model.tables;
    const chosen = model.functionOf(state.source);
    const listed = chosen && lines?.of(chosen);
    const func = listed ? model.functions[listed.func] : chosen;
    if (this.memo.isNew('function', func, lines)) this.#begin(func);
    if (!this.memo.isNew('lines', listed, lineStacks, timelines, filters, inlined, range, thread, metric)) {
      this.#activate(line);
      return;
    }
    this.lines = listed ? new Lines(model, state, listed) : null;
    this.#drawBar();
    this.#arrange();
    if (this.isFresh && this.lines) this.#openAtAnswer(this.lines);
    this.#activate(line);
  }

  /** A function is first seen where a line is proven, or else where most time was spent. @param {Lines} lines */
  #openAtAnswer({ hot, proven }) {
    const [row] = [...proven, ...hot];
    this.isFresh = false;
    if (row !== undefined) this.#reveal(row);
  }

  /** Another function is shown. @param {Func|undefined} func */
  #begin(func) {
    this.func = func;
    this.open = new Set();
    this.active = -1;
    this.isFresh = true;
    this.#shiftBy(-this.shift);
    this.painted.last = -1;
    this.body.scrollTop = 0;
    this.title.textContent = func ? listName(func.name) : 'Lines';
    this.title.title = func?.name || '';
  }

  /** The columns that there is room for. */
  get #fitting() {
    if (this.model.sides === 1) return 'single';
    return this.body.clientWidth < TWO_COLUMNS ? 'unified' : 'two';
  }

  /** Lays out the lines in as many columns as there is room for. */
  #arrange() {
    const { lines, model } = this;
    this.columns = this.#fitting;
    this.element.dataset.columns = this.columns;
    this.items = lines ? lines.items(this.columns === 'unified', this.open) : [];
    this.body.setAttribute('aria-rowcount', String(this.items.length));
    this.space.style.height = `${this.items.length * this.rowHeight}px`;
    this.painted.last = -1;
    this.head.replaceChildren(.../** @type {Node[]} */ (lines ? titles(model, this.columns) : []));
    this.head.hidden = !lines;
    this.#drawHeat();
    this.paint();
  }

  #resized() {
    if (!this.state?.source) return;
    if (this.#fitting !== this.columns) this.#arrange();
    else this.paint();
  }

  // ---- Above the lines ----

  #drawBar() {
    const { func, lines, model } = this;
    const texts = lines ? lines.listed.texts.filter((text) => !!text) : [];
    const [first, last = first] = texts;
    const file = last?.file || func?.file || '';
    const renamed = first && last && first.file !== last.file ? `${first.file} → ${last.file}` : file;
    // A side without the function has no text to miss.
    const there = texts.filter((_, i) => lines?.hasSide(model.sides === 1 ? 1 : i));
    const words = there.map(placeWords);
    const isSame = words.every((one) => one === words[0]);
    const said = isSame ? words.slice(0, 1) : words.map((one, i) => `${i ? 'head' : 'base'}: ${one}`);
    const isPrecise = model.tables.lines?.isPrecise.every((one, side) => one || (side === 0 && model.sides === 1));
    this.about.replaceChildren(
      ...[
        renamed && h('span', {}, h('bdi', {}, baseName(renamed))),
        lines && !isPrecise && h('span', { title: PRECISE_HINT }, '± one line'),
        ...said.map((one) => h('span', {}, one)),
      ].filter((one) => one instanceof Node),
    );
    this.about.title = [renamed, ...said].join('\n');
    this.#drawTools();
  }

  #drawTools() {
    const { host, lines, model, state } = this;
    const { hot = [], proven = [] } = lines || {};
    const go = (/** @type {number[]} */ rows, /** @type {string} */ words, /** @type {string} */ keys) => {
      const title = `goes from one to the next, the largest first (${keys})`;
      const props = { title, disabled: !rows.length, onclick: () => this.#next(rows, 1) };
      return button('button', props, `${words} ${count(rows.length)}`);
    };
    renew(this.tools, [
      go(hot, 'hot', 'n, N'),
      model.sides === 2 && go(proven, 'proven', '. and ,'),
      toggle(
        'inlined code at its call',
        'the own time of a line has that of code that was inlined at it; else that time is in the lines of its own file',
        state?.inlined === 'call',
        (on) => host.set({ inlined: on ? 'call' : 'file' }),
      ),
      signButton('✕', 'Close the lines', 'closes the lines (Escape)', () => this.close()),
    ]);
  }

  #drawHeat() {
    const { items, lines } = this;
    if (!lines) {
      this.heat.draw([]);
      return;
    }
    const marks = items.map(({ kind, row }) => {
      if (kind !== 'row') return { heat: 0, state: '' };
      return { heat: lines.heat(row), state: lines.isProven(row) ? STATES[lines.stateOf(row)] : '' };
    });
    this.heat.draw(marks);
  }

  // ---- Lines ----

  /** Makes the lines that are in the window. */
  paint() {
    const { body, items, lines, rowHeight } = this;
    if (!lines) {
      this.painted = { items, first: 0, last: 0 };
      this.space.replaceChildren(...(this.state?.source ? [this.#nothing()] : []));
      return;
    }
    const first = Math.max(0, Math.floor(body.scrollTop / rowHeight) - MARGIN);
    const last = Math.min(items.length, Math.ceil((body.scrollTop + body.clientHeight) / rowHeight) + MARGIN);
    const { painted } = this;
    if (painted.items !== items || painted.first !== first || painted.last !== last) {
      this.painted = { items, first, last };
      this.space.replaceChildren(...items.slice(first, last).map((item, i) => this.#line(lines, item, first + i)));
    }
    this.#mark();
  }

  /** Why there are no lines. */
  #nothing() {
    const { func, model } = this;
    const listed = model.tables.lines?.functions.length || 0;
    const name = func ? listName(func.name) : 'this function';
    const which = `This page has the lines of ${count(listed)} functions, those that changed most and those with most time`;
    const words = listed ? [`${which}; `, h('bdi', {}, name), ' is not among them.'] : ['This page has no lines.'];
    return h('div', { role: 'row' }, h('p.nothing', { role: 'gridcell' }, ...words));
  }

  /** Marks the line that keys are about. */
  #mark() {
    const { first, last } = this.painted;
    this.body.removeAttribute('aria-activedescendant');
    for (let i = first; i < last; i++) {
      const line = this.space.children[i - first];
      const { kind, row } = this.items[i];
      const isActive = kind !== 'file' && row === this.active;
      line.classList.toggle('selected', isActive);
      line.setAttribute('aria-selected', String(isActive));
      if (isActive) this.body.setAttribute('aria-activedescendant', line.id);
    }
  }

  /** @param {Lines} lines @param {Item} item @param {number} i */
  #line(lines, item, i) {
    const { columns, model } = this;
    const { kind, row } = item;
    const unfold = () => kind === 'fold' && this.#unfold(row);
    const place = { role: 'row', id: `source-${i}`, 'aria-rowindex': i + 1 };
    const line =
      kind === 'row'
        ? h('div.source-row', { ...place, onclick: () => this.#clicked(row) }, ...rowCells(model, lines, item, columns))
        : h(`div.source-row.is-${kind}`, { ...place, onclick: unfold }, h('span.wide', { role: 'gridcell' }, itemWords(lines, item)));
    if (kind === 'row' && lines.isProven(row)) line.classList.add(`p-${STATES[lines.stateOf(row)]}`);
    line.style.top = `${i * this.rowHeight}px`;
    return line;
  }

  // ---- Below the lines: the one that keys are about ----

  #drawTold() {
    const { active, func, lines, model, state } = this;
    if (!lines || active < 0 || !state || !func) {
      this.told.replaceChildren(...(lines ? [this.#hint(lines)] : []));
      return;
    }
    const isOn = hasFilter(state.filters, 'line', this.#hashOf(active));
    const isLeftOut = !!model.tables.lineStacksLeftOut;
    const title = isLeftOut
      ? 'the stacks through lines have no room in this page: that of one benchmark, or of a shorter recording, has them'
      : `${isOn ? 'shows all stacks again' : 'the graph and the figures are of these stacks alone'} (Enter)`;
    const props = { title, 'aria-pressed': isOn, disabled: isLeftOut, onclick: () => this.#filter(active) };
    const only = button('button', props, 'only stacks through it');
    const texts = [...new Set([0, 1].map((side) => lines.lines.textOf(side, active)).filter((text) => text.length > LONGEST))];
    this.told.replaceChildren(
      h('p', {}, only, h('strong', {}, lineWords(lines.lines, active)), h('span', {}, figureWords(model, lines, active))),
      ...texts.map((text) => h('pre.whole', { tabIndex: 0 }, shownCode(text))),
    );
  }

  /** What can be done, or how to get a text where there is none. @param {Lines} lines */
  #hint({ listed }) {
    const hasText = listed.texts.some((text) => text?.isThere);
    if (!hasText)
      return h(
        'p.dim',
        {},
        'The profiles do not have the text: ',
        h('code', {}, 'kelvin record --sources'),
        ' keeps it, and ',
        h('code', {}, '--repo DIR'),
        ' reads it from the repository.',
      );
    return h('p.dim', {}, 'A click on a line leaves only the stacks through it, and shows all again.');
  }

  // ---- Keys and clicks ----

  /** @param {number} row */
  #hashOf(row) {
    const { func, lines } = this;
    return func && lines ? `${hashOf(func)}-${lineName(lines.lines, row)}` : '';
  }

  /** Makes the line of a state the one that keys are about. @param {string} name */
  #activate(name) {
    const { lines } = this;
    const row = lines ? rowNamed(lines.lines, lines.listed, name) : -1;
    if (row !== this.active && row >= 0) this.#reveal(row);
    this.active = row;
    this.paint();
    this.#drawTold();
  }

  /** Scrolls to a row, and unfolds it. @param {number} row */
  #reveal(row) {
    const fold = this.items.find((item) => item.kind === 'fold' && row >= item.row && row < item.row + item.count);
    if (fold) this.#unfold(fold.row);
    const at = this.items.findIndex((item) => item.kind === 'row' && item.row === row);
    const { clientHeight, scrollTop } = this.body;
    const top = at * this.rowHeight;
    if (at >= 0 && (top < scrollTop || top + this.rowHeight > scrollTop + clientHeight)) this.#scrollTo(at);
  }

  /** @param {number} at the item that stands in the first third of the window */
  #scrollTo(at) {
    this.body.scrollTop = Math.max(0, at * this.rowHeight - Math.floor(this.body.clientHeight / 3));
  }

  /** @param {number} row the first that is folded */
  #unfold(row) {
    this.open.add(row);
    this.#arrange();
  }

  /** @param {number} row */
  #choose(row) {
    if (this.lines) this.host.set({ line: lineName(this.lines.lines, row) }, true);
  }

  /** @param {number} row */
  #clicked(row) {
    // Who marks a text to copy it does not filter.
    if (String(getSelection() || '')) return;
    this.#filter(row);
  }

  /** Leaves only the stacks through a line, or shows all again. @param {number} row */
  #filter(row) {
    const { host, lines, state } = this;
    if (!lines || !state) return;
    const hash = this.#hashOf(row);
    const isOn = hasFilter(state.filters, 'line', hash);
    const filters = isOn ? withoutFilter(state.filters, 'line', hash) : withFilter(state.filters, 'line', hash);
    host.set({ filters, line: lineName(lines.lines, row) });
  }

  /** Goes to the next of some rows, or back. @param {number[]} rows @param {1|-1} step */
  #next(rows, step) {
    if (!rows.length) return;
    const at = rows.indexOf(this.active);
    this.#choose(rows[at < 0 ? 0 : (at + step + rows.length) % rows.length]);
  }

  /** Goes up and down; what is folded is passed by. @param {number} by */
  #move(by) {
    // In one column a row may have two lines.
    const rows = [...new Set(this.items.filter(({ kind }) => kind === 'row').map(({ row }) => row))];
    if (!rows.length) return;
    const at = rows.indexOf(this.active);
    const next = at < 0 && Number.isFinite(by) ? 0 : at + by;
    this.#choose(rows[Math.max(0, Math.min(rows.length - 1, next))]);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { active, lines } = this;
    const page = Math.max(1, Math.floor(this.body.clientHeight / this.rowHeight) - 2);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.#move(1),
      ArrowUp: () => this.#move(-1),
      PageDown: () => this.#move(page),
      PageUp: () => this.#move(-page),
      Home: () => this.#move(-Infinity),
      End: () => this.#move(Infinity),
      ArrowLeft: () => this.#shiftBy(-SHIFT),
      ArrowRight: () => this.#shiftBy(SHIFT),
      n: () => this.#next(lines?.hot || [], 1),
      N: () => this.#next(lines?.hot || [], -1),
      '.': () => this.#next(lines?.proven || [], 1),
      ',': () => this.#next(lines?.proven || [], -1),
      Enter: () => active >= 0 && this.#filter(active),
    };
    const does = keys[event.key];
    if (!does) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  }

  /** Escape closes the pane wherever the focus is in it. @param {KeyboardEvent} event */
  #leave(event) {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    this.close();
  }

  close() {
    this.host.set({ source: '', line: '' });
    this.host.closed();
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    const by = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (!by || Math.abs(by) < Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
    event.preventDefault();
    this.#shiftBy(Math.sign(by) * Math.ceil(Math.abs(by) / 16));
  }

  /** Moves all texts, where some are wider than their column. @param {number} by letters */
  #shiftBy(by) {
    const { painted, items, lines } = this;
    const rows = items.slice(painted.first, painted.last).filter(({ kind }) => kind === 'row');
    const lengths = rows.flatMap(({ row }) => [0, 1].map((side) => lines?.lines.textOf(side, row).length || 0));
    this.shift = Math.max(0, Math.min(LONGEST, Math.max(0, ...lengths), this.shift + by));
    this.element.style.setProperty('--shift', `${-this.shift}ch`);
  }
}
