// SPDX-License-Identifier: GPL-3.0-or-later
// The flame graph in its place on the page: it is drawn from the model, scrolled, pointed at and clicked.

import { bottleneckShade } from '../model/bottleneck.js';
import { STATES } from '../data/codes.js';
import { h } from '../common/dom.js';
import { Flame, ROW } from './draw.js';
import { bindHands } from './hands.js';
import { leftOf } from '../model/layout.js';
import { packed } from '../drawing/pixels.js';
import { Scrollbar } from '../common/scrollbar.js';
import { ROOT } from '../model/state.js';
import { rootName, statusLine, treeItem } from './status.js';
import { framesIn, isTrunk, trunkNames } from '../model/trunks.js';
import { Tooltip } from './tooltip.js';

/** @typedef {import('../drawing/colour.js').Colours} Colours */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */
/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('./walk.js').Box} Box */

/** The part of the height above the function where callers stand above callees. */
const CALLERS_PART = 0.45;
/** A frame that comes into view stands this far down, as a divisor of the height. */
const REVEAL_AT = 3;
/** A frame that is narrower than this cannot be seen, in pixels. */
const LEAST_SEEN = 4;
/** A zoom that brings a frame into view makes it this wide at least, in pixels. */
const LEAST_REVEALED = 40;
/** Colours that tell what a frame is, and not what is below it. */
const SINGLE_FRAMES = new Set(['origin', 'function', 'bottleneck']);

/**
 * What the picture needs of the page around it.
 * @typedef {object} PictureHost
 * @property {Model} model
 * @property {Colours} colours
 * @property {(change: Change, replace?: boolean) => void} set changes the state
 * @property {() => void} redraw draws the picture with the next frame of the browser
 * @property {() => boolean} flush draws now what is due, and tells whether something was
 * @property {(node: number, place: {x: number, y: number}) => void} menu opens the menu of a frame; of none for -1
 * @property {() => void} hovered another frame is pointed at
 * @property {() => void} magnified the picture has become wider than its place, or fits again
 * @property {(...content: (Node|string)[]) => void} tell shows a text in the status line
 * @property {(text: string) => void} announce tells a text to screen readers
 */

export class Picture {
  /** @param {PictureHost} host */
  constructor(host) {
    this.host = host;
    this.model = host.model;
    /** @type {State|null} the state that is drawn; null before the first picture */ this.state = null;
    /** Whether the scroll bar is shown. It comes after the first picture. */ this.isComplete = false;
    /** The frame that is pointed at, or -1. */ this.hover = -1;
    /** @type {Box|null} */ this.hoverBox = null;
    /** @type {FrameTree|null} the tree that was last drawn */ this.treeDrawn = null;
    /** @type {Pick<State, 'selected'|'zoom'>} what was last brought into view */
    this.revealed = { selected: '', zoom: '' };
    /** The frame that the page has opened at, until another one is selected; or -1. */ this.opened = -1;
    /** Whether the page has opened below the first row. */ this.isOpenedBelow = false;
    /** @type {MouseEvent|null} where the pointer is */ this.pointer = null;
    /** Whether another frame may be at the pointer because the picture has moved. */ this.moved = false;
    /** Whether a key has chosen a frame that screen readers have not been told of. */ this.unheard = false;
    /** The zoomed node that the picture fits, or is stretched for. */ this.fitted = 0;
    const canvas = h('canvas.flame', { 'aria-hidden': 'true' });
    this.hoverMark = h('div.mark');
    this.selectedMark = h('div.mark.pinned');
    this.pathMark = h('div.path');
    this.active = h('div.offscreen', { id: 'active-frame', role: 'treeitem', 'aria-selected': 'true' });
    const tree = {
      tabIndex: 0,
      role: 'tree',
      'aria-label': 'Flame graph: arrows move between frames, Enter zooms',
      'aria-activedescendant': 'active-frame',
    };
    this.overlay = h('div.overlay', tree, this.pathMark, this.hoverMark, this.selectedMark, this.active);
    this.flame = new Flame(canvas);
    this.tip = new Tooltip();
    this.scrollbar = new Scrollbar((by) => this.#pan(0, by));
    this.element = h('div.flame-host', {}, canvas, this.overlay, this.scrollbar.element);
    this.#bind();
  }

  #bind() {
    const { overlay } = this;
    const boxAt = (/** @type {MouseEvent} */ e) => this.flame.hit(e.offsetX, e.offsetY);
    bindHands(overlay, {
      pan: (x, y) => this.#pan(x, y),
      magnify: (factor, x) => this.magnify(factor, x),
      point: (e) => this.#pointAt(e),
      click: (e) => this.#clicked(boxAt(e)),
      open: (e) => this.zoom(boxAt(e)?.node ?? 0),
      menu: (e) => this.#menuAt(e, boxAt(e)),
    });
  }

