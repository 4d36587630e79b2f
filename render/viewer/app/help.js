// SPDX-License-Identifier: GPL-3.0-or-later
// The help: words and keys.

import { h } from '../common/dom.js';

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
  [
    'not tested',
    'verdicts are about the whole recordings: under a filter only what it leaves whole keeps its verdict; ' +
      'all else has figures without one',
  ],
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
  ['drag', 'moves the picture; in the lanes of the timeline and the strip: selects a time, which filters every view'],
  ['wheel, Shift + wheel', 'moves the picture up and down, left and right'],
  ['filter ▾', 'beside what a search found: only stacks with these; or these frames left out'],
  ['right click', 'opens the menu of a frame or of a function: filters, zoom, copy the stack, copy a link'],
  ['click on a line', 'in the lines of a function: keeps only the stacks through it; again: all of them'],
  ['click in the legend', 'keeps the colour of these frames alone, and lists only their functions'],
];
/** @type {[string, string][]} */
const FINGERS = [
  ['tap', 'as a click: selects a frame, whose figures stand in the inspector'],
  ['double tap', 'zooms to the frame'],
  ['long press', 'opens the menu of a frame or of a function; on a control, tells what it does'],
  ['one finger, two fingers', 'move the picture; zoom where they are'],
  ['View ▾', 'the controls that have no room in the bar'],
];
/** @type {[string, string][]} */
const KEYS = [
  ['← → ↑ ↓', 'sibling, parent, child'],
  ['Enter', 'zoom to the selected frame'],
  ['Backspace, Alt ← →', 'back, forward'],
  ['+ −', 'wider, narrower, as Ctrl + wheel'],
  ['0', 'reset zoom and scroll'],
  ['/', 'search names, or module:TEXT and file:TEXT; Enter goes to the first match, n and N to the others'],
  ['. ,', 'next and previous proven change, the largest first'],
  ['b h d', 'base, head, difference'],
  ['r', 'before → after, after → before'],
  ['1 2 3 4 5', 'colour by difference, origin, function, waiting, bottleneck'],
  ['s', 'system calls on and off'],
  ['t', 'interrupts shown, or folded into the frame that was hit'],
  ['y', "the time of an interpreter's C functions as that of the function they run, or apart"],
  ['e', 'removed stacks'],
  ['i', 'by function that runs: each of these functions, and its callers from there'],
  ['o', 'order of siblings: by name, by size, by largest proven change'],
  ['g', 'runs of frames with nearly the same time in one row, or each frame in its own'],
  ['f', 'flip: the root at the bottom, or on top'],
  ['x', 'callers above and callees below the selected function; again: back'],
  ['l', 'the lines of the selected function, with the time of each; again, or Escape: closes them'],
  ['n N, . ,', 'in the lines: next and previous hot line, and line that is proven to have changed, the largest first'],
  ['↑ ↓ Enter, ← →', 'in the lines: another line, only the stacks through it; the end of long ones'],
  ['L', 'opens the function list under the picture, and folds it'],
  ['k', 'only stacks with the selected function, or only the selected process; again: all stacks'],
  ['K', 'only stacks through its module'],
  ['w', 'without stacks of the selected function'],
  ['m', 'merge the selected function into its callers'],
  ['u', 'only user code: frames of libraries and of the system are merged into their callers'],
  ['F H', 'only stacks with what the search found; all stacks without these frames, whose time goes to their callers'],
  ['R', 'fold recursion: a function that is open already goes into its outer frame'],
  ['p', 'processes as the first row, where there are several'],
  ['Delete', 'take away the filter that was added last'],
  ['Menu, Shift F10', 'the menu of the selected frame or row; arrows move in it, Escape leaves it'],
  ['c', 'copy the stack with its figures'],
  ['E', 'hand over: the picture as PNG or SVG, one page to print, the list as Markdown, the stack, a link'],
  ['Escape', 'clear the selection and the search'],
  ['T', 'a range of time is typed in the timeline: 2s-3s, 500ms- or -1.5s'],
  ['Tab, then ← →', 'the first stop leads to the picture; a bar is one stop, and arrows move in it'],
  ['← → ↑ ↓ + − 0', 'in the timeline: move, scroll, zoom, show everything; Enter selects the time that is shown'],
];

const INTRODUCTION =
  'Each box is a function; boxes below it are what it called. Width is time. ' +
  'Only a change that noise cannot explain is coloured: ' +
  'orange takes more time, blue takes less, hatched is new or gone.';

const ADDRESS =
  'The address of the page holds what you see: the view, the selected frame, the zoom, the filters. ' +
  'To show it to somebody, send this file with the link of the menu. With a page of later recordings a link opens the ' +
  'same view: functions and threads are found by their names, and a line says what is not there.';

/** A table of two columns. @param {[Node|string, string][]} rows */
function table(rows) {
  return h('table', {}, h('tbody', {}, ...rows.map(([key, what]) => h('tr', {}, h('th', {}, key), h('td', {}, what)))));
}

/**
 * The dialog that explains words and keys.
 * @param {[string, string][]} more keys of the page around the report @returns {HTMLDialogElement}
 */
export function helpDialog(more) {
  return h(
    'dialog',
    { 'aria-label': 'Help' },
    h('h2', {}, 'How to read it'),
    h('p', {}, INTRODUCTION),
    h('h2', {}, 'Words'),
    table(WORDS),
    h('h2', {}, 'Pointer'),
    table(HANDS),
    h('h2', {}, 'Fingers'),
    table(FINGERS),
    h('h2', {}, 'Keys'),
    table([...KEYS, ...more].map(([key, what]) => [h('kbd', {}, key), what])),
    h('h2', {}, 'Links'),
    h('p', {}, ADDRESS),
    h('form', { method: 'dialog' }, h('button', {}, 'Close')),
  );
}
