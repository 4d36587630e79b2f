// SPDX-License-Identifier: GPL-3.0-or-later
// What a colour means. Hue is the direction of cost, texture is existence.

import { BOTTLENECK_COLOURS, STRENGTHS as BOTTLENECK_STRENGTHS } from '../model/bottleneck.js';
import { STATES } from '../data/codes.js';
import { hashHue } from '../data/hash.js';
import { Memo } from '../common/memo.js';
import { packed } from './pixels.js';
import { originsOf } from '../data/symbols.js';
import { CLASSES, LEVELS } from '../model/waiting.js';

/** @typedef {import('../data/report.js').WaitClass} WaitClass */
/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../data/tree.js').FrameTree} FrameTree */

/** @typedef {'diff'|'origin'|'function'|'waiting'|'bottleneck'} Mode what colours say */

/** Colours of the verdicts in a palette. @typedef {Record<'more'|'less'|'new'|'gone'|'same', string>} Palette */

/** @type {Record<string, Palette>} */
export const PALETTES = {
  kelvin: { more: '#d55e00', less: '#4393c3', new: '#8c2d04', gone: '#08519c', same: '#e6e4e0' },
  classic: { more: '#d62728', less: '#1f5fd0', new: '#8b0000', gone: '#0b2f7a', same: '#e6e4e0' },
  codspeed: { more: '#e03131', less: '#2f9e44', new: '#1971c2', gone: '#e8890c', same: '#e6e4e0' },
};
/** By number of the origin. */
export const ORIGIN_COLOURS = ['#c9ccd1', '#4a90d9', '#f2c14e', '#b5533c', '#5a3d7a', '#17352c'];
const NEUTRAL_DARK = '#4a4a4d';
/** A change of fewer points than these is drawn as strong as one of these. */
const FLOOR_POINTS = 0.5;
/** How much of the colour of a class is left where nearly nothing is waiting. */
const PALEST = 0.3;
/** How much of the colour of a bottleneck is left where nearly nothing is a frame's own. */
const PALEST_OWN = 0.1;
/** How many strengths of a colour are told apart. */
const STRENGTHS = 255;
/**
 * Places of verdicts in the table of pixels; those of more and less are followed by their strengths.
 * @type {Record<string, number>}
 */
const PLACE = { new: 0, gone: 1, more: 2, less: STRENGTHS + 3, end: 2 * STRENGTHS + 4 };
/** The verdicts with a colour, by number. */
const COLOURED = STATES.map((state) => state in PLACE && state);

