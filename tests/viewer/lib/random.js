// SPDX-License-Identifier: GPL-3.0-or-later
// Seeded random pages for properties that must hold of every page.

import { test } from 'node:test';

import { codes, system, tree as trees } from './modules.js';

/** Mulberry32. @param {number} seed @returns {(below: number) => number} a whole number from 0 */
export function randomFrom(seed) {
  let a = seed >>> 0;
  return (below) => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below);
  };
}

/** @param {(below: number) => number} random @param {number} count */
function randomFunctions(random, count) {
  const functions = Array.from({ length: count }, (_, id) => ({
    id,
    name: `f${id}`,
    fullName: `f${id}`,
    movedTo: -1,
    module: id % 4 ? 'app' : 'libz.so',
    file: '',
    line: 0,
    key: `f${id}\`app`,
    origin: random(4),
    rule: 0,
    source: 0,
    code: 0,
    rank: 0,
  }));
  [...functions].sort((a, b) => (a.key < b.key ? -1 : 1)).forEach((f, rank) => (f.rank = rank));
  return functions;
}

/**
 * A tree of nested maps, as the viewer's columns: in preorder, siblings by rank.
 * @param {any[]} functions
 * @param {any} root {func, children: Map, self: [base, head]}
 */
function toColumns(functions, root) {
  const nodes = [];
  const walk = (/** @type {any} */ node, /** @type {number} */ depth) => {
    node.id = nodes.length;
    node.depth = depth;
    nodes.push(node);
    const children = [...node.children.values()].sort((a, b) => functions[a.func].rank - functions[b.func].rank);
    for (const child of children) walk(child, depth + 1);
  };
  walk(root, 0);
  const tree = new trees.Tree(nodes.length);
  nodes.forEach((node, i) => {
    tree.func[i] = node.func;
    tree.depth[i] = node.depth;
    tree.self[0][i] = node.self[0];
    tree.self[1][i] = node.self[1];
  });
  trees.linkTree(tree);
  tree.total = tree.self.map((/** @type {Float64Array} */ self) => trees.totalsOf(tree, self));
  return tree;
}

/**
 * Random stacks (with recursion) of two sides, as a page: tree, samples of three threads, and a timeline of ten seconds.
 * @param {number} seed @param {{same?: boolean, stacks?: number}} [options] same: head is base
 */
export function randomPage(seed, { same = false, stacks = 120 } = {}) {
  const random = randomFrom(seed);
  const functions = randomFunctions(random, 14);
  const root = { func: -1, children: new Map(), self: [0, 0] };
  const samples = [];
  for (let s = 0; s < stacks; s++) {
    let node = root;
    for (let depth = 1 + random(9); depth > 0; depth--) {
      const func = random(functions.length);
      if (!node.children.has(func)) node.children.set(func, { func, children: new Map(), self: [0, 0] });
      node = node.children.get(func);
    }
    const base = random(4) ? 1 + random(50) : 0;
    const head = same ? base : random(4) ? 1 + random(50) : 0;
    samples.push([node, random(3), base, head]);
    node.self[0] += base;
    node.self[1] += head;
  }
  const tree = toColumns(functions, root);
  const sideSamples = [2, 3].map((column) => {
    const rows = samples.filter((row) => row[column]);
    return {
      count: rows.length,
      node: Int32Array.from(rows, (row) => row[0].id),
      thread: Int32Array.from(rows, (row) => row[1]),
      times: Float64Array.from(rows, (row) => row[column]),
      values: [Float64Array.from(rows, (row) => row[column])],
    };
  });
  const timelines = sideSamples.map((side) => {
    const events = [];
    side.times.forEach((times, sample) => {
      for (let i = 0; i < times; i++) events.push([random(1e7), sample]);
    });
    const threadOf = (e) => side.thread[e[1]];
    events.sort((a, b) => threadOf(a) - threadOf(b) || a[0] - b[0]);
    return {
      count: events.length,
      starts: Int32Array.from([0, 1, 2, 3], (thread) => events.filter((e) => threadOf(e) < thread).length),
      time: Float64Array.from(events, (e) => e[0]),
      sample: Int32Array.from(events, (e) => e[1]),
      weight: new Map(),
    };
  });
  const threads = [0, 1, 2].map((id) => [0, 1, id, 'app', `thread ${id}`]);
  const meta = {
    sides: 2,
    factor: 1,
    unit: 'count',
    metric: 'samples',
    metrics: [{ name: 'samples', unit: 'count', isCount: true, tested: true }],
    recordings: [
      { threads, hasTimeline: true },
      { threads, hasTimeline: true },
    ],
    functions: [],
  };
  return { meta, functions, tree, samples: sideSamples, timelines };
}

export const SEEDS = Array.from({ length: 25 }, (_, i) => i + 1);

/**
 * A test over random pages.
 * @param {string} name @param {(page: any) => void} check @param {(seed: number) => any} [make] makes a page
 */
export function property(name, check, make = randomPage) {
  test(name, () => SEEDS.forEach((seed) => check(make(seed))));
}

/** The names from the root to a node. @param {any} page @param {any} tree @param {number} node @returns {string[]} */
export function namesTo(page, tree, node) {
  const out = [];
  for (let at = node; at > 0; at = tree.parent[at]) out.push(page.functions[tree.func[at]].name);
  return out.reverse();
}

/** Self values by path: what a tree says, whatever its order. @param {any} page @param {any} tree @returns {Map<string, number[]>} */
export function byPath(page, tree) {
  const out = new Map();
  for (let i = 0; i < tree.count; i++)
    if (tree.self[0][i] || tree.self[1][i]) out.set(namesTo(page, tree, i).join(';'), [tree.self[0][i], tree.self[1][i]]);
  return out;
}

export const { STATES } = codes;

/** Makes every node of a tree that is made while it is looked at. @template T @param {T} tree @returns {T} */
export function unfold(tree) {
  const made = /** @type {any} */ (tree);
  for (let i = 0; i < made.count; i++) made.first(i);
  return tree;
}

/** @param {any} tree @param {number} node @returns {number[]} */
export function childrenOf(tree, node) {
  const out = [];
  for (let child = tree.first(node); child >= 0; child = tree.next(child)) out.push(child);
  return out;
}

/**
 * A tree without its system frames, and the time that is hidden.
 * @param {any} tree @param {any[]} functions @param {'hide'|'fold'} mode @param {number} [least] the first origin that disappears
 */
export function withoutSystem(tree, functions, mode, least) {
  const splicer = system.splicerOf(tree, functions, mode, least);
  splicer?.run();
  return splicer ? splicer.result() : { tree, hidden: [0, 0] };
}
