// SPDX-License-Identifier: GPL-3.0-or-later
// The list of changes below the chart: open ones, those that came and went, drifts, and cost that only moved.

import { h } from '../common/dom.js';
import { listName } from '../common/format.js';
import { Grid } from '../common/table.js';
import { codeWords, KINDS, VERDICTS } from './rows.js';
import { sparkline } from './sparkline.js';

/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./rows.js').Row} Row */
/** @typedef {import('../common/table.js').Column<Row>} RowColumn */

/**
 * What the list needs of the page around it.
 * @typedef {object} ListHost
 * @property {(row: Row) => void} open
 * @property {(row: Row) => void} select
 * @property {(row: Row|null) => void} point a row is pointed at, or none
 * @property {(row: Row) => string} hrefOf the address of a row that can be opened; "": it cannot
 * @property {(row: Row) => Line} lineOf
 */

/** @param {Row} row */
const colourOf = ({ state }) => (state ? `s-${state}` : 'dim');

/** @param {Row} row */
const verdictOf = ({ kind, state }) => state || KINDS[kind];

/** What changed, since when, and in which way. @param {ListHost} host @returns {RowColumn[]} */
function nameColumns(host) {
  return [
    {
      id: 'since',
      title: 'since',
      hint: 'when the first profile behind the change was recorded, in UTC',
      left: true,
      most: 20,
      rank: 2,
      text: (row) => row.since,
      full: (row) => [row.since, row.fact].filter(Boolean).join('\n'),
      value: (row) => row.at,
    },
    {
      id: 'verdict',
      title: 'verdict',
      hint: 'in the order of reading: open changes first, the latest on top',
      left: true,
      width: '8.5em',
      text: verdictOf,
      full: (row) => VERDICTS[row.state || row.kind] || '',
      value: (row) => -row.f.id,
      className: colourOf,
    },
    {
      id: 'name',
      title: 'function',
      left: true,
      width: 'minmax(9em,1.4fr)',
      text: (row) => listName(row.f.name),
      full: (row) => [row.f.name, row.module, row.whose && `its ${row.whose} time`].filter(Boolean).join('\n'),
      value: (row) => row.f.name,
      node: (row) => nameNode(row, host),
    },
    {
      id: 'time',
      title: 'time',
      hint: 'of the function itself, or with all it calls',
      left: true,
      rank: 5,
      text: (row) => row.whose,
      value: (row) => row.whose,
      className: () => 'dim',
    },
  ];
}

/** By how much. @param {ListHost} host @returns {RowColumn[]} */
function figureColumns(host) {
  return [
    {
      id: 'values',
      title: 'before → after',
      rank: 1,
      text: (row) => row.values,
      value: (row) => row.change?.after ?? 0,
    },
    {
      id: 'change',
      title: 'change',
      hint: 'in points: percent of the usual total; of the total itself in percent of what it was',
      text: (row) => row.delta,
      value: (row) => row.size,
      className: colourOf,
    },
    {
      id: 'interval',
      title: '95 % interval',
      hint: 'of the change',
      rank: 3,
      text: (row) => row.interval,
      value: (row) => row.size,
    },
    {
      id: 'line',
      title: 'over time',
      left: true,
      width: 'minmax(7em,1fr)',
      text: () => '',
      full: (row) => row.values,
      value: (row) => row.size,
      node: (row) => sparkline(host.lineOf(row)),
      className: () => 'drawn',
    },
  ];
}

/** What shows it, and what else is known. @type {RowColumn[]} */
const EVIDENCE_COLUMNS = [
  {
    id: 'evidence',
    title: 'evidence',
    hint: 'how many profiles behind the point lie beyond all of those before it; q: at which rate of false discoveries it is proven',
    left: true,
    rank: 4,
    text: (row) => row.evidence,
    value: (row) => row.q,
  },
  {
    id: 'code',
    title: 'code',
    hint: "whether the function's own code changed at this point",
    left: true,
    rank: 2,
    text: (row) => row.code,
    full: (row) => codeWords(row.code),
    value: (row) => row.code,
  },
  {
    id: 'fact',
    title: 'what changed',
    hint: 'the first fact that changed at this point',
    left: true,
    most: 30,
    rank: 2,
    text: (row) => row.fact,
    value: (row) => row.fact,
  },
];

/** @param {Row} row @param {ListHost} host */
function nameNode(row, host) {
  const href = host.hrefOf(row);
  const name = h('bdi', {}, listName(row.f.name));
  // The row is what keys and clicks are about; the link is for another tab.
  return href ? h('a', { href, tabIndex: -1 }, name) : name;
}

export class ChangeList {
  /** @param {ListHost} host */
  constructor(host) {
    this.host = host;
    this.scrollTop = 0;
    this.root = h('div.grid.history-changes', { 'aria-label': 'Changes' });
    /** @type {Grid<Row>} */
    this.grid = new Grid(
      this.root,
      (row) => this.#selected(row),
      () => {},
    );
    this.grid.onOpen = (row) => host.open(row);
    this.grid.setColumns([...nameColumns(host), ...figureColumns(host), ...EVIDENCE_COLUMNS], 'verdict');
    this.grid.body.addEventListener('pointermove', ({ target }) => this.#pointed(/** @type {Element} */ (target)));
    this.grid.body.addEventListener('pointerleave', () => host.point(null));
    this.grid.body.addEventListener('click', (event) => {
      // The link of a row leads where the row does.
      if (!event.ctrlKey && !event.metaKey && /** @type {Element} */ (event.target).closest('a')) event.preventDefault();
    });
    // A printed list is whole.
    matchMedia('print').addEventListener('change', () => this.grid.paint());
  }

  /** @param {Row} row */
  #selected(row) {
    this.grid.select(row.f.id);
    this.host.select(row);
  }

  /** @param {Element} target */
  #pointed(target) {
    const line = target.closest('.grid-row');
    const at = line ? Number(line.getAttribute('aria-rowindex')) - 2 : -1;
    this.host.point(this.grid.rows[at] || null);
  }

  /** @param {Row[]} rows */
  fill(rows) {
    this.grid.setRows(rows, null);
    this.root.hidden = !rows.length;
    this.root.style.setProperty('--count', String(rows.length));
  }

  /** Selects the row of an opened change. @param {(row: Row) => boolean} is */
  reveal(is) {
    const row = this.grid.rows.find(is);
    if (row) this.#selected(row);
  }

  leave() {
    this.scrollTop = this.grid.body.scrollTop;
  }

  enter() {
    this.grid.body.scrollTop = this.scrollTop;
    this.grid.paint();
  }
}
