// SPDX-License-Identifier: GPL-3.0-or-later
// A picture to hand over, as a PNG or an SVG: the title, both sides, the verdict, the whole picture, and what its colours
// mean.

import { count, pasted } from '../common/format.js';
import { HATCHES, rasterWhole, vectorWhole } from './whole.js';
import { escaped, VectorContext } from './vector.js';

/** @typedef {import('./summary.js').Summary} Summary */
/** @typedef {import('./whole.js').Whole} Whole */

/** How wide a picture is, in pixels of the page, and how many of its own a PNG has for each. */
const WIDTH = 1440;
const RATIO = 2;
/** More rows than these have no place in a file: 150 are 2,850 pixels of the page. */
const MOST_ROWS = 150;
const MARGIN = 14;
const FAMILY = 'system-ui, sans-serif';
/** Sizes of letters, and the heights of their lines. @type {Record<string, [number, number]>} */
const SIZES = { title: [16, 24], text: [13, 19] };
const SWATCH = 10;
/** So much of a text has a place, and no word is longer than that part of a line. */
const LONGEST = 2000;
const LETTERS = /[^]{1,150}/gu;

/**
 * A line of text, or a square of a colour.
 * @typedef {{x: number, y: number, text: string, size: number, isTitle: boolean, isDim: boolean, colour: string}} Piece
 */

/** A text that turns nothing around it, and ends somewhere. @param {string} text */
const plain = (text) => pasted(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** Places text and squares one after another. */
class Layout {
  /** @param {(text: string, font: string) => number} measure */
  constructor(measure) {
    this.measure = measure;
    this.y = MARGIN;
    /** @type {Piece[]} */ this.pieces = [];
  }

  /** Text in as many lines as it needs. @param {string} text @param {{isTitle?: boolean, isDim?: boolean}} [look] */
  text(text, { isTitle = false, isDim = false } = {}) {
    if (!text) return;
    const [size, height] = SIZES[isTitle ? 'title' : 'text'];
    const font = fontOf(size, isTitle);
    for (const line of this.#lines(plain(text), font)) {
      this.pieces.push({ x: MARGIN, y: this.y + height / 2, text: line, size, isTitle, isDim, colour: '' });
      this.y += height;
    }
  }

  /** @param {string} text @param {string} font */
  #lines(text, font) {
    const room = WIDTH - 2 * MARGIN;
    /** @type {string[]} */ const lines = [];
    let line = '';
    for (const word of text.split(' ').flatMap((one) => one.match(LETTERS) || [''])) {
      const longer = line ? `${line} ${word}` : word;
      if (line && this.measure(longer, font) > room) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    return [...lines, line];
  }

  /** What colours mean, side by side. @param {import('./summary.js').Key[]} keys */
  keys(keys) {
    const [size, height] = SIZES.text;
    let x = MARGIN;
    for (const { colour, text } of keys) {
      const wide = (colour ? SWATCH + 5 : 0) + this.measure(text, fontOf(size, false));
      if (x > MARGIN && x + wide > WIDTH - MARGIN) {
        x = MARGIN;
        this.y += height;
      }
      const place = { y: this.y + height / 2, size, isTitle: false, isDim: false };
      if (colour) this.pieces.push({ ...place, x, text: '', colour });
      this.pieces.push({ ...place, x: x + (colour ? SWATCH + 5 : 0), text, colour: '' });
      x += wide + 16;
    }
    this.y += height;
  }
}

/** @param {number} size @param {boolean} isBold */
const fontOf = (size, isBold) => `${isBold ? 'bold ' : ''}${size}px ${FAMILY}`;

/** What is said of rows that a picture leaves out. @param {number} cut how many @param {number} most that it can have */
export function cutText(cut, most) {
  const rows = `${count(cut)} more row${cut === 1 ? '' : 's'}`;
  return cut > 0 ? `Left out: ${rows} of frames too narrow to read, or below row ${most}.` : '';
}

/** Where everything around a picture stands. @param {Summary} summary @param {{height: number, cut: number}} picture @param {Layout} layout */
function arrange({ title, sides, sentence, shown, keys, tool }, { height, cut }, layout) {
  layout.text(title, { isTitle: true });
  layout.text(sides, { isDim: true });
  layout.text(sentence.replaceAll('`', ''));
  layout.text(shown && `Shown: ${shown}`);
  layout.y += 6;
  const top = layout.y;
  layout.y += height + 6;
  layout.text(cutText(cut, MOST_ROWS), { isDim: true });
  layout.keys([...keys, { colour: '', text: tool }]);
  return { top, height: Math.ceil(layout.y + MARGIN / 2) };
}

/**
 * Draws what stands around the picture.
 * @param {Pick<CanvasRenderingContext2D, 'fillRect'|'fillText'|'fillStyle'|'font'|'textBaseline'>} context
 * @param {Piece[]} pieces @param {number} height @param {boolean} dark
 */
function drawAround(context, pieces, height, dark) {
  context.fillStyle = dark ? '#17181a' : '#ffffff';
  context.fillRect(0, 0, WIDTH, height);
  context.textBaseline = 'middle';
  for (const { x, y, text, size, isTitle, isDim, colour } of pieces) {
    context.fillStyle = colour || (dark ? (isDim ? '#a3a5aa' : '#e8e8e6') : isDim ? '#63666b' : '#1c1d1f');
    context.font = fontOf(size, isTitle);
    if (colour) context.fillRect(x, y - SWATCH / 2, SWATCH, SWATCH);
    else context.fillText(text, x, y);
  }
}

/** A context that measures text. */
function measuring() {
  const context = /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
  const measure = (/** @type {string} */ text, /** @type {string} */ font) => {
    context.font = font;
    return context.measureText(text).width;
  };
  return { context, measure };
}

/** The sheet as a PNG. @param {Summary} summary @param {Whole} whole @returns {Promise<Blob>} */
export function pngOf(summary, whole) {
  const { context: letters, measure } = measuring();
  const picture = rasterWhole(whole, WIDTH - 2 * MARGIN, MOST_ROWS, letters, RATIO);
  const layout = new Layout(measure);
  const { top, height } = arrange(summary, picture, layout);
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: WIDTH * RATIO, height: height * RATIO });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
  context.scale(RATIO, RATIO);
  drawAround(context, layout.pieces, height, whole.dark);
  context.drawImage(picture.canvas, MARGIN, top, picture.width, picture.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('this browser makes no picture of that size'))), 'image/png'),
  );
}

