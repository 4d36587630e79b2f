// SPDX-License-Identifier: GPL-3.0-or-later
// One browser for all tests, and a page of it as a person has it in front of them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';

import { closeBrowser, launched } from './chromium.js';
import { draw } from './modules.js';
import * as known from './known.js';
import { pageFile, pageUrl } from './pages.js';

export const { ROW } = draw;

/** The script of axe-core. */
export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Rules of axe-core that are not asked, and why. All others are: of WCAG at levels A and AA, best practices, and experimental ones. */
const NOT_ASKED = {
  'color-contrast-enhanced': 'level AAA asks for 7 : 1; what is promised is AA, 4.5 : 1',
  'focus-order-semantics': 'experimental: it takes no title of a column for a control, though one that sorts gets the focus by ARIA',
};

/** @type {Promise<import('playwright-core').BrowserContext>|null} for pages that need nothing of their own */
let shared = null;

after(closeBrowser);

/**
 * @typedef {object} Options
 * @property {string} [hash] of the address
 * @property {string} [url] instead of the page of the kind
 * @property {import('playwright-core').BrowserContextOptions} [context]
 * @property {string} [script] runs before the page's own
 * @property {number} [timeout] until the first picture, ms
 * @property {object} [test] of node's test
 */

/** A report in a browser window. */
export class Report {
  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
    /** @type {string[]} */ this.complaints = [];
    /** @type {string[]} */ this.requests = [];
    /** How long it took until it was drawn, ms. */ this.opened = 0;
    page.on('console', (message) => this.complaints.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => this.complaints.push(`exception: ${error.message}`));
    page.on('request', (request) => this.requests.push(request.url()));
  }

  /** Runs in the page. @template T @param {(argument: any) => T} f @param {any} [argument] @returns {Promise<any>} */
  run(f, argument) {
    return this.page.evaluate(f, argument);
  }

  /** Until it is drawn for the first time. @param {number} timeout */
  async painted(timeout) {
    const end = Date.now() + timeout;
    while (!(await this.run(() => !!document.documentElement.dataset.ready))) {
      if (Date.now() > end) throw new Error(`nothing was painted in ${timeout} ms: ${this.complaints.join('; ')}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await this.settle();
  }

  /** Until what was changed is drawn. */
  async settle() {
    await this.run(
      () =>
        new Promise((resolve) =>
          requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => setTimeout(() => resolve(0)), 5))),
        ),
    );
  }

  /** Until something holds in the page. @param {(argument: any) => any} test @param {any} [argument] @param {number} [timeout] */
  async until(test, argument, timeout = 5000) {
    const end = Date.now() + timeout;
    while (!(await this.run(test, argument))) {
      if (Date.now() > end) throw new Error(`never came true: ${test}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await this.settle();
  }

  /** @param {...string} keys */
  async press(...keys) {
    for (const key of keys) {
      await this.page.keyboard.press(key);
      await this.settle();
    }
  }

  /** Clicks a control. @param {string} selector */
  async click(selector) {
    await this.page.click(selector);
    await this.settle();
  }

  /** @param {string} selector @param {string} value */
  async select(selector, value) {
    await this.page.selectOption(selector, value);
    await this.settle();
  }

  /** What is written somewhere. @param {string} selector @returns {Promise<string>} */
  text(selector) {
    return this.run((s) => document.querySelector(s)?.textContent ?? '', selector);
  }

  /** All texts of a kind. @param {string} selector @returns {Promise<string[]>} */
  texts(selector) {
    return this.run((s) => [...document.querySelectorAll(s)].map((e) => e.textContent || ''), selector);
  }

  /** The name of the selected frame, as a screen reader gets it. */
  async active() {
    return (await this.text('#active-frame')).split(',')[0];
  }

  /** Opens its address again. */
  async reload() {
    await this.page.reload();
    this.requests.length = 1;
    await this.painted(10000);
  }

  /**
   * Findings of axe-core at any level, which a test gives its page as a script.
   * @param {string} [kind] of the rules that are asked, by a tag; else all are @returns {Promise<string[]>}
   */
  findings(kind = '') {
    return this.run(async ([without, tag]) => {
      const { axe } = /** @type {any} */ (window);
      const isAsked = (/** @type {any} */ { ruleId, tags }) => !(ruleId in without) && (!tag || tags.includes(tag));
      const rules = Object.fromEntries(axe.getRules().map((/** @type {any} */ rule) => [rule.ruleId, { enabled: isAsked(rule) }]));
      const result = await axe.run(document, { resultTypes: ['violations'], rules });
      const targets = (/** @type {any} */ v) => v.nodes.map((/** @type {any} */ n) => n.target.join(' ')).slice(0, 4);
      return result.violations.map((/** @type {any} */ v) => `${v.id}: ${v.help}: ${targets(v).join(', ')}`);
    }, [NOT_ASKED, kind]);
  }

  /** The state in the address. @returns {Promise<Record<string, string>>} */
  async hash() {
    const text = await this.run(() => location.hash.slice(1));
    return Object.fromEntries(new URLSearchParams(text));
  }

  /** The picture's place in the window. @returns {Promise<{x: number, y: number, width: number, height: number}>} */
  picture() {
    return this.run(() => {
      const { x, y, width, height } = document.querySelector('.overlay').getBoundingClientRect();
      return { x, y, width: Math.floor(width), height: Math.floor(height) };
    });
  }

  /**
   * The middle of a known frame, in the window and in the picture.
   * @param {string[]|string} frame a path, or the name of the only frame with it @param {number} [side] @param {string[]} [zoom]
   */
  async middle(frame, side = 1, zoom = []) {
    const path = typeof frame === 'string' ? known.frameOf(frame) : frame;
    const { x, w, depth } = known.placeOf(path, side, zoom);
    const box = await this.picture();
    const left = (x + w / 2) * box.width;
    const top = depth * ROW + ROW / 2;
    return { x: box.x + left, y: box.y + top, left, top, width: w * box.width, edge: x * box.width };
  }

  /** Points at a place in the window. @param {number} x @param {number} y */
  async point(x, y) {
    await this.page.mouse.move(x, y);
    await this.settle();
  }

  /** @param {string[]|string} frame @param {number} [side] @param {string[]} [zoom] */
  async hover(frame, side = 1, zoom = []) {
    const { x, y } = await this.middle(frame, side, zoom);
    await this.point(x, y);
  }

  /** @param {string[]|string} frame @param {number} [side] @param {string[]} [zoom] */
  async clickFrame(frame, side = 1, zoom = []) {
    const { x, y } = await this.middle(frame, side, zoom);
    await this.page.mouse.click(x, y);
    await this.settle();
  }

  /**
   * Where the picture has the first frame with a name, on any page: its upper left corner in the picture, and its middle in the window.
   * @param {string} name @returns {Promise<{edge: number, top: number, x: number, y: number}>}
   */
  placeOf(name) {
    return this.run((wanted) => {
      const { model, picture } = /** @type {any} */ (window).kelvin;
      const node = Array.from(model.tree.func).findIndex((_, i) => i > 0 && model.nameOf(i) === wanted);
      const { x, y, w, h } = picture.flame.outline(node);
      const { left, top } = picture.overlay.getBoundingClientRect();
      return { edge: x, top: y, x: left + x + w / 2, y: top + y + h / 2 };
    }, name);
  }

  /** Clicks such a frame. @param {string} name */
  async clickNamed(name) {
    const { x, y } = await this.placeOf(name);
    await this.page.mouse.click(x, y);
    await this.settle();
  }

  /** Opens the function list under the picture. */
  async openList() {
    if (await this.page.locator('.functions.folded').count()) await this.press('L');
  }

  /** Zooms to a frame. @param {string[]|string} frame @param {number} [side] @param {string[]} [zoom] */
  async zoomFrame(frame, side = 1, zoom = []) {
    const { x, y } = await this.middle(frame, side, zoom);
    await this.page.mouse.dblclick(x, y);
    await this.settle();
  }

  /** Colours (with alpha) of points of a canvas, in CSS pixels. @param {number[][]} points @param {string} [canvas] @returns {Promise<number[][]>} */
  pixels(points, canvas = 'canvas.flame') {
    return this.run(
      ([selector, list]) => {
        const element = /** @type {HTMLCanvasElement} */ (document.querySelector(selector));
        const copy = new OffscreenCanvas(element.width, element.height);
        const context = /** @type {OffscreenCanvasRenderingContext2D} */ (copy.getContext('2d', { willReadFrequently: true }));
        const ratio = element.width / element.clientWidth;
        context.drawImage(element, 0, 0);
        return list.map(([x, y]) => [...context.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data]);
      },
      [canvas, points],
    );
  }

  /** The fill of a known frame, beside its label. @param {string[]|string} frame @param {number} [side] @param {string[]} [zoom] */
  async fill(frame, side = 1, zoom = []) {
    const { edge, top, width } = await this.middle(frame, side, zoom);
    const [colour] = await this.pixels([[edge + Math.min(2, width / 2), top - ROW / 2 + 2]]);
    return colour;
  }

  /** Closes it, and leaves nothing for the next. */
  async close() {
    if (this.page.context() !== (await shared)) return this.page.context().close();
    await this.run(() => localStorage.clear()).catch(() => {});
    await this.page.close();
  }

  /** Everything that is wrong with a page, whatever was done with it. */
  async check() {
    const violations = await this.run(() => /** @type {any} */ (window).violations || []);
    assert.deepEqual(this.complaints, []);
    assert.deepEqual(violations, [], 'the page keeps its own policy');
    assert.deepEqual(
      this.requests.filter((url) => !/^(file|blob):/.test(url)),
      [],
      'nothing is loaded from elsewhere',
    );
    assert.ok(
      this.requests
        .filter((url) => !url.startsWith('blob:'))
        .every((url) => url.split('#')[0] === this.requests[0].split('#')[0]),
      'nor from beside it',
    );
  }
}

/** @param {Options} options */
async function newContext(options) {
  const context = await (await launched()).newContext({ viewport: { width: 1280, height: 800 }, ...options.context });
  await context.addInitScript(() => {
    /** @type {any} */ (window).violations = [];
    document.addEventListener('securitypolicyviolation', (e) =>
      /** @type {any} */ (window).violations.push(`${e.violatedDirective}: ${e.blockedURI || e.sample}`),
    );
  });
  if (options.script) await context.addInitScript({ content: options.script });
  return context;
}

/** @param {string} kind @param {Options} [options] */
export async function open(kind, options = {}) {
  const special = options.context || options.script;
  const context = await (special ? newContext(options) : (shared ||= newContext({})));
  const report = new Report(await context.newPage());
  report.page.setDefaultTimeout(5000);
  await report.page.goto(options.url || pageUrl(kind, options.hash), { timeout: 300000 });
  return report;
}

/**
 * A test with a report of its own, which is also checked for all that no page may do.
 * @param {string} name @param {string} kind @param {(report: Report, t: import('node:test').TestContext) => Promise<void>} body
 * @param {Options} [options]
 */
export function reportTest(name, kind, body, options = {}) {
  test(name, { timeout: 90000, ...options.test }, async (t) => {
    if (!options.url) pageFile(kind);
    const start = Date.now();
    const report = await open(kind, options);
    try {
      await report.painted(options.timeout || 10000);
      report.opened = Date.now() - start;
      await body(report, t);
      await report.check();
    } finally {
      await report.close();
    }
  });
}

/** Whether two colours are the same but for rounding; alpha does not count. @param {number[]} a @param {number[]} b @param {number} [by] */
export function near(a, b, by = 1) {
  return [0, 1, 2].every((i) => Math.abs(a[i] - b[i]) <= by);
}
