// SPDX-License-Identifier: GPL-3.0-or-later
// Which columns of a list have room, and how wide they are. A column is as wide as its content, so that no figure is cut
// off; where not all have room, the least important ones go, and the widest text gets shorter before a figure goes.

/**
 * What is known of a column.
 * @typedef {object} Measured
 * @property {number} natural how wide its content is, in pixels
 * @property {number} least how narrow it may become: less than `natural` for texts, which may be cut off
 * @property {number} rank of columns that have no room together, that with the greatest goes first; 0 never goes
 */

/** From this rank on a column is an extra: it is shown only where no text is cut off for it. */
const EXTRA = 3;

/**
 * The columns that have room together.
 * @param {Measured[]} columns @param {number} room in pixels @param {number} gap between two columns
 * @returns {boolean[]} whether each is shown
 */
export function fitting(columns, room, gap) {
  const shown = columns.map(() => true);
  const order = columns.map((_, i) => i).filter((i) => columns[i].rank > 0);
  order.sort((a, b) => columns[b].rank - columns[a].rank || b - a);
  for (const i of order) {
    const width = columns[i].rank >= EXTRA ? 'natural' : 'least';
    const needed = columns.reduce((sum, column, at) => sum + (shown[at] ? column[width] + gap : 0), -gap);
    if (needed <= room) break;
    shown[i] = false;
  }
  return shown;
}
