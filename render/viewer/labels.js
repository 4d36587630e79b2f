// SPDX-License-Identifier: GPL-3.0-or-later
// What a box can say in the room that it has.

import { plainStrings, shorterNames } from './format.js';

const FONT = '12px system-ui, sans-serif';
const LONGEST = 400;
/** Of a name, looked at for its brackets. */
const MOST_LETTERS = 4096;
/** No letter is narrower, px. */
const NARROWEST = 2;
const LEAF = '…::';

export class Labels {
  /** @param {CanvasRenderingContext2D} context */
  constructor(context) {
    this.context = context;
    /** @type {Map<string, [string, number][]>} forms of a name with their widths */ this.forms = new Map();
    this.advances = new Float64Array(128);
    this.ready = false;
  }

  /** After the canvas was sized anew it has forgotten its font. */
  reset() {
    this.ready = false;
  }

  prepare() {
    if (this.ready) return;
    this.ready = true;
    this.context.font = FONT;
    this.context.textBaseline = 'middle';
  }

  /** Measuring letter by letter is a hundred times faster than asking for each text, and near enough to cut one. @param {string} text */
  width(text) {
    let sum = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 126) return this.context.measureText(text).width;
      sum += this.advances[code] ||= this.context.measureText(text[i]).width;
    }
    return sum;
  }

  /** Forms of a name but the whole. @param {string} name @returns {[string, number][]} */
  formsOf(name) {
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

  /** The longest form that has room; if none has, the beginning of the last name's own part; '' for fewer than two letters of it. @param {string} name @param {number} room */
  fit(name, room) {
    this.prepare();
    // Most names are whole or have no brackets: the forms are only worth their making where the whole does not fit.
    const plain = plainStrings(name);
    if (plain.length * NARROWEST <= room && plain.length <= LONGEST && this.width(plain) <= room) return plain;
    const forms = this.formsOf(name);
    for (const [form, width] of forms) if (width <= room) return form;
    const [form, width] = forms[forms.length - 1];
    const leaf = form.startsWith(LEAF) ? form.slice(LEAF.length) : form;
    const letters = Math.floor((form.length * room) / width) - 1;
    return letters < 2 ? '' : letters < leaf.length ? `${leaf.slice(0, letters)}…` : leaf;
  }
}
