// SPDX-License-Identifier: GPL-3.0-or-later
// As much of a document as views need to be made outside of a browser, so that thousands of them can be read in a second.

export class Element {
  /** @param {string} tag */
  constructor(tag) {
    this.tag = tag;
    this.className = '';
    this.value = '';
    /** @type {(Element|string)[]} */ this.content = [];
    /** @type {Record<string, string>} */ this.attributes = {};
    this.style = { setProperty() {} };
    this.classList = { toggle() {}, add() {}, remove() {} };
    this.scrollTop = 0;
    this.clientHeight = 0;
    this.clientWidth = 0;
  }

  /** @param {...(Element|string)} children */
  append(...children) {
    this.content.push(...children);
  }

  /** @param {...(Element|string)} children */
  replaceChildren(...children) {
    this.content = children;
  }

  get children() {
    return this.content.filter((one) => one instanceof Element);
  }

  /** @returns {string} */
  get textContent() {
    return this.content.map((one) => (one instanceof Element ? one.textContent : one)).join('');
  }

  set textContent(text) {
    this.content = [text];
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  /** @param {string} name */
  removeAttribute(name) {
    delete this.attributes[name];
  }

  /** @param {string} name */
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  addEventListener() {}
  contains() {
    return false;
  }
  getContext() {}
  querySelector() {
    return null;
  }
  querySelectorAll() {
    return [];
  }

  /** All elements below it of a tag and a class, in their order. @param {string} tag @param {string} [name] @returns {Element[]} */
  all(tag, name = '') {
    return this.children.flatMap((one) => [
      ...((tag && one.tag !== tag) || (name && !one.className.split(' ').includes(name)) ? [] : [one]),
      ...one.all(tag, name),
    ]);
  }
}

/** What would tell of changes, of which there are none. */
class Watcher {
  observe() {}
}

/** Lets views be made from now on. */
export function pretend() {
  const make = (/** @type {string} */ tag) => new Element(tag);
  Object.assign(globalThis, {
    document: { createElement: make, createElementNS: (/** @type {string} */ _, /** @type {string} */ tag) => make(tag), createTextNode: String },
    MutationObserver: Watcher,
    ResizeObserver: Watcher,
    getComputedStyle: () => ({}),
    matchMedia: () => ({ matches: false }),
  });
}
