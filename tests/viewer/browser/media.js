// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader's system asks for: dark, forced colours, less motion, paper.

import assert from 'node:assert/strict';

import { near, reportTest, ROW } from '../lib/browser.js';
import { colour } from '../lib/modules.js';

reportTest(
  'dark where the system is dark, and it follows a change',
  'diff',
  async (report) => {
    const theme = () => report.run(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), 'dark');
    assert.ok((await report.pixels([[20, 15 * ROW]]))[0][0] < 40);
    assert.ok(near(await report.fill('parse'), colour.rgb(colour.PALETTES.kelvin.more)), 'hue keeps its meaning');
    await report.page.emulateMedia({ colorScheme: 'light' });
    await report.settle();
    assert.equal(await theme(), 'light');
    assert.ok((await report.pixels([[20, 15 * ROW]]))[0][0] > 240);
  },
  { context: { colorScheme: 'dark' } },
);

reportTest(
  "the reader's choice outlasts the system's",
  'diff',
  async (report) => {
    await report.click('[aria-label="Switch between light and dark"]');
    await report.page.emulateMedia({ colorScheme: 'light' });
    await report.page.emulateMedia({ colorScheme: 'dark' });
    await report.settle();
    assert.equal(await report.run(() => document.documentElement.dataset.theme), 'light');
  },
  { context: { colorScheme: 'dark' } },
);

reportTest(
  'forced colours: the picture stays, borders and selection are seen',
  'diff',
  async (report) => {
    await report.openList();
    assert.ok(await report.run(() => matchMedia('(forced-colors: active)').matches));
    assert.ok(near(await report.fill('parse'), colour.rgb(colour.PALETTES.kelvin.more)));
    await report.clickFrame('parse');
    const seen = await report.run(() => {
      const row = getComputedStyle(/** @type {Element} */ (document.querySelector('.grid-row.selected')));
      const pressed = getComputedStyle(/** @type {Element} */ (document.querySelector('.choice [aria-pressed=true]')));
      const other = getComputedStyle(/** @type {Element} */ (document.querySelector('.choice [aria-pressed=false]')));
      return {
        row: row.outlineStyle !== 'none',
        pressed:
          [pressed.backgroundColor, pressed.color, pressed.borderColor, pressed.outlineStyle].join() !==
          [other.backgroundColor, other.color, other.borderColor, other.outlineStyle].join(),
      };
    });
    assert.ok(seen.row, 'the selected row is outlined');
    assert.ok(seen.pressed, 'a pressed button differs from the others');
  },
  { context: { forcedColors: 'active' } },
);

reportTest(
  'less motion: nothing moves by itself',
  'diff',
  async (report) => {
    await report.clickFrame('parse');
    const moving = await report.run(() => document.getAnimations().length);
    assert.equal(moving, 0);
  },
  { context: { reducedMotion: 'reduce' } },
);

reportTest('on paper: header and picture, no controls, on one page or two', 'diff', async (report) => {
  await report.openList();
  await report.page.emulateMedia({ media: 'print' });
  await report.settle();
  for (const selector of ['.controls', '.inspector', '.functions'])
    assert.ok(await report.page.locator(selector).isHidden(), selector);
  for (const selector of ['h1', '.verdict', 'canvas.flame', '.legend'])
    assert.ok(await report.page.locator(selector).isVisible(), selector);
  assert.ok((await report.run(() => document.querySelector('canvas.flame')?.clientHeight)) > 150);
  const pdf = await report.page.pdf({ format: 'A4', landscape: true });
  const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length || 0;
  assert.ok(pages >= 1 && pages <= 2, `${pages} pages`);
});

reportTest('on paper: the whole picture, in its own shape', 'deep', async (report) => {
  const shape = () =>
    report.run(() => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas.flame'));
      const { width, height } = canvas.getBoundingClientRect();
      return { stretched: width / height / (canvas.width / canvas.height), rows: canvas.height, shown: height };
    });
  const before = await shape();
  await report.page.emulateMedia({ media: 'print' });
  await report.run(() => dispatchEvent(new Event('beforeprint')));
  const printed = await shape();
  assert.ok(Math.abs(printed.stretched - 1) < 0.02, JSON.stringify(printed));
  assert.equal(printed.rows, 60 * ROW);
  assert.match(await report.text('.cut'), /^1\D?941 more rows are not printed/);
  assert.ok(await report.page.locator('.cut').isVisible());
  const pdf = await report.page.pdf({ format: 'A4' });
  assert.equal(pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length, 1, 'one page');
  await report.page.emulateMedia({ media: 'screen' });
  await report.run(() => dispatchEvent(new Event('afterprint')));
  await report.settle();
  assert.deepEqual(await shape(), before);
  assert.ok(await report.page.locator('.cut').isHidden());
});

