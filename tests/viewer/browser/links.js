// SPDX-License-Identifier: GPL-3.0-or-later
// A link that is opened in a page of later recordings: what it shows is there again, and what is not is said. The recordings
// are real: gunicorn before and after a change that calls a new function, `enrich`.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';
import { pageUrl, realUrl } from '../lib/pages.js';

const BEFORE = ['gunicorn_base'];
const AFTER = ['gunicorn_head'];
const BOTH = ['gunicorn_base', 'gunicorn_head'];

/** The view of a page in words. @param {any} report */
const view = (report) =>
  report.run(() => {
    const { model } = /** @type {any} */ (window).kelvin;
    const path = (/** @type {number} */ node) => {
      const out = [];
      for (let at = node; at > 0; at = model.tree.parent[at]) out.unshift(model.nameOf(at));
      return out.join(' › ');
    };
    const text = (/** @type {string} */ s) => document.querySelector(s)?.textContent || '';
    return { zoom: path(model.zoom), selected: path(model.selected), note: text('.status'), chips: text('[aria-label=Filters]') + text('.chips') };
  });

/** Opens a page with the address that another one has. @param {any} report @param {string} url */
async function follow(report, url) {
  const hash = await report.run(() => location.hash);
  await report.page.goto('about:blank');
  await report.page.goto(url + hash);
  report.requests.length = 1;
  report.requests[0] = url;
  await report.painted(15000);
  await report.settle();
}

/** Zooms to the widest frame of a function, and selects it. @param {any} report @param {string} name */
async function zoomTo(report, name) {
  await report.run((wanted) => {
    const { model, set } = /** @type {any} */ (window).kelvin;
    const path = model.pathTo(model.widestOf(model.functions.find((/** @type {any} */ f) => f.name.includes(wanted)).id));
    set({ zoom: path, selected: path });
  }, name);
  await report.settle();
}

for (const [what, later] of Object.entries({ 'a later recording': AFTER, 'a comparison with one': BOTH }))
  reportTest(
    `zoom, selection, filters, thread and time open in ${what}`,
    '',
    async (report) => {
      await zoomTo(report, 'handle_request');
      await report.press('k');
      await report.run(() => /** @type {any} */ (window).kelvin.set({ thread: 'python', range: [2e6, 5e6] }));
      await report.until(() => /2(\.0+)?( s)?–5(\.0+)? s/.test(document.querySelector('.chips')?.textContent || ''));
      const before = await view(report);
      assert.match(before.zoom, /handle_request/);
      await follow(report, realUrl(later));
      await report.until(() => /2(\.0+)?( s)?–5(\.0+)? s/.test(document.querySelector('.chips')?.textContent || ''));
      const after = await view(report);
      assert.equal(after.zoom, before.zoom);
      assert.equal(after.selected, before.selected);
      assert.match(after.chips, /only stacks with .*handle_request.*only thread python/s);
      assert.doesNotMatch(after.note, /Not in this report/);
    },
    { url: realUrl(BEFORE), test: { timeout: 120000 } },
  );

reportTest(
  'what a link shows that a report lacks is said in one sentence, until something is done',
  '',
  async (report) => {
    await zoomTo(report, 'enrich');
    await report.run(() => {
      const { set, state } = /** @type {any} */ (window).kelvin;
      set({ filters: `o${state.zoom.split('.').pop()}`, thread: 'worker', range: [60e6, 61e6] });
    });
    await report.until(() => location.hash.includes('g='));
    await follow(report, realUrl(BEFORE));
    const { note, selected } = await view(report);
    assert.match(
      note,
      /^Not in this report: the zoomed frame \(the nearest caller here is \S.*\); a function of a filter; the thread “worker”; the time 60\.00–61\.00 s: it ends at 12\.00 s\.$/,
    );
    assert.equal(await report.text('[role=status]'), note, 'a screen reader is told');
    assert.ok(selected.length > 0, 'the nearest caller is selected');
    await report.press('2');
    assert.doesNotMatch((await view(report)).note, /Not in this report/);
  },
  { url: realUrl(AFTER), test: { timeout: 120000 } },
);

reportTest(
  'what only a comparison has is not followed in silence',
  '',
  async (report) => {
    assert.equal(await report.text('.status'), 'Not in this report: the function that was outlined; the metric “nap”; a base to show; colours by waiting.');
  },
  { url: pageUrl('single', 'v=base&c=waiting&u=abcdef&m=nap') },
);

reportTest('a link of the page itself has nothing to say', 'diff', async (report) => {
  await report.clickFrame('lex');
  await report.press('Enter', 'k');
  await follow(report, pageUrl('diff'));
  assert.match((await view(report)).note, /^lex — /);
});
