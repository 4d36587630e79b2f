// SPDX-License-Identifier: GPL-3.0-or-later
// Text that can be read on every frame, and colours that people tell apart.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bottleneck, colour, hash, pixels } from './lib/modules.js';
import { ciede2000, contrast, leastDistance } from './lib/vision.js';

const INK = { '#000': [0, 0, 0], '#fff': [255, 255, 255] };
const LEAST_CONTRAST = 4.5;
const LEAST_DISTANCE = 15;
const STATES = ['more', 'less', 'new', 'gone', 'moved', 'unproven', 'same'];

/** @param {number} count */
const functions = (count) => Array.from({ length: count }, (_, i) => ({ key: `function_${i}\`module` }));

/** Every colour a frame can have. @param {boolean} dark @returns {[string, number[]][]} */
function frameColours(dark) {
  const colours = new colour.Colours(/** @type {any} */ (functions(3000)));
  /** @type {[string, number[]][]} */
  const out = [];
  colours.dark = dark;
  for (const palette of Object.keys(colour.PALETTES)) {
    colours.palette = palette;
    colours.most = 20;
    for (const state of STATES)
      for (let points = 0; points <= 25; points += 0.25)
        out.push([`${palette} ${state} ${points}`, colours.difference(state, points)]);
  }
  for (let i = 0; i < 3000; i++) out.push([`function ${i}`, colours.hue(i)]);
  for (const hex of colour.ORIGIN_COLOURS) out.push([`origin ${hex}`, colour.rgb(hex)]);
  return out;
}

for (const dark of [false, true]) {
  test(`text reaches ${LEAST_CONTRAST}:1 on every frame, ${dark ? 'dark' : 'light'}`, () => {
    let worst = ['', Infinity];
    for (const [name, c] of frameColours(dark)) {
      const ink = /** @type {any} */ (INK)[colour.inkOn(c)];
      assert.ok(ink, 'a known ink');
      const reached = contrast(
        ink,
        c.map((v) => v | 0),
      );
      if (reached < worst[1]) worst = [name, reached];
    }
    assert.ok(worst[1] >= LEAST_CONTRAST, `${worst[0]}: ${Number(worst[1]).toFixed(2)}`);
  });
}

test('the distance is that of the published pairs', () => {
  const close = (/** @type {number} */ a, /** @type {number} */ b) => assert.ok(Math.abs(a - b) < 0.0001, `${a} is not ${b}`);
  close(ciede2000([50, 2.6772, -79.7751], [50, 0, -82.7485]), 2.0425);
  close(ciede2000([50, -1.3802, -84.2814], [50, 0, -82.7485]), 1.0);
  close(ciede2000([50, 2.5, 0], [73, 25, -18]), 27.1492);
  close(ciede2000([22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619]), 2.0373);
  close(ciede2000([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514]), 0.9082);
});

for (const dark of [false, true]) {
  test(`the states of the difference are told apart by every vision, ${dark ? 'dark' : 'light'}`, () => {
    const colours = new colour.Colours([]);
    colours.dark = dark;
    colours.most = 10;
    /** @type {Record<string, number[]>} */
    const full = {};
    for (const state of ['more', 'less', 'new', 'gone', 'same']) full[state] = colours.difference(state, 10);
    const { distance, where } = leastDistance(full);
    assert.ok(distance >= LEAST_DISTANCE, `${distance.toFixed(1)}: ${where}`);
  });

  test(`lower edges are told apart by every vision, and from a frame that is not proven, ${dark ? 'dark' : 'light'}`, () => {
    const colours = new colour.Colours([]);
    colours.dark = dark;
    // A painter makes room for pixels.
    colours.painter(/** @type {any} */ ({ state: [], func: [] }), true, () => 0);
    const edges = Object.fromEntries(
      ['more', 'less', 'new', 'gone'].map((state) => [state, pixels.unpacked(colours.edgePixel(state))]),
    );
    const { distance, where } = leastDistance({ ...edges, none: colours.neutral() });
    assert.ok(distance >= LEAST_DISTANCE, `${distance.toFixed(1)}: ${where}`);
    colours.most = 40;
    assert.deepEqual(edges.more, colour.rgb(colour.PALETTES.kelvin.more), 'of full strength, however small the change');
  });

  test(`the weakest change still differs from no change and shows its direction, ${dark ? 'dark' : 'light'}`, () => {
    const colours = new colour.Colours([]);
    colours.dark = dark;
    colours.most = 40;
    const weak = {
      more: colours.difference('more', 0.1),
      less: colours.difference('less', -0.1),
      same: colours.difference('same', 0),
    };
    const { distance, where } = leastDistance(weak);
    assert.ok(distance >= 10, `${distance.toFixed(1)}: ${where}`);
  });
}

test('the origins are told apart by every vision', () => {
  const { distance, where } = leastDistance(Object.fromEntries(colour.ORIGIN_COLOURS.map((c, i) => [String(i), colour.rgb(c)])));
  assert.ok(distance >= LEAST_DISTANCE, `${distance.toFixed(1)}: ${where}`);
});

for (const dark of [false, true])
  test(`the bottlenecks are told apart by every vision, and from what has none, ${dark ? 'dark' : 'light'}`, () => {
    const colours = new colour.Colours([]);
    colours.dark = dark;
    /** @type {Record<string, number[]>} */
    const full = { none: colours.neutral() };
    for (const number of bottleneck.COST_PARTS)
      full[bottleneck.BOTTLENECKS[number]] = colour.rgb(bottleneck.BOTTLENECK_COLOURS[number]);
    const { distance, where } = leastDistance(full);
    assert.ok(distance >= LEAST_DISTANCE, `${distance.toFixed(1)}: ${where}`);
    for (const c of Object.values(full)) {
      const ink = /** @type {any} */ (INK)[colour.inkOn(c)];
      assert.ok(contrast(ink, c) >= LEAST_CONTRAST);
    }
  });

test('the other palettes are told apart by normal vision', () => {
  for (const [name, palette] of Object.entries(colour.PALETTES)) {
    const colours = Object.fromEntries(Object.entries(palette).map(([state, c]) => [state, colour.rgb(c)]));
    const { distance, where } = leastDistance(colours, ['normal']);
    assert.ok(distance >= LEAST_DISTANCE, `${name} ${distance.toFixed(1)}: ${where}`);
  }
});

test('the design names the colours of the difference', () => {
  assert.deepEqual(colour.PALETTES.kelvin, {
    more: '#d55e00',
    less: '#4393c3',
    new: '#8c2d04',
    gone: '#08519c',
    same: '#e6e4e0',
  });
});

test('strength grows with the square root of the change, and from a floor on', () => {
  let before = 0;
  for (let points = 0.5; points <= 30; points += 0.5) {
    const strength = colour.intensity(points, 30);
    assert.ok(strength > before || strength === 1);
    assert.equal(colour.intensity(-points, 30), strength);
    before = strength;
  }
  assert.equal(colour.intensity(30, 30), 1);
  assert.equal(colour.intensity(0.001, 30), colour.intensity(0.5, 30));
  assert.equal(colour.intensity(0.1, 0), 1);
});

test("a function's hue comes from its key alone, and spreads", () => {
  assert.equal(hash.hashHue('main`app'), hash.hashHue('main`app'));
  const bins = new Array(12).fill(0);
  for (const f of functions(6000)) {
    const hue = hash.hashHue(f.key);
    assert.ok(hue >= 0 && hue < 1);
    bins[Math.floor(hue * 12)]++;
  }
  for (const bin of bins) assert.ok(bin > 300 && bin < 700, String(bins));
});
