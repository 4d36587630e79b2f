// SPDX-License-Identifier: GPL-3.0-or-later
// The first thing that the page of a history shows: the answer, the chart of a series, and the list of its changes.

import { Adding } from './adding.js';
import { seriesName } from './address.js';
import { Chart } from './chart.js';
import { ChangeList } from './changelist.js';
import { copied, h, renew } from '../common/dom.js';
import { count, listName } from '../common/format.js';
import { factOf, firstLines, keyed, keyOf, lineOf, nameOf, namesOf, whoseText, WHOLE } from './lines.js';
import { markdownOf } from '../export/markdown.js';
import { namedParts } from '../export/summary.js';
import { commandOf, rowsOf, sinceText, valueText } from './rows.js';
import { timesOf } from './scales.js';
import { asToolbar } from '../common/toolbar.js';
import { button, select, skipButton, themeButton } from '../common/widgets.js';

/** @typedef {import('./address.js').Shown} Shown */
/** @typedef {import('../data/history.js').HistoryTable} HistoryTable */
/** @typedef {import('../data/history.js').Series} Series */
/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./rows.js').Row} Row */

/**
 * What the overview needs of the page around it.
 * @typedef {object} OverviewHost
 * @property {(change: Partial<Shown>, isStep?: boolean) => void} set
 * @property {(point: number, of: string) => void} open opens a point, by the change of a line or by itself
 * @property {(point: number, of: string) => string} hrefOf
 * @property {() => void} switchTheme
 */

/** So many series have a button each; of more one is chosen from a list. */
const MOST_BUTTONS = 4;

/** A text whose names stand between backquotes. @param {string} text */
const named = (text) => namedParts(text).map((part, i) => (i % 2 ? h('bdi.code-name', {}, part) : part));

