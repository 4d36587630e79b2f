// SPDX-License-Identifier: GPL-3.0-or-later
// node timeline.mjs PAGE [BEFORE]: opens the timeline of PAGE and drags a brush over it, round by round, and prints
// medians and goals. BEFORE is the page of the same events by an earlier version, measured in turn. See
// tests/bench/viewer.

import { chromium } from 'playwright-core';

const [file, before] = process.argv.slice(2);
const ROUNDS = Number(process.env.KELVIN_BENCH_ROUNDS || 7);
const STEPS = 20;
const TIMEOUT_MS = 120000;
const REST_MS = 1000;
const GOALS_MS = { open: 150, brush: 33 };

/** Runs in the page before its script: gives it endOfFrame(), which the functions below wait for. */
function addEndOfFrame() {
  globalThis.endOfFrame = () =>
    new Promise((resolve) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(0);
        port2.postMessage(0);
      }),
    );
}

/** Runs in the page: from a click on the tab to the end of the frame in which the timeline has lanes. */
async function openTimeline() {
  const begin = performance.now();
  [...document.querySelectorAll('.choice button')].find((b) => b.textContent === 'Timeline').click();
  do await endOfFrame();
  while (!document.querySelector('.lane-head'));
  return performance.now() - begin;
}

/** Runs in the page: the milliseconds from each step of a brush to the end of its frame. @param {number} steps */
async function dragBrush(steps) {
  const strip = document.querySelector('.strip');
  const box = strip.getBoundingClientRect();
  const send = (type, part) =>
    strip.dispatchEvent(
      new PointerEvent(type, { clientX: box.left + part * box.width, clientY: box.top + 10, bubbles: true, pointerId: 1 }),
    );
  // A pointer that a script makes cannot be captured.
  strip.setPointerCapture = () => {};
  const out = [];
  send('pointerdown', 0.2);
  for (let i = 1; i <= steps; i++) {
    const begin = performance.now();
    send('pointermove', 0.2 + (0.6 * i) / steps);
    await endOfFrame();
    out.push(performance.now() - begin);
  }
  send('pointerup', 0.8);
  return out;
}

const median = (list) => list.slice().sort((a, b) => a - b)[list.length >> 1];

async function measure(browser, path) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  try {
    await page.addInitScript(addEndOfFrame);
    await page.goto(`file://${path}`, { timeout: TIMEOUT_MS });
    await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: TIMEOUT_MS });
    await page.waitForTimeout(REST_MS);
    const open = await page.evaluate(openTimeline);
    await page.waitForTimeout(REST_MS);
    return { open, brush: median(await page.evaluate(dragBrush, STEPS)) };
  } finally {
    await page.close();
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const list = [{ name: 'this page', path: file, runs: [] }];
if (before) list.push({ name: 'the page before', path: before, runs: [] });
for (let round = 0; round < ROUNDS; round++)
  for (const entry of list) entry.runs.push(await measure(browser, entry.path));
for (const { name, runs } of list) {
  const cells = Object.entries(GOALS_MS).map(([what, goal]) => {
    const times = median(runs.map((run, i) => run[what] / list[0].runs[i][what]));
    const least = Math.min(...runs.map((run) => run[what]));
    const middle = median(runs.map((run) => run[what]));
    return `${what} ${middle.toFixed(0)} ms (least ${least.toFixed(0)}, goal ≤ ${goal}), ${times.toFixed(1)} ×`;
  });
  console.log(`${name.padEnd(16)} ${cells.join('   ')}`);
}
await browser.close();