  /** Fits the picture to its place on the page, now and whenever that changes. */
  settle() {
    const { width, height } = this.element.getBoundingClientRect();
    this.flame.resize(width, height);
    new ResizeObserver(([entry]) => this.#resized(entry.contentRect)).observe(this.element);
  }

  /** @param {DOMRectReadOnly} box */
  #resized({ width, height }) {
    if (!this.flame.resize(width, height)) return;
    if (!this.host.flush() && this.state) this.draw(this.state);
  }

  /** Forgets which frame is pointed at, because the tree has changed. */
  forget() {
    this.hover = this.opened = -1;
    this.hoverBox = null;
    this.tip.show(this.model, null);
  }

  /** How frames are coloured: where removed stacks are drawn, they alone. @param {boolean} tested */
  #painter(tested) {
    const { colours } = this.host;
    const { model } = this;
    const paint = colours.painter(
      model.tree,
      tested,
      (node) => model.pointsOf(node),
      { shade: (node) => model.shadeOf(node), bottleneck: (node) => bottleneckShade(model, node) },
    );
    if (SINGLE_FRAMES.has(colours.mode)) return this.#common(paint);
    if (!model.gone || colours.mode !== 'diff') return paint;
    const [gone, kept] = [colours.pixel('gone', 0), packed(colours.neutral())];
    return (/** @type {number} */ node) => (model.isGone(node) ? gone : kept);
  }

  /**
   * A colour that tells what a single frame is, as the one of a trunk: neutral unless all its frames have it.
   * @param {(node: number) => number} paint
   */
  #common(paint) {
    const { tree } = this.model;
    const neutral = packed(this.host.colours.neutral());
    return (/** @type {number} */ node) => {
      const colour = paint(node);
      if (!isTrunk(tree, node)) return colour;
      return framesIn(tree, node).every((frame) => paint(frame) === colour) ? colour : neutral;
    };
  }

  /** Whether a box is searched for: a trunk is where one of its frames is. */
  #matcher() {
    const { matches, tree } = this.model;
    if (!matches || !tree.trunks) return matches;
    return (/** @type {number} */ node) => (isTrunk(tree, node) ? framesIn(tree, node).some(matches) : matches(node));
  }

  /** What is to be drawn. @param {State} state @returns {import('./draw.js').Scene} */
  scene(state) {
    const { model } = this;
    const { tree } = model;
    const { tested } = model.shownMetric;
    const showsVerdicts = tested && model.sides === 2 && state.colour === 'diff';
    const { classes } = model;
    const isWait = (/** @type {number} */ node) => !!classes && node > 0 && classes[tree.func[node]] > 0;
    const texture = (/** @type {number} */ node) => {
      const proven = model.gone ? (model.isGone(node) ? 'gone' : '') : STATES[tree.state[node]];
      if (showsVerdicts && (proven === 'new' || proven === 'gone')) return proven;
      return isWait(node) ? 'waiting' : '';
    };
    const edgePixel = (/** @type {number} */ state) => state && this.host.colours.edgePixel(STATES[state]);
    const showsEdges = showsVerdicts && !model.gone;
    return {
      tree,
      width: model.width,
      widths: model.widths,
      zoom: model.zoom,
      colour: this.#painter(tested),
      texture: showsVerdicts || classes ? texture : null,
      edge: showsEdges ? (node) => edgePixel(model.verdicts.edgeOf(node)) : null,
      narrowEdge: showsEdges ? (node) => edgePixel(model.verdicts.provenAt(node)) : null,
      edgePart: (node) => model.verdicts.edgePart(node),
      name: (node) => (node ? trunkNames(model, node) || model.nameOf(node) : rootName(model, state)),
      matches: this.#matcher(),
      // A function that was picked is outlined in a picture that stays as it is.
      fades: !!(state.search || state.origins || state.states || state.bottlenecks),
    };
  }

  /** @param {State} state */
  draw(state) {
    const { flame, model } = this;
    const { tree } = model;
    this.state = state;
    if (model.selected >= 0) this.opened = -1;
    if (flame.width <= 1) return;
    if (flame.flipped !== state.flipped) this.moved = true;
    flame.flipped = state.flipped;
    const scene = this.scene(state);
    flame.scene = scene;
    if (this.treeDrawn !== tree || this.fitted !== model.zoom) this.#fit();
    if (this.treeDrawn !== tree) {
      this.treeDrawn = tree;
      if (tree.twin) flame.scroll = this.#firstScroll();
    }
    this.#reveal(state);
    if (!tree.isLazy) this.#clampScroll();
    flame.draw(scene);
    // Drawing makes more of a tree that is made while it is looked at: only then it is known how far it can be
    // scrolled.
    if (tree.isLazy && this.#clampScroll()) flame.draw(scene);
    document.documentElement.dataset.painted ||= String(performance.now() | 0);
    this.#mark();
    if (this.isComplete) this.#showScroll();
    if (this.moved && this.pointer) this.#pointAt(this.pointer);
    this.moved = false;
  }

  /** Where the picture begins: in the middle where callers stand above callees. */
  #firstScroll() {
    return this.model.tree.twin ? -Math.floor((CALLERS_PART * this.flame.height) / ROW) * ROW : 0;
  }

  /** Shows the zoomed node from edge to edge. */
  #fit() {
    const { flame, host, model } = this;
    this.fitted = model.zoom;
    if (flame.stretch === 1) return;
    flame.fit();
    host.magnified();
  }

  /** Whether a part of the zoomed node is cut off at the edges. */
  get isMagnified() {
    return this.flame.stretch > 1;
  }

  /** Shows the whole picture from its beginning. */
  home() {
    this.#fit();
    this.flame.scroll = this.#firstScroll();
    this.isOpenedBelow = false;
    this.host.redraw();
    this.host.set({ zoom: '' });
  }

  /** Zooms to a node. @param {number} node */
  zoom(node) {
    this.#fit();
    this.host.set({ zoom: this.model.pathTo(node) });
  }

  /**
   * Scrolls to the frame that was selected since the last picture, or else to the one that was zoomed to.
   * @param {State} state
   */
  #reveal({ selected, zoom }) {
    const { flame, model, revealed } = this;
    const chosen = selected !== revealed.selected ? model.selected : zoom !== revealed.zoom ? model.zoom : 0;
    this.revealed = { selected, zoom };
    if (chosen <= 0) return;
    if (this.isMagnified) flame.bring(chosen);
    this.#scrollTo(chosen);
  }

  /** Scrolls where a frame would not be on the screen. @param {number} node */
  #scrollTo(node) {
    const { flame, model } = this;
    const y = model.tree.row(node) * ROW;
    if (y < flame.scroll || y + ROW > flame.scroll + flame.height)
      flame.scroll = y - Math.floor(flame.height / REVEAL_AT / ROW) * ROW;
  }

  /** Opens the page at a frame. @param {number} node @param {string} zoom what is zoomed to */
  openAt(node, zoom) {
    this.opened = node;
    this.revealed = { selected: '', zoom };
    this.#scrollTo(node);
    this.isOpenedBelow = this.flame.scroll > 0;
  }

  /**
   * The zoom in which a node can be seen: the one that is shown, where that will do, else the widest that does.
   * @param {number} node @param {boolean} [well] whether it must be as wide as after a zoom @returns {number}
   */
  zoomFor(node, well = false) {
    const { flame, model } = this;
    const { tree } = model;
    const widthIn = (/** @type {number} */ zoom) => (model.width(node) / model.width(zoom)) * flame.width;
    if (tree.holds(model.zoom, node) && widthIn(model.zoom) >= (well ? LEAST_REVEALED : LEAST_SEEN)) return model.zoom;
    let zoom = node;
    while (tree.parent[zoom] >= 0 && widthIn(tree.parent[zoom]) >= LEAST_REVEALED) zoom = tree.parent[zoom];
    return zoom;
  }

  /** Shows the scroll bar from now on. */
  complete() {
    this.isComplete = true;
    if (this.state) this.#showScroll();
  }

  #showScroll() {
    const { flipped, scroll, height } = this.flame;
    const [first, last] = this.#scrollRange();
    this.scrollbar.show(flipped ? last - scroll : scroll - first, height, last - first + height);
  }

  /** Outlines the frame that is pointed at and the selected one, and leads from the root to that. */
  #mark() {
    const { flame, opened } = this;
    const { selected } = this.model;
    this.#put(this.hoverMark, flame.outline(this.hover));
    this.#put(this.selectedMark, flame.outline(selected));
    this.#put(this.pathMark, flame.path(selected >= 0 ? selected : opened));
  }

  /** Puts a mark in its place. @param {HTMLElement} mark @param {{x: number, y: number, w: number, h: number}|null} box */
  #put(mark, box) {
    mark.hidden = !box;
    if (!box) return;
    mark.style.transform = `translate(${box.x}px, ${box.y}px)`;
    mark.style.width = `${box.w}px`;
    mark.style.height = `${box.h}px`;
  }

  /** Tells of the frame that is pointed at, else of the selected one, and screen readers of that one. */
  tell() {
    this.#tellStatus();
    this.#tellTree();
  }

  /** Tells the figures of the frame that is pointed at, else of the selected one. */
  #tellStatus() {
    const { hover, hoverBox, model } = this;
    const node = hover >= 0 ? hover : model.selected;
    const merged = hoverBox && hoverBox.merged > 1 ? ` (first of ${hoverBox.merged} frames too narrow to draw)` : '';
    if (node < 0) this.host.tell();
    else this.host.tell(...statusLine(model, node, merged));
  }

  /** Tells screen readers of the selected frame: they follow the keyboard and not the pointer. */
  #tellTree() {
    const { host, model, overlay } = this;
    const item = treeItem(model, model.selected >= 0 ? model.selected : model.zoom);
    if (item.isEqualNode(this.active)) return;
    // Another element has the focus of the tree, which screen readers tell of, and not a text that has changed.
    this.active.replaceWith(item);
    this.active = item;
    overlay.setAttribute('aria-activedescendant', item.id);
    if (this.unheard && document.activeElement !== overlay) host.announce(item.textContent || '');
    this.unheard = false;
  }

  /** The first and the last place to scroll to. */
  #scrollRange() {
    const [highest, lowest] = this.model.rowRange();
    return [highest * ROW, Math.max(highest * ROW, (lowest + 1) * ROW - this.flame.height)];
  }

  /** Scrolls back to where there is something, and tells whether that was necessary. */
  #clampScroll() {
    const { flame } = this;
    if (!flame.scroll) return false;
    const [first, last] = this.#scrollRange();
    const before = flame.scroll;
    flame.scroll = Math.max(first, Math.min(last, before));
    return flame.scroll !== before;
  }

  /** Points at what is at a place, or at nothing. @param {MouseEvent|null} e */
  #pointAt(e) {
    const { flame, tip } = this;
    this.pointer = e;
    this.#hoverAt(e && flame.hit(e.offsetX, e.offsetY));
    if (e && this.hover >= 0) tip.moveTo(e);
  }

  /** Points at a box. @param {Box|null} box */
  #hoverAt(box) {
    const node = box ? box.node : -1;
    this.overlay.classList.toggle('over', node >= 0);
    if (node === this.hover) return;
    this.hover = node;
    this.hoverBox = box;
    this.tip.show(this.model, box);
    this.#mark();
    this.#tellStatus();
    this.host.hovered();
  }

  /** Selects a box; beside all boxes, nothing. @param {Box|null} box */
  #clicked(box) {
    this.host.set({ selected: box ? this.model.pathTo(box.node) || ROOT : '' }, true);
  }

  /**
   * Opens the menu of a box, which is selected, so that one sees what the menu is about.
   * @param {MouseEvent} e @param {Box|null} box
   */
  #menuAt({ clientX, clientY }, box) {
    this.#pointAt(null);
    if (box) this.#clicked(box);
    this.host.menu(box ? box.node : -1, { x: clientX, y: clientY });
  }

  /** Where the menu of a frame opens that no pointer is at: below its left end. @param {number} node */
  placeOf(node) {
    const { flame, overlay } = this;
    const { left, top } = overlay.getBoundingClientRect();
    const box = flame.outline(node) || { x: 0, y: 0, w: 0, h: 0 };
    return { x: left + Math.max(0, box.x), y: top + Math.max(0, Math.min(box.y + ROW, flame.height)) };
  }

  /**
   * Makes the picture wider or narrower; what is at `x` stays there. Where it fits the zoomed frame, it narrows to what
   * is around that.
   * @param {number} factor @param {number} [x]
   */
  magnify(factor, x = this.flame.width / 2) {
    const { flame, host, model } = this;
    const before = this.isMagnified;
    if (factor < 1 && !before && model.zoom > 0) {
      const { tree, width } = model;
      const part = width(model.zoom) / width(0);
      const left = leftOf(tree, width, 0, model.zoom) / width(0);
      this.fitted = 0;
      flame.stretch = 1 / part;
      flame.moveTo((left * flame.width) / part);
      host.set({ zoom: '' });
    }
    flame.magnify(factor, x);
    this.moved = true;
    if (before !== this.isMagnified) host.magnified();
    host.redraw();
  }

  /** Moves the picture, and tells whether it moved. @param {number} x @param {number} y in pixels of the screen */
  #pan(x, y) {
    const { flame } = this;
    const aside = x !== 0 && flame.moveTo(flame.left + x);
    const along = y !== 0 && this.#scrollBy(flame.flipped ? -y : y);
    if (!aside && !along) return false;
    this.moved = true;
    this.host.redraw();
    return true;
  }

  /** Scrolls as far as that goes, and tells whether it did. @param {number} by in pixels away from the root */
  #scrollBy(by) {
    const { flame } = this;
    const [first, last] = this.#scrollRange();
    const before = flame.scroll;
    flame.scroll = Math.max(first, Math.min(last, before + by));
    return flame.scroll !== before;
  }

  /**
   * Selects a node and brings it into view.
   * @param {number} node @param {boolean} [reveal] also zooms to where it can be seen
   */
  select(node, reveal = false) {
    const { host, model } = this;
    /** @type {Change} */
    const change = { selected: model.pathTo(node) || ROOT };
    if (reveal) change.zoom = model.pathTo(this.zoomFor(node));
    host.set(change, !reveal);
    this.unheard = true;
  }
}
