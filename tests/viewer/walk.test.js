// SPDX-License-Identifier: GPL-3.0-or-later
// Thousands of selections, under every view, metric, toggle and filter: what the page writes of one thing in its inspector,
// list, tooltip, status line, copied stack, chips, header, announcements and sentences is the same, and adds up.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Element, pretend } from './lib/dom.js';
import { Changing, chips, figures, functionlist, hash, header, inspector, Model, state as states, status, tooltip } from './lib/modules.js';
import { comparedPage, readPage } from './lib/pages.js';
import { randomFrom, randomPage } from './lib/random.js';

pretend();

/** The page of two recordings in tests/data/pairs. @param {string} name */
const pair = (name) => comparedPage(`pairs/${name}_base.pb.gz`, `pairs/${name}_head.pb.gz`);

/** How many selections are looked at in all. */
const SELECTIONS = 2000;
/** How many of them under one state. */
const AT_ONCE = 8;

/** The pages by what they are, made when they are looked at. @type {[string, () => any][]} */
const PAGES = [
  ...['diff', 'scaled', 'places', 'timeline', 'interrupts', 'processes', 'python', 'waits', 'metrics', 'empty-base', 'empty-head', 'single', 'bottlenecks-single', 'requests-single'].map(
    (kind) => /** @type {[string, () => any]} */ ([kind, () => readPage(kind)]),
  ),
  ...[1, 2, 3].map((seed) => /** @type {[string, () => any]} */ ([`random ${seed}`, () => worded(randomPage(seed))])),
  ...['gunicorn', 'nginx', 'redis', 'postgres'].map((name) => /** @type {[string, () => any]} */ ([name, () => pair(name)])),
];

/** A random page with what views read beside its tables. @param {any} page */
function worded(page) {
  for (const f of page.functions) Object.assign(f, { place: f.module, fullName: f.name, movedTo: -1, changedLine: 0, languages: 0, members: [] });
  const verdict = { verdict: 'inconclusive', verdictText: '', evidence: {}, ruleTexts: {}, nameSources: [], sameCodeWords: '', warnings: [], commits: [] };
  return { ...page, meta: { ...page.meta, ...verdict }, bottlenecks: null, releases: [null, null] };
}

/** An expression that means a function, its module or others that are called like it, as a filter has it. @param {any} f */
const expressionOf = ({ module, name }) => (module ? `module:^${module}` : name.slice(0, 3)).replace(/[[\]()*+?{}|\\]/g, '.').replaceAll('.', '~d');

/** Parts of a state that go together with any others. @param {(below: number) => number} random @param {any} model */
function randomState(random, model) {
  const pick = (/** @type {any[]} */ list) => list[random(list.length)];
  const some = () => hash.hashOf(pick(model.functions));
  const called = () => expressionOf(pick(model.functions));
  const sometimes = (/** @type {() => object} */ make, odds = 3) => (random(odds) ? {} : make());
  return {
    tab: 'functions',
    view: pick(['diff', 'diff', 'base', 'head']),
    ...sometimes(() => ({ system: pick(['hide', 'fold']) })),
    ...sometimes(() => ({ interrupts: 'fold' })),
    ...sometimes(() => ({ interpreter: 'apart' })),
    ...sometimes(() => ({ inverted: true })),
    ...sometimes(() => ({ reversed: true })),
    ...sometimes(() => ({ removed: true })),
    ...sometimes(() => ({ order: pick(['size', 'change']) })),
    ...sometimes(() => ({ [pick(['callers', 'callees'])]: some() }), 5),
    ...sometimes(() => ({ processes: false })),
    ...sometimes(() => ({ thread: pick([...model.narrowing.threadNames().keys(), '']) }), 5),
    ...sometimes(() => ({ metric: pick(model.meta.metrics).name }), 5),
    ...sometimes(() => ({ range: [0, 400000] }), 8),
    ...sometimes(() => ({ filters: pick([`o${some()}`, `w${some()}`, `m${some()}`, `f${called()}`, `h${called()}`, 'u', 'b', 's', 'r']) })),
  };
}

