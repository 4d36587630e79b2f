// SPDX-License-Identifier: GPL-3.0-or-later
// What is drawn, and where.

import assert from 'node:assert/strict';

import { near, reportTest, ROW } from '../lib/browser.js';
import * as known from '../lib/known.js';
import { colour } from '../lib/modules.js';
import { pageUrl } from '../lib/pages.js';

const { ORIGIN_COLOURS, PALETTES, rgb } = colour;
const NEUTRAL = rgb(PALETTES.kelvin.same);

/** Hovers every frame that is wide enough, and reads what it is. @param {any} report @param {number} side @param {string[]} [zoom] */
async function everyFrameIsInPlace(report, side, zoom = []) {
  const box = await report.picture();
  let seen = 0;
  for (const path of known.FRAMES) {
    const { x, w } = known.placeOf(path, side, zoom);
    if (w * box.width < 3 || x < -1e-9 || x + w > 1 + 1e-9 || path.some((name) => /^steady_(0[3-9]|[12])/.test(name))) continue;
    const { x: left, y: top } = await report.middle(path, side, zoom);
    await report.page.mouse.move(left, top);
    const status = await report.text('.status');
    assert.ok(status.startsWith(`${path[path.length - 1]} `), `${path.join(' › ')}: ${status}`);
    seen++;
  }
  assert.ok(seen >= (zoom.length ? 4 : 12), String(seen));
}

for (const kind of ['diff', 'scaled'])
  reportTest(`"${kind}": every frame lies where its time puts it, in each view`, kind, async (report) => {
    await everyFrameIsInPlace(report, 1);
    await report.press('b');
    await everyFrameIsInPlace(report, 0);
    await report.press('h');
    await everyFrameIsInPlace(report, 1);
    await report.press('d', 'r');
    await everyFrameIsInPlace(report, 0);
  });

reportTest('the zoomed frame fills the width, and its callees with it', 'diff', async (report) => {
  const parse = known.frameOf('parse');
  await report.zoomFrame(parse);
  await everyFrameIsInPlace(report, 1, parse);
  const { width } = await report.picture();
  await report.point(0, 0);
  const row = parse.length * ROW + 2;
  const [left, right] = await report.pixels([
    [2, row],
    [width - 3, row],
  ]);
  assert.deepEqual(left, right);
});

reportTest('edges are where widths end, to the pixel', 'diff', async (report) => {
  const { edge, width, top } = await report.middle('parse');
  const y = top - ROW / 2 + 2;
  const [before, first, last, behind] = await report.pixels([
    [edge - 1.5, y],
    [edge + 1, y],
    [edge + width - 2, y],
    [edge + width + 1, y],
  ]);
  const more = rgb(PALETTES.kelvin.more);
  assert.ok(near(first, more) && near(last, more), `${first} ${last}`);
  assert.ok(!near(before, more) && !near(behind, more), `${before} ${behind}`);
});

reportTest('difference: more, less, same; hatched new; moved is neutral', 'diff', async (report) => {
  const { more, less } = PALETTES.kelvin;
  assert.ok(near(await report.fill('parse'), rgb(more)), 'the largest change has the full colour');
  const lex = await report.fill('lex');
  assert.ok(lex[0] > lex[2] + 80 && !near(lex, rgb(more), 4), `a smaller one is weaker: ${lex}`);
  const compress = await report.fill('compress');
  assert.ok(compress[2] > compress[0] + 80, `less is blue: ${compress}`);
  const strength = colour.intensity((100 * 8e8) / known.TOTAL[1], (100 * 1e9) / known.TOTAL[1]);
  assert.ok(near(compress, colour.mix(NEUTRAL, rgb(less), strength), 2));
  for (const name of ['main', 'steady', 'sort_items', 'render_page', 'read'])
    assert.ok(near(await report.fill(name), NEUTRAL), name);
});

