// SPDX-License-Identifier: GPL-3.0-or-later
// The way from proven change to proven change: two buttons and two keys.

import { h, renew } from '../common/dom.js';
import { count, listName, measureOf } from '../common/format.js';
import { placeOf } from '../model/changes.js';
import { changeFigure } from '../model/figures.js';
import { functionWords } from '../views/verdict.js';
import { asToolbar } from '../common/toolbar.js';
import { signButton } from '../common/widgets.js';

/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../model/state.js').State} State */
/** @typedef {import('../data/symbols.js').FunctionChange} FunctionChange */

/**
 * What the way needs of the page around it.
 * @typedef {object} ChangingHost
 * @property {Model} model
 * @property {() => State} state
 * @property {(place: {node: number, gone: boolean}) => void} show selects a frame and zooms to where it can be seen
 * @property {(text: string) => void} announce tells a text to screen readers
 */

export class Changing {
  /** @param {ChangingHost} host */
  constructor(host) {
    this.host = host;
    this.model = host.model;
    /** @type {{isApart: boolean, list: FunctionChange[]}|null} the changes in their order */ this.made = null;
    /** The change that was shown last, or -1. */ this.last = -1;
    /** How many changes were passed by because the view does not have them. */ this.passed = 0;
    /** Where one is among the changes, and the way through them. */
    this.element = asToolbar(h('span.steps', { 'aria-label': 'Proven changes' }));
  }

  get #changes() {
    const { isApart } = this.model;
    if (this.made?.isApart !== isApart) this.made = { isApart, list: this.model.provenChanges() };
    return this.made.list;
  }

  /** The change whose function is selected, or -1. */
  get #selected() {
    const { selected, tree } = this.model;
    return selected > 0 ? this.#changes.findIndex(({ f }) => f.id === tree.func[selected]) : -1;
  }

  /** Shows another change; those that the view does not have are passed by. @param {1|-1} step */
  next(step) {
    const { host, model } = this;
    const changes = this.#changes;
    const all = changes.length;
    const selected = this.#selected;
    let at = selected >= 0 ? selected : this.last;
    if (at < 0 && step < 0) at = 0;
    for (let passed = 0; passed < all; passed++) {
      at = (at + step + all) % all;
      const place = placeOf(model, changes[at], host.state());
      if (!place) continue;
      this.last = at;
      this.passed = passed;
      host.show(place);
      const change = changes[at];
      const words = functionWords(change, measureOf(model.shownMetric));
      const what = `${listName(change.f.name)} ${words}, ${changeFigure(model, change).difference}`;
      host.announce(`proven change ${at + 1} of ${all}: ${what}${this.#passedText()}`);
      return;
    }
    if (all) host.announce(`none of the ${count(all)} proven changes is in this view`);
  }

  #passedText() {
    const { passed } = this;
    return passed ? ` · ${count(passed)} passed by: not in this view` : '';
  }

  /** Shows where one is among the changes; nothing where none is proven. */
  draw() {
    const all = this.#changes.length;
    const at = this.#selected;
    const place = at < 0 ? `${count(all)} change${all === 1 ? '' : 's'}` : `change ${at + 1}/${all}`;
    const text = h('span.step', {}, place, at >= 0 && h('span.dim', {}, this.#passedText()));
    const previous = signButton('◀', 'Previous proven change', 'previous proven change (,)', () => this.next(-1));
    const next = signButton('▶', 'Next proven change', 'next proven change (.)', () => this.next(1));
    renew(this.element, all > 0 ? [previous, text, next] : []);
  }
}
