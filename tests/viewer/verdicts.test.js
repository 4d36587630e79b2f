// SPDX-License-Identifier: GPL-3.0-or-later
// A verdict is about what was tested: it stays whichever way the page shows that, and every proven change is seen.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codes, filters, hash, symbols } from './lib/modules.js';
import { comparedPage, functionOf, readPage, shown } from './lib/pages.js';
import { randomFrom, randomPage } from './lib/random.js';

const { INTERRUPTS, PLACE, STATES, SYSTEM, UNTESTED } = codes;
const PROVEN = [...symbols.PROVEN];

/** Every view of a page that leaves all of its samples. */
const TOGGLES = ['show', 'hide', 'fold'].flatMap((system) =>
  ['show', 'fold'].flatMap((interrupts) =>
    ['function', 'apart'].flatMap((interpreter) =>
      ['', 'r'].flatMap((folded) =>
        [true, false].map((processes) => ({ system, interrupts, interpreter, filters: folded, processes })),
      ),
    ),
  ),
);
const VIEWS = [{}, { view: 'base' }, { view: 'head', order: 'size' }, { reversed: true, order: 'change' }, { inverted: true }];

/** A random page with random verdicts. @param {number} seed */
function judgedPage(seed) {
  const page = randomPage(seed);
  const random = randomFrom(seed + 1000);
  const state = () => (random(3) ? PROVEN[random(2)] : random(2));
  for (let i = 0; i < page.tree.count; i++) page.tree.state[i] = state();
  for (const f of page.functions) {
    const estimate = () => ({ base: 1, head: 2, delta: 1, low: null, high: null, detectable: null, state: STATES[state()] });
    Object.assign(f, { self: estimate(), total: estimate() });
  }
  for (let i = 1; i < page.tree.count; i++) if (random(2)) page.tree.flags[i] |= PLACE;
  for (const { threads } of page.meta.recordings)
    threads.forEach((/** @type {any[]} */ thread, /** @type {number} */ i) => (thread[3] = ['sh', 'cc', 'sh'][i]));
  return page;
}

const PAGES = /** @type {[string, () => any][]} */ ([
  ...['diff', 'scaled', 'timeline', 'waits', 'interrupts', 'processes', 'bottlenecks'].map((kind) => [kind, () => readPage(kind)]),
  ...[1, 2, 3, 4].map((seed) => [`random ${seed}`, () => judgedPage(seed)]),
  ...[
    ['gunicorn_base', 'gunicorn_head'],
    ['nginx_base', 'nginx_head'],
    ['postgres_base', 'postgres_head'],
    ['python_base', 'python_twice'],
    ['inlined_base_1', 'inlined_head_1'],
  ].map(([base, head]) => [head, () => comparedPage(`pairs/${base}.pb.gz`, `pairs/${head}.pb.gz`)]),
]);

/** The functions of the frames from the root to a node without those that are taken out. @param {any} tree @param {number} node @param {(func: number) => boolean} isOut */
function pathTo(tree, node, isOut) {
  const out = [];
  for (let at = node; at > 0; at = tree.parent[at]) if (!isOut(tree.func[at])) out.push(tree.func[at]);
  return out.join(' ');
}

/** How many outermost frames each function has. @param {any} tree @param {number[]} nodes */
function places(tree, nodes) {
  const isOutermost = (/** @type {number} */ node) => {
    for (let at = tree.parent[node]; at > 0; at = tree.parent[at]) if (tree.func[at] === tree.func[node]) return false;
    return true;
  };
  return nodes.filter(isOutermost).length;
}

/** The one rule, done frame by frame. @param {any} page @param {number[]} nodes that are joined @param {number[]} all nodes of the function */
function joinedByHand({ functions, tree }, nodes, all) {
  const found = new Set(nodes.map((node) => tree.state[node]));
  if (found.size === 1) return tree.state[nodes[0]];
  if (places(tree, nodes) === places(tree, all)) return codes.stateOf(functions[tree.func[nodes[0]]].total);
  const size = (/** @type {number} */ node) => tree.total[0][node] + tree.total[1][node];
  return tree.state[nodes.reduce((best, node) => (size(node) > size(best) ? node : best))];
}