for (const scheme of /** @type {const} */ (['light', 'dark']))
  reportTest(
    `what is proven of a function itself is the lower edge of its frames, below its own time, ${scheme}`,
    'diff',
    async (report) => {
      const more = rgb(PALETTES.kelvin.more);
      const { edge, top, width } = await report.middle('parse');
      const bottom = top + ROW / 2 - 1.5;
      const [, own, gap, callee] = await report.pixels([
        [edge + width - 8, bottom - 8],
        [edge + width - 8, bottom - 1],
        [edge + width - 8, bottom - 3.5],
        [edge + 4, bottom - 3.5],
      ]);
      assert.ok(near(own, more), `its edge has the full colour: ${own}`);
      assert.ok(Math.abs(gap[0] - own[0]) + Math.abs(gap[2] - own[2]) > 40, `a line sets it off from a frame of its colour: ${gap}`);
      assert.ok(!near(callee, gap), 'and is no longer than it');
      const main = await report.middle('main');
      const [plain] = await report.pixels([[main.edge + main.width - 8, main.top + ROW / 2 - 2]]);
      assert.ok(near(plain, await report.fill('main')), `main takes no more itself: ${plain}`);
    },
    { context: { colorScheme: scheme } },
  );

reportTest('existence is a texture and a sign, not hue alone', 'diff', async (report) => {
  const { edge, top, width } = await report.middle('new_audit');
  const points = [];
  for (let x = 1; x < width - 2; x++) points.push([edge + x, top - ROW / 2 + 2]);
  const line = (await report.pixels(points)).map(String);
  assert.ok(new Set(line).size > 1, 'hatched');
  assert.ok(
    line.includes(String(rgb(PALETTES.kelvin.new))) ||
      line.some((c) => near(c.split(',').map(Number), rgb(PALETTES.kelvin.new), 12)),
  );
  assert.match(await report.text('.legend'), /\+ new/);
  assert.match(await report.text('.legend'), /− gone/);
});

reportTest('removed stacks are drawn in base widths, in their colour', 'diff', async (report) => {
  await report.press('e');
  const box = await report.picture();
  const path = known.frameOf('old_cache');
  await report.point(box.x + box.width / 2, box.y + path.length * ROW + 5);
  assert.match(await report.text('.status'), /^old_cache /);
  const points = Array.from({ length: 40 }, (_, i) => [300 + i, path.length * ROW + 2]);
  const colours = await report.pixels(points);
  assert.ok(
    colours.some((c) => near(c, rgb(PALETTES.kelvin.gone), 12)),
    String(colours[0]),
  );
  assert.ok(new Set(colours.map(String)).size > 1, 'hatched');
  await report.press('e');
  assert.ok(near(await report.fill('parse'), rgb(PALETTES.kelvin.more)));
});

reportTest('origin colours', 'diff', async (report) => {
  await report.press('2');
  const wanted = { parse: 1, compress: 2, malloc: 3, read: 3, __libc_start_main: 3, '0xdeadbeef': 0 };
  for (const [name, origin] of Object.entries(wanted))
    assert.ok(near(await report.fill(name), rgb(ORIGIN_COLOURS[origin])), name);
});

reportTest('function colours come from the key: the same in two reports', 'diff', async (report) => {
  await report.press('3');
  const names = ['parse', 'compress', 'sort_items', 'steady', 'main'];
  const here = [];
  for (const name of names) here.push(await report.fill(name));
  assert.ok(new Set(here.map(String)).size === names.length);
  await report.page.goto(pageUrl('single', 'c=function'));
  report.requests.length = 0;
  await report.painted(10000);
  for (const [i, name] of names.entries()) assert.ok(near(await report.fill(name), here[i]), name);
});

reportTest('the palettes', 'diff', async (report) => {
  for (const palette of /** @type {const} */ (['classic', 'codspeed', 'kelvin'])) {
    await report.select('[aria-label=Palette]', palette);
    assert.ok(near(await report.fill('parse'), rgb(PALETTES[palette].more)), palette);
  }
});

reportTest('a recording against itself shows no colour of change', 'same', async (report) => {
  const { width } = await report.picture();
  const points = Array.from({ length: 5 * 90 }, (_, i) => [((i % 90) * width) / 90, Math.floor(i / 90) * ROW + 3]);
  for (const [r, g, b] of await report.pixels(points)) assert.ok(Math.max(r, g, b) - Math.min(r, g, b) < 20, `  `);
  assert.equal(await report.page.locator('.controls :text("Removed")').count(), 0);
});

