// SPDX-License-Identifier: GPL-3.0-or-later
// The first thing that the page of a suite shows: the verdict, what limits it, and the list of benchmarks.

import {
  addressOf,
  axisOf,
  benchmarksOf,
  changeText,
  chosenOf,
  commandOf,
  intervalText,
  isBeyond,
  isShortOfProof,
  measured,
  axisPlace,
  timesText,
  VERDICT_CLASSES,
  verdictCounts,
  VERDICTS,
} from './benchmarks.js';
import { copied, h } from '../common/dom.js';
import { amount, count, listName } from '../common/format.js';
import { markdownOf } from '../export/markdown.js';
import { titleOf } from '../views/header.js';
import { Grid } from '../common/table.js';
import { asToolbar } from '../common/toolbar.js';
import { button, skipButton, themeButton } from '../common/widgets.js';

/** @typedef {import('./benchmarks.js').Axis} Axis */
/** @typedef {import('./benchmarks.js').Benchmark} Benchmark */
/** @typedef {import('./benchmarks.js').SuiteTable} SuiteTable */
/** @typedef {import('../common/table.js').Column<Benchmark>} BenchmarkColumn */

/**
 * What the list needs of the page around it.
 * @typedef {object} BenchmarkHost
 * @property {(benchmark: Benchmark|null) => void} open opens a benchmark that has a part, or all together
 * @property {() => void} switchTheme
 */

/** In a window that is narrower than this, figures that a tooltip has, too, have no column. */
const NARROW = matchMedia('(max-width: 900px)');

/** A link to a benchmark's part, or its name where there is none. @param {Benchmark} benchmark */
function nameNode(benchmark) {
  const name = h('bdi', {}, benchmark.f.name);
  // The row is what keys and clicks are about; the link is for another tab.
  return benchmark.part === null ? name : h('a', { href: `#${addressOf(benchmark)}`, tabIndex: -1 }, name);
}

/** The interval of a change on the axis. @param {Benchmark} benchmark @param {Axis} axis */
function intervalNode({ change, interval: [low, high] }, axis) {
  const picture = h('span.interval');
  if (!Number.isFinite(change)) return picture;
  const from = axisPlace(Number.isFinite(low) ? low : change, axis);
  const to = axisPlace(Number.isFinite(high) ? high : change, axis);
  const places = { from, to, at: axisPlace(change, axis) };
  for (const [name, place] of Object.entries(places)) picture.style.setProperty(`--${name}`, place.toFixed(4));
  const beyond = isBeyond(change, axis) ? `.beyond.${change > 0 ? 'above' : 'below'}` : '';
  picture.append(h('span.reach'), h(`span.point${beyond}`));
  return picture;
}

/** What stands above the axis: its ticks. @param {Axis} axis */
function axisNode(axis) {
  const tick = (/** @type {{ratio: number, text: string}} */ { ratio, text }, /** @type {string} */ kind) => {
    const node = h(`span.${kind}`, {}, text);
    node.style.setProperty('--at', axisPlace(ratio - 1, axis).toFixed(4));
    return node;
  };
  const [above, below] = axis.ends;
  const last = axis.pairs.length - 2;
  // What may stand close to another label; below no change they are the longer ones.
  const isClose = (/** @type {number} */ i, /** @type {number} */ side) => i === 0 || side === 1 || (i === last && last > 1);
  const inner = axis.pairs
    .slice(0, -1)
    .flatMap((pair, i) => pair.map((one, side) => tick(one, isClose(i, side) ? 'tick.close' : 'tick')));
  return h('span.axis', {}, tick(below, 'tick.low'), ...inner, tick({ ratio: 1, text: '0' }, 'tick'), tick(above, 'tick.high'));
}

/** Lines at the ticks of the axis, behind every interval. @param {Axis} axis */
function axisLines(axis) {
  const places = [0.5, ...axis.pairs.flat().map(({ ratio }) => axisPlace(ratio - 1, axis))];
  const line = (/** @type {number} */ at) =>
    `linear-gradient(var(--line), var(--line)) ${(100 * at).toFixed(2)}% 0 / 1px 100% no-repeat`;
  return places.map(line).join(', ');
}

/** @param {SuiteTable} table @returns {BenchmarkColumn[]} */
function nameColumns(table) {
  /** @type {BenchmarkColumn} */
  const name = {
    id: 'name',
    title: 'benchmark',
    left: true,
    width: 'minmax(12em,1.4fr)',
    text: (b) => b.f.name,
    full: (b) => (b.part === null ? `${b.uri}\n${howText(table, b)}` : b.uri),
    value: (b) => b.f.name,
    node: nameNode,
    className: (b) => (b.part === null ? 'apart' : ''),
  };
  /** @type {BenchmarkColumn} */
  const where = {
    id: 'where',
    title: 'in',
    left: true,
    width: 'minmax(7em,.8fr)',
    text: (b) => b.where,
    value: (b) => b.where,
    className: () => 'dim',
  };
  return NARROW.matches ? [name] : [name, where];
}

