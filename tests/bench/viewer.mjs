// SPDX-License-Identifier: GPL-3.0-or-later
// node viewer.mjs FOLDER NODES…: opens every page in turn, round by round, and prints medians and ratios. See tests/bench/viewer.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [folder, ...sizes] = process.argv.slice(2);
const ROUNDS = 5;
const TIMEOUT_MS = 60000;
/** In which nothing is asked of a page that is being opened, and between two pages. */
const UNDISTURBED_MS = 700;
const CLICK = ['mousedown', 'mouseup', 'click'];

/** Folded stacks as the nested objects that d3-flame-graph wants. */
function nested(stacks) {
  const root = { name: 'all', value: 0, children: [] };
  const maps = new Map([[root, new Map()]]);
  for (const line of stacks.split('\n')) {
    const at = line.lastIndexOf(' ');
    if (at < 0) continue;
    const value = Number(line.slice(at + 1));
    let node = root;
    node.value += value;
    for (const name of line.slice(0, at).split(';')) {
      let next = maps.get(node).get(name);
      if (!next) {
        next = { name, value: 0, children: [] };
        maps.get(node).set(name, next);
        maps.set(next, new Map());
        node.children.push(next);
      }
      next.value += value;
      node = next;
    }
  }
  return root;
}

function d3Page(stacks, file) {
  const script = (path) => `<script>${readFileSync(join(folder, 'node_modules', path), 'utf8')}</script>`;
  const page = `<!doctype html><meta charset="utf-8"><div id="chart"></div>
${script('d3-selection/dist/d3-selection.min.js')}${script('d3-flame-graph/dist/d3-flamegraph.min.js')}
<script>const data=${JSON.stringify(nested(stacks))};
d3.select('#chart').datum(data).call(flamegraph().width(1400).inverted(true).transitionDuration(0).minFrameSize(1));</script>`;
  writeFileSync(file, page);
}

function speedscopePage(stacks, file) {
  const text = Buffer.from(stacks).toString('base64');
  writeFileSync(file, `speedscope.loadFileFromBase64("stacks.folded", ${JSON.stringify(text)})`);
}

/** What there is to open: name, address, how to know it is drawn, what to click and how many times to zoom there. */
function contestants(nodes) {
  const stacks = readFileSync(join(folder, `${nodes}.folded`), 'utf8');
  const d3 = join(folder, `d3-${nodes}.html`);
  const speedscope = join(folder, `speedscope-${nodes}.js`);
  const inferno = join(folder, `inferno-${nodes}.svg`);
  const asyncProfiler = join(folder, `async-${nodes}.html`);
  d3Page(stacks, d3);
  speedscopePage(stacks, speedscope);
  const app = join(folder, 'node_modules/speedscope/dist/release/index.html');
  return [
    {
      name: 'kelvin',
      more: true,
      url: `file://${join(folder, `kelvin-${nodes}.html`)}`,
      drawn: () => !!document.documentElement?.dataset.painted,
      point: () => {
        const box = document.querySelector('.overlay').getBoundingClientRect();
        return { x: box.left + box.width * 0.4, y: box.top + 47 };
      },
    },
    {
      name: 'd3-flame-graph',
      url: `file://${d3}`,
      drawn: () => !!document.querySelector('#chart g.frame'),
      point: () => {
        const box = document.querySelector('#chart svg').getBoundingClientRect();
        return { x: box.left + box.width * 0.4, y: box.top + 45 };
      },
    },
    {
      name: 'speedscope',
      events: [...CLICK, ...CLICK, 'dblclick'],
      url: `file://${app}#localProfilePath=${speedscope}`,
      drawn: () => document.querySelectorAll('canvas').length > 1 && !document.querySelector('progress'),
      point: () => ({ x: innerWidth * 0.4, y: 250 }),
    },
    {
      name: 'inferno',
      url: `file://${inferno}`,
      drawn: () => document.readyState === 'complete',
      point: () => {
        const rows = [...document.querySelectorAll('#frames g > rect')].map((e) => e.getBoundingClientRect());
        const top = [...new Set(rows.map((r) => r.top))].sort((p, q) => p - q)[2];
        const widest = rows.filter((r) => r.top === top).sort((p, q) => q.width - p.width)[0];
        return { x: widest.left + widest.width / 2, y: widest.top + widest.height / 2 };
      },
      needs: inferno,
    },
    {
      name: 'async-profiler',
      url: `file://${asyncProfiler}`,
      // Its script runs while the page is read: the picture is there as soon as it has chosen what to draw.
      drawn: () => {
        try {
          return !!root;
        } catch {
          return false;
        }
      },
      // Its root is at the bottom, rows are 16 pixels high.
      point: () => {
        const box = document.querySelector('#canvas').getBoundingClientRect();
        return { x: box.left + box.width * 0.4, y: box.bottom - 40 };
      },
      needs: asyncProfiler,
    },
  ].filter((c) => !c.needs || existsSync(c.needs));
}