for (const [name, read] of PAGES) {
  test(`${name}: no toggle changes the verdict on a function`, () => {
    const page = read();
    const tested = page.functions.map((/** @type {any} */ f) => symbols.verdictOn(f));
    const known = page.functions.length;
    for (const toggle of TOGGLES)
      for (const view of VIEWS) {
        const model = shown({ ...page, functions: page.functions.slice(0, known) }, { ...toggle, ...view });
        for (let f = 0; f < known; f++) assert.deepEqual(model.verdictOn(model.functions[f]), tested[f], JSON.stringify(toggle));
        if (!view.inverted) continue;
        for (let at = model.tree.first(0); at >= 0; at = model.tree.next(at))
          assert.equal(model.tree.state[at], codes.stateOf(model.functions[model.tree.func[at]].self));
      }
  });

  test(`${name}: a frame keeps the verdict of the frames that it stands for`, () => {
    const page = read();
    const { functions, tree } = page;
    const all = new Map();
    for (let i = 1; i < tree.count; i++) all.set(tree.func[i], [...(all.get(tree.func[i]) || []), i]);
    for (const [system, interrupts] of [['show', 'show'], ['hide', 'show'], ['fold', 'show'], ['show', 'fold']]) {
      const model = shown({ ...page, functions: functions.slice() }, { system, interrupts, processes: false });
      const least = system === 'show' ? (interrupts === 'fold' ? INTERRUPTS : Infinity) : SYSTEM;
      const isOut = (/** @type {number} */ f) => functions[f].origin >= least && !model.classes?.[f];
      /** @type {Map<string, number[]>} */ const sources = new Map();
      for (let i = 1; i < tree.count; i++) {
        const path = pathTo(tree, i, isOut);
        if (!isOut(tree.func[i])) sources.set(path, [...(sources.get(path) || []), i]);
      }
      const { callTree } = model;
      assert.equal(callTree.state[0], tree.state[0]);
      for (let i = 1; i < callTree.count; i++) {
        const nodes = sources.get(pathTo(callTree, i, () => false)) || [];
        assert.equal(callTree.state[i], joinedByHand(page, nodes, all.get(callTree.func[i])));
        assert.equal(callTree.flags[i] & PLACE, Math.max(...nodes.map((node) => tree.flags[node] & PLACE)));
      }
    }
  });

  test(`${name}: below rows of processes a frame has the verdict of the tested one, or none`, () => {
    const page = read();
    const model = shown(page);
    const { from } = model.callTree;
    if (!from) return;
    const kept = new Set();
    for (let i = 1; i < from.length; i++) {
      const state = model.callTree.state[i];
      if (from[i] > 0) assert.ok([page.tree.state[from[i]], UNTESTED].includes(state));
      if (state !== UNTESTED) kept.add(from[i]);
    }
    if (name.startsWith('random')) return; // Their verdicts are not those of their figures.
    for (let i = 1; i < page.tree.count; i++) if (PROVEN.includes(page.tree.state[i])) assert.ok(kept.has(i));
  });

  test(`${name}: every proven change of a function has a frame that shows it`, () => {
    if (name.startsWith('random')) return;
    for (const toggle of TOGGLES) {
      const model = shown(read(), { ...toggle, filters: '' });
      const seen = model.verdicts.functionsWith([...PROVEN].join(''));
      for (const { f } of symbols.provenIn(model.functions))
        if (model.framesOf(f.id).length) assert.equal(seen[f.id], 1, `${f.name}: ${JSON.stringify(toggle)}`);
    }
  });
}

test('a filter that leaves a part of the samples takes verdicts away; one that leaves all of them takes none', () => {
  const page = readPage('diff');
  const parse = functionOf(shown(page), 'parse');
  const only = filters.withFilter('', 'without', hash.hashOf(functionOf(shown(page), 'lex')));
  assert.equal(shown(page, { filters: only }).verdictOn(functionOf(shown(page), 'lex')).e.state, 'untested');
  const merged = filters.withFilter('', 'merge', hash.hashOf(functionOf(shown(page), 'lex')));
  assert.equal(shown(page, { filters: merged }).verdictOn(parse).e.state, symbols.verdictOn(parse)?.e.state);
  assert.equal(shown(page, { filters: merged }).stateOf(0), shown(page).stateOf(0));
});

test('no filter that takes frames out changes a verdict on a function', () => {
  for (const [name, read] of PAGES) {
    const page = read();
    const whole = shown(page);
    const states = whole.functions.map((/** @type {any} */ f) => whole.verdictOn(f)?.e.state);
    const word = whole.functions[Math.floor(whole.functions.length / 2)].name.slice(0, 3).replace(/\W/g, '.');
    for (const [kind, of] of /** @type {const} */ ([['user', ''], ['library', ''], ['system', ''], ['hide', word], ['hide', 'module:.']])) {
      const model = shown(page, { filters: filters.withFilter('', kind, of) });
      assert.equal(model.isPart, false, `${name} ${kind}`);
      const now = model.functions.slice(0, states.length).map((/** @type {any} */ f) => model.verdictOn(f)?.e.state);
      assert.deepEqual(now, states, `${name} ${kind} ${of}`);
    }
  }
});