/** A column of one side's values. @param {SuiteTable} table @param {number} side @returns {BenchmarkColumn} */
function valueColumn(table, side) {
  const title = table.sides === 1 ? measured(table) : side ? 'head' : 'base';
  return {
    id: title,
    title,
    hint: table.sides === 1 ? '' : `${measured(table)} in ${title}`,
    width: table.sides === 1 ? '11em' : table.unit === 'nanoseconds' ? '5.5em' : '9em',
    text: (b) => amount(b.value[side], table.unit),
    full: (b) => timesText(b, side),
    value: (b) => (Number.isFinite(b.value[side]) ? b.value[side] : -1),
  };
}

/** @type {BenchmarkColumn} */
const BECAUSE = {
  id: 'because',
  title: 'because',
  hint: 'the function whose own change explains that of the benchmark, and the line that changed most; or what else is known of it',
  left: true,
  width: 'minmax(10em,1fr)',
  text: ({ because: b }) => (b ? `${listName(b.name)} ${b.place}`.trim() : ''),
  full: ({ because: b }) => (b ? `${b.name}\n${b.place}`.trim() : ''),
  value: ({ because: b }) => (b ? `${b.name} ${b.place}` : ''),
  node: ({ because: b }) => (b ? h('span', {}, h('bdi', {}, listName(b.name)), h('span.dim', {}, ` ${b.place}`)) : h('span')),
};

/** @param {SuiteTable} table @param {Axis} axis @returns {BenchmarkColumn[]} */
function comparedColumns(table, axis) {
  const known = (/** @type {number} */ value) => (Number.isFinite(value) ? value : -Infinity);
  const [above, below] = axis.ends;
  /** @type {BenchmarkColumn} */
  const verdict = {
    id: 'verdict',
    title: 'verdict',
    hint: 'in the order of reading: proven changes first, the largest on top',
    left: true,
    width: '7em',
    text: (b) => (isShortOfProof(b) ? `${b.verdict}*` : b.verdict),
    full: (b) => (isShortOfProof(b) ? table.shortWords : VERDICTS[b.verdict] || ''),
    value: (b) => -b.f.id,
    className: (b) => VERDICT_CLASSES[b.verdict] || '',
  };
  /** @type {BenchmarkColumn} */
  const change = {
    id: 'change',
    title: 'change',
    hint: 'of head against base',
    width: '5.5em',
    text: changeText,
    value: (b) => known(b.change),
    className: (b) => (Number.isFinite(b.change) ? VERDICT_CLASSES[b.verdict] : 'dim'),
  };
  /** @type {BenchmarkColumn} */
  const interval = {
    id: 'interval',
    title: '95 % interval',
    hint: 'of the change',
    width: '9.5em',
    text: intervalText,
    value: (b) => known(b.interval[0]),
  };
  /** @type {BenchmarkColumn} */
  const picture = {
    id: 'picture',
    title: `change from ${below.text} to ${above.text}`,
    head: () => axisNode(axis),
    hint: 'the change and its 95 % interval; the axis is logarithmic beyond 1 %; sorts by the size of the change',
    width: NARROW.matches ? 'minmax(9em,1fr)' : 'minmax(12em,1.6fr)',
    text: intervalText,
    full: (b) => (table.isExact ? changeText(b) : `${changeText(b)} (95 % interval ${intervalText(b)})`),
    value: (b) => (Number.isFinite(b.change) ? Math.abs(Math.log(1 + b.change)) : -1),
    node: (b) => intervalNode(b, axis),
    className: (b) => `drawn ${VERDICT_CLASSES[b.verdict] || ''}`,
  };
  const figures = [valueColumn(table, 0), valueColumn(table, 1), change];
  return [verdict, ...figures, ...(NARROW.matches || table.isExact ? [] : [interval]), picture, BECAUSE];
}

/** @param {SuiteTable} table @returns {BenchmarkColumn[]} */
function singleColumns(table) {
  /** @param {'rounds'|'iterations'} id @returns {BenchmarkColumn} */
  const times = (id) => ({
    id,
    title: id,
    width: '7em',
    text: (b) => (b[id][1] ? count(b[id][1]) : '–'),
    value: (b) => b[id][1],
  });
  return [valueColumn(table, 1), ...(table.isMeasured ? [times('rounds'), times('iterations')] : [])];
}

