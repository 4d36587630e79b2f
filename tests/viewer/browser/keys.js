// SPDX-License-Identifier: GPL-3.0-or-later
// Every key of the report.

import assert from 'node:assert/strict';

import { near, reportTest, ROW } from '../lib/browser.js';
import * as known from '../lib/known.js';
import { colour } from '../lib/modules.js';

reportTest('b, h and d switch the recording', 'diff', async (report) => {
  const pressed = () => report.text('.choice[aria-label=Recording] [aria-pressed=true]');
  assert.equal(await pressed(), 'Diff');
  await report.press('b');
  assert.equal(await pressed(), 'Base');
  await report.press('h');
  assert.equal(await pressed(), 'Head');
  await report.press('d');
  assert.equal(await pressed(), 'Diff');
});

reportTest('r swaps whose widths are drawn; colours keep their meaning', 'diff', async (report) => {
  await report.press('r');
  assert.ok(near(await report.fill('parse', 0), colour.rgb(colour.PALETTES.kelvin.more)));
  const gone = await report.middle('old_cache', 0);
  assert.ok(gone.width > 5);
  await report.press('r');
  assert.ok(near(await report.fill('parse', 1), colour.rgb(colour.PALETTES.kelvin.more)));
});

reportTest('1 to 3 choose the colours, which are all that there are', 'diff', async (report) => {
  const chosen = () => report.run(() => /** @type {any} */ (document.querySelector('[aria-label=Colour]')).value);
  for (const [key, value] of [
    ['2', 'origin'],
    ['3', 'function'],
    ['4', 'function'],
    ['1', 'diff'],
  ]) {
    await report.press(key);
    assert.equal(await chosen(), value);
  }
  assert.deepEqual(await report.texts('[aria-label=Colour] option'), ['difference', 'origin', 'function']);
});

reportTest('arrows move to caller, callee and sibling; Enter zooms; 0 resets', 'diff', async (report) => {
  await report.press('ArrowDown');
  assert.equal(await report.active(), '__libc_start_main', 'the widest callee');
  await report.press('ArrowDown');
  assert.equal(await report.active(), 'main');
  await report.press('ArrowDown');
  assert.equal(await report.active(), 'steady');
  await report.press('ArrowLeft');
  assert.equal(await report.active(), 'sort_items');
  await report.press('ArrowLeft', 'ArrowLeft', 'ArrowLeft');
  assert.equal(await report.active(), 'parse');
  await report.press('ArrowDown');
  assert.equal(await report.active(), 'lex');
  await report.press('ArrowUp');
  assert.equal(await report.active(), 'parse');
  await report.press('ArrowRight');
  assert.equal(await report.active(), 'read');
  await report.press('ArrowLeft', 'Enter');
  assert.equal((await report.texts('.crumbs .link')).pop(), 'parse');
  await report.press('0');
  assert.deepEqual(await report.texts('.crumbs .link'), ['all']);
  await report.press('ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp');
  await report.press('ArrowDown');
  assert.equal(await report.active(), '__libc_start_main', 'the root has no caller');
});

reportTest('at the edges arrows stay where they are', 'diff', async (report) => {
  await report.clickFrame('0xdeadbeef');
  await report.press('0', 'ArrowLeft');
  assert.equal(await report.active(), '0xdeadbeef');
  await report.press('ArrowDown');
  assert.equal(await report.active(), '0xdeadbeef');
  await report.press('ArrowRight', 'ArrowRight');
  assert.equal(await report.active(), '__libc_start_main');
});

reportTest('Backspace and Alt-arrows go back and forward', 'diff', async (report) => {
  await report.zoomFrame('parse');
  await report.zoomFrame('lex', 1, known.frameOf('parse'));
  assert.equal((await report.texts('.crumbs .link')).pop(), 'lex');
  await report.press('Backspace');
  assert.equal((await report.texts('.crumbs .link')).pop(), 'parse');
  await report.page.goForward();
  await report.settle();
  assert.equal((await report.texts('.crumbs .link')).pop(), 'lex');
  await report.page.goBack();
  await report.page.goBack();
  await report.settle();
  assert.deepEqual(await report.texts('.crumbs .link'), ['all']);
});

