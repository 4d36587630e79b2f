// SPDX-License-Identifier: GPL-3.0-or-later
// Whether everything on the page can be read and told apart: contrasts of all texts and controls in all their states, from the styles
// that the browser computes.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';

/** What WCAG 2.2 asks for at level AA: of texts (1.4.3), and of what tells a control and its state (1.4.11). */
const TEXT = 4.5;
const PART = 3;

/** States that a browser can be told to show, with the pseudo-classes that say so. @type {Record<string, string[]>} */
const FORCED = { 'at rest': [], hover: ['hover'], focus: ['focus', 'focus-visible'], active: ['active', 'hover'] };

/**
 * Runs in the page: what has too little contrast.
 * @param {{text: number, part: number}} least
 */
function tooFaint({ text, part }) {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  /** The colour of a style with its alpha, each from 0 to 1. @param {string} style */
  const parsed = (style) => {
    const c = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas);
    c.clearRect(0, 0, 1, 1);
    c.fillStyle = style;
    c.fillRect(0, 0, 1, 1);
    return [...c.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
  };
  /** @param {number[]} above @param {number[]} below */
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a));
  const luminance = (/** @type {number[]} */ c) => {
    const [r, g, b] = c.map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (/** @type {number[]} */ a, /** @type {number[]} */ b) => {
    const [less, more] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (more + 0.05) / (less + 0.05);
  };
  const whole = (/** @type {Element|null} */ e) => {
    let opacity = 1;
    for (let at = e; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  /** What stands behind an element, and its own ground where that counts. @param {Element|null} e @returns {number[]} */
  const ground = (e) => {
    if (!e) return [1, 1, 1];
    const own = parsed(getComputedStyle(e).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, ground(e.parentElement));
  };
  const isSeen = (/** @type {Element} */ e) => {
    const { width, height } = e.getBoundingClientRect();
    const { visibility, clipPath } = getComputedStyle(e);
    return width > 1 && height > 1 && visibility === 'visible' && clipPath === 'none' && !e.closest('.offscreen, [aria-hidden=true]:not(.tip)');
  };
  const said = (/** @type {Element} */ e) =>
    `${e.tagName.toLowerCase()}.${e.getAttribute('class') || ''} "${(e.getAttribute('aria-label') || e.textContent || '').slice(0, 30)}"`;
  /** @type {string[]} */ const found = [];
  const told = (/** @type {Element} */ e, /** @type {string} */ what, /** @type {number} */ ratio) =>
    found.push(`${said(e)}: ${what} ${ratio.toFixed(2)}`);
  const seen = [...document.querySelectorAll('body *')].filter(isSeen);
  for (const e of seen) {
    const style = getComputedStyle(e);
    const behind = ground(e);
    const inks = [];
    if ([...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim())) inks.push(style.color);
    if (e instanceof HTMLInputElement && e.type === 'search') inks.push(style.color, getComputedStyle(e, '::placeholder').color);
    if (e instanceof SVGTextElement) inks.splice(0, 1, style.fill);
    for (const ink of inks) {
      const [r, g, b, a] = parsed(ink);
      const ratio = contrast(over([r, g, b, a * whole(e)], behind), behind);
      if (ratio < text) told(e, `text ${ink}`, ratio);
    }
  }
  /** What shows a control: its ground and its border, beside what is around it. @param {Element} e */
  const parts = (e) => {
    const style = getComputedStyle(e);
    const around = ground(e.parentElement);
    const width = parseFloat(style.borderTopWidth);
    const shadow = /^(rgba?\([^)]*\)) 0px 0px 0px [1-9]/.exec(style.boxShadow)?.[1];
    const list = { ground: ground(e), border: width ? over(parsed(style.borderTopColor), around) : around };
    return { around, ...list, shadow: shadow ? over(parsed(shadow), around) : around };
  };
  const controls = seen.filter((e) => e.matches('button, select, input[type=search]'));
  for (const e of controls) {
    const { around, ground: own, border } = parts(e);
    // A text that is clicked has no bounds to see.
    if (e.matches('.link, .fold, .cell, .lane-head button, .menu button')) continue;
    const ratio = Math.max(contrast(own, around), contrast(border, around));
    if (ratio < part) told(e, 'bounds', ratio);
  }
  for (const e of controls.filter((e) => e.hasAttribute('aria-pressed'))) {
    const was = e.getAttribute('aria-pressed') || '';
    const [on, off] = ['true', 'false'].map((pressed) => {
      e.setAttribute('aria-pressed', pressed);
      return { ...parts(e), dashed: getComputedStyle(e).borderTopStyle };
    });
    e.setAttribute('aria-pressed', was);
    // Another form, as a dashed border, is seen in any colour.
    const ratio = Math.max(...['ground', 'border', 'shadow'].map((of) => contrast(/** @type {any} */ (on)[of], /** @type {any} */ (off)[of])));
    if (ratio < part && on.dashed === off.dashed) told(e, 'pressed against not pressed', ratio);
  }
  const focused = [...document.querySelectorAll(':focus-visible')].filter((e) => isSeen(e) && e.matches('button, select, input, a, [tabindex]'));
  for (const e of focused) {
    const { outlineColor, outlineStyle, outlineOffset, borderTopColor } = getComputedStyle(e);
    const around = parseFloat(outlineOffset) < 0 ? ground(e) : ground(e.parentElement);
    const colour = outlineStyle === 'none' ? borderTopColor : outlineColor;
    const ratio = contrast(over(parsed(colour), around), around);
    if (ratio < part) told(e, `focus ${colour}`, ratio);
  }
  return { found, texts: seen.length, controls: controls.length, focused: focused.length };
}

/** Pretends that all controls are in a state. @param {any} client @param {string[]} classes */
async function force(client, classes) {
  const { root } = await client.send('DOM.getDocument');
  const selector = 'button, select, input, a, summary, [tabindex], .grid-row, .thumb, .splitter';
  const { nodeIds } = await client.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector });
  // What was drawn anew in between is no longer there.
  for (const nodeId of nodeIds)
    await client.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: classes }).catch(() => {});
}