/** The beginning of an SVG. @param {number} width @param {number} height @param {string} attributes */
const svgStart = (width, height, attributes) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="${FAMILY}" ${attributes}>` +
  `<defs>${HATCHES()}</defs>`;

/** The sheet as an SVG. @param {Summary} summary @param {Whole} whole */
export function svgOf(summary, whole) {
  const { context: canvas, measure } = measuring();
  const picture = vectorWhole(whole, WIDTH - 2 * MARGIN, MOST_ROWS, canvas);
  const layout = new Layout(measure);
  const { top, height } = arrange(summary, picture, layout);
  const context = new VectorContext(canvas);
  drawAround(context, layout.pieces, height, whole.dark);
  context.place(picture.context, MARGIN, top);
  const start = svgStart(WIDTH, height, `width="${WIDTH}" height="${height}"`);
  const title = `<title>${escaped(summary.title)}</title><desc>${escaped(summary.sentence.replaceAll('`', ''))}</desc>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${start}${title}\n${context.elements.join('\n')}\n</svg>\n`;
}

/**
 * The picture alone as an SVG for a page, at least so wide, and wider where it has more rows than that leaves room for.
 * @param {Whole} whole @param {number} width @param {number} room its height at that width @param {number} most rows
 */
export function svgFor(whole, width, room, most) {
  const { context: canvas } = measuring();
  const least = vectorWhole(whole, width, most, canvas);
  const picture = least.height > room ? vectorWhole(whole, (width * least.height) / room, most, canvas) : least;
  const text = `${svgStart(picture.width, picture.height, 'preserveAspectRatio="xMidYMin meet"')}${picture.context.elements.join('')}</svg>`;
  return { text, cut: picture.cut };
}