reportTest(
  'on paper of either direction the picture stands on the first page',
  'deep',
  async (report) => {
    await report.page.emulateMedia({ media: 'print' });
    await report.run(() => dispatchEvent(new Event('beforeprint')));
    for (const [width, height] of [
      [1047, 718],
      [718, 1047],
    ]) {
      await report.page.setViewportSize({ width, height });
      await report.settle();
      const canvas = await report.page.locator('canvas.flame').boundingBox();
      assert.ok(canvas.y + canvas.height <= height, `${width} × ${height}: ${JSON.stringify(canvas)}`);
    }
    const pdf = await report.page.pdf({ format: 'A4', landscape: true });
    assert.equal(pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length, 1, 'one page');
  },
);

reportTest(
  'on paper it is light',
  'diff',
  async (report) => {
    const theme = async () => [
      await report.run(() => document.documentElement.dataset.theme),
      (await report.pixels([[20, 12 * ROW]]))[0][0] > 128 ? 'white' : 'black',
    ];
    assert.deepEqual(await theme(), ['dark', 'black']);
    await report.run(() => dispatchEvent(new Event('beforeprint')));
    assert.equal((await theme())[0], 'light');
    assert.ok((await report.pixels([[20, 4 * ROW]]))[0][0] > 128);
    await report.run(() => dispatchEvent(new Event('afterprint')));
    assert.deepEqual(await theme(), ['dark', 'black']);
  },
  { context: { colorScheme: 'dark' } },
);

for (const [width, height] of [
  [640, 360],
  [853, 480],
  [390, 700],
])
  reportTest(
    `${width} × ${height}, as zoomed in: the page scrolls, nothing lies over the picture`,
    'diff',
    async (report) => {
      await report.openList();
      const places = await report.run(() => {
        const place = (/** @type {string} */ s) => document.querySelector(s)?.getBoundingClientRect().toJSON();
        return {
          wide: document.documentElement.scrollWidth - innerWidth,
          picture: place('.flame-host'),
          list: place('.functions'),
          inspector: place('.inspector'),
          foot: place('footer'),
        };
      });
      const { picture, list, inspector, foot } = places;
      assert.ok(places.wide <= 0, JSON.stringify(places));
      assert.ok(picture.height >= 200 && picture.width > width * 0.4, JSON.stringify(places));
      assert.ok(list.top >= picture.bottom && foot.top >= list.bottom && foot.top >= inspector.bottom, JSON.stringify(places));
      await report.page.locator('footer .key').first().scrollIntoViewIfNeeded();
      assert.ok(await report.run(() => scrollY > 0));
    },
    { context: { viewport: { width, height } } },
  );

reportTest(
  '800 pixels wide: nothing of title, inspector and list is cut',
  'timeline',
  async (report) => {
    const cut = () =>
      report.run(() =>
        ['h1', '.corner', '.controls', '.inspector', '.grid'].filter((selector) => {
          const e = document.querySelector(selector);
          return !!e && e.clientWidth > 0 && e.scrollWidth > e.clientWidth;
        }),
      );
    await report.press('ArrowDown');
    assert.ok((await report.text('.inspector h2')) !== '');
    assert.deepEqual(await cut(), []);
    await report.click('.choice button:text-is("Functions")');
    assert.deepEqual(await cut(), []);
    assert.equal(await report.run(() => document.documentElement.scrollWidth), 800);
  },
  { context: { viewport: { width: 800, height: 600 } } },
);

for (const [width, height] of [
  [1920, 1080],
  [1280, 720],
  [800, 600],
  [480, 800],
])
  reportTest(
    `${width} × ${height}: everything is in the window, the picture has room`,
    'diff',
    async (report) => {
      const sizes = await report.run(() => ({
        wide: document.documentElement.scrollWidth - innerWidth,
        high: document.documentElement.scrollHeight - innerHeight,
        picture: document.querySelector('.flame-host')?.getBoundingClientRect().toJSON(),
        foot: document.querySelector('footer')?.getBoundingClientRect().bottom,
      }));
      assert.ok(sizes.wide <= 0 && sizes.high <= 0, JSON.stringify(sizes));
      assert.ok(sizes.picture.width > width * 0.4 && sizes.picture.height >= 100, JSON.stringify(sizes));
      assert.ok(sizes.foot <= height + 1);
    },
    { context: { viewport: { width, height } } },
  );
