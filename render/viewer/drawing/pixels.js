// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of boxes as pixels. A row is one line of pixels that is stretched over its height, which costs a fraction of
// what the canvas takes to fill thousands of rectangles. Places are whole numbers of 1/256 pixel: a page is drawn
// before the browser has compiled anything, and until then each fraction that is computed is an object that must be
// freed again.

/** How many parts a pixel has. */
export const SUBPIXELS = 256;
/** Runs up to this long are filled pixel by pixel. */
const SHORT = 24;
const OPAQUE = 255 << 24;

/** A colour as a pixel stands in memory. @param {number[]} c */
export function packed([r, g, b]) {
  return ((255 << 24) | ((b & 255) << 16) | ((g & 255) << 8) | (r & 255)) >>> 0;
}

/** The parts of a pixel: red, green, blue. @param {number} pixel @returns {number[]} */
export function unpacked(pixel) {
  return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
}

/**
 * A pixel mixed from two.
 * @param {number} under @param {number} over @param {number} part how much of `over`, of SUBPIXELS
 */
export function blend(under, over, part) {
  const rest = SUBPIXELS - part;
  const r = ((under & 255) * rest + (over & 255) * part) >> 8;
  const g = (((under >> 8) & 255) * rest + ((over >> 8) & 255) * part) >> 8;
  const b = (((under >> 16) & 255) * rest + ((over >> 16) & 255) * part) >> 8;
  return ((b << 16) | (g << 8) | r | OPAQUE) >>> 0;
}

/**
 * The rows of a picture: a line for the body of each row; where boxes are framed, then a line for the rims of each
 * row.
 */
export class Pixels {
  constructor() {
    this.width = 0;
    this.rows = 0;
    this.framed = false;
    this.lines = new Uint32Array(0);
    /** @type {ImageData|null} */ this.image = null;
    const canvas = document.createElement('canvas');
    this.strip = {
      canvas,
      context: /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true })),
    };
  }

  /**
   * Begins a picture.
   * @param {number} width in pixels of the screen @param {number} rows
   * @param {number} paper colour between boxes, as a pixel
   * @param {boolean} framed whether boxes may be framed
   */
  begin(width, rows, paper, framed) {
    const height = framed ? 2 * rows : rows;
    if (this.image?.width !== width || this.image.height < height) {
      this.image = new ImageData(width, Math.max(1, height));
      this.lines = new Uint32Array(this.image.data.buffer);
    }
    Object.assign(this, { width, rows, framed });
    this.lines.fill(paper);
  }

  /** Copies the bodies of all rows to their rims. This comes after all boxes and before the first frame. */
  rims() {
    this.lines.copyWithin(this.rows * this.width, 0, this.rows * this.width);
  }

  /**
   * Draws the frame of a box.
   * @param {number} row @param {number} from @param {number} to in parts of a pixel
   * @param {number} colour as a pixel @param {number} thick in pixels
   */
  frame(row, from, to, colour, thick) {
    const first = (from + SUBPIXELS / 2) & -SUBPIXELS;
    const last = Math.max(first + SUBPIXELS, (to + SUBPIXELS / 2) & -SUBPIXELS);
    this.fill(this.rows + row, first, last, colour);
    this.fill(row, first, Math.min(last, first + thick * SUBPIXELS), colour);
    this.fill(row, Math.max(first, last - thick * SUBPIXELS), last, colour);
  }

  /**
   * Paints a row from one edge to another. A pixel that is covered in part is mixed.
   * @param {number} row @param {number} from @param {number} to in parts of a pixel @param {number} colour as a pixel
   */
  fill(row, from, to, colour) {
    const { lines, width } = this;
    const start = row * width;
    if (from < 0) from = 0;
    if (to > width * SUBPIXELS) to = width * SUBPIXELS;
    if (to <= from) return;
    let at = start + (from >> 8);
    const last = start + (to >> 8);
    if (at === last) {
      lines[at] = blend(lines[at], colour, to - from);
      return;
    }
    const before = from & (SUBPIXELS - 1);
    const after = to & (SUBPIXELS - 1);
    if (before) {
      lines[at] = blend(lines[at], colour, SUBPIXELS - before);
      at++;
    }
    if (last - at > SHORT) lines.fill(colour, at, last);
    else for (; at < last; at++) lines[at] = colour;
    if (after) lines[last] = blend(lines[last], colour, after);
  }

  /**
   * Stretches each row over its height on a canvas.
   * @param {CanvasRenderingContext2D} context
   * @param {(row: number) => number[]} span where a row begins and ends, in pixels of the screen
   * @param {number} rim how thick frames are
   */
  put(context, span, rim) {
    const { width, rows, framed, image, strip } = this;
    if (!image) return;
    if (strip.canvas.width !== width || strip.canvas.height !== image.height)
      Object.assign(strip.canvas, { width, height: image.height });
    strip.context.putImageData(image, 0, 0);
    context.save();
    context.resetTransform();
    context.imageSmoothingEnabled = false;
    const draw = (/** @type {number} */ line, /** @type {number} */ from, /** @type {number} */ to) =>
      context.drawImage(strip.canvas, 0, line, width, 1, 0, from, width, to - from);
    for (let row = 0; row < rows; row++) {
      const [from, to] = span(row);
      if (framed) draw(rows + row, from, to);
      if (framed) draw(row, from + rim, to - rim);
      else draw(row, from, to);
    }
    context.restore();
  }
}
