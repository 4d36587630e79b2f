// SPDX-License-Identifier: GPL-3.0-or-later
// The flame graph on a canvas: only what is visible is touched. Subtrees narrower than a pixel are painted as one run in their
// average colour.

import { css, inkOn, mix } from './colour.js';
import { isolated } from './format.js';
import { Labels } from './labels.js';
import { leftOf } from './layout.js';

/** @typedef {import('./layout.js').AnyTree} AnyTree */

export const ROW = 19;
const LABEL_FROM = 28;
const PAD = 4;

/** @typedef {{x: number, w: number, node: number, merged: number}} Box */

/**
 * @typedef {object} Scene
 * @property {AnyTree} tree
 * @property {(node: number) => number} width
 * @property {number} zoom the node that fills the width
 * @property {(node: number) => number[]} colour
 * @property {(node: number) => string} state
 * @property {(node: number) => string} name
 * @property {boolean} textures hatch new and gone
 */

export class Flame {
  /** @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} overlay */
  constructor(canvas, overlay) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    this.overlayContext = /** @type {CanvasRenderingContext2D} */ (overlay.getContext('2d'));
    /** @type {Map<number, Box[]>} by row, from left to right */ this.rows = new Map();
    this.scroll = 0;
    this.width = 0;
    this.height = 0;
    this.ratio = 0;
    this.labels = new Labels(this.context);
    /** @type {Scene|null} */ this.scene = null;
    this.dark = false;
    this.marked = false;
    this.reached = 0;
    this.drawn = false;
    /** @type {Map<string, CanvasPattern>} */ this.patterns = new Map();
  }

  /** Whether it is another size than before. @param {number} width @param {number} height */
  resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    width = Math.max(1, Math.floor(width));
    height = Math.max(1, Math.floor(height));
    if (width === this.width && height === this.height && ratio === this.ratio) return false;
    Object.assign(this, { width, height, ratio });
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.overlayContext.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.patterns.clear();
    this.labels.reset();
    return true;
  }

  /** Hatches tell new and gone apart without hue. @param {string} state */
  pattern(state) {
    let pattern = this.patterns.get(state);
    if (pattern) return pattern;
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const c = /** @type {CanvasRenderingContext2D} */ (tile.getContext('2d'));
    c.strokeStyle = 'rgba(255,255,255,.45)';
    c.beginPath();
    if (state === 'new') (c.moveTo(0, 6), c.lineTo(6, 0), c.moveTo(-1, 1), c.lineTo(1, -1), c.moveTo(5, 7), c.lineTo(7, 5));
    else (c.moveTo(0, 0), c.lineTo(6, 6), c.moveTo(5, -1), c.lineTo(7, 1), c.moveTo(-1, 5), c.lineTo(1, 7));
    c.stroke();
    pattern = /** @type {CanvasPattern} */ (this.context.createPattern(tile, 'repeat'));
    this.patterns.set(state, pattern);
    return pattern;
  }

  /** Left edge and width of a node on screen. @param {number} node */
  place(node) {
    const { tree, width, zoom } = /** @type {Scene} */ (this.scene);
    if (!tree.holds(zoom, node)) return { x: 0, w: this.width };
    const scale = width(zoom) > 0 ? this.width / width(zoom) : 0;
    return { x: leftOf(tree, width, zoom, node) * scale, w: width(node) * scale };
  }

  /** What fills the width: the zoomed node; callers and callees alike when nothing is zoomed. @param {Scene} scene */
  static parts({ tree, zoom }) {
    return tree.twin && zoom === 0 ? [1, tree.twin] : [zoom];
  }

  /** @param {Scene} scene */
  draw(scene) {
    this.drawn = true;
    this.scene = scene;
    const { tree, width, zoom } = scene;
    const c = this.context;
    c.fillStyle = this.dark ? '#17181a' : '#fff';
    c.fillRect(0, 0, this.width, this.height);
    this.rows = new Map();
    const scale = width(zoom) > 0 ? this.width / width(zoom) : 0;
    if (!scale) return;
    for (const part of Flame.parts(scene)) {
      // The root has no row of its own between callers and callees.
      for (let at = tree.parent[part]; at >= (tree.twin ? 1 : 0); at = tree.parent[at])
        this.box(scene, 0, this.width, tree.twin && at === tree.twin ? 1 : at);
      this.subtree(scene, part, scale);
    }
  }

  /** Depth first, so that every row is filled from left to right. @param {Scene} scene @param {number} top @param {number} scale */
  subtree(scene, top, scale) {
    const { tree, width } = scene;
    const first = Math.floor((this.scroll - this.ahead(tree)) / ROW);
    const last = Math.ceil((this.scroll + this.height + this.ahead(tree)) / ROW);
    // By level below `top`: the node to come, and where it begins.
    const nodes = [top];
    const lefts = [0];
    for (let level = 0; level >= 0;) {
      const node = nodes[level];
      if (node < 0) {
        level--;
        continue;
      }
      const x = lefts[level];
      const w = width(node) * scale;
      if (w < 1) {
        nodes[level] = w > 0 ? this.run(scene, node, x, scale) : tree.next(node);
        if (w > 0) lefts[level] = this.reached;
        continue;
      }
      nodes[level] = level ? tree.next(node) : -1;
      lefts[level] = x + w;
      const row = tree.row(node);
      if (!tree.twin || node !== tree.twin) this.box(scene, x, w, node);
      if (tree.upward(node) ? row <= first : row >= last) continue;
      nodes[++level] = tree.first(node);
      lefts[level] = x;
    }
  }

  /** What is made when it is looked at is made a screen ahead, so that there is something to scroll to. @param {AnyTree} tree */
  ahead(tree) {
    return tree.isLazy ? this.height : 0;
  }

  /**
   * Siblings narrower than a pixel each, as one block; returns the node behind them.
   * @param {Scene} scene @param {number} node @param {number} x @param {number} scale
   */
  run(scene, node, x, scale) {
    const { tree, width } = scene;
    let colour = scene.colour(node);
    let weight = 0;
    let merged = 0;
    let at = node;
    for (; at >= 0; at = tree.next(at)) {
      const own = width(at);
      if (own * scale >= 1 || (merged && (weight + own) * scale >= 3)) break;
      if (own === 0) continue;
      weight += own;
      if (merged++) colour = mix(colour, scene.colour(at), own / weight);
    }
    const row = tree.row(node);
    const y = row * ROW - this.scroll;
    const w = Math.max(weight * scale, 0.6);
    this.reached = x + weight * scale;
    this.add(row, { x, w, node, merged });
    if (y > this.height || y + ROW < 0) return at;
    this.context.fillStyle = css(colour);
    this.context.globalAlpha = Math.min(1, w);
    this.context.fillRect(x, y, w, ROW - 1);
    this.context.globalAlpha = 1;
    return at;
  }

  /** @param {number} row @param {Box} box */
  add(row, box) {
    const list = this.rows.get(row);
    if (list) list.push(box);
    else this.rows.set(row, [box]);
  }

  /** @param {Scene} scene @param {number} x @param {number} w @param {number} node */
  box(scene, x, w, node) {
    const c = this.context;
    const row = scene.tree.row(node);
    const y = row * ROW - this.scroll;
    this.add(row, { x, w, node, merged: 1 });
    if (y > this.height || y + ROW < 0) return;
    const colour = scene.colour(node);
    const state = scene.state(node);
    const gap = w > 3 ? 0.6 : 0;
    c.fillStyle = css(colour);
    c.fillRect(x, y, w - gap, ROW - 1);
    if (scene.textures && (state === 'new' || state === 'gone')) {
      c.fillStyle = this.pattern(state);
      c.fillRect(x, y, w - gap, ROW - 1);
    }
    const room = Math.min(x + w, this.width) - Math.max(x, 0) - 2 * PAD;
    if (w < LABEL_FROM || room < LABEL_FROM - 2 * PAD) return;
    const sign = scene.textures && state === 'new' ? '+ ' : scene.textures && state === 'gone' ? '− ' : '';
    const text = this.labels.fit(sign + scene.name(node), room);
    if (!text) return;
    c.fillStyle = inkOn(colour);
    c.fillText(isolated(text), Math.max(x, 0) + PAD, y + ROW / 2 - 0.5);
  }

  /** The box at a point, or null. @param {number} x @param {number} y @returns {Box|null} */
  hit(x, y) {
    const row = this.rows.get(Math.floor((y + this.scroll) / ROW));
    if (!row) return null;
    let low = 0;
    let high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[middle].x <= x) low = middle + 1;
      else high = middle;
    }
    const box = row[low - 1];
    return box && x < box.x + Math.max(box.w, 1) ? box : null;
  }

  /** Outlines over the picture. @param {{hover: number, selected: number, matches: ((node: number) => boolean)|null}} marks */
  mark({ hover, selected, matches }) {
    const c = this.overlayContext;
    if (this.marked) c.clearRect(0, 0, this.width, this.height);
    this.marked = !!matches || hover >= 0 || selected >= 0;
    if (!this.scene) return;
    if (matches) this.markMatches(matches);
    const ink = this.dark ? '#fff' : '#000';
    this.outline(hover, ink, 1);
    this.outline(selected, ink, 2.5);
  }

  /** @param {(node: number) => boolean} matches */
  markMatches(matches) {
    const c = this.overlayContext;
    const shade = this.dark ? 'rgba(23,24,26,.55)' : 'rgba(255,255,255,.6)';
    for (const [row, boxes] of this.rows) {
      const y = row * ROW - this.scroll;
      if (y > this.height || y + ROW < 0) continue;
      for (const box of boxes) {
        if (!matches(box.node)) {
          c.fillStyle = shade;
          c.fillRect(box.x, y, box.w, ROW - 1);
        } else if (box.w >= 2) {
          c.strokeStyle = '#c026d3';
          c.lineWidth = 2;
          c.strokeRect(box.x + 1, y + 1, box.w - 2.5, ROW - 3);
        } else {
          c.fillStyle = '#c026d3';
          c.fillRect(box.x, y, 1, ROW - 1);
        }
      }
    }
  }

  /** @param {number} node @param {string} colour @param {number} width */
  outline(node, colour, width) {
    if (node < 0) return;
    const { tree, zoom } = /** @type {Scene} */ (this.scene);
    if (!tree.holds(zoom, node) && !tree.holds(node, zoom)) return;
    const { x, w } = this.place(node);
    const c = this.overlayContext;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.strokeRect(x + width / 2, tree.row(node) * ROW - this.scroll + width / 2, Math.max(w - width - 0.6, 1), ROW - 1 - width);
  }
}
