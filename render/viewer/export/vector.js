// SPDX-License-Identifier: GPL-3.0-or-later
// What is drawn on a canvas, as elements of an SVG. The picture is drawn by the same code on the screen and here, so that
// colours, textures and names are the same. Names are foreign: every text is escaped.

import { css } from '../drawing/colour.js';
import { SUBPIXELS, unpacked } from '../drawing/pixels.js';

/** Characters that no XML may contain, and those that turn or hide what stands around them. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/gu;
/** The marks that isolate a name on a canvas: an attribute does so here. */
const ISOLATED = /^\u2068([^]*)\u2069$/;
/** @type {Record<string, string>} */
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** How far below the middle of a line its letters stand, as part of their size. */
const BASELINE = 0.35;

/** A text for an element or an attribute. @param {string} text */
export function escaped(text) {
  return text.replace(ISOLATED, '$1').replace(UNFIT, '\ufffd').replace(/[&<>"]/g, (c) => ESCAPES[c]);
}

/** A number of pixels. @param {number} value */
const px = (value) => String(Math.round(value * 100) / 100);

/** The calls of a canvas that drawing makes here, and no others. */
export class VectorContext {
  /** @param {CanvasRenderingContext2D} measuring knows how wide letters are */
  constructor(measuring) {
    this.measuring = measuring;
    /** @type {string[]} the elements so far */ this.elements = [];
    this.fillStyle = '#000';
    this.font = '12px system-ui, sans-serif';
    /** @type {CanvasTextBaseline} */ this.textBaseline = 'middle';
    /** What is told of the next shapes beside the pointer. */ this.hint = '';
  }

  setTransform() {}

  /** @param {string} text */
  measureText(text) {
    this.measuring.font = this.font;
    return this.measuring.measureText(text);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    if (!(w > 0) || !(h > 0)) return;
    const shape = `<rect x="${px(x)}" y="${px(y)}" width="${px(w)}" height="${px(h)}" fill="${escaped(this.fillStyle)}"`;
    this.elements.push(this.hint ? `${shape}><title>${escaped(this.hint)}</title></rect>` : `${shape}/>`);
  }

  /** Another font than the one that was measured may be there: the text keeps its width. @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const [, bold, size] = /^(bold )?([\d.]+)px/.exec(this.font) || [];
    const width = this.measureText(text).width;
    const look = `${bold ? ' font-weight="bold"' : ''} font-size="${size}" fill="${escaped(this.fillStyle)}"`;
    const place = `x="${px(x)}" y="${px(y + BASELINE * Number(size))}" textLength="${px(width)}"`;
    const fitted = width > 0 ? `${place} lengthAdjust="spacingAndGlyphs"` : place;
    this.elements.push(`<text ${fitted}${look}>${escaped(text)}</text>`);
  }

  /** Puts shapes that were drawn elsewhere at a place. @param {VectorContext} other @param {number} x @param {number} y */
  place(other, x, y) {
    this.elements.push(`<g transform="translate(${px(x)} ${px(y)})">`, ...other.elements, '</g>');
  }
}

/** Rows of boxes as rectangles: they take the place of `Pixels`. */
export class VectorRows {
  constructor() {
    /** @type {{row: number, from: number, to: number, colour: number, rim: number, hint: string}[]} */ this.boxes = [];
    /** What is told of the next box. */ this.hint = '';
  }

  begin() {
    this.boxes = [];
  }

  rims() {}

  /** @param {number} row @param {number} from @param {number} to in parts of a pixel @param {number} colour */
  fill(row, from, to, colour) {
    this.boxes.push({ row, from, to, colour, rim: 0, hint: this.hint });
  }

  /** @param {number} row @param {number} from @param {number} to @param {number} colour @param {number} rim */
  frame(row, from, to, colour, rim) {
    this.boxes.push({ row, from, to, colour, rim, hint: '' });
  }

  /** @param {VectorContext} context @param {(row: number) => number[]} span where a row begins and ends */
  put(context, span) {
    for (const { row, from, to, colour, rim, hint } of this.boxes) {
      const [top, bottom] = span(row);
      const [x, w] = [from / SUBPIXELS, (to - from) / SUBPIXELS];
      context.fillStyle = css(unpacked(colour));
      context.hint = hint;
      if (!rim) context.fillRect(x, top, w, bottom - top);
      else {
        context.fillRect(x, top, w, rim);
        context.fillRect(x, bottom - rim, w, rim);
        context.fillRect(x, top, Math.min(rim, w), bottom - top);
        context.fillRect(x + w - rim, top, Math.min(rim, w), bottom - top);
      }
    }
    context.hint = '';
  }
}

/** The tile of a texture. @param {string} id @param {number[][]} strokes */
export function hatch(id, strokes) {
  const lines = strokes.map((ends) => `M${ends.slice(0, 2).join(' ')} ${ends.slice(2).join(' ')}`).join('');
  const path = `<path d="${lines}" stroke="#fff" stroke-opacity=".45" fill="none"/>`;
  return `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse">${path}</pattern>`;
}