reportTest('/ searches, n and N go round, Escape lets go', 'diff', async (report) => {
  await report.press('/');
  assert.equal(await report.run(() => document.activeElement?.getAttribute('type')), 'search');
  await report.page.keyboard.type('steady_0');
  await report.until(() => document.querySelector('.found')?.textContent?.includes('10'));
  assert.equal(await report.run(() => /** @type {any} */ (document.activeElement).value), 'steady_0', 'the field keeps its text');
  await report.press('Tab');
  await report.press('n');
  assert.equal(await report.active(), 'steady_00');
  assert.match(await report.text('.found'), /^1\/10 /);
  await report.press('n', 'n');
  assert.equal(await report.active(), 'steady_02');
  await report.press('N');
  assert.equal(await report.active(), 'steady_01');
  await report.press('N', 'N');
  assert.equal(await report.active(), 'steady_09', 'round the start');
  await report.press('n');
  assert.equal(await report.active(), 'steady_00', 'round the end');
  await report.press('Escape');
  assert.equal(await report.page.locator('.found').count(), 0);
  assert.deepEqual(await report.hash(), {});
});

reportTest('i inverts, s toggles system calls, e shows removed stacks', 'diff', async (report) => {
  const checked = (/** @type {string} */ label) => report.page.locator(`.controls label:has-text("${label}") input`).isChecked();
  await report.press('i');
  assert.ok(await checked('By function'));
  assert.deepEqual(await report.hash(), { i: '1' });
  await report.press('i');
  assert.ok(!(await checked('By function')));
  assert.ok(await checked('System calls'));
  await report.press('s');
  assert.ok(!(await checked('System calls')));
  await report.press('s');
  assert.ok(await checked('System calls'));
  await report.press('e');
  assert.ok(await checked('Removed'));
  await report.press('e');
  assert.deepEqual(await report.hash(), {});
});

reportTest('c copies the stack, root first', 'diff', async (report) => {
  await report.clickFrame('lex');
  await report.press('c');
  await report.until(() => document.querySelector('[role=status]')?.textContent === 'stack copied');
  const lines = (await pasted(report)).split('\n');
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/).pop()?.replace(/ \(.*/, '')),
    ['function', '__libc_start_main', 'main', 'parse', 'lex'],
  );
});

/** What is in the clipboard. @param {any} report @returns {Promise<string>} */
export async function pasted(report) {
  await report.run(() => {
    const area = document.createElement('textarea');
    area.id = 'paste-here';
    document.body.append(area);
    area.focus();
  });
  await report.page.keyboard.press('Control+V');
  const text = await report.run(() => /** @type {any} */ (document.getElementById('paste-here')).value);
  await report.run(() => document.getElementById('paste-here')?.remove());
  return text;
}

reportTest(
  'help that is higher than the window is read from its beginning, and the way out is seen',
  'diff',
  async (report) => {
    await report.press('?');
    const dialog = await report.run(() => {
      const { scrollTop, scrollHeight, clientHeight } = /** @type {Element} */ (document.querySelector('dialog'));
      return { scrollTop, more: scrollHeight - clientHeight };
    });
    assert.ok(dialog.more > 0);
    assert.equal(dialog.scrollTop, 0);
    const close = await report.page.locator('dialog button').boundingBox();
    assert.ok(close.y + close.height < 600);
    await report.click('dialog button');
    assert.ok(!(await report.page.locator('dialog').isVisible()));
  },
  { context: { viewport: { width: 1280, height: 600 } } },
);

reportTest('? helps and names every key', 'diff', async (report) => {
  await report.press('?');
  assert.ok(await report.page.locator('dialog').isVisible());
  const keys = (await report.texts('dialog kbd')).join(' ');
  for (const key of [
    '←',
    '→',
    '↑',
    '↓',
    'Enter',
    'Backspace',
    '0',
    '/',
    'b',
    'h',
    'd',
    '1',
    '2',
    '3',
    'i',
    's',
    'e',
    'c',
    'Escape',
  ])
    assert.ok(keys.includes(key), key);
  await report.press('i');
  assert.deepEqual(await report.hash(), {}, 'keys rest while the help is open');
  await report.press('Escape');
  assert.ok(!(await report.page.locator('dialog').isVisible()));
});

