// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the flame graph on a canvas, and only what is visible of it. Siblings narrower than a pixel are painted as one
// block in their average colour.

import { css, inkOn } from '../drawing/colour.js';
import { isolated } from '../common/format.js';
import { blend, packed, SUBPIXELS, unpacked } from '../drawing/pixels.js';
import { GAP, GAP_FROM, LABEL_FROM, Surface } from '../drawing/surface.js';
import { WAIT_SIGN } from '../model/waiting.js';
import { boxAt, extentOf, walk } from './walk.js';
import { shownAs } from '../model/trunks.js';

/** @typedef {import('../data/tree.js').FrameTree} FrameTree */
/** @typedef {import('./walk.js').Box} Box */
/** @typedef {import('./walk.js').Painter} Painter */

/** Height of a row in pixels. */
export const ROW = 19;
const PAD = 4;
/** A narrow box is as wide as this at least. */
const LEAST_SEEN = 0.6;
/** The strokes of both hatches on a tile, from one point to another. */
const RISING = [
  [0, 6, 6, 0],
  [-1, 1, 1, -1],
  [5, 7, 7, 5],
];
const FALLING = [
  [0, 0, 6, 6],
  [5, -1, 7, 1],
  [-1, 5, 1, 7],
];
const UPRIGHT = [[3, 0, 3, 6]];
/** Where the texture of a wait begins in its row, in pixels. */
const EDGE_FROM = 14;
/** The strokes of each texture. @type {Record<string, number[][]>} */
export const STROKES = { new: RISING, gone: FALLING, waiting: UPRIGHT };
/** Signs that say the same as a texture. @type {Record<string, string>} */
const SIGNS = { new: '+', gone: '−', waiting: WAIT_SIGN };
/** Frames that are searched for get an outline; all others may fade. */
const FOUND = packed([192, 38, 211]);
const FADED = Math.round(0.4 * SUBPIXELS);
const FRAME = 2;
/** The height of a lower edge, and of the gap above it that sets it off from a frame of its colour, in pixels. */
const EDGE = 3;
const EDGE_GAP = 1;
/** How far above the middle of its row a name stands that has an edge below it, in pixels. */
const RAISED = 2;
/** An edge is as wide as this at least, if its frame is. */
const LEAST_EDGE = 12;
/** A narrower box that is found has the colour of its outline all over. */
const FRAMED_FROM = 5;
/** So far a box that is cut off reaches beyond the edge of the picture, in pixels. */
const BEYOND = 8;
/** The picture is at most this many times as wide as its place. */
const WIDEST = 1 << 20;

/**
 * What is to be drawn.
 * @typedef {object} Scene
 * @property {FrameTree} tree
 * @property {(node: number) => number} width
 * @property {Float64Array|null} widths the widths as a column, where siblings lie one after another in it; else null
 * @property {number} zoom the node that fills the width
 * @property {(node: number) => number} colour as a pixel
 * @property {((node: number) => string)|null} texture 'new', 'gone' and 'waiting' are hatched
 * @property {((node: number) => number)|null} edge the colour of the lower edge of a frame, as a pixel; 0 for none
 * @property {((node: number) => number)|null} narrowEdge the same of a frame that is merged with others into an average
 * @property {(node: number) => number} edgePart the part of the width of a frame that its edge takes, on the right
 * @property {(node: number) => string|string[]} name or its forms, the longest first
 * @property {((node: number) => boolean)|null} matches whether a frame is searched for
 * @property {boolean} fades whether all frames that are not searched for fade
 */

/**
 * A box with a texture, a text, or both.
 * @typedef {{x: number, w: number, row: number, node: number, colour: number, texture: string, edged: boolean}} Decorated
 */

