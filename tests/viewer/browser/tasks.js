// SPDX-License-Identifier: GPL-3.0-or-later
// What people open a report for, each by mouse, by keyboard and by finger, in three steps at most: a click, a tap, a turn of the wheel, a
// key, or a text with Enter is a step. The answer must then stand in the window.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import { recordedUrl } from '../lib/pages.js';
import { fingerOf } from '../lib/finger.js';

const MOST_STEPS = 3;

/** @typedef {'mouse'|'keyboard'|'finger'} Hand */

/** The window that each is used in. @type {Record<Hand, import('playwright-core').BrowserContextOptions>} */
const WINDOWS = {
  mouse: { viewport: { width: 1280, height: 720 } },
  keyboard: { viewport: { width: 1280, height: 720 } },
  finger: { viewport: { width: 800, height: 1000 }, hasTouch: true, isMobile: true },
};

/** Somebody who reads a report, and whose steps are counted. */
class Reader {
  /** @param {any} report @param {Hand} hand */
  constructor(report, hand) {
    this.report = report;
    this.hand = hand;
    this.steps = 0;
  }

  /** Clicks or taps what has a text. @param {string} selector @param {string|RegExp} [text] */
  async press(selector, text = '') {
    const { report } = this;
    const target = report.page.locator(selector).filter({ hasText: text }).first();
    this.steps++;
    if (this.hand === 'finger') await target.tap();
    else await target.click();
    await report.settle();
  }

  /** Opens the menu of a frame. @param {string} name */
  async menuOf(name) {
    const { report } = this;
    const { x, y } = await report.placeOf(name);
    this.steps++;
    if (this.hand === 'finger') await (await fingerOf(report)).longPress(x, y);
    else await report.page.mouse.click(x, y, { button: 'right' });
    await report.settle();
  }

  /** @param {...string} keys */
  async keys(...keys) {
    this.steps += keys.length;
    await this.report.press(...keys);
  }

  /** Searches: by a key or in the field, and by a text with Enter. @param {string} text */
  async search(text) {
    const { report } = this;
    if (this.hand === 'keyboard') await this.keys('/');
    else await this.press('[data-keep=search]');
    await report.page.keyboard.type(text);
    await this.keys('Enter');
  }

  /** Scrolls to something by the wheel or a finger. @param {string} selector */
  async scroll(selector) {
    this.steps++;
    await this.report.run((/** @type {string} */ s) => document.querySelector(s)?.scrollIntoView({ block: 'center' }), selector);
    await this.report.settle();
  }

  /** What stands in the window and has a text must be there. @param {string} selector @param {RegExp} text */
  async sees(selector, text) {
    const found = await this.report.run((/** @type {string} */ s) => {
      const isSeen = (/** @type {Element} */ e) => {
        const { left, top, width, height } = e.getBoundingClientRect();
        const [x, y] = [left + Math.min(width, 20) / 2, top + Math.min(height, 20) / 2];
        const at = document.elementFromPoint(x, y);
        return width > 0 && !!at && (e.contains(at) || at.contains(e));
      };
      return [...document.querySelectorAll(s)].filter(isSeen).map((e) => e.textContent || '');
    }, selector);
    assert.ok(found.some((/** @type {string} */ one) => text.test(one)), `${selector} with ${text} in the window: ${found.join(' | ')}`);
  }
}

/**
 * A task: on which page it is done, how by each hand, and what must then be seen.
 * @typedef {object} Task
 * @property {string} name
 * @property {string} [kind] of a page of known content; else that of two recordings of a C++ service
 * @property {Partial<Record<Hand, (reader: Reader) => Promise<void>>>} by
 * @property {(reader: Reader) => Promise<void>} answer
 */

const first = (/** @type {Reader} */ reader) => reader.press('ul.changes .link');

/** Types a range of time. @param {Reader} reader */
async function range(reader) {
  await reader.report.page.fill('[aria-label=Time]', '500ms-1.5s');
  await reader.keys('Enter');
}

/** Opens a change of a history, and selects its function there. @param {Reader} reader */
async function changedSince(reader) {
  await reader.press('.history-changes .grid-row', 'parse_header');
  await reader.report.painted(5000);
  await reader.press('ul.changes .link', 'parse_header');
}

