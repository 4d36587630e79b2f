// SPDX-License-Identifier: GPL-3.0-or-later
// Filters on functions, modules and processes: what they keep, merge and fold, against the same done stack by stack.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codes, expressions, filters, folding, hash, NameSearch, processes, state as states, symbols } from './lib/modules.js';
import { functionOf, shown } from './lib/pages.js';
import { byPath, childrenOf, namesTo, property, randomPage, SEEDS } from './lib/random.js';

const { withFilter } = filters;

/** The text of filters. @param {...[string, any]} list kinds, and what each is about: a function or a name */
function text(...list) {
  return list.reduce((before, [kind, of]) => {
    const own = of?.key ? hash.hashOf(of) : of ? hash.shortHash(of) : '';
    return withFilter(before, kind, own);
  }, '');
}

/** All stacks, as names of frames, with base and head. @param {any} page @returns {[string[], number[]][]} */
const stacksOf = (page) => [...byPath(page, page.tree)].map(([path, sum]) => [path.split(';'), sum]);

/**
 * Stacks by path after each was changed; null drops one.
 * @param {any} page @param {(frames: string[]) => string[]|null} change
 */
function changed(page, change) {
  const out = new Map();
  for (const [frames, sum] of stacksOf(page)) {
    const path = change(frames)?.join(';');
    if (path === undefined) continue;
    const before = out.get(path) || [0, 0];
    out.set(path, [before[0] + sum[0], before[1] + sum[1]]);
  }
  return out;
}

/** @param {Map<string, number[]>} map */
const sorted = (map) => [...map].filter(([, sum]) => sum[0] || sum[1]).sort(([a], [b]) => (a < b ? -1 : 1));

/** The stacks that a state shows; those of the root alone have an empty path. @param {any} page @param {object} change */
function stacksShown(page, change) {
  const { callTree } = shown(page, change);
  const out = byPath(page, callTree);
  if (callTree.self[0][0] || callTree.self[1][0]) out.set('', [callTree.self[0][0], callTree.self[1][0]]);
  return sorted(out);
}

/** The way that is left of a walk without its loops, frame by frame. @param {string[]} frames */
function withoutLoops(frames) {
  const way = [];
  for (const frame of frames) {
    const at = way.indexOf(frame);
    if (at < 0) way.push(frame);
    else way.length = at + 1;
  }
  return way;
}

property('only stacks with a function, and those without one, are two halves of all', (page) => {
  for (const f of page.functions.slice(0, 5)) {
    const only = stacksShown(page, { filters: text(['only', f]) });
    const without = stacksShown(page, { filters: text(['without', f]) });
    assert.deepEqual(only, sorted(changed(page, (frames) => (frames.includes(f.name) ? frames : null))));
    assert.deepEqual(without, sorted(changed(page, (frames) => (frames.includes(f.name) ? null : frames))));
  }
});

property('filters can be combined: each keeps a part of what the others keep', (page) => {
  const [, a, b, c] = page.functions;
  const made = stacksShown(page, { filters: text(['only', a], ['without', b], ['merge', c], ['module', 'libz.so']) });
  const inLibrary = new Set(page.functions.filter((/** @type {any} */ f) => f.module === 'libz.so').map(({ name }) => name));
  const byHand = changed(page, (frames) => {
    const kept = frames.includes(a.name) && !frames.includes(b.name) && frames.some((name) => inLibrary.has(name));
    return kept ? frames.filter((name) => name !== c.name) : null;
  });
  assert.deepEqual(made, sorted(byHand));
});

property('a merged function gives its self time to its callers', (page) => {
  for (const f of page.functions.slice(0, 4))
    assert.deepEqual(
      stacksShown(page, { filters: text(['merge', f]) }),
      sorted(changed(page, (frames) => frames.filter((name) => name !== f.name))),
    );
});

property('only the code of one origin: frames of the others are merged, and those of no origin stay', (page) => {
  for (const kind of ['user', 'library', 'system']) {
    const others = new Set(
      page.functions.filter(({ origin }) => origin !== 0 && codes.ORIGINS[origin] !== kind).map(({ name }) => name),
    );
    assert.deepEqual(
      stacksShown(page, { filters: text([kind, '']) }),
      sorted(changed(page, (frames) => frames.filter((name) => !others.has(name)))),
    );
  }
});