/**
 * From what a person does to the frame behind it, in the page's own clock: the message comes when that frame's callbacks, style, layout
 * and painting are done, before anything that the page put off.
 */
function frameBehind({ point, events, key, search }) {
  return new Promise((resolve) => {
    const begin = performance.now();
    if (events) {
      const target = document.elementFromPoint(point.x, point.y);
      const options = { clientX: point.x, clientY: point.y, bubbles: true, view: window };
      for (const type of events) target.dispatchEvent(new MouseEvent(type, options));
    } else if (key) {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    } else {
      const field = document.querySelector('[data-keep=search]');
      field.value = search;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now() - begin);
      port2.postMessage(0);
    });
  });
}

/** What the others have no like of, each after the page has come to rest. */
async function measureMore(page) {
  const out = {};
  for (const [name, what] of Object.entries({
    search: { search: 'method7' },
    invert: { key: 'i' },
    back: { key: 'i' },
    system: { key: 's' },
  })) {
    await page.waitForTimeout(400);
    out[name] = await page.evaluate(frameBehind, what);
  }
  return out;
}

/**
 * Runs in every page before its own scripts: notes when the first frame that begins with a drawn picture is done (its callbacks,
 * style, layout and painting), in the page's own clock, which starts with the navigation. The same for all, without the driver's
 * round trips, which would come between some pages' scripts and not others'.
 */
function watchFor(drawn) {
  const look = () =>
    requestAnimationFrame(() => {
      if (!drawn()) return look();
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => (globalThis.benchPainted = performance.now());
      port2.postMessage(0);
    });
  look();
}

async function measure(browser, contestant) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  try {
    await page.addInitScript(`(${watchFor})(${contestant.drawn})`);
    await page.goto(contestant.url, { timeout: TIMEOUT_MS, waitUntil: 'commit' });
    await page.waitForTimeout(UNDISTURBED_MS);
    await page.waitForFunction(() => globalThis.benchPainted, null, { timeout: TIMEOUT_MS, polling: 100 });
    const seen = await page.evaluate(() => globalThis.benchPainted);
    await page.waitForTimeout(200);
    const before = await page.screenshot();
    const point = await page.evaluate(contestant.point);
    await page.mouse.move(point.x, point.y);
    await page.waitForTimeout(300);
    const click = await page.evaluate(frameBehind, { point, events: contestant.events || CLICK });
    await page.waitForTimeout(100);
    if (before.equals(await page.screenshot())) return { painted: seen, click: NaN, error: 'the click showed nothing' };
    return { painted: seen, click, more: contestant.more ? await measureMore(page) : {} };
  } catch (error) {
    return { painted: Infinity, click: Infinity, error: error.message.split('\n')[0] };
  } finally {
    await page.close();
    // What is left of a page is another process's last work: it must not fall into the next one's time.
    await new Promise((resolve) => setTimeout(resolve, UNDISTURBED_MS));
  }
}

const median = (list) => list.slice().sort((a, b) => a - b)[list.length >> 1];
const ms = (value) => (Number.isFinite(value) ? `${value.toFixed(0)} ms` : 'never');
const times = (value) => (Number.isFinite(value) ? `${value.toFixed(1)} ×` : '–');

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--allow-file-access-from-files'],
});
for (const nodes of sizes) {
  const list = contestants(nodes).map((contestant) => ({ contestant, runs: [] }));
  for (let round = 0; round < ROUNDS; round++)
    for (const entry of list) entry.runs.push(await measure(browser, entry.contestant));
  console.log(`\n${nodes} nodes`.padEnd(18) + 'painted   ratio    click   ratio');
  const own = list[0].runs;
  let extras = '';
  for (const { contestant, runs } of list) {
    const ratio = (what) => times(median(runs.map((run, i) => run[what] / own[i][what])));
    const cells = [
      ms(median(runs.map((r) => r.painted))),
      ratio('painted'),
      ms(median(runs.map((r) => r.click))),
      ratio('click'),
    ];
    console.log(
      contestant.name.padEnd(16) + cells.map((c) => c.padStart(8)).join(' ') + (runs[0].error ? `  ${runs[0].error}` : ''),
    );
    const [{ more }] = runs;
    if (!more || !Object.keys(more).length) continue;
    extras = Object.keys(more)
      .map((name) => `${name} ${ms(median(runs.map((r) => r.more?.[name] ?? NaN)))}`)
      .join(', ');
  }
  console.log(`kelvin besides: ${extras}`);
}
await browser.close();
