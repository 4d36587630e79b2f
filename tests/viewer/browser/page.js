// SPDX-License-Identifier: GPL-3.0-or-later
// Every kind of page opens, draws, and keeps to itself.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { open, reportTest } from '../lib/browser.js';
import { pageFile } from '../lib/pages.js';

const KINDS = ['diff', 'scaled', 'same', 'single', 'empty-base', 'empty-head', 'timeline', 'metrics', 'hostile', 'deep'];

/** How many different colours the picture has. */
function coloursOf() {
  const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas.flame'));
  const copy = /** @type {any} */ (
    new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true })
  );
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, Math.min(canvas.height, 60));
  return new Set(new Uint32Array(data.buffer)).size;
}

for (const kind of KINDS) {
  reportTest(`"${kind}" opens without requests, messages or violations, in every view`, kind, async (report) => {
    for (const tab of await report.texts('.choice button')) {
      await report.click(`.choice button:text-is("${tab}")`);
      const text = await report.run(() => document.body.innerText);
      assert.doesNotMatch(text, /\b(NaN|undefined|null|Infinity|\[object)\b/, `${tab}`);
    }
    await report.click('.choice button:text-is("Flame")');
    if (!kind.startsWith('empty')) assert.ok((await report.run(coloursOf)) > 2, 'something is drawn');
  });
}

test('the policy is strict, and the page runs under it', async () => {
  const html = readFileSync(pageFile('diff'), 'utf8');
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] || '';
  assert.match(
    policy,
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'$/,
  );
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(html, /<(script|link|img|iframe)[^>]*\s(src|href)=/i);
  assert.equal(html.match(/<script>/g)?.length, 1);
});

test('a foreign script does not run in the page', async () => {
  const report = await open('diff');
  try {
    await report.painted(10000);
    await report.run(() => {
      const script = document.createElement('script');
      script.textContent = 'window.hacked = 1';
      document.body.append(script);
      const host = document.createElement('div');
      host.innerHTML = '<img src="data:image/png,x" onerror="window.hacked = 2">';
      document.body.append(host);
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(await report.run(() => /** @type {any} */ (window).hacked), undefined);
    assert.ok((await report.run(() => /** @type {any} */ (window).violations)).length > 0, 'the violation listener works');
  } finally {
    await report.close();
  }
});

test('a page that was cut off says so', async () => {
  const html = readFileSync(pageFile('diff'), 'utf8');
  const file = pageFile('diff').replace('diff.html', 'cut.html');
  writeFileSync(file, html.replace(/(id="data-tree">[^<]{200})[^<]*/, '$1'));
  const report = await open('diff', { url: pathToFileURL(file).href });
  try {
    await report.until(() => document.body.innerText.includes('cannot be read'));
  } finally {
    await report.close();
  }
});

test('without JavaScript the verdict is there', async () => {
  const report = await open('diff', { context: { javaScriptEnabled: false } });
  try {
    const text = await report.page.locator('noscript').innerText();
    assert.match(text, /^`parse` takes 81\.3 % more: .* takes 1\.7 % more CPU time per run .*JavaScript/s);
  } finally {
    await report.close();
  }
});

reportTest('the header tells title, verdict, and opens to changes, origins and recordings', 'diff', async (report) => {
  assert.equal(await report.text('h1'), 'old against new');
  assert.match(await report.run(() => document.title), /^old against new/);
  assert.match(await report.text('.verdict'), /regressed.*1\.7 % more CPU time per run/);
  assert.match(await report.text('header .changes'), /compress itself takes 40\.0 % less time \(−800 ms\)\./);
  assert.match(await report.text('header .changes'), /new_audit is new and takes 700 ms itself\./);
  await report.click('details.more summary');
  const open = await report.text('details.more');
  assert.match(open, /10 runs of base and 10 runs of head/);
  assert.match(open, /\.\/app --old/);
  assert.match(open, /\.\/app --new/);
  const ledger = await report.texts('.ledger tbody tr');
  assert.equal(ledger.length, 4);
  assert.match(ledger.find((row) => row.startsWith('system')) || '', /780 ms 4\.4 %.*780 ms 4\.4 %.*±0 s/);
});

reportTest('the header says how head was scaled', 'scaled', async (report) => {
  assert.equal(await report.text('header .details > .dim'), "Head's figures are multiplied by 2.00, to compare both sides per run.");
  assert.match(await report.text('h1'), /^\.\/app --old → \.\/app --new$/);
  assert.match(await report.run(() => document.title), /^\.\/app --old → \.\/app --new – Kelvin diff$/);
  assert.ok(!(await report.texts('.grid-row .cell:nth-child(2)')).some((text) => text.includes('kallsyms')));
  assert.match(await report.text('header'), /10 runs of base and 5 of head/);
});

for (const tab of ['timeline', 'functions'])
  reportTest(
    `a link opens the ${tab} at once`,
    'timeline',
    async (report) => {
      assert.ok(await report.page.locator(tab === 'timeline' ? '.chart' : '.grid-row').first().isVisible());
      await report.click('.choice button:text-is("Flame")');
      assert.ok((await report.run(coloursOf)) > 2, 'the picture is drawn when it is asked for');
    },
    { hash: `t=${tab}` },
  );