property('an expression keeps the stacks with what it means, or takes the frames of that out', (page) => {
  for (const [expression, means] of /** @type {[string, (f: any) => boolean][]} */ ([
    ['F[13]$', () => false],
    ['f[13]$', ({ name }) => /f[13]$/.test(name)],
    ['module:libz.so.1.3', ({ module }) => module === 'libz.so'],
    ['f2|f5', ({ name }) => /f2|f5/.test(name)],
  ])) {
    const names = new Set(page.functions.filter(means).map((/** @type {any} */ f) => f.name));
    const has = (/** @type {string} */ name) => names.has(name);
    const only = stacksShown(page, { filters: withFilter('', 'focus', expression) });
    const left = stacksShown(page, { filters: withFilter('', 'hide', expression) });
    // What means nothing is not obeyed.
    assert.deepEqual(only, sorted(changed(page, (frames) => (!names.size || frames.some(has) ? frames : null))), expression);
    assert.deepEqual(left, sorted(changed(page, (frames) => frames.filter((name) => !has(name)))), expression);
  }
});

property('a recursion is folded into its outermost frame, direct or by way of others', (page) => {
  assert.deepEqual(stacksShown(page, { filters: text(['recursion', '']) }), sorted(changed(page, withoutLoops)));
});

property('folding keeps the self time of every function, and siblings stand in the shared order', (page) => {
  const before = shown(page);
  const model = shown(page, { filters: text(['recursion', '']) });
  assert.deepEqual(model.sums.self, before.sums.self);
  assert.deepEqual(model.totals(), before.totals());
  const { callTree, functions } = model;
  for (let i = 0; i < callTree.count; i++) {
    const ranks = childrenOf(callTree, i).map((child) => functions[callTree.func[child]].rank);
    assert.deepEqual(ranks, [...new Set(ranks)].sort((a, b) => a - b));
  }
});

test('deep recursions with branches fold to what the loop erasure of each stack is', () => {
  for (const seed of SEEDS) {
    const page = randomPage(seed, { stacks: 300 });
    for (let i = 1; i < page.tree.count; i++) page.tree.func[i] %= 3;
    const { tree, repeated } = folding.foldedTree(page.tree, page.functions, { merged: null, recursion: true });
    const byHand = new Map();
    const loops = [0, 0];
    for (let i = 1; i < page.tree.count; i++) {
      const frames = namesTo(page, page.tree, i);
      const path = withoutLoops(frames).join(';');
      const sum = byHand.get(path) || [0, 0];
      [0, 1].forEach((side) => (sum[side] += page.tree.self[side][i]));
      if (new Set(frames).size < frames.length) [0, 1].forEach((side) => (loops[side] += page.tree.self[side][i]));
      byHand.set(path, sum);
    }
    assert.deepEqual(sorted(byPath(page, tree)), sorted(byHand));
    assert.deepEqual(repeated, loops);
  }
});

property('a frame keeps its verdict only where a filter leaves the figures that were tested', (page) => {
  page.tree.state.fill(2, 1);
  const f = page.functions[3];
  for (const change of [{ filters: text(['only', f]) }, { thread: 'thread 1' }, { range: [0, 5e6] }]) {
    const { callTree } = shown(page, change);
    for (let i = 1; i < callTree.count; i++) {
      const same = [0, 1].every((side) => callTree.total[side][i] === page.tree.total[side][i]);
      assert.equal(codes.STATES[callTree.state[i]], same ? 'more' : 'untested');
    }
  }
});

test('a function that a filter leaves whole keeps its verdict, with interrupts below it', () => {
  const model = shown('interrupts');
  const [parse, main] = ['parse', 'main'].map((name) => functionOf(model, name));
  const before = model.verdictOn(parse).e.state;
  for (const system of ['show', 'fold']) {
    model.update({ ...states.DEFAULTS, system, filters: text(['only', parse]) });
    assert.equal(model.verdictOn(parse).e.state, before);
    assert.equal(model.verdictOn(main).e.state, 'untested');
  }
});

/** A random page of three processes. @param {number} seed */
function severalProcesses(seed) {
  const page = randomPage(seed);
  for (const { threads } of page.meta.recordings)
    threads.forEach((/** @type {any[]} */ thread, /** @type {number} */ i) => (thread[3] = ['sh', 'cc', 'sh'][i]));
  return page;
}