/** The parts of a colour: red, green, blue. @param {string} hex @returns {number[]} */
export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** The colour between two at the part `t`. @param {number[]} a @param {number[]} b @param {number} t */
export function mix(a, b, t) {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

/** A colour for a style. @param {number[]} c */
export function css(c) {
  return `rgb(${c[0] | 0},${c[1] | 0},${c[2] | 0})`;
}

/** Relative luminance (WCAG 2). @param {number[]} c */
function luminance(c) {
  const [r, g, b] = c.map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever reads better. @param {number[]} c */
export function inkOn(c) {
  const l = luminance(c);
  return (l + 0.05) / 0.05 >= 1.05 / (l + 0.05) ? '#000' : '#fff';
}

/** @param {number} h @param {number} s @param {number} l @returns {number[]} */
function hsl(h, s, l) {
  /** @param {number} n */
  const f = (n) => {
    const k = (n + h * 12) % 12;
    return 255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return [f(0), f(8), f(4)];
}

/**
 * How strong a difference is drawn, up to 1: its square root against that of the largest, from a floor on.
 * @param {number} points of the total @param {number} most the largest of the view, in points
 */
export function intensity(points, most) {
  const size = Math.max(Math.abs(points), FLOOR_POINTS);
  return Math.min(1, 0.35 + 0.65 * Math.sqrt(size / Math.max(most, FLOOR_POINTS)));
}

export class Colours {
  /** @param {Func[]} functions @param {WaitClass[]} [waitClasses] by number */
  constructor(functions, waitClasses = []) {
    this.functions = functions;
    this.waitClasses = waitClasses;
    /** @type {string} */ this.mode = 'origin';
    this.palette = 'kelvin';
    this.dark = false;
    /** The largest difference on the screen, in points of the total. */ this.most = FLOOR_POINTS;
    /** @type {(number|undefined)[]} pixels by function */ this.hues = [];
    this.memo = new Memo();
    /** Colours of verdicts as pixels by PLACE; 0 where one is not made yet. */
    this.pixels = new Uint32Array(0);
  }

  neutral() {
    return rgb(this.dark ? NEUTRAL_DARK : this.colours().same);
  }

  /** The colours of the verdicts. @returns {Palette} */
  colours() {
    return PALETTES[this.palette];
  }

  /** The colour of a function. @param {number} func */
  hue(func) {
    return hsl(hashHue(this.functions[func].key), 0.55, 0.66);
  }

  /** The colour of a verdict. @param {string} state @param {number} points */
  difference(state, points) {
    const colours = this.colours();
    if (state === 'new' || state === 'gone') return rgb(colours[state]);
    if (state !== 'more' && state !== 'less') return this.neutral();
    return mix(this.neutral(), rgb(colours[state]), this.strength(points) / STRENGTHS);
  }

  /** The strength of a difference as a whole number up to STRENGTHS. @param {number} points */
  strength(points) {
    return Math.round(intensity(points, this.most) * STRENGTHS);
  }

  /**
   * The colour of a verdict as a pixel, which is made once for all frames of a picture that look alike.
   * @param {string} state @param {number} points
   */
  pixel(state, points) {
    const at = PLACE[state] + (state === 'more' || state === 'less' ? this.strength(points) : 0);
    return (this.pixels[at] ||= packed(this.difference(state, points)));
  }

  /** The colour of the lower edge of a frame, as a pixel: it is thin, and has its full strength. @param {string} state */
  edgePixel(state) {
    return (this.pixels[PLACE[state] + (state === 'more' || state === 'less' ? STRENGTHS : 0)] ||= packed(
      rgb(this.colours()[/** @type {keyof Palette} */ (state)]),
    ));
  }

  /** The pixels of all shades: the colour of a class is the paler the more of the time is none of waiting. */
  shadePixels() {
    const neutral = this.neutral();
    const pixels = new Uint32Array(CLASSES * (LEVELS + 1)).fill(packed(neutral));
    for (let shade = LEVELS + 1; shade < this.waitClasses.length * (LEVELS + 1); shade++) {
      const part = (shade % (LEVELS + 1)) / LEVELS;
      const colour = rgb(this.waitClasses[Math.floor(shade / (LEVELS + 1))].colour);
      pixels[shade] = packed(mix(neutral, colour, PALEST + (1 - PALEST) * part));
    }
    return pixels;
  }

  /** The pixels of all shades of bottlenecks: the paler the less of a frame's time is its own. */
  bottleneckPixels() {
    const neutral = this.neutral();
    return BOTTLENECK_COLOURS.flatMap((hex) =>
      Array.from({ length: BOTTLENECK_STRENGTHS }, (_, strength) => {
        const part = PALEST_OWN + ((1 - PALEST_OWN) * strength) / (BOTTLENECK_STRENGTHS - 1);
        return packed(hex ? mix(neutral, rgb(hex), part) : neutral);
      }),
    );
  }

  /**
   * A function that colours the nodes of a tree in as few steps as possible, because it is called for each frame on
   * the screen.
   * @param {FrameTree} tree @param {boolean} tested @param {(node: number) => number} pointsOf
   * @param {{shade?: (node: number) => number, bottleneck?: (node: number) => number}} [of] what a node waits for, and
   * what holds it up, as shades
   * @returns {(node: number) => number} as a pixel
   */
  painter(tree, tested, pointsOf, of = {}) {
    if (this.memo.isNew('pixels', this.palette, this.dark)) this.pixels = new Uint32Array(PLACE.end);
    const neutral = packed(this.neutral());
    const { shade, bottleneck } = of;
    if (this.mode === 'waiting' && shade) {
      const pixels = this.shadePixels();
      return (node) => pixels[shade(node)];
    }
    if (this.mode === 'bottleneck' && bottleneck) {
      const pixels = this.bottleneckPixels();
      return (node) => pixels[bottleneck(node)];
    }
    if (this.mode === 'origin') {
      const origins = originsOf(this.functions);
      const pixels = ORIGIN_COLOURS.map((hex) => packed(rgb(hex)));
      return (node) => (node ? pixels[origins[tree.func[node]]] : neutral);
    }
    if (this.mode === 'diff' && tested)
      return (node) => {
        const state = COLOURED[tree.state[node]];
        return state ? this.pixel(state, pointsOf(node)) : neutral;
      };
    if (this.mode === 'function')
      return (node) => {
        const func = tree.func[node];
        return func < 0 ? neutral : (this.hues[func] ||= packed(this.hue(func)));
      };
    return () => neutral;
  }
}