const UNITS = /** @type {Record<string, number>} */ ({ ns: 1, µs: 1e3, ms: 1e6, s: 1e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 });

/** An amount as it is written, and how far its value may be from that. @param {string} text @returns {{value: number, by: number}} */
function amountOf(text) {
  const found = /^([+−±]?)([\d,]+(?:\.\d+)?)(?: (\S+))?$/.exec(text);
  assert.ok(found, `an amount: "${text}"`);
  const [, sign, digits, unit] = found;
  const size = UNITS[unit] || 1;
  const decimals = digits.split('.')[1]?.length || 0;
  const value = Number(digits.replaceAll(',', '')) * size;
  return { value: sign === '−' ? -value : value, by: 0.5001 * size * 10 ** -decimals };
}

/** @param {string} text '12.5 %' @returns {{value: number, by: number}} */
function shareOf(text) {
  const found = /^([\d,]+(?:\.(\d+))?) %$/.exec(text);
  assert.ok(found, `a share: "${text}"`);
  return { value: Number(found[1].replaceAll(',', '')), by: 0.5001 * 10 ** -(found[2]?.length || 0) };
}

/** Whether amounts add up to a sum, as far as what is written can tell. @param {string[]} parts @param {string} sum @param {string} what */
function addUp(parts, sum, what) {
  const all = parts.map(amountOf);
  const whole = amountOf(sum);
  const off = Math.abs(all.reduce((left, { value }) => left - value, whole.value));
  assert.ok(off <= all.reduce((by, one) => by + one.by, whole.by), `${what}: ${parts.join(' + ')} is not ${sum}`);
}

/** The rows of a table of figures: what each is of, its texts, and the verdict below it. @param {any} table */
function rowsOf(table) {
  /** @type {{name: string, cells: string[][], about: string}[]} */ const rows = [];
  for (const row of table.all('tr')) {
    if (row.className === 'about') rows[rows.length - 1].about = row.textContent;
    else if (row.children[0]?.scope === 'row') {
      const [name, ...cells] = row.children;
      const texts = (/** @type {any} */ cell) => [cell.children[0]?.content[0] || cell.textContent, ...cell.all('small').map((/** @type {any} */ s) => s.textContent)];
      rows.push({ name: name.textContent, cells: cells.map(texts), about: '' });
    }
  }
  return rows;
}

/** The bars of a section: the amounts on the sides that are shown. @param {any} root @param {string} title @returns {string[][]|null} */
function barsOf(root, title) {
  const section = root.all('section').find((/** @type {any} */ one) => one.children[0]?.textContent.startsWith(title));
  const amount = (/** @type {any} */ line) => line.children[2].textContent.replace(/ [\d.,]+ %$| –$/, '');
  return section ? section.all('li').map((/** @type {any} */ li) => li.all('span', 'side').map(amount)) : null;
}

/** That a share is that of an amount, as far as what is written can tell. @param {string} text @param {string} share @param {string} whole @param {string} what */
function checkShare(text, share, whole, what) {
  const [part, all, written] = [amountOf(text), amountOf(whole), shareOf(share)];
  const least = (100 * (part.value - part.by)) / (all.value + all.by) - written.by;
  const most = (100 * (part.value + part.by)) / (all.value - all.by) + written.by;
  assert.ok(written.value >= least && written.value <= most, `${what}: ${text} is ${share} of ${whole}`);
}

/** That what stands in a row is consistent in itself. @param {any} row @param {any} whole @param {string} what */
function checkRow({ name, cells, about }, whole, what) {
  const [base, head, difference] = cells;
  if (difference[0] === '–') return;
  addUp([base[0], difference[0]], head[0], `${what} ${name}`);
  for (const [side, [text, share]] of [base, head].entries()) {
    if (share === '–' || name === 'interrupts') continue;
    checkShare(text, share, whole.amount(side), `${what} ${name}`);
  }
  const tested = / tested without filters: .*, ([+−±]\S*(?: [^\d\s]\S*)?)/.exec(about);
  const delta = tested ? tested[1] : difference[0];
  if (/^takes more|^new/.test(about)) assert.match(delta, /^\+/, `${what} ${name}: ${about}`);
  if (/^takes less|^gone/.test(about)) assert.match(delta, /^−/, `${what} ${name}: ${about}`);
}