reportTest("the browser's own keys stay its own, and letters in a field are text", 'diff', async (report) => {
  await report.openList();
  for (const key of ['Control+f', 'Control+s', 'Alt+s', 'Meta+i', 'Control+b']) {
    const taken = await report.run((k) => {
      const [mod, letter] = k.split('+');
      const event = new KeyboardEvent('keydown', {
        key: letter,
        ctrlKey: mod === 'Control',
        altKey: mod === 'Alt',
        metaKey: mod === 'Meta',
        bubbles: true,
        cancelable: true,
      });
      document.body.dispatchEvent(event);
      return event.defaultPrevented;
    }, key);
    assert.ok(!taken, key);
  }
  assert.deepEqual(await report.hash(), {});
  await report.page.fill('[aria-label="Filter functions"]', '');
  await report.page.focus('[aria-label="Filter functions"]');
  await report.page.keyboard.type('ibs');
  await report.settle();
  assert.deepEqual(await report.hash(), {});
});

reportTest('keys go on working after a control was clicked', 'diff', async (report) => {
  await report.page.check('.controls label:has-text("By function") input');
  await report.settle();
  await report.press('i');
  assert.deepEqual(await report.hash(), {});
});

reportTest('one recording has no keys for two', 'single', async (report) => {
  await report.press('b', 'd', 'r', '1', 'e');
  assert.deepEqual(await report.hash(), {});
  await report.press('3');
  assert.deepEqual(await report.hash(), { c: 'function' });
});

reportTest('the wheel scrolls only a picture that is higher than its place', 'diff', async (report) => {
  const { x, y } = await report.middle('main');
  await report.page.mouse.move(x, y);
  await report.page.mouse.wheel(0, 300);
  await report.settle();
  await report.page.mouse.move(x, y + ROW);
  assert.notEqual(await report.text('.status'), '');
});

reportTest('another tree under the pointer leaves nothing of the old one', 'diff', async (report) => {
  await report.hover('lex');
  assert.equal(await report.text('.inspector h2'), 'lex');
  for (const key of ['i', 's', 'i', 's']) {
    await report.press(key);
    assert.doesNotMatch(await report.text('.status'), /^lex /, 'the pointer has not moved yet');
  }
});

/** The row at the top of the picture. @param {any} report @returns {Promise<number>} */
const topRow = (report) => report.run(() => /** @type {any} */ (window).kelvin.picture.flame.scroll);

reportTest(
  'a finger scrolls the picture, and the page where the picture has no more',
  'deep',
  async (report) => {
    const { x, y, height } = await report.picture();
    const client = await report.page.context().newCDPSession(report.page);
    const touch = (/** @type {string} */ type, /** @type {number} */ at) =>
      client.send('Input.dispatchTouchEvent', {
        type: /** @type {any} */ (type),
        touchPoints: type === 'touchEnd' ? [] : [{ x: x + 100, y: at }],
      });
    const drag = async (/** @type {number} */ by) => {
      const from = y + height / 2;
      await touch('touchStart', from);
      for (let i = 1; i <= 8; i++) await touch('touchMove', from + (by * i) / 8);
      await touch('touchEnd', 0);
      await report.settle();
    };
    await drag(-150);
    const down = await topRow(report);
    assert.ok(down > 80 && down <= 150, `${down}`);
    assert.equal(await report.run(() => scrollY), 0);
    await drag(200);
    assert.equal(await topRow(report), 0);
  },
  { hash: 'tr=0', context: { hasTouch: true, viewport: { width: 390, height: 800 } } },
);

reportTest('a bar says that there is more below, and can be dragged', 'deep', async (report) => {
  const bar = report.page.locator('.flame-host .thumb');
  assert.ok(await bar.isVisible());
  const { x, y, width, height } = await bar.boundingBox();
  const picture = await report.picture();
  assert.ok(Math.abs(y - picture.y) < 1);
  await report.page.mouse.move(x + width / 2, y + height / 2);
  await report.page.mouse.down();
  await report.page.mouse.move(x + width / 2, picture.y + picture.height, { steps: 4 });
  await report.page.mouse.up();
  await report.settle();
  const end = await bar.boundingBox();
  assert.ok(Math.abs(end.y + end.height - picture.y - picture.height) < 2, 'at the end');
  await report.point(picture.x + picture.width / 2, picture.y + picture.height - ROW / 2);
  assert.match(await report.text('.status'), /^level_2000 /);
}, { hash: 'tr=0' });

reportTest('no bar where the picture is all there, and the wheel is the page\'s own', 'diff', async (report) => {
  assert.ok(await report.page.locator('.flame-host .thumb').isHidden());
  const prevented = await report.run(() => {
    const e = new WheelEvent('wheel', { deltaY: 100, cancelable: true, bubbles: true });
    document.querySelector('.overlay')?.dispatchEvent(e);
    return e.defaultPrevented;
  });
  assert.equal(prevented, false);
});
