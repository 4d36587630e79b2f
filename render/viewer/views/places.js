// SPDX-License-Identifier: GPL-3.0-or-later
// Where a function is in words: its module, its file and its line.

import { baseName, moduleName } from '../common/format.js';

/** @typedef {import('../data/symbols.js').Func} Func */

/** @param {string} file @param {number} line */
const withLine = (file, line) => (file && line ? `${file}:${line}` : file);

/** The module of a function, where people look for the module and not for the file alone. @param {Func} f */
const moduleOf = (f) => (f.place === f.module ? moduleName(f.module) : '');

/**
 * The file and the line as sentences name them: the line that changed where one did, else that of the function.
 * @param {Func} f
 */
const sourceText = (f) => withLine(baseName(f.file), f.changedLine || f.line);

/** The file and the line, and the module, in short: 'parse.c:42 server'. @param {Func} f */
export function placeText(f) {
  if (f.isProcess) return '';
  return [sourceText(f), moduleOf(f)].filter(Boolean).join(' ') || f.place;
}

/** The same with the folders of the file, and the line where the function begins. @param {Func} f */
export function wholePlace(f) {
  return [moduleOf(f), withLine(f.file, f.line)].filter(Boolean).join(' · ') || f.place;
}
