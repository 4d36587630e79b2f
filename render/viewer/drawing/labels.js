// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a box: the longest form of a name that has room.

import { MORE, shorterNames } from '../common/format.js';

const FONT = '12px system-ui, sans-serif';
const LONGEST = 400;
/** Letters of a name that are searched for brackets. */
const MOST_LETTERS = 4096;
/** No letter is narrower than this, in pixels. */
const NARROWEST = 2;
const LEAF = /^…(::|[.\\])/;

export class Labels {
  /** @param {CanvasRenderingContext2D} context */
  constructor(context) {
    this.context = context;
    /** @type {Map<string, [string, number][]>} forms of a name with their widths */ this.forms = new Map();
    this.advances = new Float64Array(128);
    this.markWidth = 0;
    /** @type {Map<string, number>} widths of signs */ this.signs = new Map();
    this.ready = false;
  }

  /** A canvas that changes its size forgets its font. */
  reset() {
    this.ready = false;
  }

  #prepare() {
    if (this.ready) return;
    this.ready = true;
    this.context.font = FONT;
    this.context.textBaseline = 'middle';
  }

  /**
   * The width of a text, letter by letter: that is a hundred times faster than measuring each text, and exact enough.
   * @param {string} text
   */
  width(text) {
    let sum = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 126) return this.context.measureText(text).width;
      sum += this.advances[code] ||= this.context.measureText(text[i]).width;
    }
    return sum;
  }

  /**
   * A text without its middle: names with one beginning, as those of a module of C, differ in their end. '' for fewer
   * than two letters.
   * @param {string} text @param {number} room
   */
  #cut(text, room) {
    const letters = Array.from(text);
    let left = room - (this.markWidth ||= this.width(MORE));
    let [start, end] = [0, letters.length];
    for (let half = left / 2; end > 0; end--) {
      const width = this.width(letters[end - 1]);
      if (width > half) break;
      half -= width;
      left -= width;
    }
    for (; start < end; start++) {
      left -= this.width(letters[start]);
      if (left < 0) break;
    }
    if (start + letters.length - end < 2) return '';
    return letters.slice(0, start).join('') + MORE + letters.slice(end).join('');
  }

  /** The forms of a name with their widths. @param {string} name @returns {[string, number][]} */
  #formsOf(name) {
    let forms = this.forms.get(name);
    if (!forms) {
      forms = shorterNames(name.slice(0, MOST_LETTERS)).map((form) => {
        const shown = form.slice(0, LONGEST);
        return [shown, this.width(shown)];
      });
      this.forms.set(name, forms);
    }
    return forms;
  }

  /**
   * The longest form that has room; if none has, the last part of the name without its middle; '' for fewer than two
   * letters of that. Of forms that are given, the longest that has room, or ''.
   * @param {string|string[]} name @param {number} room
   */
  fit(name, room) {
    this.#prepare();
    if (typeof name !== 'string') return name.find((form) => this.width(form) <= room) || '';
    // Most names fit, so that their other forms are made only where the whole name has no room.
    if (name.length * NARROWEST <= room && name.length <= LONGEST && this.width(name) <= room) return name;
    const forms = this.#formsOf(name);
    for (const [form, width] of forms) if (width <= room) return form;
    const [form] = forms[forms.length - 1];
    const leaf = form.replace(LEAF, '');
    return leaf !== form && this.width(leaf) <= room ? leaf : this.#cut(leaf, room);
  }

  /**
   * The text after a sign, which stays where the name has no room.
   * @param {string} sign @param {string|string[]} name @param {number} room
   */
  fitSigned(sign, name, room) {
    this.#prepare();
    let width = this.signs.get(sign);
    if (width === undefined) this.signs.set(sign, (width = this.width(`${sign} `)));
    const text = this.fit(name, room - width);
    return text ? `${sign} ${text}` : sign;
  }
}
