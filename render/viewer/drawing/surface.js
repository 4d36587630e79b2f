// SPDX-License-Identifier: GPL-3.0-or-later
// A canvas that rows of boxes with names are drawn on.

import { css } from './colour.js';
import { Labels } from './labels.js';
import { packed, Pixels, unpacked } from './pixels.js';

/** Narrower boxes have no text, in pixels. */
export const LABEL_FROM = 28;
/** From this width on there is a gap between a box and its neighbour. */
export const GAP_FROM = 3;
export const GAP = 0.6;
const PAPER = { light: packed([255, 255, 255]), dark: packed([23, 24, 26]) };

export class Surface {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    this.width = 0;
    this.height = 0;
    this.ratio = 0;
    /** How many pixels a pixel of the page has, where that is not the screen's to decide; else 0. */ this.fixedRatio = 0;
    this.pixels = new Pixels();
    this.labels = new Labels(this.context);
    this.dark = false;
    /** How far the picture is scrolled, in pixels. */ this.scroll = 0;
  }

  /** What lies between boxes, as a pixel. */
  get paper() {
    return this.dark ? PAPER.dark : PAPER.light;
  }

  /** Sets the size of the picture, and tells whether that has changed. @param {number} width @param {number} height */
  resize(width, height) {
    const ratio = this.fixedRatio || window.devicePixelRatio || 1;
    width = Math.max(1, Math.floor(width));
    height = Math.max(1, Math.floor(height));
    if (width === this.width && height === this.height && ratio === this.ratio) return false;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.labels.reset();
    return true;
  }

  /** Puts the rows on paper, as `Pixels.put` does. @param {(row: number) => number[]} span @param {number} rim */
  put(span, rim) {
    this.context.fillStyle = css(unpacked(this.paper));
    this.context.fillRect(0, 0, this.width, this.height);
    this.pixels.put(this.context, span, rim);
  }
}