reportTest('inverted: what took the time itself stands below the root', 'diff', async (report) => {
  await report.press('i');
  const box = await report.picture();
  const size = (/** @type {string} */ name) => Math.max(...known.selfOf(name));
  const names = [...new Set(known.STACKS.map(([path]) => path[path.length - 1]))].sort(
    (a, b) => size(b) - size(a) || (a < b ? -1 : 1),
  );
  let left = 0;
  for (const name of names) {
    const w = (known.selfOf(name)[1] / known.TOTAL[1]) * box.width;
    if (w >= 3) {
      await report.page.mouse.move(box.x + left + w / 2, box.y + 1.5 * ROW);
      assert.match(await report.text('.status'), new RegExp(`^${name} `));
    }
    left += w;
  }
});

reportTest('the picture follows the window', 'diff', async (report) => {
  await report.page.setViewportSize({ width: 900, height: 700 });
  await report.settle();
  await everyFrameIsInPlace(report, 1);
  const size = await report.run(() => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas.flame'));
    return [canvas.width, Math.floor(canvas.clientWidth)];
  });
  assert.equal(size[0], size[1]);
});

reportTest(
  'on a dense screen the canvas has its pixels',
  'diff',
  async (report) => {
    const ratio = await report.run(() => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas.flame'));
      return canvas.width / canvas.clientWidth;
    });
    assert.ok(Math.abs(ratio - 2) < 0.01);
    await everyFrameIsInPlace(report, 1);
    assert.ok(near(await report.fill('parse'), rgb(PALETTES.kelvin.more)));
  },
  { context: { deviceScaleFactor: 2 } },
);

/** The level whose frame is outlined inside the picture; null where the outline is not in sight. @param {any} report */
const levelInSight = async (report) => {
  const mark = await report.page.locator('.mark.pinned').boundingBox();
  const { x, y, width, height } = await report.picture();
  if (!mark || mark.y < y || mark.y + mark.height > y + height) return null;
  await report.point(x + width / 2, mark.y + mark.height / 2);
  return (await report.text('.status')).split(' ')[0];
};

reportTest('what is chosen comes into sight, however deep it lies: search, list, neighbours, link, crumbs', 'deep', async (report) => {
  const functions = '.choice button:text-is("Functions")';
  await report.press('/');
  await report.page.keyboard.type('level_1500$');
  await report.press('Enter');
  assert.equal(await levelInSight(report), 'level_1500', 'search');
  await report.click('.inspector section:has(h3:text-is("Callees")) button');
  assert.equal(await levelInSight(report), 'level_1501', 'callee');
  await report.press('0', 'Escape');
  await report.click(functions);
  await report.page.fill('[aria-label="Filter functions"]', 'level_1700');
  await report.settle();
  await report.click('.grid-row');
  await report.click('.choice button:text-is("Flame")');
  assert.equal(await levelInSight(report), 'level_1700', 'list');
  await report.reload();
  assert.equal(await levelInSight(report), 'level_1700', 'link');
  await report.press('Enter');
  await report.click('.crumbs .link:text-is("level_2")');
  const { x, y } = await report.picture();
  await report.point(x + 50, y + ROW / 2);
  assert.match(await report.text('.status'), /^(all|level_[12]) /, 'crumbs');
}, { hash: 'tr=0' });

/* What is where, and what is drawn; kept at the first frame that has a picture. */
const LOOK = `window.lookAt = () => {
  const canvas = document.querySelector('canvas.flame');
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const sum = new Uint32Array(data.buffer).reduce((a, b) => (Math.imul(a, 31) + b) | 0, 0);
  const boxes = ['header', '.controls', '.flame-host', '.place', '.functions', '.inspector', 'footer'].map((s) => {
    const { x, y, width, height } = document.querySelector(s).getBoundingClientRect();
    return [s, x, y, width, height].join(' ');
  });
  const said = [...document.querySelectorAll('header .verdict')].map((e) => e.textContent);
  return { sum, boxes, said, theme: document.documentElement.dataset.theme };
};
const look = () => requestAnimationFrame(() => {
  if (document.documentElement.dataset.painted) window.firstLook = window.lookAt();
  else look();
});
look();`;