/** How a benchmark without a part is looked at. @param {SuiteTable} table @param {Benchmark} benchmark */
function howText(table, benchmark) {
  return `Its flame graphs are not in this page. This command writes them: ${commandOf(table, benchmark)}`;
}

/** The line below the title: the verdict, or what is listed. @param {SuiteTable} table */
function verdictLine(table) {
  const badge = table.sides === 2 && h(`span.badge.v-${table.verdict}`, {}, table.verdict);
  return h('p.suite-verdict', {}, badge, h('span', {}, table.verdictText));
}

export class BenchmarkList {
  /** @param {SuiteTable} table @param {BenchmarkHost} host */
  constructor(table, host) {
    this.table = table;
    this.host = host;
    this.benchmarks = benchmarksOf(table);
    this.title = titleOf(/** @type {any} */ (table));
    /** @type {Set<string>} those that are listed alone */ this.verdicts = new Set();
    this.scrollTop = 0;
    this.search = h('input', {
      type: 'search',
      placeholder: 'filter benchmarks',
      'aria-label': 'Filter benchmarks',
      oninput: () => this.fill(),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.#searchKey(e),
    });
    this.shown = h('span.dim', { 'aria-live': 'polite' });
    this.chips = asToolbar(h('span.choice-chips', { 'aria-label': 'Verdicts' }, ...this.#verdictChips()));
    this.corner = asToolbar(h('div.corner', { 'aria-label': 'Page' }));
    this.how = h('div.how', { role: 'status', hidden: true });
    const root = h('div.grid.benchmarks', { 'aria-label': 'Benchmarks' });
    root.classList.toggle('compared', table.sides === 2);
    /** @type {Grid<Benchmark>} */
    this.grid = new Grid(
      root,
      (b) => this.#selected(b),
      () => {},
    );
    this.grid.onOpen = (b) => this.#opened(b);
    this.element = h('div.first.suite', {}, this.#header(), this.#controls(), h('main', {}, root), this.how, this.#footer());
    this.#setColumns();
    NARROW.addEventListener('change', () => {
      this.#setColumns();
      this.fill();
    });
    this.fill();
  }

  #header() {
    const { table } = this;
    const how = `How this was measured${table.sides === 2 ? ' and tested' : ''}`;
    const warnings = table.warnings.map((text) => h('li', {}, text));
    return h(
      'header',
      {},
      skipButton('To the benchmarks', () => this.grid.body.focus()),
      h('div.top', {}, h('h1', { title: this.title }, this.title), this.corner),
      verdictLine(table),
      warnings.length > 0 && h('ul.warnings', { tabIndex: 0, 'aria-label': 'Warnings' }, ...warnings),
      h('details.evidence', {}, h('summary', {}, how), h('p', {}, table.evidenceText)),
    );
  }

  #controls() {
    const { all } = this.table;
    const together = h('a.entry', { href: `#${addressOf(null)}` }, 'All benchmarks together');
    return h(
      'section.controls',
      { 'aria-label': 'Search and verdicts' },
      all !== null && together,
      this.search,
      this.table.sides === 2 && this.chips,
      this.shown,
    );
  }

  #footer() {
    const without = this.benchmarks.filter(({ part }) => part === null).length;
    const { leftOut } = this.table;
    const why = leftOut ? `; ${count(leftOut)} had no room in it` : '';
    const [some, all] = [this.benchmarks.length - without, this.benchmarks.length].map(count);
    const text = without > 0 && `${some} of ${all} have their flame graphs in this page${why}.`;
    return h(
      'footer',
      {},
      h('span', {}, 'A click or ', h('kbd', {}, 'Enter'), ' opens a benchmark, ', h('kbd', {}, '/'), ' filters.'),
      text && h('span', {}, text),
      this.benchmarks.some(isShortOfProof) && h('span', {}, `* ${this.table.shortWords}`),
    );
  }

