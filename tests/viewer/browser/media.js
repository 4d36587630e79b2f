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

/** How many pages a PDF has. @param {Buffer} pdf */
const pagesOf = (pdf) => pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length || 0;

/** Shows the page as it is printed, on A4 in landscape between its margins. @param {any} report */
async function onPaper(report) {
  await report.page.setViewportSize({ width: 1047, height: 718 });
  await report.page.emulateMedia({ media: 'print' });
  await report.until(() => !!document.querySelector('.paper'));
}

reportTest('on paper: verdict, proven changes, picture and legend; no controls; one page', 'diff', async (report) => {
  await report.openList();
  const verdict = await report.text('.verdict .words');
  const changes = await report.texts('.inspector .changes .link');
  await onPaper(report);
  for (const selector of ['.controls', '.inspector', '.functions', 'header', 'footer', '.flame-host', '.corner'])
    assert.ok(await report.page.locator(selector).first().isHidden(), selector);
  assert.ok((await report.text('.paper .sentence')).includes(verdict));
  for (const name of changes.slice(0, 4)) assert.ok((await report.text('.paper tbody')).includes(name), name);
  const place = (/** @type {string} */ selector) => report.page.locator(selector).boundingBox();
  const picture = await place('.paper > svg');
  assert.ok(picture.width > 1040 && picture.height > 150, JSON.stringify(picture));
  const keys = await place('.paper .keys');
  assert.ok(keys.y + keys.height <= 718 && keys.y >= picture.y + picture.height, JSON.stringify(keys));
  // Figures are those of the inspector.
  const figures = await report.texts('.paper tbody tr:first-child td');
  assert.match(figures[3], /^[+−][\d.]+ m?s, /);
  assert.equal(pagesOf(await report.page.pdf({ preferCSSPageSize: true })), 1);
  await report.page.emulateMedia({ media: 'screen' });
  await report.until(() => !document.querySelector('.paper'));
  assert.ok(await report.page.locator('.controls').isVisible());
});

reportTest('on paper: all rows that can be read, and how many are not there', 'deep', async (report) => {
  await onPaper(report);
  const boxes = await report.run(() => new Set([...document.querySelectorAll('.paper > svg rect')].map((e) => e.getAttribute('y'))).size);
  assert.ok(boxes >= 60 && boxes <= 66, String(boxes));
  assert.match(await report.text('.paper'), /Left out: [\d,]+ more rows of frames too narrow to read, or below row 64\./);
  assert.equal(pagesOf(await report.page.pdf({ preferCSSPageSize: true })), 1);
}, { hash: 'tr=0' });

reportTest('printing by the browser makes the same page, and takes it away', 'diff', async (report) => {
  await report.run(() => {
    /** @type {any} */ (window).printed = [];
    addEventListener('beforeprint', () => /** @type {any} */ (window).printed.push(document.querySelectorAll('.paper').length));
  });
  const pdf = await report.page.pdf({ preferCSSPageSize: true });
  assert.equal(pagesOf(pdf), 1);
  assert.match(pdf.toString('latin1'), /\/MediaBox\s*\[\s*0 0 84[12][\d.]* 59[456]/, 'A4 in landscape');
  assert.deepEqual(await report.run(() => /** @type {any} */ (window).printed), [1]);
  assert.equal(await report.page.locator('.paper').count(), 0);
});

reportTest(
  'on paper it is light',
  'diff',
  async (report) => {
    const theme = () => report.run(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), 'dark');
    await onPaper(report);
    assert.equal(await theme(), 'light');
    const paper = await report.run(() => document.querySelector('.paper > svg rect')?.getAttribute('fill'));
    assert.equal(paper, 'rgb(255,255,255)');
    await report.page.emulateMedia({ media: 'screen' });
    await report.until(() => document.documentElement.dataset.theme === 'dark');
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

for (const [width, height] of [
  [480, 800],
  [390, 780],
])
  reportTest(
    `${width} × ${height}: verdict, picture and inspector are in the window, nothing is wider, the rest is scrolled to`,
    'diff',
    async (report) => {
      const places = await report.run(() => {
        const place = (/** @type {string} */ s) => document.querySelector(s)?.getBoundingClientRect().toJSON();
        const [words, picture, inspector, controls] = ['.words', '.flame-host', '.inspector', '.controls'].map(place);
        return { wide: document.documentElement.scrollWidth - innerWidth, words, picture, inspector, controls };
      });
      const { wide, words, picture, inspector, controls } = places;
      assert.ok(wide <= 0, JSON.stringify(places));
      assert.ok(words.height > 15 && words.bottom < height && controls.height < 64, JSON.stringify(places));
      assert.ok(inspector.bottom <= height + 1 && inspector.top - picture.top > 120, JSON.stringify(places));
      for (const tab of ['Functions', 'Flame']) {
        await report.click(`.choice button:text-is("${tab}")`);
        assert.equal(await report.run(() => document.documentElement.scrollWidth), width, tab);
      }
      await report.page.locator('footer .key').first().scrollIntoViewIfNeeded();
    },
    { context: { viewport: { width, height } } },
  );

for (const width of [1280, 1440, 800, 390])
  for (const kind of ['timeline', 'python', 'waits', 'metrics'])
    reportTest(
      `the controls of "${kind}" are one row at ${width} pixels, and each can be reached`,
      kind,
      async (report) => {
        const tops = await report.run(() =>
          [...document.querySelectorAll('.controls-row > *, .opens-more, .controls > input')].flatMap((e) => {
            const { top, bottom, right } = e.getBoundingClientRect();
            return bottom > top ? [(top + bottom) / 2, right] : [];
          }),
        );
        const middles = tops.filter((_, i) => i % 2 === 0);
        assert.ok(Math.max(...middles) - Math.min(...middles) < 6, String(middles));
        assert.ok(tops.every((right, i) => i % 2 === 0 || right <= width), String(tops));
        const flip = report.page.locator('[aria-label=Flip]');
        if (!(await flip.isVisible())) await report.click('.opens-more');
        await report.click('[aria-label=Flip]');
        assert.equal(await flip.getAttribute('aria-pressed'), 'true', 'what opened stays open');
        assert.ok(await flip.isVisible());
      },
      { context: { viewport: { width, height: 800 } } },
    );

reportTest('controls that get room come back into the row', 'python', async (report) => {
  const hidden = () => report.run(() => document.querySelectorAll('.more-controls > *').length);
  assert.equal(await hidden(), 0);
  await report.page.setViewportSize({ width: 600, height: 800 });
  await report.settle();
  const some = await hidden();
  assert.ok(some > 2);
  await report.click('.opens-more');
  await report.press('Escape');
  assert.equal(await report.run(() => document.activeElement?.textContent), 'View');
  assert.ok(await report.page.locator('.more-controls').isHidden());
  await report.page.setViewportSize({ width: 1600, height: 800 });
  await report.settle();
  assert.equal(await hidden(), 0);
  assert.ok(await report.page.locator('.opens-more').isHidden());
}, { context: { viewport: { width: 1600, height: 800 } } });
