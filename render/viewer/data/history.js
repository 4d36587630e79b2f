// SPDX-License-Identifier: GPL-3.0-or-later
// The blocks of a history's page, as `render/page_history.c` writes them.

import { Columns, readBlock } from './block.js';

/**
 * A profile of a series: its name, when it was recorded, in milliseconds since 1970 (null: not known), how long it
 * took in milliseconds, whether the time is that of the file, its total as recorded, how many requests it counted (0:
 * none), which part of its samples was lost, and its labels.
 * @typedef {[string, number|null, number, boolean, number, number, number, Record<string, string>]} ProfileColumns
 */

/**
 * A point lies between two profiles that follow each other.
 * @typedef {object} Point
 * @property {number} at the first profile behind it
 * @property {boolean} isDeploy the program itself changed
 * @property {string} fact the first fact that changed, in words; empty: none is known
 * @property {number|null} part of the page, that explains it; null: it has none
 * @property {[string, string]|null} pair the profiles on both sides as the command line has them; null: nothing changed
 */

/**
 * A function of a series.
 * @typedef {object} HistoryFunction
 * @property {string} id the same in every report
 * @property {string} name
 * @property {string} shown as people read it
 * @property {string} shownIn
 * @property {string} module
 * @property {string} file
 * @property {string} origin
 * @property {number} language
 */

/**
 * A change at a point. Values of functions are percent of the typical total, those of the total are in the unit.
 * @typedef {object} Change
 * @property {number|null} function of the list; null: the total
 * @property {boolean} isSelf of its self time; else of its time with all that it calls
 * @property {number} point
 * @property {number|null} went the point where it was gone again; null: it is open
 * @property {number} before mean of the segment before the point
 * @property {number} after mean of the segment behind it
 * @property {number} last mean of the last segment
 * @property {number} delta
 * @property {number|null} low 95 % interval of delta
 * @property {number|null} high
 * @property {number|null} q
 * @property {number} agree how many profiles behind the point lie on their side of all the others
 * @property {number} of how many
 * @property {string} code "changed", "same", "new", "gone" or "unknown"
 * @property {boolean} hasMoved the cost only moved from other functions: no change
 */

/** @typedef {{function: number|null, first: number, last: number, q: number|null}} Drift */

/**
 * A series: profiles of one thing, in order of time.
 * @typedef {object} Series
 * @property {string} title
 * @property {string} facts
 * @property {string} verdictText the answer in words
 * @property {string} measureText what values are: "CPU time per request", "% of the CPU time"
 * @property {string} scale
 * @property {boolean} isPer the unit is per request or per run
 * @property {string} unit
 * @property {number} typicalTotal
 * @property {string[]} notices
 * @property {ProfileColumns[]} profiles
 * @property {Point[]} points in order of time
 * @property {HistoryFunction[]} functions
 * @property {Change[]} changes open ones first, the latest point first
 * @property {Drift[]} drifts
 * @property {Float64Array} whole the total of each profile, in the unit
 * @property {FunctionValues[]} values by function, in percent of the typical total
 */

/**
 * What the page says of a history. Its other tables belong to parts, one for each point that can be opened.
 * @typedef {object} HistoryTable
 * @property {string} tool
 * @property {number} leftOut how many parts have no room in the page
 * @property {string[]} notices
 * @property {Series[]} series the longest first
 */

/** A column as it is stored: multiples of a quantum. @typedef {{quantum: number, multiples: import('./block.js').FixedColumn}} Stored */

/** @param {Columns} columns @param {number} count @returns {Stored} */
function stored(columns, count) {
  const [quantum] = columns.doubles(1);
  return { quantum, multiples: columns.fixed(count) };
}

/** @param {Stored} column */
function decoded({ multiples, quantum }) {
  const values = new Float64Array(multiples);
  for (let i = 0; i < values.length; i++) values[i] *= quantum;
  return values;
}

/** The values of a function by profile. They are decoded when somebody asks for them: most functions are never drawn. */
class FunctionValues {
  #self;
  #total;
  /** @type {Float64Array|undefined} */ #selfDecoded;
  /** @type {Float64Array|undefined} */ #totalDecoded;

  /** @param {Stored} self @param {Stored} total */
  constructor(self, total) {
    this.#self = self;
    this.#total = total;
  }

  get self() {
    return (this.#selfDecoded ||= decoded(this.#self));
  }

  get total() {
    return (this.#totalDecoded ||= decoded(this.#total));
  }
}

/** @param {Uint8Array} list @param {Uint8Array} values @returns {HistoryTable} */
export function decodeHistory(list, values) {
  /** @type {HistoryTable} */ const table = JSON.parse(new TextDecoder().decode(list));
  const columns = new Columns(values);
  for (const series of table.series) {
    const column = () => stored(columns, series.profiles.length);
    series.whole = decoded(column());
    series.values = series.functions.map(() => new FunctionValues(column(), column()));
  }
  return table;
}

/** Decodes what the page says of a history. Throws where the page is damaged. */
export async function readHistory() {
  const [list, values] = await Promise.all([readBlock('history'), readBlock('values')]);
  return decodeHistory(list, values);
}
