// SPDX-License-Identifier: GPL-3.0-or-later
// What a colour means. Hue is the direction of cost, texture is existence.

import { BOTTLENECK_COLOURS, STRENGTHS as BOTTLENECK_STRENGTHS } from '../model/bottleneck.js';
import { FIRST_CHANGED, STATES } from '../data/codes.js';
import { hashHue } from '../data/hash.js';
import { packed } from './pixels.js';
import { originsOf } from '../data/symbols.js';
import { CLASSES, CLASS_COLOURS, LEVELS } from '../model/waiting.js';

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
 * Places in the table of pixels: one for the neutral colour, six for origins, then strengths of more and less, then
 * functions.
 */
const PLACE = { neutral: 0, origins: 1, new: 7, gone: 8, more: 16, less: 272, functions: 528 };

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
  /** @param {Func[]} functions */
  constructor(functions) {
    this.functions = functions;
    /** @type {string} */ this.mode = 'origin';
    this.palette = 'kelvin';
    this.dark = false;
    /** The largest difference on the screen, in points of the total. */ this.most = FLOOR_POINTS;
    /** @type {(number[]|undefined)[]} */ this.hues = [];
    /** The mode, palette and theme that the pixels are made for. */ this.madeFor = '';
    /** Colours as pixels by PLACE; 0 where one is not made yet. */
    this.pixels = new Uint32Array(0);
  }

  neutral() {
    return rgb(this.dark ? NEUTRAL_DARK : this.colours().same);
  }

  /** The colours of the verdicts. @returns {Palette} */
  colours() {
    return PALETTES[this.palette];
  }

  /**
   * The colour of a frame.
   * @param {number} func @param {string} state @param {number} points difference in points of the total
   */
  of(func, state, points) {
    if (func < 0) return this.neutral();
    if (this.mode === 'origin') return rgb(ORIGIN_COLOURS[this.functions[func].origin]);
    if (this.mode === 'function') return (this.hues[func] ||= hsl(hashHue(this.functions[func].key), 0.55, 0.66));
    if (this.mode === 'diff') return this.difference(state, points);
    return this.neutral();
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

  /** Forgets the pixels when mode, palette or theme have changed. */
  prepare() {
    const made = `${this.mode} ${this.palette} ${this.dark} ${this.functions.length}`;
    if (made === this.madeFor) return;
    this.madeFor = made;
    this.pixels = new Uint32Array(PLACE.functions + this.functions.length);
  }

  /**
   * The colour of a frame as a pixel, which is made once for all frames that look alike.
   * @param {number} func @param {string} state @param {number} points
   */
  pixel(func, state, points) {
    const at = this.placeOf(func, state, points);
    return (this.pixels[at] ||= packed(this.of(func, state, points)));
  }

  /** @param {number} func @param {string} state @param {number} points */
  placeOf(func, state, points) {
    if (func < 0) return PLACE.neutral;
    if (this.mode === 'origin') return PLACE.origins + this.functions[func].origin;
    if (this.mode === 'function') return PLACE.functions + func;
    if (this.mode !== 'diff') return PLACE.neutral;
    if (state === 'new') return PLACE.new;
    if (state === 'gone') return PLACE.gone;
    if (state === 'more') return PLACE.more + this.strength(points);
    if (state === 'less') return PLACE.less + this.strength(points);
    return PLACE.neutral;
  }

  /** The pixels of all shades: the colour of a class is the paler the more of the time is none of waiting. */
  shadePixels() {
    const neutral = this.neutral();
    const pixels = new Uint32Array(CLASSES * (LEVELS + 1)).fill(packed(neutral));
    for (let shade = LEVELS + 1; shade < pixels.length; shade++) {
      const part = (shade % (LEVELS + 1)) / LEVELS;
      const colour = rgb(CLASS_COLOURS[Math.floor(shade / (LEVELS + 1))]);
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
    this.prepare();
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
        const state = tree.state[node];
        if (state < FIRST_CHANGED || !node) return neutral;
        return this.pixel(tree.func[node], STATES[state], pointsOf(node));
      };
    if (this.mode === 'function') return (node) => this.pixel(tree.func[node], '', 0);
    return () => neutral;
  }
}