/** @type {Task[]} */
const TASKS = [
  {
    name: '(a) which change cost most, and is it proven',
    by: { mouse: async () => {}, keyboard: async () => {}, finger: async () => {} },
    answer: async (reader) => {
      await reader.sees('.verdict .words', /normalize_query.* takes 2\.63 times as much/);
      await reader.sees('ul.changes li', /normalize_query.*more self \+48\.1 ms/);
    },
  },
  {
    name: '(b) how much of the time is mine, of libraries, of the system',
    by: {
      mouse: (reader) => reader.press('.opens'),
      keyboard: (reader) => reader.keys('2'),
      finger: (reader) => reader.press('.opens'),
    },
    answer: async (reader) => {
      const selector = reader.hand === 'keyboard' ? '.legend .key' : '.ledger tr';
      for (const origin of ['user', 'library', 'system']) await reader.sees(selector, new RegExp(`^${origin}.* \\d`));
    },
  },
  {
    name: '(c) who calls it, in base and in head',
    by: {
      mouse: async (reader) => (await first(reader), await reader.scroll('ul.bars')),
      keyboard: async (reader) => (await reader.search('normalize_query'), await reader.keys('x')),
      finger: async (reader) => (await first(reader), await reader.scroll('ul.bars')),
    },
    answer: async (reader) => {
      if (reader.hand === 'keyboard') {
        await reader.sees('.chips .chip', /callers and callees of/);
        await reader.sees('.inspector h2', /normalize_query/);
      } else await reader.sees('ul.bars li', /snippet.*36\.1 ms 5\.9 %.*83\.2 ms 10\.9 %/);
    },
  },
  {
    name: '(d) what one thread did in a part of the time',
    kind: 'timeline',
    by: {
      mouse: async (reader) => {
        await reader.press('.choice button', 'Timeline');
        reader.steps++;
        await reader.report.select('[aria-label=Thread]', 'worker-7');
        await range(reader);
      },
      keyboard: async (reader) => {
        await reader.keys('T');
        await range(reader);
        reader.steps++;
        await reader.report.select('[aria-label=Thread]', 'worker-7');
      },
      finger: async (reader) => {
        await reader.press('.choice button', 'Timeline');
        reader.steps++;
        await reader.report.select('[aria-label=Thread]', 'worker-7');
        await range(reader);
      },
    },
    answer: async (reader) => {
      await reader.sees('.chip', /only thread .*worker-7/);
      await reader.sees('.chip', /0\.5–1\.5 s/);
      await reader.sees('.lane-head button', /worker-7/);
    },
  },
  {
    name: '(e) everything that goes through a library: its share, and those stacks alone',
    by: {
      mouse: async (reader) => (await reader.search('module:libc'), await reader.keys('K')),
      keyboard: async (reader) => (await reader.search('module:libc'), await reader.keys('K')),
      finger: async (reader) => (await reader.menuOf('__clone3'), await reader.press('.menu button', 'Only stacks through')),
    },
    answer: async (reader) => {
      await reader.sees('.filters .chip', /only stacks through libc.* · [\d.]+ % of head/);
      assert.match(await reader.report.run(() => location.hash), /f=/, 'the address has it');
      if (reader.hand === 'keyboard') await reader.report.press('Delete');
      else await reader.press('.filters .chip');
      assert.equal(await reader.report.page.locator('.filters .chip').count(), 0, 'a step takes it back');
    },
  },
  {
    name: '(f) which lock, and who held it',
    kind: 'waits',
    by: {
      mouse: async (reader) => (await reader.search('waiting: lock'), await reader.scroll('ul.neighbours')),
      keyboard: (reader) => reader.search('waiting: lock'),
      finger: async (reader) => (await reader.search('waiting: lock'), await reader.scroll('ul.neighbours')),
    },
    answer: async (reader) => {
      await reader.sees('ul.neighbours li', /cache_mutex/);
      // By keyboard the holder is scrolled to.
      if (reader.hand !== 'keyboard') await reader.sees('ul.neighbours li', /evict/);
    },
  },
  {
    name: '(g) what is new, and where is it',
    by: {
      mouse: (reader) => reader.press('ul.changes .link', 'audit_request'),
      keyboard: async (reader) => (await reader.keys('e'), await reader.search('audit_request')),
      finger: (reader) => reader.press('ul.changes .link', 'audit_request'),
    },
    answer: async (reader) => {
      await reader.sees('.inspector h2', /audit_request/);
      await reader.sees('.inspector .badge', /new/);
    },
  },
  {
    name: '(h) which benchmark, and which line of it',
    kind: 'suite',
    by: {
      mouse: async (reader) => (await reader.press('.benchmarks .grid-row'), await reader.report.painted(5000), await first(reader)),
      keyboard: async (reader) => {
        await reader.keys('ArrowDown', 'Enter');
        await reader.report.painted(5000);
      },
      finger: async (reader) => (await reader.press('.benchmarks .grid-row'), await reader.report.painted(5000), await first(reader)),
    },
    answer: async (reader) => {
      await reader.sees('.part-bar b', /test_parse/);
      if (reader.hand === 'keyboard') await reader.sees('ul.changes li', /more|new/);
      else await reader.sees('.inspector .where', /\w/);
    },
  },
  {
    name: '(j) since which deploy it costs more, and in which code',
    kind: 'history',
    by: {
      mouse: changedSince,
      keyboard: async (reader) => {
        await reader.keys('ArrowDown', 'ArrowDown', 'Enter');
        await reader.report.painted(5000);
      },
      finger: changedSince,
    },
    answer: async (reader) => {
      await reader.sees('.part-bar b', /parse_header/);
      await reader.sees('.part-tools', /since 18 Nov 14:02.*version 41 → 42/);
      if (reader.hand === 'keyboard') await reader.sees('ul.changes li', /parse_header.*more/);
      else await reader.sees('.inspector .where', /app\.c:42/);
    },
  },
  {
    name: '(i) give it to a colleague',
    by: {
      mouse: async (reader) => (await reader.press('.corner button', 'Hand over'), await reader.press('.menu button', 'Copy a link')),
      keyboard: async (reader) => (await reader.keys('E', 'End', 'Enter')),
      finger: async (reader) => (await reader.press('.corner button', 'Hand over'), await reader.press('.menu button', 'Copy a link')),
    },
    answer: async (reader) => {
      await reader.report.until(() => /copied|cannot copy/.test(document.querySelector('[role=status]')?.textContent || ''));
      await reader.sees('.status', /link copied|cannot copy the link/);
    },
  },
];

for (const { name, kind, by, answer } of TASKS)
  for (const [hand, does] of /** @type {[Hand, (reader: Reader) => Promise<void>][]} */ (Object.entries(by)))
    reportTest(
      `${name}: by ${hand}`,
      kind || 'diff',
      async (report) => {
        const reader = new Reader(report, hand);
        await does(reader);
        assert.ok(reader.steps <= MOST_STEPS, `${reader.steps} steps`);
        await answer(reader);
      },
      { context: WINDOWS[hand], ...(!kind && { url: recordedUrl('named_base', 'named_head') }) },
    );
