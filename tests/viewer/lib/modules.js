// SPDX-License-Identifier: GPL-3.0-or-later
// The modules of the viewer. They are copied beside a package.json, because older versions of node take a .js file for CommonJS
// where no such file says otherwise.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const source = join(dirname(fileURLToPath(import.meta.url)), '../../../render/viewer');
const folder = mkdtempSync(join(tmpdir(), 'kelvin-modules-'));
cpSync(source, folder, { recursive: true });
writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const load = (name) => import(pathToFileURL(join(folder, `${name}.js`)).href);

export const chart = await load('timeline/chart');
export const colour = await load('drawing/colour');
export const draw = await load('picture/draw');
export const benchmarks = await load('suite/benchmarks');
export const block = await load('data/block');
export const codes = await load('data/codes');
export const decode = await load('data/decode');
export const filters = await load('model/filters');
export const folding = await load('model/folding');
export const hash = await load('data/hash');
export const format = await load('common/format');
export const header = await load('views/header');
export const inspector = await load('views/inspector');
export const latencies = await load('views/latencies');
export const layout = await load('model/layout');
export const lazy = await load('model/lazy');
export const { Model } = await load('model/model');
export const order = await load('model/order');
export const pattern = await load('model/pattern');
export const processes = await load('model/processes');
export const state = await load('model/state');
export const status = await load('picture/status');
export const sums = await load('model/sums');
export const system = await load('model/system');
export const symbols = await load('data/symbols');
export const ancestors = await load('timeline/ancestors');
export const axis = await load('timeline/axis');
export const lanes = await load('timeline/lanes');
export const timeline = await load('timeline/timeline');
export const tree = await load('data/tree');
export const walk = await load('picture/walk');
export const table = await load('common/table');
export const bottleneck = await load('model/bottleneck');
export const waiting = await load('model/waiting');
export const waitviews = await load('views/waitviews');