/** The row of a function in the list: the texts of its columns. @typedef {(func: number) => Record<string, string>|null} ListRow */

/** What the list writes of each function. @param {any} model @param {any} state @returns {ListRow} */
function listOf(model, state) {
  const list = new functionlist.FunctionList(model, { pick() {}, menu() {} });
  list.fill(state);
  const { columns, rows } = list.parts.grid;
  const byFunction = new Map(rows.map((row) => [row.f.id, row]));
  return (func) => {
    const row = byFunction.get(func);
    return row ? Object.fromEntries(columns.map(({ id, text }) => [id, text(row)])) : null;
  };
}

/** Nothing happens to what is clicked here. */
const ACTIONS = new Proxy({}, { get: () => () => {} });

/** The last line of a copied stack, with one kind of gap. @param {any} model @param {number} node */
const copiedOf = (model, node) => (inspector.stackText(model, node).split('\n').pop() || '').trim().replace(/ {2,}/g, '  ');

/** The rows of the tooltip of a frame. @param {any} tip @param {any} model @param {number} node @returns {string[][]} */
function toldBy(tip, model, node) {
  tip.show(model, { node, merged: 1 });
  return tip.element.all('tr').map((/** @type {any} */ tr) => tr.children.map((/** @type {any} */ cell) => cell.textContent));
}

/**
 * That one selection of a report of one recording is told alike everywhere.
 * @param {any} model @param {number} node
 * @param {{here: any[], all: any[], row: Record<string, string>|null, tip: any}} views @param {string} what
 */
function checkSingle(model, node, { here, all, row, tip }, what) {
  const cellsOf = (/** @type {any[]} */ rows, /** @type {string} */ part) => rows.find(({ name }) => name === part).cells.map(([text]) => text);
  const told = toldBy(tip, model, node);
  for (const part of ['self', 'total']) {
    const cells = cellsOf(here, part);
    assert.deepEqual(told.find(([name]) => name === part)?.slice(1), cells, `${what}: tooltip`);
    if (row) assert.equal(row[part], cellsOf(all, part)[0], `${what}: list`);
  }
  const [amount, share] = cellsOf(here, 'total');
  assert.ok(status.figuresOf(model, node).includes(`${amount} ${share}`), `${what}: status "${status.figuresOf(model, node)}"`);
  if (node > 0) assert.ok(copiedOf(model, node).startsWith(`${amount}  ${share}`), `${what}: copied "${copiedOf(model, node)}"`);
}

/**
 * That the chip of a single filter says how much of everything is shown.
 * @param {any} model @param {any} state @param {string} what
 */
function checkChips(model, state, what) {
  const [row, filterRow] = [new Element('p'), new Element('p')];
  chips.drawChips(/** @type {any} */ (row), /** @type {any} */ (filterRow), /** @type {any} */ ({ model, state, set() {} }));
  const texts = [...row.all('button', 'chip'), ...filterRow.all('button', 'chip')].map((chip) => chip.textContent);
  const shares = texts.filter((text) => / of (base|head|all [a-z -]+)$/.test(text));
  // Other filters take no stacks away.
  if (shares.length !== 1 || !/^✕ (only stacks|only thread|without stacks)/.test(shares[0]) || 'rubsh'.includes(state.filters[0])) return 0;
  if (state.range || state.system !== 'show' || state.interrupts !== 'show') return 0;
  const { side } = model;
  const all = model.filterTimes(state).all[side] * (side ? model.factor : 1);
  const shown = model.totals()[side];
  const found = /([\d.,]+ %) of (?:base|head|all)/.exec(shares[0]);
  if (!found) return 0;
  const written = shareOf(found[1]);
  const part = (100 * (shares[0].includes('left out') ? all - shown : shown)) / all;
  assert.ok(Math.abs(part - written.value) <= written.by + 1e-6, `${what}: "${shares[0]}", and ${part} % is shown`);
  return 1;
}

