// SPDX-License-Identifier: GPL-3.0-or-later
// The flame graph in its place on the page: it is drawn from the model, scrolled, pointed at and clicked.

import { h } from './dom.js';
import { Flame, ROW } from './draw.js';
import { plainStrings } from './format.js';
import { Scrollbar } from './scrollbar.js';
import { pathOf } from './state.js';
import { figuresOf, rootName } from './status.js';
import { STATES } from './symbols.js';

/** @typedef {import('./app.js').App} App */

/** The path of the root, as a selection: without any, nothing is selected. */
const ROOT = '.';
/** Of more, the letters could not be read. */
const MOST_ROWS_PRINTED = 60;
/** How high a printed picture may be, as part of its width. */
const PAGE_SHAPE = 0.9;

/** Where the first finger is. @param {TouchEvent} e */
const yOf = (e) => e.touches[0].clientY;

export class Picture {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.hover = -1;
    /** @type {import('./walk.js').Box|null} */ this.hoverBox = null;
    /** @type {any} the tree that was last drawn */ this.treeDrawn = null;
    /** Where a finger was last. */ this.touchY = 0;
    /** @type {{scroll: number, dark: boolean}|null} how it was, while it is printed */ this.unprinted = null;
    const canvas = h('canvas.flame', { 'aria-hidden': 'true' });
    this.hoverMark = h('div.mark');
    this.selectedMark = h('div.mark.pinned');
    const active = { id: 'active-frame', role: 'treeitem', 'aria-selected': 'true' };
    this.active = h('div.offscreen', active);
    const tree = {
      tabIndex: 0,
      role: 'tree',
      'aria-label': 'Flame graph: arrows move between frames, Enter zooms',
      'aria-activedescendant': 'active-frame',
    };
    this.overlay = h('div.overlay', tree, this.hoverMark, this.selectedMark, this.active);
    this.flame = new Flame(canvas);
    this.cut = h('p.cut');
    this.scrollbar = new Scrollbar((by) => this.scrollBy(by));
    this.element = h('div.flame-host', {}, canvas, this.overlay, this.scrollbar.element, this.cut);
    this.bind();
  }

  bind() {
    const { app, overlay } = this;
    overlay.addEventListener('mousemove', (/** @type {MouseEvent} */ e) => this.hoverAt(this.flame.hit(e.offsetX, e.offsetY)));
    overlay.addEventListener('mouseleave', () => this.hoverAt(null));
    overlay.addEventListener('click', (/** @type {MouseEvent} */ e) => this.clicked(e));
    overlay.addEventListener('dblclick', () => app.set({ zoom: '' }));
    overlay.addEventListener('wheel', (/** @type {WheelEvent} */ e) => this.wheeled(e), { passive: false });
    overlay.addEventListener('touchstart', (/** @type {TouchEvent} */ e) => (this.touchY = yOf(e)), { passive: true });
    overlay.addEventListener('touchmove', (/** @type {TouchEvent} */ e) => this.dragged(e), { passive: false });
    window.addEventListener('beforeprint', () => this.print());
    window.addEventListener('afterprint', () => this.printed());
  }

  /** Takes the room that it has, and keeps to it. */
  settle() {
    const { width, height } = this.element.getBoundingClientRect();
    this.flame.resize(width, height);
    new ResizeObserver(([entry]) => this.resized(entry.contentRect)).observe(this.element);
  }

  /** @param {DOMRectReadOnly} box */
  resized({ width, height }) {
    if (this.unprinted || !this.flame.resize(width, height)) return;
    if (!this.app.flush()) this.draw();
  }

  /** Nodes mean nothing in another tree. */
  forget() {
    this.hover = -1;
    this.hoverBox = null;
  }

  /** How the model is to be drawn. @returns {import('./draw.js').Scene} */
  scene() {
    const { model, colours, state } = this.app;
    const { tree } = model;
    const { tested } = model.shownMetric;
    const texture = (/** @type {number} */ node) => {
      const proven = STATES[tree.state[node]];
      return proven === 'new' || proven === 'gone' ? proven : '';
    };
    return {
      tree,
      width: model.width,
      widths: model.widths,
      zoom: model.zoom,
      colour: colours.painter(tree, tested, (node) => model.pointsOf(node)),
      texture: tested && model.sides === 2 && state.colour === 'diff' ? texture : null,
      name: (node) => (node ? model.nameOf(node) : rootName(this.app)),
      matches: model.matches,
    };
  }

  draw() {
    const { app, flame } = this;
    const { model } = app;
    if (!app.shown || flame.width <= 1) return;
    if (this.treeDrawn !== model.tree) {
      this.treeDrawn = model.tree;
      // Callers stand above: as much room for them as for callees.
      if (model.tree.twin) flame.scroll = -Math.floor((0.45 * flame.height) / ROW) * ROW;
    }
    const scene = this.scene();
    if (!model.tree.isLazy) this.clampScroll();
    flame.draw(scene);
    if (model.tree.isLazy && this.clampScroll()) flame.draw(scene);
    document.documentElement.dataset.painted ||= String(performance.now() | 0);
    this.mark();
    if (app.whole) this.showScroll();
  }

  showScroll() {
    const { scroll, height } = this.flame;
    const [first, last] = this.scrollRange();
    this.scrollbar.show(scroll - first, height, last - first + height);
  }

  /** Outlines what is pointed at and what is selected. */
  mark() {
    this.put(this.hoverMark, this.hover);
    this.put(this.selectedMark, this.app.model.selected);
  }

  /** @param {HTMLElement} mark @param {number} node */
  put(mark, node) {
    const box = this.flame.outline(node);
    mark.hidden = !box;
    if (!box) return;
    mark.style.transform = `translate(${box.x}px, ${box.y}px)`;
    mark.style.width = `${box.w}px`;
    mark.style.height = `${box.h}px`;
  }

  /** What is pointed at or selected, in words. */
  tell() {
    const { hover, hoverBox } = this;
    const { model, status } = this.app;
    const node = hover >= 0 ? hover : model.selected;
    const merged = hoverBox && hoverBox.merged > 1 ? ` (first of ${hoverBox.merged} frames too narrow to draw)` : '';
    status.replaceChildren(
      ...(node < 0 ? [] : [h('bdi', {}, plainStrings(model.nameOf(node))), `${merged} — ${figuresOf(model, node)}`]),
    );
    // What a screen reader is told follows the keyboard, not the pointer.
    const at = model.selected >= 0 ? model.selected : model.zoom;
    this.active.replaceChildren(h('bdi', {}, model.nameOf(at)), `, ${figuresOf(model, at)}, depth ${model.tree.depth[at]}`);
  }

  /** First and last place to scroll to. */
  scrollRange() {
    const [highest, lowest] = this.app.model.rowRange();
    return [highest * ROW, Math.max(highest * ROW, (lowest + 1) * ROW - this.flame.height)];
  }

  /** Whether the picture was scrolled beyond its end. */
  clampScroll() {
    const { flame } = this;
    if (!flame.scroll) return false;
    const [first, last] = this.scrollRange();
    const before = flame.scroll;
    flame.scroll = Math.max(first, Math.min(last, before));
    return flame.scroll !== before;
  }

  /** @param {import('./walk.js').Box|null} box */
  hoverAt(box) {
    const node = box ? box.node : -1;
    this.overlay.classList.toggle('over', node >= 0);
    if (node === this.hover) return;
    this.hover = node;
    this.hoverBox = box;
    this.mark();
    this.tell();
    if (this.app.model.selected < 0) this.app.drawInspector();
  }

  /** @param {MouseEvent} e */
  clicked(e) {
    const box = this.flame.hit(e.offsetX, e.offsetY);
    if (!box) return;
    const path = this.pathTo(box.node);
    this.app.set({ selected: path || ROOT, zoom: path });
  }

  /** Whether there was somewhere to scroll to; else the page may scroll. @param {number} by pixels */
  scrollBy(by) {
    const { flame } = this;
    const [first, last] = this.scrollRange();
    const before = flame.scroll;
    flame.scroll = Math.max(first, Math.min(last, before + by));
    if (flame.scroll === before) return false;
    this.app.refresh(false);
    return true;
  }

  /** @param {WheelEvent} e */
  wheeled(e) {
    if (!e.ctrlKey && this.scrollBy(e.deltaY)) e.preventDefault();
  }

  /** A finger drags the picture. @param {TouchEvent} e */
  dragged(e) {
    const y = yOf(e);
    // Two fingers are for the browser's zoom; a page that is scrolling already goes on.
    if (e.touches.length === 1 && e.cancelable && this.scrollBy(this.touchY - y)) e.preventDefault();
    this.touchY = y;
  }

  /** Paper is white and has no wheel: all rows are drawn, so wide that they fit on a page below the header. */
  print() {
    const { app, flame } = this;
    const [first, last] = app.model.rowRange();
    const rows = last - first + 1;
    const height = Math.min(rows, MOST_ROWS_PRINTED) * ROW;
    this.unprinted ??= { scroll: flame.scroll, dark: app.colours.dark };
    const more = rows - MOST_ROWS_PRINTED;
    this.cut.textContent = more > 0 ? `${more} more row${more === 1 ? ' is' : 's are'} not printed.` : '';
    flame.resize(Math.max(flame.width, height / PAGE_SHAPE), height);
    flame.scroll = first * ROW;
    app.theme(false);
    app.flush();
  }

  printed() {
    const { app, flame, unprinted } = this;
    const { width, height } = this.element.getBoundingClientRect();
    if (!unprinted) return;
    this.unprinted = null;
    flame.resize(width, height);
    flame.scroll = unprinted.scroll;
    app.theme(unprinted.dark);
    app.flush();
  }

  /** @param {number} node */
  pathTo(node) {
    const { model } = this.app;
    return pathOf(model.tree, model.functions, node);
  }

  /** Selects a node and brings it into view. @param {number} node @param {boolean} [reveal] also zooms to where it can be seen */
  select(node, reveal = false) {
    const { model, live } = this.app;
    const { flame } = this;
    const { tree } = model;
    /** @type {Partial<import('./state.js').State>} */
    const change = { selected: this.pathTo(node) || ROOT };
    const inZoom = tree.holds(model.zoom, node);
    if (reveal && (!inZoom || flame.place(node).w < 4)) change.zoom = this.pathTo(Math.max(0, tree.parent[node]));
    const y = tree.row(node) * ROW;
    if (y < flame.scroll || y + ROW > flame.scroll + flame.height) flame.scroll = y - Math.floor(flame.height / 3);
    this.app.set(change, !reveal);
    live.textContent = model.nameOf(node);
  }
}
