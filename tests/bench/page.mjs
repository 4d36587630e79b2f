// SPDX-License-Identifier: GPL-3.0-or-later
// node page.mjs TITLE PAGE [BEFORE]: opens a page round by round and prints medians and goals: until it is painted, from
// a click to its frame, the frames a second while the wheel zooms and moves the picture, and the memory that the page
// has afterwards; of a page that begins without a picture, the first and the last. BEFORE is the same report by an earlier
// version, measured in turn. See tests/bench/viewer.

import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [title, file, before] = process.argv.slice(2);
const ROUNDS = Number(process.env.KELVIN_BENCH_ROUNDS || 5);
const TIMEOUT_MS = 120000;
const REST_MS = 800;
/** The goals are those of a million nodes; a smaller report keeps them as well. */
const MEASURES = {
  painted: { unit: 'ms', goal: 600 },
  click: { unit: 'ms', goal: 16 },
  zoom: { unit: 'frames/s', goal: 50, more: true },
  move: { unit: 'frames/s', goal: 50, more: true },
  memory: { unit: 'MB', goal: 250 },
  process: { unit: 'MB' },
};

/** Runs in the page before its scripts: notes when the first frame with a picture is done. */
function watchFirstFrame() {
  const look = () =>
    requestAnimationFrame(() => {
      if (!document.documentElement?.dataset.painted) return look();
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => (globalThis.benchPainted = performance.now());
      port2.postMessage(0);
    });
  look();
}

/** Runs in the page: the milliseconds from a click on a frame to the end of the browser's frame behind it. */
function click() {
  return new Promise((resolve) => {
    const overlay = document.querySelector('.overlay');
    const box = overlay.getBoundingClientRect();
    const options = { clientX: box.left + box.width * 0.4, clientY: box.top + 47, bubbles: true, view: window };
    const begin = performance.now();
    for (const type of ['mousedown', 'mouseup', 'click']) overlay.dispatchEvent(new MouseEvent(type, options));
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now() - begin);
      port2.postMessage(0);
    });
  });
}

/** Runs in the page: frames a second while each begins with a turn of the wheel: in and out again, then aside. */
async function turnWheel() {
  const overlay = document.querySelector('.overlay');
  const box = overlay.getBoundingClientRect();
  const place = { clientX: box.left + box.width * 0.4, clientY: box.top + 100, bubbles: true, cancelable: true };
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const turn = (options) => overlay.dispatchEvent(new WheelEvent('wheel', { ...place, ...options }));
  const rate = async (count, of) => {
    await frame();
    const begin = performance.now();
    for (let i = 0; i < count; i++) {
      turn(of(i));
      await frame();
    }
    return (1000 * count) / (performance.now() - begin);
  };
  const zoom = await rate(80, (i) => ({ ctrlKey: true, deltaY: i < 50 ? -5 : 5 }));
  const move = await rate(60, (i) => ({ deltaX: i < 30 ? 40 : -40 }));
  return { zoom, move };
}

/** The process ids of the browser's pages. */
async function renderers(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

/** Megabytes that a page holds: its objects, buffers and nodes; and those of its whole process that no file backs. */
async function memoryOf(page, pid) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const heap = await session.send('Runtime.getHeapUsage');
  const held = heap.usedSize + (heap.backingStorageSize || 0) + (heap.embedderHeapUsedSize || 0);
  const [, kilobytes] = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return { memory: held / 1e6, process: kilobytes / 1e3 };
}

async function measure(browser, path) {
  const others = new Set(await renderers(browser));
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  try {
    await page.addInitScript(watchFirstFrame);
    await page.goto(`file://${path}`, { timeout: TIMEOUT_MS, waitUntil: 'commit' });
    await page.waitForTimeout(REST_MS);
    const wait = { timeout: TIMEOUT_MS, polling: 100 };
    await page.waitForFunction(() => globalThis.benchPainted && document.documentElement.dataset.ready, null, wait);
    await page.waitForTimeout(REST_MS);
    const painted = await page.evaluate(() => globalThis.benchPainted);
    const hasPicture = await page.locator('.overlay').count();
    const clicked = hasPicture ? { click: await page.evaluate(click) } : {};
    await page.waitForTimeout(REST_MS);
    const motion = hasPicture ? await page.evaluate(turnWheel) : {};
    const pid = (await renderers(browser)).filter((id) => !others.has(id)).sort((a, b) => b - a)[0];
    return { painted, ...clicked, ...motion, ...(await memoryOf(page, pid)) };
  } finally {
    await page.close();
  }
}

const median = (list) => list.slice().sort((a, b) => a - b)[list.length >> 1];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const own = [];
  const old = [];
  for (let round = 0; round < ROUNDS; round++) {
    own.push(await measure(browser, file));
    if (before) old.push(await measure(browser, before));
  }
  console.log(title);
  for (const [what, { unit, goal, more }] of Object.entries(MEASURES)) {
    if (!(what in own[0])) continue;
    const best = (more ? Math.max : Math.min)(...own.map((run) => run[what]));
    const middle = median(own.map((run) => run[what]));
    const cells = [`${middle.toFixed(0)} ${unit}`.padStart(12), `best ${best.toFixed(0)}`.padStart(10)];
    cells.push((goal ? `goal ${more ? '≥' : '≤'} ${goal}` : '').padEnd(11));
    if (before) {
      const times = median(old.map((run, i) => (more ? own[i][what] / run[what] : run[what] / own[i][what])));
      cells.push(`before ${median(old.map((run) => run[what])).toFixed(0)}`.padStart(12), `${times.toFixed(2)} ×`);
    }
    console.log(`  ${what.padEnd(8)} ${cells.join('  ')}`);
  }
} finally {
  await browser.close();
}