/** The answer without what it is of, which the heading says. @param {Series} series */
function answerOf({ title, verdictText }) {
  const text = title && verdictText.startsWith(`${title}: `) ? verdictText.slice(title.length + 2) : verdictText;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {Series} series */
function openCount({ changes }) {
  return changes.filter(({ hasMoved, went }) => !hasMoved && went === null).length;
}

/** Of which profiles a series is, and when and where they were recorded. @param {Series} series */
function factsText(series) {
  const { facts, profiles } = series;
  const [first, last] = [sinceText(series, 0), sinceText(series, profiles.length - 1)];
  const when = profiles.length > 1 ? `from ${first} to ${last}` : `of ${first}`;
  return `${count(profiles.length)} profile${profiles.length === 1 ? '' : 's'} ${when} (UTC)${facts && `, ${facts}`}.`;
}

export class Overview {
  /** @param {HistoryTable} table @param {OverviewHost} host */
  constructor(table, host) {
    this.table = table;
    this.host = host;
    /** @type {Shown|null} */ this.shown = null;
    /** The line that is shown before the others. */ this.selected = '';
    /** Whether the axis of values fits it alone. */ this.fits = false;
    /** @type {Map<string, Line>} of the series that is shown */ this.made = new Map();
    this.corner = asToolbar(h('div.corner', { 'aria-label': 'Page' }));
    this.heading = h('h1');
    this.tabs = asToolbar(h('div.series', { 'aria-label': 'Series' }));
    this.answer = h('p.answer');
    this.facts = h('p.dim');
    this.notices = h('ul.warnings', { tabIndex: 0, 'aria-label': 'Limits' });
    this.adding = new Adding(
      (text) => this.#choices(text),
      (key) => this.#add(key),
    );
    this.added = asToolbar(h('span.added', { 'aria-label': 'Added lines' }));
    this.axes = asToolbar(h('span.axes-choice', { 'aria-label': 'Axes' }));
    this.chart = new Chart({ open: (point) => this.#openPoint(point), choose: (key) => this.#choose(key) });
    this.how = h('div.how', { role: 'status', hidden: true });
    this.list = new ChangeList({
      open: (row) => this.#openRow(row),
      select: (row) => this.#select(row.line),
      point: (row) => this.chart.emphasize(row?.line || ''),
      hrefOf: ({ line, point }) => (point === null || this.series.points[point].part === null ? '' : host.hrefOf(point, line)),
      lineOf: ({ line }) => /** @type {Line} */ (this.#line(line)),
    });
    this.nothing = h('p.nothing');
    this.element = h('div.first.history', {}, this.#header(), this.#controls(), this.#main(), this.how, this.#footer());
  }

  get series() {
    return this.table.series[this.shown?.series || 0];
  }

  #header() {
    const row = h('div.top', {}, this.heading, this.corner);
    const skip = skipButton('To the changes', () => this.list.grid.body.focus());
    return h('header', {}, skip, row, this.table.series.length > 1 && this.tabs, this.answer, this.facts, this.notices);
  }

  #controls() {
    return h('section.controls', { 'aria-label': 'Chart' }, this.adding.element, this.added, h('span.grow'), this.axes);
  }

  #main() {
    return h('main', {}, h('div.history-body', {}, this.chart.element, this.nothing, this.list.root));
  }

  #footer() {
    const key = (/** @type {string} */ text) => h('kbd', {}, text);
    const { leftOut } = this.table;
    return h(
      'footer',
      {},
      h('span', {}, 'A click or ', key('Enter'), ' on a change or a deploy opens the diff of both sides.'),
      h('span', {}, key('/'), ' adds a function.'),
      leftOut > 0 && h('span', {}, `${count(leftOut)} diff${leftOut === 1 ? ' has' : 's have'} no room in this page.`),
    );
  }

  /** Draws the controls in the upper right corner. @param {boolean} dark */
  drawCorner(dark) {
    const hint = 'the answer and the list as it is sorted, for a review or a chat (E)';
    const copy = button('button', { title: hint, onclick: () => this.#copy() }, 'Copy as Markdown');
    this.corner.replaceChildren(copy, h('span.tool', {}, this.table.tool), themeButton(dark, this.host.switchTheme));
  }

  get title() {
    const { title } = this.series || { title: '' };
    return title ? `History: ${title}` : 'History';
  }

  /** Shows a state. @param {Shown} shown */
  show(shown) {
    const isOther = !this.shown || this.shown.series !== shown.series;
    this.shown = shown;
    if (!this.series) {
      this.#showNothing();
      return;
    }
    if (isOther) this.#showSeries();
    this.#drawAxes();
    renew(this.added, this.#chips());
    this.#drawChart();
  }

  #showNothing() {
    this.heading.textContent = 'History';
    this.answer.textContent = 'No profiles can be compared.';
    this.#showNotices(this.table.notices);
    for (const one of [this.chart.element, this.list.root, this.nothing]) one.hidden = true;
  }

  /** @param {string[]} notices */
  #showNotices(notices) {
    this.notices.hidden = !notices.length;
    this.notices.replaceChildren(...notices.map((text) => h('li', {}, text)));
  }

  #showSeries() {
    const { series, table } = this;
    this.made.clear();
    this.selected = '';
    this.fits = false;
    this.how.hidden = true;
    this.heading.textContent = this.title;
    this.heading.title = this.title;
    this.answer.replaceChildren(...named(answerOf(series)));
    this.facts.textContent = factsText(series);
    this.#showNotices([...series.notices, ...table.notices]);
    renew(this.tabs, this.#seriesChoices());
    const rows = rowsOf(series);
    this.list.fill(rows);
    this.nothing.hidden = rows.length > 0;
    this.nothing.textContent = 'The lines are those of the functions that cost most themselves.';
  }

  #seriesChoices() {
    const { series } = this.table;
    const current = this.shown?.series || 0;
    const choose = (/** @type {number} */ i) => this.host.set({ series: i, added: [], since: '', of: '' }, true);
    const text = (/** @type {number} */ i) => seriesName(this.table, i);
    const open = (/** @type {Series} */ one) => {
      const n = openCount(one);
      return n ? ` · ${n} open` : '';
    };
    if (series.length > MOST_BUTTONS) {
      const options = series.map((one, i) => /** @type {[string, string]} */ ([String(i), text(i) + open(one)]));
      return [select('Series', options, String(current), (value) => choose(Number(value)))];
    }
    return series.map((one, i) =>
      button('button', { 'aria-pressed': i === current, onclick: () => choose(i) }, h('bdi', {}, text(i)), open(one)),
    );
  }

  #drawAxes() {
    renew(this.axes, this.#axesChoices());
  }

  #axesChoices() {
    const { fits, selected, series, shown } = this;
    const { axis, scale } = /** @type {Shown} */ (shown);
    const { set } = this.host;
    /** @param {string} text @param {boolean} pressed @param {string} title @param {Partial<Shown>} change */
    const one = (text, pressed, title, change) =>
      button('button', { 'aria-pressed': pressed, title, onclick: () => set(change) }, text);
    const group = (/** @type {string} */ label, /** @type {Node[]} */ buttons) =>
      h('span.choice', { role: 'group', 'aria-label': label }, ...buttons);
    const values = group('Axis of values', [
      one(series.measureText, scale === 'value', 'values as they are', { scale: 'value' }),
      one('% of total', scale === 'percent', 'parts of the total of a typical profile', { scale: 'percent' }),
    ]);
    const times = group('Axis of time', [
      one('Time', axis === 'time', 'profiles lie where they were recorded', { axis: 'time' }),
      one('Profiles', axis === 'index', 'profiles lie one beside the other', { axis: 'index' }),
    ]);
    const fit = () => {
      this.fits = !this.fits;
      this.#drawAxes();
      this.#drawChart();
    };
    const hint = 'the axis of values fits the selected line alone';
    const fitting = button('button', { 'aria-pressed': fits, title: hint, onclick: fit }, 'Fit selected line');
    return [!!selected && selected !== WHOLE && fitting, series.isPer && values, !!timesOf(series) && times];
  }

  /** Makes a line once. @param {string} key */
  #line(key) {
    const found = this.made.get(key);
    if (found) return found;
    const of = keyed(this.series, key);
    const line = of && lineOf(this.series, of.func, of.isSelf);
    if (line) this.made.set(key, line);
    return line;
  }

  #drawChart() {
    const { fits, selected, series, shown } = this;
    const { added, axis, scale } = /** @type {Shown} */ (shown);
    const keys = new Set([...firstLines(series), ...added, selected].filter((key) => key && key !== WHOLE));
    const lines = [...keys].map((key) => this.#line(key)).filter((line) => !!line);
    this.chart.show({ series, lines, whole: series.isPer ? this.#line(WHOLE) || null : null, selected, fits, axis, scale });
  }

  // ---- Lines ----

  /** Shows a line before the others. @param {string} key */
  #select(key) {
    if (key === this.selected) return;
    this.selected = key;
    this.fits = this.fits && !!key;
    this.#drawAxes();
    this.#drawChart();
  }

  /** Selects a line in the chart, whose axis fits it then. @param {string} key */
  #choose(key) {
    this.selected = key;
    this.fits = !!key && key !== WHOLE;
    this.#drawAxes();
    this.#drawChart();
  }

  /** What can be added to the chart. @param {string} text */
  #choices(text) {
    const { series } = this;
    const last = series.profiles.length - 1;
    /** @type {import('./adding.js').Choice[]} */ const out = [];
    series.functions.forEach(({ name, shown, shownIn }, func) => {
      if (text && ![name, shown, shownIn].some((one) => one.toLowerCase().includes(text))) return;
      const { self, total } = series.values[func];
      const choice = (/** @type {boolean} */ isSelf) => {
        const figure = `${whoseText(func, isSelf)} ${valueText(series, func, (isSelf ? self : total)[last])}`;
        out.push({ key: keyOf(series, func, isSelf), name: nameOf(series, func), figure });
      };
      choice(true);
      if (total.some((value, i) => value > self[i])) choice(false);
    });
    return out;
  }

  /** @param {string} key */
  #add(key) {
    const { added } = /** @type {Shown} */ (this.shown);
    this.selected = key;
    this.host.set({ added: [...added.filter((one) => one !== key), key] });
  }

  /** Buttons that take added lines away. */
  #chips() {
    const { added } = /** @type {Shown} */ (this.shown);
    const lines = added.map((key) => this.#line(key)).filter((line) => !!line);
    const names = namesOf(lines);
    return lines.map(({ key }, i) => {
      const name = names[i];
      const remove = () => {
        if (this.selected === key) this.selected = '';
        this.host.set({ added: added.filter((one) => one !== key) });
      };
      const props = { title: `take the line of ${name} away`, onclick: remove };
      return button('button.chip', props, h('bdi', {}, listName(name)), ' ×');
    });
  }

  // ---- What opens ----

  /** @param {Row} row */
  #openRow(row) {
    if (row.point === null) this.#say('A drift lies between no two profiles, so that there is no pair to compare.');
    else this.#openPoint(row.point, row.line);
  }

  /** @param {number} point @param {string} [of] the line whose change is meant */
  #openPoint(point, of = '') {
    const { pair, part } = this.series.points[point];
    const fact = factOf(this.series.points[point]) || 'Nothing is known of this point';
    if (part !== null) this.host.open(point, of);
    else if (pair) this.#tell(point);
    else this.#say(`${fact}: no change is proven here, so that the page has no diff of it.`);
  }

  /** Says how a point is looked at whose diff is not in the page. @param {number} point */
  #tell(point) {
    const command = commandOf(this.series, point);
    const done = h('span.dim');
    const copy = async () => {
      done.textContent = (await copied(command)) ? 'copied' : 'cannot copy here';
    };
    this.how.hidden = false;
    this.how.replaceChildren(
      h('span', {}, 'The diff of this point is not in the page. This command writes it:'),
      h('code', {}, command),
      button('button', { onclick: copy }, 'Copy'),
      done,
    );
  }

  /** Copies the answer and the list as Markdown. */
  async #copy() {
    if (!this.series) return;
    const { columns, rows } = this.list.grid;
    const summary = { title: this.title, sides: '', sentence: answerOf(this.series), shown: '' };
    const text = markdownOf(summary, columns.filter(({ id }) => id !== 'line'), rows, '');
    this.#say((await copied(text)) ? 'list copied' : 'cannot copy here');
  }

  /** @param {string} text */
  #say(text) {
    this.how.hidden = false;
    this.how.replaceChildren(text);
  }

  /** Says that an address leads nowhere. @param {string} since */
  sayMissing(since) {
    this.#say(`There is no deploy or change before "${since}" in this page.`);
  }

  /** Selects what was open. @param {number} point @param {string} of */
  reveal(point, of) {
    this.list.reveal((row) => row.point === point && (!of || row.line === of));
  }

  leave() {
    this.list.leave();
  }

  enter() {
    this.list.enter();
  }

  // ---- Keys ----

  /** Does what a key means. @param {KeyboardEvent} event */
  onKey(event) {
    const { tagName } = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || tagName === 'INPUT' || tagName === 'SELECT') return;
    const { grid } = this.list;
    if (event.key === '/') this.adding.field.focus();
    else if (event.key === 'E') this.#copy();
    else if (/^(Arrow(Up|Down)|Page(Up|Down))$/.test(event.key) && grid.rows.length) this.#intoList();
    else if (event.key === 'Escape') this.#clear();
    else return;
    event.preventDefault();
  }

  /** Moves the focus to the list, and to its first row where none is selected. */
  #intoList() {
    const { grid } = this.list;
    grid.body.focus();
    this.list.reveal((row) => grid.selected === null || row.f.id === grid.selected);
  }

  /** Shows all lines again. */
  #clear() {
    this.how.hidden = true;
    this.list.grid.select(null);
    this.list.grid.active = 0;
    this.#select('');
  }
}
