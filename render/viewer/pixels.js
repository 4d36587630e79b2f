// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of boxes as pixels. A row is one line of pixels that is drawn over its height: thousands of boxes cost a fraction of what the
// canvas takes to fill as many rectangles.

/** @param {number[]} c @returns {number} as a pixel stands in memory */
export function packed([r, g, b]) {
  return ((255 << 24) | ((b & 255) << 16) | ((g & 255) << 8) | (r & 255)) >>> 0;
}

/** @param {number} pixel @returns {number[]} */
export function unpacked(pixel) {
  return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
}

/** @param {number} under @param {number} over as pixels @param {number} part of `over`, from 0 to 1 */
export function blend(under, over, part) {
  const r = (under & 255) + ((over & 255) - (under & 255)) * part;
  const g = ((under >> 8) & 255) + (((over >> 8) & 255) - ((under >> 8) & 255)) * part;
  const b = ((under >> 16) & 255) + (((over >> 16) & 255) - ((under >> 16) & 255)) * part;
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** The rows of a picture: a line for the body of each, and one for its upper and lower rim where boxes are framed. */
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

  /** @param {number} width in pixels of the screen @param {number} rows @param {number} paper @param {boolean} framed whether boxes may be framed */
  begin(width, rows, paper, framed) {
    const height = framed ? 2 * rows : rows;
    if (this.image?.width !== width || this.image.height < height) {
      this.image = new ImageData(width, Math.max(1, height));
      this.lines = new Uint32Array(this.image.data.buffer);
    }
    Object.assign(this, { width, rows, framed });
    this.lines.fill(paper);
  }

  /** Paints from one edge to the other. @param {number} row @param {number} from @param {number} to @param {number} colour as a pixel */
  fill(row, from, to, colour) {
    this.line(row * this.width, from, to, colour);
    if (this.framed) this.line((this.rows + row) * this.width, from, to, colour);
  }

  /** Draws a frame. @param {number} row @param {number} from @param {number} to @param {number} colour @param {number} thick */
  frame(row, from, to, colour, thick) {
    from = Math.round(from);
    to = Math.max(from + 1, Math.round(to));
    this.line((this.rows + row) * this.width, from, to, colour);
    this.line(row * this.width, from, Math.min(to, from + thick), colour);
    this.line(row * this.width, Math.max(from, to - thick), to, colour);
  }

  /** A pixel that is covered in part is mixed. @param {number} start @param {number} from @param {number} to @param {number} colour */
  line(start, from, to, colour) {
    const { lines, width } = this;
    if (from < 0) from = 0;
    if (to > width) to = width;
    if (to <= from) return;
    const first = Math.floor(from);
    const last = Math.floor(to);
    if (first === last) {
      lines[start + first] = blend(lines[start + first], colour, to - from);
      return;
    }
    let at = start + first;
    if (from > first) {
      lines[at] = blend(lines[at], colour, first + 1 - from);
      at++;
    }
    for (const behind = start + last; at < behind; at++) lines[at] = colour;
    if (to > last) lines[at] = blend(lines[at], colour, to - last);
  }

  /**
   * Draws the rows on a canvas, each over its height.
   * @param {CanvasRenderingContext2D} context @param {(row: number) => number[]} span where a row begins and ends, in pixels of the screen
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
