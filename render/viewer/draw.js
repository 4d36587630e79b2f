// SPDX-License-Identifier: GPL-3.0-or-later
// The flame graph on a canvas: only what is visible is touched. Subtrees narrower than a pixel are painted as one run in their
// average colour.

import { css, inkOn, mix } from './colour.js';
import { isolated, shorterNames } from './format.js';

/** @typedef {import('./decode.js').Tree} Tree */

export const ROW = 19;
const LABEL_FROM = 28;
const PAD = 4;
const FONT = '12px system-ui, "Segoe UI", Roboto, sans-serif';

/** @typedef {{x: number, w: number, node: number, merged: number}} Box */

/**
 * @typedef {object} Scene
 * @property {Tree} tree
 * @property {Float64Array} widths
 * @property {Float64Array} left
 * @property {number} zoom the node that fills the width
 * @property {(node: number) => number[]} colour
 * @property {(node: number) => string} state
 * @property {(node: number) => string} name
 * @property {boolean} textures hatch new and gone
 * @property {boolean} down root on top
 */

export class Flame {
  /** @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} overlay */
  constructor(canvas, overlay) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    this.overlayContext = /** @type {CanvasRenderingContext2D} */ (overlay.getContext('2d'));
    /** @type {Box[][]} */ this.rows = [];
    this.scroll = 0;
    this.width = 0;
    this.height = 0;
    /** @type {Map<string, {width: number, forms: [string, number][]}>} */ this.labels = new Map();
    /** @type {Scene|null} */ this.scene = null;
    this.dark = false;
    /** @type {Map<string, CanvasPattern>} */ this.patterns = new Map();
  }

  resize() {
    const box = /** @type {HTMLElement} */ (this.canvas.parentElement).getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.width = Math.max(1, Math.floor(box.width));
    this.height = Math.max(1, Math.floor(box.height));
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = this.width * ratio;
      canvas.height = this.height * ratio;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.overlayContext.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.patterns.clear();
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
    const { left, widths, zoom } = /** @type {Scene} */ (this.scene);
    const scale = widths[zoom] > 0 ? this.width / widths[zoom] : 0;
    return { x: (left[node] - left[zoom]) * scale, w: widths[node] * scale };
  }

  /** @param {Scene} scene */
  draw(scene) {
    this.scene = scene;
    const { tree, widths, left, zoom } = scene;
    const c = this.context;
    c.fillStyle = this.dark ? '#17181a' : '#fff';
    c.fillRect(0, 0, this.width, this.height);
    this.rows = [];
    const scale = widths[zoom] > 0 ? this.width / widths[zoom] : 0;
    if (!scale) return;
    const base = left[zoom];
    const firstRow = Math.floor(this.scroll / ROW);
    const lastRow = Math.ceil((this.scroll + this.height) / ROW);
    const path = [];
    for (let at = tree.parent[zoom]; at >= 0; at = tree.parent[at]) path.push(at);
    for (const node of path) this.box(scene, tree.depth[node], 0, this.width, node, 1);
    for (let i = zoom; i < tree.end[zoom];) {
      const w = widths[i] * scale;
      if (w === 0) {
        i = tree.end[i];
        continue;
      }
      const x = (left[i] - base) * scale;
      const row = tree.depth[i];
      if (row > lastRow) {
        i = tree.end[i];
      } else if (w < 1) {
        i = this.run(scene, i, x, scale, base);
      } else {
        if (row >= firstRow - 1) this.box(scene, row, x, w, i, 1);
        i++;
      }
    }
  }

  /** Siblings narrower than a pixel each, as one block. @param {Scene} scene @param {number} node @param {number} x @param {number} scale @param {number} base */
  run(scene, node, x, scale, base) {
    const { tree, widths, left } = scene;
    const parentEnd = tree.parent[node] < 0 ? tree.count : tree.end[tree.parent[node]];
    let colour = scene.colour(node);
    let weight = widths[node];
    let merged = 1;
    let i = tree.end[node];
    for (; i < parentEnd && widths[i] * scale < 1 && (left[i] + widths[i] - base) * scale - x < 3; i = tree.end[i]) {
      if (widths[i] === 0) continue;
      weight += widths[i];
      merged++;
      colour = mix(colour, scene.colour(i), widths[i] / weight);
    }
    const w = Math.max(weight * scale, 0.6);
    this.context.fillStyle = css(colour);
    const y = tree.depth[node] * ROW - this.scroll;
    this.context.globalAlpha = Math.min(1, w);
    this.context.fillRect(x, y, w, ROW - 1);
    this.context.globalAlpha = 1;
    (this.rows[tree.depth[node]] ||= []).push({ x, w, node, merged });
    return i;
  }

  /** @param {Scene} scene @param {number} row @param {number} x @param {number} w @param {number} node @param {number} merged */
  box(scene, row, x, w, node, merged) {
    const c = this.context;
    const y = row * ROW - this.scroll;
    const colour = scene.colour(node);
    const state = scene.state(node);
    const gap = w > 3 ? 0.6 : 0;
    (this.rows[row] ||= []).push({ x, w, node, merged });
    if (y > this.height || y + ROW < 0) return;
    c.fillStyle = css(colour);
    c.fillRect(x, y, w - gap, ROW - 1);
    if (scene.textures && (state === 'new' || state === 'gone')) {
      c.fillStyle = this.pattern(state);
      c.fillRect(x, y, w - gap, ROW - 1);
    }
    if (w < LABEL_FROM) return;
    const sign = scene.textures && state === 'new' ? '+ ' : scene.textures && state === 'gone' ? '− ' : '';
    this.label(
      sign + scene.name(node),
      Math.max(x, 0) + PAD,
      y,
      Math.min(x + w, this.width) - Math.max(x, 0) - 2 * PAD,
      inkOn(colour),
    );
  }

  /** Widths of a name's forms, measured once. @param {string} name */
  formsOf(name) {
    let forms = this.labels.get(name);
    if (!forms) {
      this.context.font = FONT;
      forms = { width: 0, forms: shorterNames(name).map((form) => [form, this.context.measureText(form).width]) };
      this.labels.set(name, forms);
    }
    return forms.forms;
  }

  /** @param {string} name @param {number} x @param {number} y @param {number} room @param {string} ink */
  label(name, x, y, room, ink) {
    if (room < LABEL_FROM - 2 * PAD) return;
    const forms = this.formsOf(name.length > 400 ? name.slice(0, 400) : name);
    let text = '';
    for (const [form, width] of forms)
      if (width <= room) {
        text = form;
        break;
      }
    if (!text) {
      const [form, width] = forms[forms.length - 1];
      const letters = Math.floor((form.length * room) / width) - 1;
      if (letters < 2) return;
      text = `${form.slice(0, letters)}…`;
    }
    const c = this.context;
    c.font = FONT;
    c.fillStyle = ink;
    c.textBaseline = 'middle';
    c.fillText(isolated(text), x, y + ROW / 2 - 0.5);
  }

  /** The box at a point, or null. @param {number} x @param {number} y @returns {Box|null} */
  hit(x, y) {
    const row = this.rows[Math.floor((y + this.scroll) / ROW)];
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

  /** Outlines over the picture. @param {{hover: number, selected: number, matches: (node: number) => boolean, hasMatches: boolean}} marks */
  mark({ hover, selected, matches, hasMatches }) {
    const c = this.overlayContext;
    c.clearRect(0, 0, this.width, this.height);
    if (!this.scene) return;
    if (hasMatches) {
      for (let row = 0; row < this.rows.length; row++)
        for (const box of this.rows[row] || []) {
          const y = row * ROW - this.scroll;
          if (matches(box.node)) {
            c.strokeStyle = '#c026d3';
            c.lineWidth = 2;
            if (box.w >= 2) c.strokeRect(box.x + 1, y + 1, box.w - 2.5, ROW - 3);
            else ((c.fillStyle = '#c026d3'), c.fillRect(box.x, y, 1, ROW - 1));
          } else {
            c.fillStyle = this.dark ? 'rgba(23,24,26,.55)' : 'rgba(255,255,255,.6)';
            c.fillRect(box.x, y, box.w, ROW - 1);
          }
        }
    }
    for (const [node, colour, width] of /** @type {[number, string, number][]} */ ([
      [hover, this.dark ? '#fff' : '#000', 1],
      [selected, this.dark ? '#fff' : '#000', 2.5],
    ])) {
      if (node < 0) continue;
      const row = this.scene.tree.depth[node];
      const inZoom = node >= this.scene.zoom && node < this.scene.tree.end[this.scene.zoom];
      const { x, w } = inZoom ? this.place(node) : { x: 0, w: this.width };
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.strokeRect(x + width / 2, row * ROW - this.scroll + width / 2, Math.max(w - width - 0.6, 1), ROW - 1 - width);
    }
  }
}
