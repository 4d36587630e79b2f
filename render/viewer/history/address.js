// SPDX-License-Identifier: GPL-3.0-or-later
// What the address says of a history: the series, how its chart is drawn, and which point is open. A point is named by
// the first profile behind it, so that a link leads to it also in the page of a longer history.

/** @typedef {import('../data/history.js').HistoryTable} HistoryTable */

/**
 * What is shown.
 * @typedef {object} Shown
 * @property {number} series
 * @property {'time'|'index'} axis
 * @property {'value'|'percent'} scale
 * @property {string[]} added keys of lines
 * @property {string} since the first profile behind the open point; "": the chart and the list
 * @property {string} of the key of the line whose change is open; "": the point itself
 */

/** @type {Shown} */
export const DEFAULTS = { series: 0, axis: 'time', scale: 'value', added: [], since: '', of: '' };

/**
 * What a series is called: its title, with its number where others have the same.
 * @param {HistoryTable} table @param {number} i
 */
export function seriesName({ series }, i) {
  const { title } = series[i];
  const isAlone = title && series.every((one, other) => other === i || one.title !== title);
  return isAlone ? title : `${title || 'series'} (${i + 1})`;
}

/**
 * What a point is called: the first profile behind it.
 * @param {import('../data/history.js').Series} series @param {number} point
 */
export function pointName({ points, profiles }, point) {
  const { at } = points[point];
  return profiles[at]?.[0] || `#${at + 1}`;
}

/** @param {string} hash */
function partsOf(hash) {
  const out = new Map();
  for (const part of hash.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    try {
      if (at > 0) out.set(part.slice(0, at), decodeURIComponent(part.slice(at + 1)));
    } catch {
      // A part that cannot be decoded is left out.
    }
  }
  return out;
}

/** What an address says. @param {string} hash @param {HistoryTable} table @returns {Shown} */
export function readAddress(hash, table) {
  const parts = partsOf(hash);
  return {
    series: Math.max(0, table.series.findIndex((_, i) => seriesName(table, i) === parts.get('series'))),
    axis: parts.get('axis') === 'index' ? 'index' : 'time',
    scale: parts.get('scale') === 'percent' ? 'percent' : 'value',
    added: (parts.get('lines') || '').split('.').filter(Boolean),
    since: parts.get('since') || '',
    of: parts.get('of') || '',
  };
}

/** The address of what is shown, without `#`. @param {Shown} shown @param {HistoryTable} table */
export function writeAddress({ added, axis, of, scale, series, since }, table) {
  const parts = [series > 0 && ['series', seriesName(table, series)]];
  if (since) parts.push(['since', since], of !== '' && ['of', of]);
  else {
    parts.push(axis === 'index' && ['axis', axis], scale === 'percent' && ['scale', scale]);
    parts.push(added.length > 0 && ['lines', added.join('.')]);
  }
  return parts.map((part) => part && `${part[0]}=${encodeURIComponent(part[1])}`).filter(Boolean).join('&');
}
