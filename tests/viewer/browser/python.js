// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison of a Python program: names, the interpreter's time, and what is left without system calls.

import assert from 'node:assert/strict';

import { reportTest } from '../lib/browser.js';

/** The visible row of a function. @param {any} report @param {string} name @returns {Promise<Record<string, string>|undefined>} */
const row = (report, name) =>
  report.run((/** @type {string} */ wanted) => {
    const line = [...document.querySelectorAll('.grid-row')].find((one) => one.firstElementChild?.textContent === wanted);
    const cells = /** @type {HTMLElement[]} */ ([...(line?.children || [])]);
    return Object.fromEntries([['title', cells[0].title], ...cells.map((cell) => [cell.dataset.column, cell.textContent])]);
  }, name);

reportTest('the list has names, files, and the time of the interpreter with the function', 'python', async (report) => {
  await report.click('.choice button:text-is("Functions")');
  const check = await row(report, 'check');
  assert.match(check?.title || '', /^check\n.*\brules\.py:12$/);
  assert.equal(check?.delta, '+1.00 s');
  assert.match(check?.state || '', /self$/);
  await report.press('y');
  assert.deepEqual(await report.hash(), { t: 'functions', y: 'apart' });
  assert.equal((await row(report, 'check'))?.delta, '±0 s');
  assert.equal((await row(report, 'PyObject_RichCompare'))?.delta, '+1.00 s');
  await report.page.check('.controls label:has-text("Self with interpreter") input');
  await report.settle();
  assert.deepEqual(await report.hash(), { t: 'functions' });
});

reportTest('without system calls the Python program is left', 'python', async (report) => {
  await report.press('s');
  assert.equal(await report.page.locator('.controls label:has-text("Self with interpreter")').count(), 0);
  const names = await report.run(() => {
    const { model } = /** @type {any} */ (window).kelvin;
    return [...model.callTree.func.slice(1, 5)].map((func) => model.functions[func].name);
  });
  assert.deepEqual(names, ['<module>', 'S.run', 'check', 'scan']);
});

reportTest('a function is found by what identifies it, and told by its name and its file', 'python', async (report) => {
  await report.page.fill('[data-keep=search]', 'py::S.run:/srv/app/w.py');
  await report.settle();
  await report.press('Enter');
  assert.equal(await report.text('.inspector h2'), 'S.run');
  assert.equal(await report.text('.inspector .where'), '/srv/app/w.py:12');
});
