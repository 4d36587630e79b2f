// SPDX-License-Identifier: GPL-3.0-or-later
// What a colour means. Hue is the direction of cost, texture is existence.

import { packed } from './pixels.js';
import { hashHue, originsOf, STATES } from './symbols.js';

/** @typedef {import('./symbols.js').Func} Func */

export const PALETTES = {
  kelvin: { more: '#d55e00', less: '#4393c3', new: '#8c2d04', gone: '#08519c', same: '#e6e4e0' },
  classic: { more: '#d62728', less: '#1f5fd0', new: '#8b0000', gone: '#0b2f7a', same: '#e6e4e0' },
  codspeed: { more: '#e03131', less: '#2f9e44', new: '#1971c2', gone: '#e8890c', same: '#e6e4e0' },
};
export const ORIGIN_COLOURS = ['#c9ccd1', '#4a90d9', '#f2c14e', '#b5533c', '#5a3d7a'];
const NEUTRAL_DARK = '#4a4a4d';
const FLOOR_POINTS = 0.5;
/** From here on states are proven. */
const FIRST_CHANGED = 2;
const STRENGTHS = 255;
/** Where the pixels of what is alike stand. */
const PLACE = { neutral: 0, origins: 1, new: 6, gone: 7, more: 16, less: 272, functions: 528 };

/** @param {string} hex @returns {number[]} */
export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** @param {number[]} a @param {number[]} b @param {number} t */
export function mix(a, b, t) {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

/** @param {number[]} c */
export function css(c) {
  return `rgb(${c[0] | 0},${c[1] | 0},${c[2] | 0})`;
}

/** Relative luminance (WCAG 2). @param {number[]} c */
export function luminance(c) {
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
 * How strong a difference is drawn: signed square root against the largest, from a floor on.
 * @param {number} points of total @param {number} most the largest of the view, in points
 */
export function intensity(points, most) {
  const size = Math.max(Math.abs(points), FLOOR_POINTS);
  return Math.min(1, 0.35 + 0.65 * Math.sqrt(size / Math.max(most, FLOOR_POINTS)));
}

export class Colours {
  /** @param {Func[]} functions */
  constructor(functions) {
    this.functions = functions;
    this.mode = 'origin';
    this.palette = 'kelvin';
    this.dark = false;
    this.most = FLOOR_POINTS;
    /** @type {(number[]|undefined)[]} */ this.hues = [];
    /** What the pixels were made for. */ this.madeFor = '';
    /** Colours as pixels, 0 where not made yet: the neutral one, origins, new and gone, strengths of more and less, functions. */
    this.pixels = new Uint32Array(0);
  }

  neutral() {
    return rgb(this.dark ? NEUTRAL_DARK : this.colours().same);
  }

  /** @returns {Record<string, string>} */
  colours() {
    return /** @type {any} */ (PALETTES)[this.palette];
  }

  /** @param {number} func @param {string} state @param {number} points difference in points of total */
  of(func, state, points) {
    if (func < 0) return this.neutral();
    if (this.mode === 'origin') return rgb(ORIGIN_COLOURS[this.functions[func].origin]);
    if (this.mode === 'function') return (this.hues[func] ||= hsl(hashHue(this.functions[func].key), 0.55, 0.66));
    if (this.mode === 'diff') return this.difference(state, points);
    return this.neutral();
  }

  /** @param {string} state @param {number} points */
  difference(state, points) {
    const colours = this.colours();
    if (state === 'new' || state === 'gone') return rgb(colours[state]);
    if (state !== 'more' && state !== 'less') return this.neutral();
    return mix(this.neutral(), rgb(colours[state]), this.strength(points) / STRENGTHS);
  }

  /** Nobody tells more of them apart. @param {number} points */
  strength(points) {
    return Math.round(intensity(points, this.most) * STRENGTHS);
  }

  /** Before a picture: pixels of other colours are forgotten. */
  prepare() {
    const made = `${this.mode} ${this.palette} ${this.dark}`;
    if (made === this.madeFor) return;
    this.madeFor = made;
    this.pixels = new Uint32Array(PLACE.functions + this.functions.length);
  }

  /** The same as a pixel, made once for all that look alike. @param {number} func @param {string} state @param {number} points */
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

  /**
   * What colours the nodes of a tree, in as few steps as there can be.
   * @param {import('./layout.js').AnyTree} tree @param {boolean} tested @param {(node: number) => number} pointsOf
   * @returns {(node: number) => number} as a pixel
   */
  painter(tree, tested, pointsOf) {
    this.prepare();
    const neutral = packed(this.neutral());
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
