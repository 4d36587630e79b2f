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

export const chart = await load('chart');
export const colour = await load('colour');
export const draw = await load('draw');
export const benchmarks = await load('benchmarks');
export const block = await load('block');
export const codes = await load('codes');
export const decode = await load('decode');
export const filters = await load('filters');
export const folding = await load('folding');
export const hash = await load('hash');
export const format = await load('format');
export const header = await load('header');
export const inspector = await load('inspector');
export const latencies = await load('latencies');
export const layout = await load('layout');
export const lazy = await load('lazy');
export const { Model } = await load('model');
export const order = await load('order');
export const pattern = await load('pattern');
export const processes = await load('processes');
export const state = await load('state');
export const status = await load('status');
export const sums = await load('sums');
export const system = await load('system');
export const symbols = await load('symbols');
export const ancestors = await load('ancestors');
export const axis = await load('axis');
export const lanes = await load('lanes');
export const timeline = await load('timeline');
export const tree = await load('tree');
export const walk = await load('walk');
export const table = await load('table');
export const bottleneck = await load('bottleneck');
export const waiting = await load('waiting');
export const waitviews = await load('waitviews');
