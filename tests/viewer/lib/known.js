// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of the pages "diff", "scaled", "same" and "single", in milliseconds a run; kinds.c holds the same. Ten runs a side,
// but for the head of "scaled", which has five.

export const RUNS = 10;
const MS = 1e6;

/** Stack below main (without it), base, head. */
const BELOW_MAIN = [
  ['parse', 40, 90],
  ['parse lex', 60, 110],
  ['parse malloc', 10, 10],
  ['parse malloc _int_malloc', 8, 8],
  ['parse malloc _int_malloc page_fault', 5, 5],
  ['compress', 200, 120],
  ['sort_items', 20, 20],
  ['sort_items qsort', 10, 10],
  ['sort_items qsort compare', 50, 50],
  ['sort_items qsort compare memcmp', 10, 10],
  ['old_cache', 60, 0],
  ['new_audit', 0, 70],
  ['render_page', 40, 40], // called format_page in base
  ['read', 5, 5],
  ['read sys_read', 30, 30],
  ...Array.from({ length: 30 }, (_, i) => [`steady steady_${String(i).padStart(2, '0')}`, 40, 40]),
];

export const SYSTEM = ['__libc_start_main', 'malloc', '_int_malloc', 'page_fault', 'qsort', 'memcmp', 'read', 'sys_read'];

/** [path, base, head] of every stack in nanoseconds over all runs. */
export const STACKS = [
  ...BELOW_MAIN.map(([path, base, head]) => [
    ['__libc_start_main', 'main', ...path.split(' ')],
    base * RUNS * MS,
    head * RUNS * MS,
  ]),
  [['0xdeadbeef'], 12 * RUNS * MS, 12 * RUNS * MS],
];

/** Sum of the stacks for which `test(path)` holds: [base, head]. @param {(path: string[]) => boolean} test */
export function sumOf(test) {
  const sum = [0, 0];
  for (const [path, base, head] of STACKS)
    if (test(path)) {
      sum[0] += base;
      sum[1] += head;
    }
  return sum;
}

export const TOTAL = sumOf(() => true);
/** @param {string} name */
export const totalOf = (name) => sumOf((path) => path.includes(name));
/** @param {string} name */
export const selfOf = (name) => sumOf((path) => path[path.length - 1] === name);
/** Time whose innermost frame is a system one: what "hidden with their time" hides. */
export const HIDDEN = sumOf((path) => SYSTEM.includes(path[path.length - 1]));

/** @param {string[]} path @param {string[]} start */
const startsWith = (path, start) => start.every((name, i) => path[i] === name);

/**
 * Where a frame must lie when `zoom` fills the width: left edge and width in parts of it. Siblings stand in the order of their keys.
 * @param {string[]} path @param {number} side whose widths are drawn @param {string[]} [zoom]
 */
export function placeOf(path, side, zoom = []) {
  const width = (/** @type {string[]} */ start) => sumOf((stack) => startsWith(stack, start))[side];
  let left = 0;
  for (let depth = 0; depth < path.length; depth++) {
    const above = path.slice(0, depth);
    const siblings = new Set(
      STACKS.filter(([stack]) => stack.length > depth && startsWith(stack, above)).map(([stack]) => stack[depth]),
    );
    for (const name of siblings) if (`${name}\`` < `${path[depth]}\``) left += width([...above, name]);
  }
  const whole = width(zoom);
  const from = zoom.length ? placeOf(zoom, side).x * width([]) : 0;
  return { x: (left - from) / whole, w: width(path) / whole, depth: path.length };
}

/** Every frame of the tree. */
export const FRAMES = [...new Set(STACKS.flatMap(([path]) => path.map((_, i) => path.slice(0, i + 1).join(' '))))].map((text) =>
  text.split(' '),
);

/** The only frame of a name. @param {string} name */
export const frameOf = (name) => /** @type {string[]} */ (FRAMES.find((path) => path[path.length - 1] === name));