/** @implements {Painter} */
export class Flame extends Surface {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    super(canvas);
    /** Whether the root is at the bottom, and rows follow upwards. */ this.flipped = false;
    /** How many times as wide as its place the picture is. */ this.stretch = 1;
    /** How much of it is cut off on the left, in pixels. */ this.left = 0;
    /** @type {Scene|null} */ this.scene = null;
    /** Sums over narrow siblings: red, green, blue. */ this.sums = new Float64Array(3);
    this.foundNarrow = false;
    /** @type {number[]} boxes to be outlined: row, left and right edge of each */ this.frames = [];
    /** How many parts of the screen's pixels a pixel of the page has. */ this.grain = SUBPIXELS;
    /** The first row on the screen. */ this.top = 0;
    this.rowsShown = 0;
    /** @type {Decorated[]} */ this.decorated = [];
    /** @type {{x: number, w: number, row: number, colour: number}[]} lower edges of boxes */ this.edges = [];
    /** The colour of the lower edge of narrow siblings, as a pixel; 0 for none. */ this.edgeNarrow = 0;
    /** @type {Map<string, CanvasPattern>} */ this.patterns = new Map();
    /** @type {Map<number, string>} */ this.inks = new Map();
  }

  /** Sets the size of the picture, and tells whether that has changed. @param {number} width @param {number} height */
  resize(width, height) {
    const before = this.width || 1;
    if (!super.resize(width, height)) return false;
    this.left *= this.width / before;
    this.patterns.clear();
    return true;
  }

  /** The hatches of new and gone frames and of waits, which tell them apart without hue. @param {string} state */
  #pattern(state) {
    let pattern = this.patterns.get(state);
    if (pattern) return pattern;
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const c = /** @type {CanvasRenderingContext2D} */ (tile.getContext('2d'));
    c.strokeStyle = 'rgba(255,255,255,.45)';
    c.beginPath();
    for (const [x0, y0, x1, y1] of STROKES[state]) {
      c.moveTo(x0, y0);
      c.lineTo(x1, y1);
    }
    c.stroke();
    pattern = /** @type {CanvasPattern} */ (this.context.createPattern(tile, 'repeat'));
    this.patterns.set(state, pattern);
    return pattern;
  }

  /** The part of the scene that is on the screen. @returns {import('./walk.js').View} */
  #view() {
    const { tree, width, widths, zoom } = /** @type {Scene} */ (this.scene);
    const { left, top } = this;
    const place = { room: this.width * this.stretch, left, shown: this.width, top, behind: top + this.rowsShown };
    return { tree, width, widths, zoom, ...place };
  }

  /** Shows the zoomed node from edge to edge. */
  fit() {
    this.stretch = 1;
    this.left = 0;
  }

  /**
   * Makes the picture wider or narrower; what is at `x` stays there.
   * @param {number} factor @param {number} x
   */
  magnify(factor, x) {
    const stretch = Math.max(1, Math.min(WIDEST, this.stretch * factor));
    const left = ((this.left + x) * stretch) / this.stretch - x;
    this.stretch = stretch;
    this.moveTo(left);
  }

  /** Moves the picture sideways as far as it goes, and tells whether it moved. @param {number} left */
  moveTo(left) {
    const before = this.left;
    this.left = Math.max(0, Math.min(this.width * (this.stretch - 1), left));
    return this.left !== before;
  }

  /** Moves the picture sideways until a node of the scene is in it. @param {number} node */
  bring(node) {
    const { x, w } = this.place(node);
    if (x + w <= 0 || x >= this.width) this.moveTo(this.left + x - Math.max(0, (this.width - w) / 2));
  }

  /** Left edge and width of a node on screen. @param {number} node */
  place(node) {
    return extentOf(this.#view(), node);
  }

  /** The upper edge of a row. @param {number} row */
  #yOf(row) {
    const y = row * ROW - this.scroll;
    return this.flipped ? this.height - ROW - y : y;
  }

  /** The box at a point, or null. @param {number} x @param {number} y @returns {Box|null} */
  hit(x, y) {
    const along = this.flipped ? this.height - 1 - y : y;
    return this.scene && boxAt(this.#view(), Math.floor((along + this.scroll) / ROW), x);
  }

  /** @param {Scene} scene */
  draw(scene) {
    const { canvas, pixels, ratio, scroll } = this;
    this.scene = scene;
    this.decorated = [];
    this.edges = [];
    this.top = Math.floor(scroll / ROW);
    this.rowsShown = Math.ceil((scroll + this.height) / ROW) - this.top;
    pixels.begin(canvas.width, this.rowsShown, this.paper, !!scene.matches);
    this.grain = ratio * SUBPIXELS;
    walk(this.#view(), this);
    if (scene.matches) this.#frame();
    const span = (/** @type {number} */ row) => {
      const y = this.#yOf(row + this.top);
      return [Math.round(y * ratio), Math.round((y + ROW - 1) * ratio)];
    };
    this.put(span, Math.round(FRAME * ratio));
    this.#hatch();
    this.#drawEdges();
    this.#label(scene);
  }

  /** Draws the lower edges, with a line of paper above each. */
  #drawEdges() {
    const { context, edges, paper } = this;
    const y = (/** @type {number} */ row) => this.#yOf(row) + ROW - 1 - EDGE;
    context.fillStyle = css(unpacked(paper));
    for (const { x, w, row } of edges) context.fillRect(x, y(row) - EDGE_GAP, w, EDGE_GAP);
    let last = 0;
    for (const { x, w, row, colour } of edges) {
      if (colour !== last) context.fillStyle = css(unpacked((last = colour)));
      context.fillRect(x, y(row), w, EDGE);
    }
  }

  /** Outlines the frames that are searched for. */
  #frame() {
    const { frames, pixels, ratio } = this;
    pixels.rims();
    for (let i = 0; i < frames.length; i += 3)
      pixels.frame(frames[i], frames[i + 1], frames[i + 2], FOUND, Math.round(FRAME * ratio));
    this.frames = [];
  }

  /** Draws the textures. */
  #hatch() {
    for (const { x, w, row, texture } of this.decorated) {
      if (!texture) continue;
      this.context.fillStyle = this.#pattern(texture);
      // That of a wait lies below its name, which is no code's.
      const from = texture === 'waiting' ? EDGE_FROM : 0;
      this.context.fillRect(x, this.#yOf(row) + from, w, ROW - 1 - from);
    }
  }

  /** Writes the names. @param {Scene} scene */
  #label(scene) {
    const { context } = this;
    let ink = '';
    for (const { x, w, row, node, colour, texture, edged } of this.decorated) {
      const room = Math.min(x + w, this.width) - Math.max(x, 0) - 2 * PAD;
      if (w < LABEL_FROM || room < LABEL_FROM - 2 * PAD) continue;
      const name = scene.name(node);
      const text = texture ? this.labels.fitSigned(SIGNS[texture], name, room) : this.labels.fit(name, room);
      if (!text) continue;
      if (this.#inkOn(colour) !== ink) context.fillStyle = ink = this.#inkOn(colour);
      context.fillText(isolated(text), Math.max(x, 0) + PAD, this.#yOf(row) + ROW / 2 - (edged ? RAISED : 0.5));
    }
  }

  /** The ink that reads best on a colour. @param {number} colour as a pixel */
  #inkOn(colour) {
    let ink = this.inks.get(colour);
    if (!ink) this.inks.set(colour, (ink = inkOn(unpacked(colour))));
    return ink;
  }

  /** Paints a box. @param {number} row @param {number} x @param {number} w @param {number} node */
  box(row, x, w, node) {
    const { colour, texture, edge, edgePart, matches, fades } = /** @type {Scene} */ (this.scene);
    const line = row - this.top;
    let wide = w > GAP_FROM ? w - GAP : w;
    // Edges far outside the picture are no whole numbers of parts of a pixel any more.
    if (x + wide > this.width + BEYOND) wide = this.width + BEYOND - x;
    if (x < -BEYOND) {
      wide += x + BEYOND;
      x = -BEYOND;
    }
    const from = (x * this.grain) | 0;
    const to = ((x + wide) * this.grain) | 0;
    let shade = colour(node);
    let band = edge ? edge(node) : 0;
    if (matches) {
      const found = matches(node);
      if (!found && band && fades) band = blend(this.paper, band, FADED);
      if (!found) shade = fades ? blend(this.paper, shade, FADED) : shade;
      else if (w < FRAMED_FROM) shade = FOUND;
      else this.frames.push(line, from, to);
    }
    this.pixels.fill(line, from, to, shade);
    if (band) this.#addEdge(x, wide, row, band, edgePart(node) * w);
    const hatched = texture ? texture(node) : '';
    if (hatched || w >= LABEL_FROM) this.decorated.push({ x, w: wide, row, node, colour: shade, texture: hatched, edged: band > 0 });
  }

  /**
   * Notes the lower edge of a box.
   * @param {number} x @param {number} w @param {number} row @param {number} colour @param {number} part how wide it is
   */
  #addEdge(x, w, row, colour, part) {
    const wide = Math.min(w, Math.max(part, LEAST_EDGE));
    this.edges.push({ x: x + w - wide, w: wide, row, colour });
  }

  /** Adds one of several narrow siblings to their average. @param {number} node @param {number} weight */
  narrow(node, weight) {
    const { sums } = this;
    const { colour, narrowEdge, matches, fades } = /** @type {Scene} */ (this.scene);
    const shade = matches && fades ? blend(this.paper, colour(node), FADED) : colour(node);
    if (matches && matches(node)) this.foundNarrow = true;
    this.edgeNarrow ||= narrowEdge ? narrowEdge(node) : 0;
    sums[0] += (shade & 255) * weight;
    sums[1] += ((shade >> 8) & 255) * weight;
    sums[2] += ((shade >> 16) & 255) * weight;
  }

  /**
   * Paints narrow siblings in their average colour.
   * @param {number} row @param {number} x @param {number} w @param {number} weight
   */
  merged(row, x, w, weight) {
    const { sums } = this;
    const average = packed([sums[0] / weight, sums[1] / weight, sums[2] / weight]);
    const to = ((x + Math.max(w, LEAST_SEEN)) * this.grain) | 0;
    this.pixels.fill(row - this.top, (x * this.grain) | 0, to, this.foundNarrow ? FOUND : average);
    if (this.edgeNarrow) this.edges.push({ x, w: Math.max(w, LEAST_SEEN), row, colour: this.edgeNarrow });
    sums.fill(0);
    this.edgeNarrow = 0;
    this.foundNarrow = false;
  }

  /**
   * The outline of a node, from the upper left corner of the picture; null where the node is not in it.
   * @param {number} node
   */
  outline(node) {
    if (node < 0 || !this.scene) return null;
    const { tree, zoom } = this.scene;
    node = shownAs(tree, node);
    if (!tree.holds(zoom, node) && !tree.holds(node, zoom)) return null;
    const place = this.place(node);
    const x = Math.max(place.x, -BEYOND);
    const w = Math.min(place.x + place.w, this.width + BEYOND) - x;
    if (w < 0 || x >= this.width) return null;
    return { x, y: this.#yOf(tree.row(node)), w: Math.max(w - GAP, 1), h: ROW - 1 };
  }

  /** What lies between the root and a node, as wide as the node: all that call it. @param {number} node */
  path(node) {
    const box = this.outline(node);
    if (!box || !this.scene) return null;
    const root = this.#yOf(this.scene.tree.row(this.scene.tree.twin ? 1 : 0));
    const [from, to] = box.y > root ? [root, box.y] : [box.y + ROW, root + ROW];
    const [y, end] = [Math.max(from, 0), Math.min(to, this.height)];
    return end > y ? { x: box.x, y, w: box.w, h: end - y } : null;
  }
}
