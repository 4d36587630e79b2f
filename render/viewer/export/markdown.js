// SPDX-License-Identifier: GPL-3.0-or-later
// A list as Markdown: what it shows of functions or benchmarks, row by row, below the verdict. Names are foreign: they stand in
// code, and nothing in them can end it.

import { pasted } from '../common/format.js';
import { namedParts } from './summary.js';

/** @typedef {import('./summary.js').Summary} Summary */
/** @typedef {import('../common/table.js').Row} Row */

/** A comment of a review has room for these. */
const MOST_ROWS = 100;
const LONGEST_NAME = 300;
/** A name with none of these stands between backquotes as it is, in a table too. */
const PLAIN = /^[^`|\\\n]+$/;

/** @param {string} text */
const asEntities = (text) => text.replace(/[^\p{L}\p{N} ]/gu, (c) => `&#${c.codePointAt(0)};`);

/** A name as code. @param {string} name */
export function codeOf(name) {
  const text = pasted(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name).trim();
  if (!text) return '';
  return PLAIN.test(text) ? `\`${text}\`` : `<code>${asEntities(text)}</code>`;
}

/** Words as text that means nothing to Markdown. @param {string} text */
export const proseOf = (text) => pasted(text).replace(/[\\`*_[\]<>#|~&@]/g, (c) => `&#${c.codePointAt(0)};`);

/** A sentence whose names stand between backquotes. @param {string} text */
const sentenceOf = (text) => namedParts(text).map((part, i) => (i % 2 ? codeOf(part) : proseOf(part))).join('');

/** Columns of names, whose texts are foreign. */
const IN_CODE = ['name', 'module', 'where', 'because'];

/**
 * @template {Row} R
 * @param {Pick<Summary, 'title'|'sides'|'sentence'|'shown'>} summary
 * @param {import('../common/table.js').Column<R>[]} columns @param {R[]} rows in their order
 * @param {string} narrowed what the controls of the list leave; empty for all
 */
export function markdownOf({ title, sides, sentence, shown }, columns, rows, narrowed) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`;
  const cell = (/** @type {string} */ id, /** @type {string} */ text) => (IN_CODE.includes(id) ? codeOf(text) : proseOf(text));
  const others = rows.length - MOST_ROWS;
  const about = [proseOf(sides), shown && `shown: ${proseOf(shown)}`, narrowed && `listed: ${proseOf(narrowed)}`];
  return [
    `### ${proseOf(title)}`,
    '',
    `**${sentenceOf(sentence)}**`,
    '',
    ...(about.some(Boolean) ? [about.filter(Boolean).join(' · '), ''] : []),
    line(columns.map((column) => proseOf(column.title))),
    line(columns.map(({ left }) => (left ? ':--' : '--:'))),
    ...rows.slice(0, MOST_ROWS).map((row) => line(columns.map(({ id, text }) => cell(id, text(row).replace(/\s+/g, ' '))))),
    ...(others > 0 ? ['', `${others} more in the list.`] : []),
    '',
  ].join('\n');
}
