// SPDX-License-Identifier: GPL-3.0-or-later
// The help: words and keys.

import { h } from './dom.js';

/** @type {[string, string][]} */
const WORDS = [
  ['base, head', 'the recording before the change, and the one after it'],
  [
    'scaled',
    "head's figures are multiplied by one factor, " +
      'so that both sides compare although one was recorded longer or had more load',
  ],
  ['points', 'percentage points of the total: from 3 % to 5 % is +2 points'],
  ['self, total', 'time in the function itself; time in the function and all it calls'],
  ['not proven', 'noise can explain the difference; record longer, or several runs on each side'],
  ['moved', 'the same code under another name or another caller'],
  ['user, library, system', 'the program itself; code that others wrote; the kernel, the C library, language runtimes'],
  [
    'interrupts',
    "the machine's work in the program's threads (interrupts and preemption): not in the total, and not compared",
  ],
];
/** @type {[string, string][]} */
const HANDS = [
  ['click', 'selects a frame and keeps it in the inspector; a click beside all frames lets go'],
  ['double click', 'zooms to the frame; beside all frames: resets the zoom'],
  ['Ctrl + wheel, pinch', 'zooms at the pointer'],
  ['drag', 'moves the picture'],
  ['wheel, Shift + wheel', 'moves the picture up and down, left and right'],
];
/** @type {[string, string][]} */
const KEYS = [
  ['← → ↑ ↓', 'sibling, parent, child'],
  ['Enter', 'zoom to the selected frame'],
  ['Backspace, Alt ← →', 'back, forward'],
  ['+ −', 'wider, narrower, as Ctrl + wheel'],
  ['0', 'reset zoom and scroll'],
  ['/', 'search; Enter goes to the first match, n and N to the next and the previous one'],
  ['b h d', 'base, head, difference'],
  ['r', 'before → after, after → before'],
  ['1 2 3', 'colour by difference, origin, function'],
  ['s', 'system calls on and off'],
  ['t', 'interrupts shown, or folded into the frame that was hit'],
  ['e', 'removed stacks'],
  ['i', 'invert: callers below callees'],
  ['x', 'callers above and callees below the selected function; again: back'],
  ['l', 'opens the function list under the picture, and folds it'],
  ['c', 'copy the stack'],
  ['Escape', 'clear the selection and the search'],
  ['← → ↑ ↓ + − 0', 'in the timeline: move, scroll, zoom, show everything; Enter selects the time that is shown'],
];

const INTRODUCTION =
  'Each box is a function; boxes below it are what it called. Width is time. ' +
  'Only a change that noise cannot explain is coloured: ' +
  'orange takes more time, blue takes less, hatched is new or gone.';

/** A table of two columns. @param {[Node|string, string][]} rows */
function table(rows) {
  return h('table', {}, h('tbody', {}, ...rows.map(([key, what]) => h('tr', {}, h('th', {}, key), h('td', {}, what)))));
}

/** The dialog that explains words and keys. @returns {HTMLDialogElement} */
export function helpDialog() {
  return h(
    'dialog',
    { 'aria-label': 'Help' },
    h('h2', {}, 'How to read it'),
    h('p', {}, INTRODUCTION),
    h('h2', {}, 'Words'),
    table(WORDS),
    h('h2', {}, 'Pointer'),
    table(HANDS),
    h('h2', {}, 'Keys'),
    table(KEYS.map(([key, what]) => [h('kbd', {}, key), what])),
    h('form', { method: 'dialog' }, h('button', {}, 'Close')),
  );
}