/** That the table of origins is consistent in itself, and all its rows are everything. @param {any} model @param {string} what */
function checkHeader(model, what) {
  const made = header.header(model, /** @type {any} */ (new Element('div')));
  made.complete();
  const rows = /** @type {any} */ (made.element).all('table', 'ledger')[0].all('tr').slice(1);
  const { total, unit } = model.meta;
  const whole = figures.partOf([total.base, total.head], [total.base, total.head], unit);
  const texts = rows.map((/** @type {any} */ tr) => tr.children.map((/** @type {any} */ cell) => cell.textContent));
  const parts = texts.filter(([name]) => ['user', 'library', 'system', 'unknown'].includes(name));
  const split = (/** @type {string} */ text) => /^(.*) ([\d.,]+ %|–)$/.exec(text)?.slice(1) || [];
  for (const [name, ...cells] of texts)
    if (model.sides === 2) checkRow({ name, cells: [split(cells[0]), split(cells[1]), [cells[2]]], about: '' }, whole, `${what} ledger`);
    else checkShare(cells[0], cells[1], whole.amount(1), `${what} ledger ${name}`);
  for (const side of model.sides === 2 ? [0, 1] : [1]) {
    const amounts = parts.map(([, ...cells]) => (model.sides === 2 ? split(cells[side])[0] : cells[0]));
    if (model.totals()[side]) addUp(amounts, whole.amount(side), `${what} ledger`);
  }
}

/** That the way through the changes announces the differences of the list. @param {any} model @param {any} state @param {ListRow} list @param {string} what */
function checkAnnounced(model, state, list, what) {
  /** @type {string[]} */ const texts = [];
  const way = new Changing(/** @type {any} */ ({ model, state: () => state, show() {}, announce: (/** @type {string} */ text) => texts.push(text) }));
  const changes = model.provenChanges();
  changes.slice(0, 3).forEach(() => way.next(1));
  if (!model.shownMetric.tested) return 0;
  let checked = 0;
  for (const text of texts) {
    const found = /^proven change (\d+) of/.exec(text);
    const row = found && list(changes[Number(found[1]) - 1].f.id);
    if (!row) continue;
    assert.ok(text.replace(/ · .*/, '').endsWith(`, ${row.delta}`), `${what}: "${text}" and ${row.delta}`);
    checked++;
  }
  return checked;
}

/**
 * That one selection is told alike everywhere.
 * @param {any} model @param {number} node @param {ListRow} list @param {any} tip @param {string} what
 */
function checkSelection(model, node, list, tip, what) {
  const func = model.tree.func[node];
  const whole = figures.wholeFigure(model);
  const shown = inspector.inspect(model, node, true, ACTIONS);
  const [here, all = here] = shown.all('table', 'figures').map(rowsOf);
  if (model.sides === 1) return checkSingle(model, node, { here, all, row: list(func), tip }, what);
  for (const row of [...here, ...all]) if (!row.name.startsWith('if compared')) checkRow(row, whole, what);
  const rowOf = (/** @type {any[]} */ rows, /** @type {string} */ name) => rows.find((row) => row.name === name).cells;
  const [base, head, difference] = rowOf(here, 'total');
  const line = status.figuresOf(model, node);
  assert.ok(line.startsWith(`base ${base.join(' ')} → head ${head.join(' ')}`) || difference[0] === '–', `${what}: status "${line}"`);
  const copied = copiedOf(model, node);
  if (node > 0 && difference[0] !== '–') assert.ok(copied.startsWith([base, head, difference].map(([text]) => text).join('  ')), `${what}: copied "${copied}"`);
  const told = toldBy(tip, model, node);
  for (const part of ['self', 'total']) {
    const [one, other, by] = rowOf(here, part);
    const [, span, change] = told.find(([name]) => name === part);
    assert.equal(span, `${one[0]} → ${other[0]}`, `${what}: tooltip`);
    if (by[0] !== '–') assert.equal(change, by[1], `${what}: tooltip`);
  }
  const row = list(func);
  if (row)
    for (const part of ['self', 'total']) {
      const [one, other, by] = rowOf(all, part);
      assert.deepEqual([row[`${part}-base`], row[`${part}-head`]], [one[0], other[0]], `${what}: list`);
      if (by[0] !== '–') assert.equal(row[part], by[0], `${what}: list`);
    }
  if (func < 0 || model.functions[func].isProcess) return;
  const total = figures.sidesShown(model).map((/** @type {number} */ side) => rowOf(all, 'total')[side][0]);
  const moves = model.hasInterpreters && !model.isApart;
  for (const title of ['Callers', ...(moves ? [] : ['Callees'])]) {
    const bars = barsOf(shown, title) || [];
    if (bars.length) total.forEach((sum, i) => addUp(bars.map((bar) => bar[i]), sum, `${what}: ${title}`));
  }
  const origins = barsOf(shown, 'Here, by origin');
  const own = figures.sidesShown(model).map((/** @type {number} */ side) => rowOf(here, 'total')[side][0]);
  if (origins && !model.isInterrupt(func)) own.forEach((sum, i) => addUp(origins.map((bar) => bar[i]), sum, `${what}: origins`));
}

