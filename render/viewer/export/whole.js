// SPDX-License-Identifier: GPL-3.0-or-later
// The whole picture of the zoomed frame, whatever of it is on the screen: on a canvas, or as shapes.

import { LABEL_FROM } from '../drawing/surface.js';
import { Flame, ROW, STROKES } from '../picture/draw.js';
import { hatch, VectorContext, VectorRows } from './vector.js';

/** @typedef {import('../picture/draw.js').Scene} Scene */

/**
 * What is drawn whole.
 * @typedef {object} Whole
 * @property {Scene} scene
 * @property {() => number[]} rowRange the first and the last row that have something to draw
 * @property {boolean} flipped
 * @property {boolean} dark
 * @property {(node: number) => string} hint what is told of a frame beside the pointer
 * @property {number} least rows whose frames are all narrower than this are left out, but for those with a colour or a lower edge, in pixels
 */

/** Rows whose frames are all narrower than this have nothing to see, in pixels. */
export const LEAST_SEEN = 3;
/** Rows whose frames are all narrower than this have nothing to read. */
export const LEAST_READ = LABEL_FROM;
/** No picture has more rows, and none is searched for more. */
const DEEPEST = 4096;

/** A canvas that draws nothing. @param {unknown} context */
const canvasOf = (context) => /** @type {any} */ ({ width: 0, height: 0, getContext: () => context });

/** Finds the last row that has a frame as wide as is asked for, or one with a colour or a lower edge that can be seen. */
class Survey extends Flame {
  /** @param {CanvasRenderingContext2D} measuring @param {number} least */
  constructor(measuring, least) {
    super(canvasOf(new VectorContext(measuring)));
    this.pixels = /** @type {any} */ (new VectorRows());
    this.fixedRatio = 1;
    this.least = least;
    this.last = 0;
  }

  /** @param {number} row @param {number} _x @param {number} w @param {number} node */
  box(row, _x, w, node) {
    const { colour, edge } = /** @type {Scene} */ (this.scene);
    const isSeen = w >= this.least || (w >= LEAST_SEEN && (colour(node) !== colour(0) || !!edge?.(node)));
    if (isSeen) this.last = Math.max(this.last, row);
  }

  narrow() {}
  merged() {}
}

/**
 * Draws a picture as wide as is asked for, and so high that all rows with something to see are in it. Returns how many
 * rows are left out.
 * @param {Flame} flame @param {Whole} whole @param {number} width @param {number} most rows that are drawn
 * @param {CanvasRenderingContext2D} measuring
 */
function drawOn(flame, { scene, rowRange, flipped, dark, least }, width, most, measuring) {
  const survey = new Survey(measuring, least);
  const draw = (/** @type {Flame} */ on, /** @type {number} */ rows) => {
    on.resize(width, rows * ROW);
    on.scroll = rowRange()[0] * ROW;
    on.draw(scene);
  };
  // A tree that is made while it is looked at has its rows when they are drawn.
  if (scene.tree.isLazy) draw(survey, most);
  const [first, last] = rowRange();
  draw(survey, Math.min(last - first + 1, DEEPEST));
  const rows = Math.min(most, survey.last - first + 1);
  Object.assign(flame, { flipped, dark });
  draw(flame, rows);
  return last - first + 1 - rows;
}

/** Draws on a canvas. @param {Whole} whole @param {number} width @param {number} most @param {CanvasRenderingContext2D} measuring @param {number} ratio pixels for each of the page */
export function rasterWhole(whole, width, most, measuring, ratio) {
  const canvas = document.createElement('canvas');
  const flame = new Flame(canvas);
  flame.fixedRatio = ratio;
  const cut = drawOn(flame, whole, width, most, measuring);
  return { canvas, width: flame.width, height: flame.height, cut };
}

/** A picture that is drawn as shapes, each of which tells of its frame. */
class VectorFlame extends Flame {
  /** @param {VectorContext} context @param {(node: number) => string} hint */
  constructor(context, hint) {
    super(canvasOf(context));
    this.hint = hint;
    this.fixedRatio = 1;
    this.drawn = context;
    this.shapes = new VectorRows();
    this.pixels = /** @type {any} */ (this.shapes);
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    const changed = super.resize(width, height);
    for (const name of Object.keys(STROKES)) this.patterns.set(name, /** @type {any} */ (`url(#${name})`));
    return changed;
  }

  /** @param {Scene} scene */
  draw(scene) {
    this.drawn.elements = [];
    super.draw(scene);
  }

  /** @param {number} row @param {number} x @param {number} w @param {number} node */
  box(row, x, w, node) {
    this.shapes.hint = this.hint(node);
    super.box(row, x, w, node);
    this.shapes.hint = '';
  }
}

/** What textures are drawn with. */
export const HATCHES = () => Object.entries(STROKES).map(([name, strokes]) => hatch(name, strokes)).join('');

/** Draws as shapes. @param {Whole} whole @param {number} width @param {number} most @param {CanvasRenderingContext2D} measuring */
export function vectorWhole(whole, width, most, measuring) {
  const context = new VectorContext(measuring);
  const flame = new VectorFlame(context, whole.hint);
  const cut = drawOn(flame, whole, width, most, measuring);
  return { context, width: flame.width, height: flame.height, cut };
}
