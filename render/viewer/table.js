// SPDX-License-Identifier: GPL-3.0-or-later
// A grid that keeps only the visible rows in the page.

const ROW_HEIGHT = 24;

/**
 * @typedef {object} Column
 * @property {string} id
 * @property {string} title
 * @property {string} [hint]
 * @property {boolean} [left]
 * @property {string} width a track of the grid
 * @property {(row: any) => string} text
 * @property {(row: any) => string} [full] more than fits, for the tooltip
 * @property {(row: any) => number|string} value what it is sorted by
 * @property {(row: any) => string} [className]
 */

export class Grid {
  /** @param {HTMLElement} root @param {(row: any) => void} onSelect */
  constructor(root, onSelect) {
    this.root = root;
    this.onSelect = onSelect;
    /** @type {Column[]} */ this.columns = [];
    /** @type {any[]} */ this.rows = [];
    this.sortBy = '';
    this.descending = true;
    /** @type {any} */ this.selected = null;
    this.active = 0;
    root.setAttribute('role', 'grid');
    this.head = document.createElement('div');
    this.head.className = 'grid-head';
    this.head.setAttribute('role', 'row');
    this.body = document.createElement('div');
    this.body.className = 'grid-body';
    this.body.tabIndex = 0;
    this.body.setAttribute('role', 'rowgroup');
    this.space = document.createElement('div');
    this.space.className = 'grid-space';
    this.space.setAttribute('role', 'presentation');
    this.body.append(this.space);
    root.append(this.head, this.body);
    this.body.addEventListener('scroll', () => this.paint());
    this.body.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.paint()).observe(this.body);
  }

  /** @param {Column[]} columns @param {string} sortBy */
  setColumns(columns, sortBy) {
    this.columns = columns;
    if (!columns.some((c) => c.id === this.sortBy)) this.sortBy = sortBy;
    this.head.replaceChildren(
      ...columns.map((column) => {
        const cell = document.createElement('button');
        cell.type = 'button';
        cell.className = `cell ${column.left ? 'text' : ''}`;
        cell.textContent = column.title;
        if (column.hint) cell.title = column.hint;
        cell.setAttribute('role', 'columnheader');
        cell.addEventListener('click', () => {
          this.descending = this.sortBy === column.id ? !this.descending : !column.left;
          this.sortBy = column.id;
          this.sort();
        });
        return cell;
      }),
    );
    this.root.style.setProperty('--columns', columns.map((c) => c.width).join(' '));
  }

  /** @param {any[]} rows */
  setRows(rows) {
    this.rows = rows;
    this.sort();
  }

  sort() {
    const column = this.columns.find((c) => c.id === this.sortBy) || this.columns[0];
    if (!column) return;
    const sign = this.descending ? -1 : 1;
    this.rows.sort((a, b) => {
      const x = column.value(a);
      const y = column.value(b);
      const order = x < y ? -1 : x > y ? 1 : 0;
      return order ? order * sign : a.f.name < b.f.name ? -1 : 1;
    });
    [...this.head.children].forEach((cell, i) => {
      cell.setAttribute('aria-sort', this.columns[i].id !== this.sortBy ? 'none' : this.descending ? 'descending' : 'ascending');
    });
    this.root.setAttribute('aria-rowcount', String(this.rows.length));
    this.space.style.height = `${this.rows.length * ROW_HEIGHT}px`;
    this.paint();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (!step || !this.rows.length) return;
    event.preventDefault();
    event.stopPropagation();
    this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + step));
    const top = this.active * ROW_HEIGHT;
    if (top < this.body.scrollTop) this.body.scrollTop = top;
    if (top + ROW_HEIGHT > this.body.scrollTop + this.body.clientHeight)
      this.body.scrollTop = top + ROW_HEIGHT - this.body.clientHeight;
    this.onSelect(this.rows[this.active]);
  }

  paint() {
    const first = Math.max(0, Math.floor(this.body.scrollTop / ROW_HEIGHT) - 4);
    const last = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / ROW_HEIGHT) + 4);
    const out = [];
    for (let i = first; i < last; i++) out.push(this.line(i));
    this.space.replaceChildren(...out);
  }

  /** @param {number} i */
  line(i) {
    const row = this.rows[i];
    const line = document.createElement('div');
    line.className = `grid-row ${row.f.id === this.selected ? 'selected' : ''}`;
    line.style.top = `${i * ROW_HEIGHT}px`;
    line.setAttribute('role', 'row');
    line.setAttribute('aria-rowindex', String(i + 1));
    line.setAttribute('aria-selected', String(row.f.id === this.selected));
    for (const column of this.columns) {
      const cell = document.createElement('span');
      cell.className = `cell ${column.left ? 'text' : ''} ${column.className ? column.className(row) : ''}`;
      cell.setAttribute('role', 'gridcell');
      cell.textContent = column.text(row);
      if (column.full || column.left) cell.title = (column.full || column.text)(row);
      line.append(cell);
    }
    line.addEventListener('click', () => {
      this.active = i;
      this.onSelect(row);
    });
    return line;
  }
}