/** That the proven changes are told with the figures of the list. @param {any} model @param {ListRow} list @param {string} what */
function checkOverview(model, list, what) {
  for (const { f, e, own } of model.shownChanges()) {
    const row = list(f.id);
    const figure = figures.changeFigure(model, { f, own });
    if (row && model.shownMetric.tested) assert.deepEqual([row.delta, row.change], [figure.difference, figure.change], `${what}: ${f.name}`);
    const tested = figures.testedFigure(model, f.id, own ? 'self' : 'total');
    const sentence = header.changeSentence(e.state, own, tested, model.meta);
    if (row && figures.showsTested(model) && e.state !== 'new' && e.state !== 'gone' && tested.pair[0])
      assert.ok(sentence.includes(`(${row.delta})`), `${what}: "${f.name}${sentence}" and ${row.delta}`);
  }
}

test(`${SELECTIONS} selections are told alike everywhere, and add up`, () => {
  const random = randomFrom(35);
  let [selections, chipped, announced] = [0, 0, 0];
  const each = Math.ceil(SELECTIONS / PAGES.length);
  for (const [name, make] of PAGES) {
    const page = make();
    const model = new Model(page);
    if (page.meta.ledger) {
      model.update(/** @type {any} */ ({ ...states.DEFAULTS }));
      checkHeader(model, name);
    }
    for (let i = 0; i < 12; i++) {
      const f = model.functions[random(model.functions.length)];
      const kind = 'owmf'[i % 4];
      const filters = `${kind}${kind === 'f' ? expressionOf(f) : hash.hashOf(f)}`;
      const state = { ...states.DEFAULTS, filters };
      model.update(/** @type {any} */ (state));
      chipped += checkChips(model, state, `${name} ${filters}`);
    }
    const tip = new tooltip.Tooltip();
    let empty = 0;
    for (let done = 0; done < each && empty < 50;) {
      const change = done ? randomState(random, model) : { tab: 'functions' };
      const state = { ...states.DEFAULTS, ...change };
      model.update(/** @type {any} */ (state));
      const list = listOf(model, state);
      const what = `${name} ${JSON.stringify(change)}`;
      if (model.sides === 2) checkOverview(model, list, what);
      if (model.sides === 2) announced += checkAnnounced(model, state, list, what);
      chipped += checkChips(model, state, what);
      const nodes = [0];
      for (let i = 0; i < 60 && nodes.length < AT_ONCE; i++) {
        const node = random(model.tree.count);
        model.tree.first(node);
        if (!nodes.includes(node) && node !== model.tree.twin && model.valueOf(node).some((value) => value > 0)) nodes.push(node);
      }
      if (nodes.length < 2) empty++;
      for (const node of nodes.slice(0, each - done)) checkSelection(model, node, list, tip, `${what} ${model.nameOf(node)}`);
      done += Math.min(nodes.length, each - done);
      selections += nodes.length;
    }
  }
  assert.ok(selections >= SELECTIONS, `${selections}`);
  assert.ok(chipped > 100 && announced > 100, `${chipped} chips, ${announced} announcements`);
});