test('processes are the first row: each has the stacks of its samples', () => {
  for (const seed of SEEDS) {
    const page = severalProcesses(seed);
    const expected = new Map();
    page.samples.forEach((/** @type {any} */ samples, /** @type {number} */ side) => {
      for (let i = 0; i < samples.count; i++) {
        const path = [['sh', 'cc', 'sh'][samples.thread[i]], ...namesTo(page, page.tree, samples.node[i])].join(';');
        if (!expected.has(path)) expected.set(path, [0, 0]);
        expected.get(path)[side] += samples.values[0][i];
      }
    });
    const whole = shown(page, { processes: false });
    assert.deepEqual(whole.callTree, page.tree);
    assert.deepEqual(stacksShown(page, {}), sorted(expected));
    const model = shown(page);
    assert.deepEqual(model.totals(), whole.totals());
    assert.deepEqual([...model.sums.total[0].subarray(0, 14)], [...whole.sums.total[0].subarray(0, 14)]);
    const only = stacksShown(page, { filters: text(['process', 'cc']) });
    assert.deepEqual(only, sorted(expected).filter(([path]) => path.startsWith('cc')));
  }
});

test('below the row of a process a frame keeps its verdict where it has a part in it, and its interval where it is all of it', () => {
  const page = severalProcesses(7);
  page.tree.state.fill(2, 1);
  page.tree.intervals = new Map(Array.from({ length: page.tree.count }, (_, i) => [i, [i, i + 1]]));
  const model = shown(page);
  const { callTree } = model;
  let kept = 0;
  for (let i = 1; i < callTree.count; i++) {
    const from = callTree.from[i];
    const same = from > 0 && [0, 1].every((side) => callTree.total[side][i] === page.tree.total[side][from]);
    const grows = from > 0 && callTree.total[1][i] > callTree.total[0][i];
    assert.equal(codes.STATES[callTree.state[i]], same || grows ? 'more' : 'untested');
    assert.equal(model.intervalOf(i) !== null, same);
    if (same) kept++;
  }
  assert.ok(kept > 0);
  assert.equal(model.filtered, false, 'figures of functions are those that were tested');
});

test('a path leads to the same frame with the rows of processes and without them', () => {
  const page = severalProcesses(5);
  const [model, whole] = [shown(page), shown(page, { processes: false })];
  for (let i = 1; i < model.tree.count; i += 7) {
    const path = model.pathTo(i);
    assert.equal(states.nodeAt(model.tree, model.functions, path), i);
    const same = states.nodeAt(whole.tree, whole.functions, path);
    assert.deepEqual(namesTo(whole, whole.tree, same), namesTo(model, model.tree, i).slice(1));
    const back = states.nodeAt(model.tree, model.functions, whole.pathTo(same));
    assert.equal(model.tree.func[back], whole.tree.func[same] < 0 ? -1 : model.tree.func[i]);
  }
});

test('a tree that would be too large with its processes stays as it is', () => {
  const page = severalProcesses(2);
  const values = page.samples.map((/** @type {any} */ side) => side.values[0]);
  const threads = page.meta.recordings.map((/** @type {any} */ r) => r.threads);
  const split = { ...page, values, threads, rows: processes.processRows(page.meta.recordings), factor: 1, isPart: false, first: 14 };
  const { count } = processes.splitTree(split);
  assert.equal(processes.splitTree({ ...split, most: count })?.count, count);
  assert.equal(processes.splitTree({ ...split, most: count - 1 }), null);
});

test('the share of each filter is that of the filter alone', () => {
  const page = randomPage(11);
  const [, a, b] = page.functions;
  const state = { ...states.DEFAULTS, filters: text(['only', a], ['without', b], ['user', '']), thread: 'thread 2' };
  const times = shown(page, state).filterTimes(state);
  const withName = (/** @type {any} */ f) =>
    [...changed(page, (frames) => (frames.includes(f.name) ? frames : null)).values()].reduce(
      (sum, pair) => [sum[0] + pair[0], sum[1] + pair[1]],
      [0, 0],
    );
  assert.deepEqual(times.filters.slice(0, 2), [withName(a), withName(b)]);
  const { self } = shown(page).sums;
  const others = page.functions.filter(({ origin }) => origin === codes.LIBRARY || origin === codes.SYSTEM);
  assert.deepEqual(
    times.filters[2],
    self.map((/** @type {Float64Array} */ side) => others.reduce((sum, f) => sum + side[f.id], 0)),
  );
  assert.deepEqual(times.thread, shown(page, { thread: 'thread 2' }).totals());
  assert.deepEqual(times.all, shown(page).totals());
});

