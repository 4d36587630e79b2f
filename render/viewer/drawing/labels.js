// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a box: the longest form of a name that has room.

import { plainStrings, shorterNames } from '../common/format.js';

const FONT = '12px system-ui, sans-serif';
const LONGEST = 400;
/** Letters of a name that are searched for brackets. */
const MOST_LETTERS = 4096;
/** No letter is narrower than this, in pixels. */
const NARROWEST = 2;
const LEAF = /^…(::|\/)/;
const MORE = '…';

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

  /** How many letters of a text have room before a mark for the rest. @param {string} text @param {number} room */
  #lettersIn(text, room) {
    let left = room - (this.markWidth ||= this.width(MORE));
    let count = 0;
    for (const letter of text) {
      left -= this.width(letter);
      if (left < 0) break;
      count += letter.length;
    }
    return count;
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
   * The longest form that has room; if none has, the beginning of the last part of the name; '' for fewer than two
   * letters of that.
   * @param {string} name @param {number} room
   */
  fit(name, room) {
    this.#prepare();
    // Most names fit, so that their other forms are made only where the whole name has no room.
    const plain = plainStrings(name);
    if (plain.length * NARROWEST <= room && plain.length <= LONGEST && this.width(plain) <= room) return plain;
    const forms = this.#formsOf(name);
    for (const [form, width] of forms) if (width <= room) return form;
    const [form] = forms[forms.length - 1];
    const leaf = form.replace(LEAF, '');
    if (leaf !== form && this.width(leaf) <= room) return leaf;
    const letters = this.#lettersIn(leaf, room);
    return letters < 2 ? '' : leaf.slice(0, letters) + MORE;
  }

  /**
   * The text after a sign, which stays where the name has no room.
   * @param {string} sign @param {string} name @param {number} room
   */
  fitSigned(sign, name, room) {
    this.#prepare();
    let width = this.signs.get(sign);
    if (width === undefined) this.signs.set(sign, (width = this.width(`${sign} `)));
    const text = this.fit(name, room - width);
    return text ? `${sign} ${text}` : sign;
  }
}