/** Where the picture is, to the pixel. @param {any} report */
const room = async (report) => JSON.stringify(await report.picture());

reportTest('the picture has most of the window, and the chips, a search and a verdict in full move nothing', 'timeline', async (report) => {
  const rows = async () => Math.floor((await report.picture()).height / ROW);
  assert.ok((await rows()) >= 26, `1280 × 800: ${await rows()} rows`);
  const before = await room(report);
  await report.press('s');
  assert.equal(await room(report), before, 'without system calls');
  await report.press('s', '/');
  await report.page.keyboard.type('work');
  await report.until(() => document.querySelector('.found'));
  assert.equal(await room(report), before, 'with a search');
  await report.page.keyboard.press('Enter');
  await report.settle();
  await report.click('.inspector section:has(h3:text-is("Callers")) button');
  assert.equal(await report.page.locator('.chips .chip').count(), 1);
  assert.equal(await room(report), before, 'with a function that is picked');
  await report.click('summary.verdict');
  assert.equal(await room(report), before, 'with the details');
  assert.ok(await report.page.locator('.details').isVisible());
  await report.click('summary.verdict');
  await report.page.setViewportSize({ width: 1440, height: 900 });
  await report.settle();
  assert.ok((await rows()) >= 28, `1440 × 900: ${await rows()} rows`);
  await report.page.setViewportSize({ width: 1280, height: 720 });
  await report.settle();
  assert.ok((await rows()) >= 22, `1280 × 720: ${await rows()} rows`);
});

reportTest('a function that is picked is outlined in all places, nothing fades, and the way out is told', 'diff', async (report) => {
  const steady = await report.middle('steady');
  const beside = async () => (await report.pixels([[steady.edge + 3, steady.top - 6]]))[0];
  const before = await beside();
  await report.click('.inspector .changes button:text-is("parse")');
  assert.ok(near(await beside(), before), 'nothing fades');
  const { edge, top } = await report.middle('parse');
  assert.ok(near((await report.pixels([[Math.round(edge) + 1, top]]))[0], [192, 38, 211], 30), 'outlined');
  assert.match(await report.text('.chips'), /✕ Esc · outlined: parse/);
  await report.press('Escape');
  assert.equal(await report.text('.chips'), '');
  await report.click('.inspector .changes button:text-is("old_cache")');
  assert.equal(await report.text('.inspector h2'), 'old_cache', 'a function that is gone comes into sight, too');
  const mark = await report.page.locator('.mark.pinned').boundingBox();
  assert.ok(mark.width > 5 && mark.height > 5);
});

/** Wide, and so narrow that the controls stand in more and more rows. */
const WIDTHS = [1280, 1100, 900, 560, 400, 320];

for (const theme of ['light', 'dark'])
  for (const kind of ['diff', 'single'])
    reportTest(
      `"${kind}", ${theme}: the first picture is whole, and nothing moves when the rest is there`,
      kind,
      async (report) => {
        if (theme === 'dark') {
          await report.click('[aria-label="Switch between light and dark"]');
          await report.reload();
        }
        const { first, now } = await report.run(() => {
          const { firstLook, lookAt } = /** @type {any} */ (window);
          return { first: firstLook, now: lookAt() };
        });
        assert.deepEqual(now, first);
        assert.equal(now.theme, theme);
      },
      { script: LOOK },
    );

for (const width of WIDTHS)
  for (const kind of ['diff', 'timeline', 'metrics', 'single'])
    reportTest(
      `"${kind}", ${width} pixels wide: nothing moves when the rest is there`,
      kind,
      async (report) => {
        const { first, now } = await report.run(() => {
          const { firstLook, lookAt } = /** @type {any} */ (window);
          return { first: firstLook, now: lookAt() };
        });
        assert.deepEqual(now.boxes, first.boxes);
      },
      { script: LOOK, context: { viewport: { width, height: 720 } } },
    );