test('the text of filters: each one once, a function has one of its kinds, and a wrong text does no harm', () => {
  const once = withFilter(withFilter('', 'only', 'a1'), 'only', 'a1');
  assert.equal(once, 'oa1');
  assert.equal(withFilter(once, 'without', 'a1'), 'wa1');
  assert.equal(withFilter(withFilter('', 'process', 'x'), 'process', 'y'), 'py');
  const many = ['only', 'user', 'recursion'].reduce((before, kind) => withFilter(before, kind, kind === 'only' ? 'b' : ''), '');
  assert.equal(many, 'ob.u.r');
  assert.equal(filters.withoutFilter(many, 'user'), 'ob.r');
  assert.equal(filters.withoutLast(many), 'ob.u');
  assert.ok(filters.hasFilter(many, 'recursion') && !filters.hasFilter(many, 'only', 'a'));
  assert.deepEqual(filters.filtersOf('?x..q'), []);
  assert.equal(filters.filtersOf(Array(99).fill('oa').join('.')).length, 30);
  const page = randomPage(4);
  const lost = shown(page, { filters: 'ozzz.lnone.pnone' });
  assert.deepEqual(lost.totals(), shown(page).totals(), 'what the report lacks is not obeyed');
  assert.equal(lost.isPart, false);
});

test('a filter has what the search found: the expression with the part that it was found in', () => {
  const page = randomPage(4);
  const names = new NameSearch(page.functions, () => {});
  const expressionOf = (/** @type {string} */ search) => (names.find(search), names.expression);
  assert.equal(expressionOf('f3'), 'f3');
  assert.equal(expressionOf('libz'), 'module:libz');
  assert.equal(expressionOf('libz.so.1'), 'module:libz.so.1', 'the name of a file');
  assert.equal(expressionOf('module:libz'), 'module:libz');
  assert.equal(expressionOf('nothing is called so'), '');
  assert.equal(expressionOf(''), '');
  for (const search of ['f3', 'libz', 'f[12]', 'F1', 'f(', 'module:APP'])
    if (expressionOf(search)) assert.deepEqual(new expressions.Expressions(page.functions).find(names.expression)?.hits, names.find(search), search);
});

test('expressions come back from an address as they were', () => {
  for (const expression of ['a.b~c', '~d.~t', 'std::vector<int>::(push|pop)_back$', 'módulo', '.', '~', ''])
    assert.deepEqual(filters.filtersOf(withFilter('u', 'hide', expression)), [{ kind: 'user', hash: '' }, { kind: 'hide', hash: expression }]);
  const [a, b] = [withFilter('', 'focus', 'a.b'), withFilter(withFilter('', 'focus', 'a.b'), 'hide', 'a.b')];
  assert.equal(filters.withoutFilter(b, 'hide', 'a.b'), a);
  assert.equal(withFilter(withFilter('', 'user'), 'library'), 'b', 'one origin at a time');
  const state = states.fromHash(states.toHash({ ...states.DEFAULTS, filters: b }, states.DEFAULTS), states.DEFAULTS);
  assert.equal(state.filters, b);
});

test('an expression that could take for ever is tried apart, and a renamed function is meant by both its names', async () => {
  const page = randomPage(4);
  const found = new expressions.Expressions(page.functions);
  const hits = new Uint8Array(page.functions.length);
  hits[1] = 1;
  page.functions[1].movedTo = 5;
  /** @type {string[]} */ const tried = [];
  found.runApart = (pattern, part, done) => {
    tried.push(`${part} ${pattern.source}`);
    setTimeout(() => (pattern.source.startsWith('(a') ? done(null, 'too slow') : done(hits, '')));
  };
  const both = ['(x+x+)+y', 'module:(a|a)*b', 'f1'];
  assert.deepEqual(found.unknown(both), both.slice(0, 2));
  await found.read(both);
  assert.deepEqual(tried, ['name (x+x+)+y', 'module (a|a)*b']);
  assert.deepEqual(found.unknown(both), []);
  assert.deepEqual([...found.find(both[0])?.hits || []].flatMap((hit, f) => (hit ? [f] : [])), [1, 5]);
  assert.deepEqual(found.find(both[1]), { hits: null, error: 'too slow' });
  const model = shown(randomPage(4), { filters: withFilter('', 'focus', '(x+x+)+y') });
  assert.equal(model.isPart, false, 'what is not known is not obeyed');
});