  #verdictChips() {
    return verdictCounts(this.benchmarks).map(([name, times]) => {
      const choose = () => {
        const was = this.verdicts.has(name);
        if (was) this.verdicts.delete(name);
        else this.verdicts.add(name);
        chip.setAttribute('aria-pressed', String(!was));
        this.fill();
      };
      const props = { 'aria-pressed': false, title: VERDICTS[name], onclick: choose };
      const chip = button('button', props, h('span', { className: VERDICT_CLASSES[name] }, count(times)), ` ${name}`);
      return chip;
    });
  }

  /** Draws the controls in the upper right corner. @param {boolean} dark */
  drawCorner(dark) {
    const hint = 'the list as it is filtered and sorted, with the verdict, for a review or a chat (E)';
    this.corner.replaceChildren(
      button('button', { title: hint, onclick: () => this.#copy() }, 'Copy as Markdown'),
      h('span.tool', {}, this.table.tool),
      themeButton(dark, this.host.switchTheme),
    );
  }

  #setColumns() {
    const { table } = this;
    const two = table.sides === 2;
    const axis = axisOf(this.benchmarks);
    const columns = two ? comparedColumns(table, axis) : singleColumns(table);
    this.grid.root.style.setProperty('--axis', axisLines(axis));
    this.grid.setColumns([...nameColumns(table), ...columns], two ? 'verdict' : measured(table));
  }

  /** Lists what is chosen. */
  fill() {
    const rows = chosenOf(this.benchmarks, this.search.value, this.verdicts);
    const all = this.benchmarks.length;
    this.shown.textContent = rows.length === all ? '' : `${count(rows.length)} of ${count(all)}`;
    this.grid.setRows(rows, this.grid.selected);
  }

  /** The benchmarks as they are listed. */
  get listed() {
    return this.grid.rows;
  }

  /** @param {Benchmark} benchmark */
  #selected(benchmark) {
    this.grid.select(benchmark.f.id);
    this.#tell(benchmark.part === null ? benchmark : null);
  }

  /** @param {Benchmark} benchmark */
  #opened(benchmark) {
    this.#selected(benchmark);
    if (benchmark.part !== null) this.host.open(benchmark);
  }

  /** Says how a benchmark is looked at that has no part in the page. @param {Benchmark|null} benchmark */
  #tell(benchmark) {
    this.how.hidden = !benchmark;
    if (!benchmark) return;
    const command = commandOf(this.table, benchmark);
    const done = h('span.dim');
    const copy = async () => {
      done.textContent = (await copied(command)) ? 'copied' : 'cannot copy here';
    };
    this.how.replaceChildren(
      h('span', {}, h('bdi', {}, benchmark.f.name), ' has no flame graphs in this page. This command writes them:'),
      h('code', {}, command),
      button('button', { onclick: copy }, 'Copy'),
      done,
    );
  }

  /** Shows a benchmark in the list, which was open or cannot be opened. @param {Benchmark} benchmark */
  reveal(benchmark) {
    this.#selected(benchmark);
  }

  /** Copies what is listed as Markdown. */
  async #copy() {
    const { grid, table, title, verdicts } = this;
    const verdict = table.sides === 2 ? `${table.verdict[0].toUpperCase()}${table.verdict.slice(1)}: ` : '';
    const summary = { title: `Benchmarks: ${title}`, sides: '', sentence: verdict + table.verdictText, shown: '' };
    const columns = grid.columns.filter(({ id }) => id !== 'picture');
    const narrowed = [this.search.value, ...verdicts].filter(Boolean).join(', ');
    const done = await copied(markdownOf(summary, columns, this.listed, narrowed));
    this.say(done ? 'list copied' : 'cannot copy here');
  }

  /** Says something about the list. @param {string} text */
  say(text) {
    this.how.hidden = false;
    this.how.replaceChildren(text);
  }

  /** Called before the list is taken off the page. */
  leave() {
    this.scrollTop = this.grid.body.scrollTop;
  }

  /** Called when the list stands on the page again. */
  enter() {
    this.grid.body.scrollTop = this.scrollTop;
    this.grid.paint();
  }

  /** Does what a key means in the list. @param {KeyboardEvent} event */
  onKey(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === 'INPUT') return;
    if (event.key === '/') this.search.focus();
    else if (event.key === 'E') this.#copy();
    else if (/^(Arrow(Up|Down)|Page(Up|Down))$/.test(event.key)) this.#intoList();
    else if (event.key === 'Escape') this.#clear();
    else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #searchKey(event) {
    if (event.key === 'ArrowDown' || event.key === 'Enter') this.#intoList();
    else if (event.key === 'Escape') this.#clear();
    else return;
    event.preventDefault();
  }

  /** Moves the focus to the list, and to its first row where none is selected. */
  #intoList() {
    const { grid } = this;
    const selected = this.listed.find((b) => b.f.id === grid.selected) || this.listed[0];
    grid.body.focus();
    if (selected) this.#selected(selected);
  }

  /** Lists all benchmarks again. */
  #clear() {
    this.search.value = '';
    this.verdicts.clear();
    for (const chip of this.chips.children) chip.setAttribute('aria-pressed', 'false');
    this.how.hidden = true;
    this.grid.selected = null;
    this.fill();
  }
}
