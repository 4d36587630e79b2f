// SPDX-License-Identifier: GPL-3.0-or-later
// Pages of known content, made by make_page once a run, and what is in them.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

import { decode, historytable, linetables, Model, state, symbols } from './modules.js';

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kelvin-pages-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** The program under test. */
const kelvin = process.env.KELVIN || join(here, '../../../build/dev/cli/kelvin');

const program = process.env.KELVIN || join(here, '../../../build/dev/cli/kelvin');

/** The address of the page of two recordings of tests/data/pairs. @param {string} base @param {string} head */
export function recordedUrl(base, head) {
  const file = join(folder, `${base}.html`);
  const [from, to] = [base, head].map((name) => join(here, '../../data/pairs', `${name}.pb.gz`));
  // Its exit status tells the verdict.
  if (!existsSync(file)) spawnSync(program, ['diff', from, to, '-o', file], { stdio: 'ignore' });
  return pathToFileURL(file).href;
}

/** The generator lies beside the program under test (KELVIN), unless KELVIN_MAKE_PAGE says where. */
function generator() {
  const path = process.env.KELVIN_MAKE_PAGE || join(dirname(kelvin), '../tests/viewer/make_page');
  if (!existsSync(path)) throw new Error(`${path} is not there: build the project, or set KELVIN_MAKE_PAGE`);
  return resolve(path);
}

/** The file of a page. @param {string} kind */
export function pageFile(kind) {
  const file = join(folder, `${kind}.html`);
  if (!existsSync(file)) execFileSync(generator(), [kind, file], { stdio: ['ignore', 'ignore', 'inherit'] });
  return file;
}

/** @param {string} kind @param {string} [hash] */
export function pageUrl(kind, hash = '') {
  return pathToFileURL(pageFile(kind)).href + (hash && `#${hash}`);
}

/**
 * The page of real recordings: a report of one, a comparison of two.
 * @param {string[]} recordings in tests/data/pairs @param {string} [hash]
 */
export function realUrl(recordings, hash = '') {
  const file = join(folder, `${recordings.join('-')}.html`);
  const paths = recordings.map((name) => join(here, `../../data/pairs/${name}.pb.gz`));
  const command = paths.length === 1 ? 'report' : 'diff';
  // A comparison that finds a regression ends with 1.
  if (!existsSync(file)) spawnSync(kelvin, [command, ...paths, '-o', file], { stdio: 'ignore' });
  return pathToFileURL(file).href + (hash && `#${hash}`);
}

/** One block's bytes. @param {string} html @param {string} name */
function block(html, name) {
  const found = new RegExp(`id="data-${name}">([^<]*)</script>`).exec(html);
  if (!found) throw new Error(`no block "${name}"`);
  return new Uint8Array(gunzipSync(Buffer.from(found[1], 'base64')));
}

/** The table of a suite's page. @param {string} kind */
export function readSuite(kind) {
  return JSON.parse(new TextDecoder().decode(block(readFileSync(pageFile(kind), 'utf8'), 'benchmarks')));
}

/** What the page of a history says. @param {string} kind */
export function readHistory(kind) {
  const html = readFileSync(pageFile(kind), 'utf8');
  return historytable.decodeHistory(block(html, 'history'), block(html, 'values'));
}

/** What the browser would decode. @param {string} kind */
export const readPage = (kind) => readHtml(readFileSync(pageFile(kind), 'utf8'));

/** The same of the comparison of two recordings in tests/data. @param {string} base @param {string} head */
export function comparedPage(base, head) {
  const kelvin = process.env.KELVIN || join(here, '../../../build/dev/cli/kelvin');
  const file = join(folder, 'compared.html');
  const paths = [base, head].map((name) => join(here, '../../data', name));
  // The exit code tells the verdict.
  const { stderr } = spawnSync(kelvin, ['diff', ...paths, '-o', file], { encoding: 'utf8' });
  if (!existsSync(file)) throw new Error(stderr);
  const html = readFileSync(file, 'utf8');
  rmSync(file);
  return readHtml(html);
}

/** @param {string} html */
function readHtml(html) {
  const meta = JSON.parse(new TextDecoder().decode(block(html, 'meta')));
  const lines = meta.hasLines ? new linetables.LineTable(block(html, 'lines'), meta.sides) : null;
  return {
    meta,
    lines,
    lineStacks: lines && linetables.decodeLineStacks(block(html, 'linestacks'), meta.sides, lines.count),
    functions: symbols.decodeFunctions(block(html, 'functions'), meta.sides),
    tree: decode.decodeTree(block(html, 'tree'), meta.sides),
    samples: decode.decodeSamples(block(html, 'samples'), meta.sides, meta.metrics),
    timelines: decode.decodeTimeline(block(html, 'timeline'), meta.sides),
    bottlenecks: meta.hasBottlenecks ? decode.decodeBottlenecks(block(html, 'bottlenecks'), meta.sides) : null,
    releases: meta.waits?.hasReleases ? decode.decodeReleases(block(html, 'waits'), meta.sides) : [null, null],
  };
}

/**
 * The model of a page, or of a kind of page, that shows a state.
 * @param {any} page @param {object} [change] what of the state is not as usual
 */
export function shown(page, change = {}) {
  const model = new Model(typeof page === 'string' ? readPage(page) : page);
  model.update({ ...state.DEFAULTS, ...change });
  return model;
}

/** The function with a name. @param {any} model @param {string} name */
export const functionOf = (model, name) => model.functions.find((/** @type {any} */ f) => f.name === name);

/** Scaled sums [base, head] of a function. @param {any} model @param {{id: number}} func */
export function sumsOf({ factor, sums }, { id }) {
  const pair = (/** @type {Float64Array[]} */ of) => [of[0][id], of[1][id] * factor];
  return { self: pair(sums.self), total: pair(sums.total) };
}