/** @param {any} report @param {string} where */
async function reads(report, where) {
  const client = await report.page.context().newCDPSession(report.page);
  await client.send('DOM.enable');
  await client.send('CSS.enable');
  for (const [name, classes] of Object.entries(FORCED)) {
    await force(client, classes);
    const { found, controls, focused } = await report.run(tooFaint, { text: TEXT, part: PART });
    assert.deepEqual(found, [], `${where}, ${name}`);
    assert.ok(controls > 3, `${controls} controls`);
    if (name === 'focus') assert.ok(focused > 3, `${focused} with the focus`);
  }
  // Also where none of them can be used, or all are on.
  await report.run(() => document.querySelectorAll('button, select').forEach((e) => e.setAttribute('disabled', '')));
  await force(client, []);
  assert.deepEqual((await report.run(tooFaint, { text: TEXT, part: PART })).found, [], `${where}, disabled`);
  await report.run(() => {
    document.querySelectorAll('button, select').forEach((e) => e.removeAttribute('disabled'));
    document.querySelectorAll('[aria-pressed]').forEach((e) => e.setAttribute('aria-pressed', 'true'));
  });
  for (const [name, classes] of Object.entries(FORCED)) {
    await force(client, classes);
    assert.deepEqual((await report.run(tooFaint, { text: TEXT, part: PART })).found, [], `${where}, all pressed, ${name}`);
  }
  await client.detach();
}

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  const context = { colorScheme };
  reportTest(
    `everything can be read: a comparison, ${colorScheme}`,
    'timeline',
    async (report) => {
      await report.openList();
      await report.click('.grid-row');
      await report.press('k');
      await report.page.fill('[data-keep=search]', 'a');
      await report.until(() => document.querySelector('.found'));
      await report.click('.legend button.key');
      await reads(report, 'a frame, a filter and a search');
    },
    { context },
  );
  reportTest(
    `everything can be read: waits, ${colorScheme}`,
    'waits',
    async (report) => {
      await report.click('[aria-label="Waits by class"] .chip');
      await report.click('[aria-label="Waits by class"] .only');
      await reads(report, 'a class alone');
    },
    { context },
  );
  for (const kind of ['single', 'bottlenecks', 'requests', 'suite', 'history', 'python'])
    reportTest(`everything can be read: "${kind}", ${colorScheme}`, kind, (report) => reads(report, kind), { context });
  reportTest(
    `everything can be read: the views and what opens, ${colorScheme}`,
    'timeline',
    async (report) => {
      await report.click('.more summary');
      await reads(report, 'details');
      await report.reload();
      await report.page.focus('.overlay');
      await report.press('ArrowDown', 'ArrowDown', 'Shift+F10');
      await reads(report, 'a menu');
      await report.reload();
      await report.press('?');
      await reads(report, 'help');
      await report.reload();
      await report.click('.choice button:text-is("Timeline")');
      await reads(report, 'timeline');
      await report.reload();
    },
    { context },
  );
}
