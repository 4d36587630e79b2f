// SPDX-License-Identifier: GPL-3.0-or-later
// The top of the page: what was compared, the verdict in words to quote, and what limits it.

import { COMPILATION, INTERRUPTS, ORIGINS } from '../data/codes.js';
import { ORIGIN_COLOURS } from '../drawing/colour.js';
import { h } from '../common/dom.js';
import { amount, changeWords, listName, measureOf } from '../common/format.js';
import { ledgerFigure, testedFigure, wholeFigure } from '../model/figures.js';
import { changeHint, changeTitle, waitText } from './changes.js';
import { requestsLine } from './latencies.js';
import { swatch } from '../common/widgets.js';

/** @typedef {import('../model/figures.js').Figure} Figure */
/** @typedef {import('../model/model.js').Model} Model */
/** @typedef {import('../data/report.js').LedgerRow} LedgerRow */
/** @typedef {import('../data/report.js').Meta} Meta */
/** @typedef {import('../data/report.js').Recording} Recording */
/** @typedef {import('../data/symbols.js').FunctionChange} FunctionChange */

/** A factor this near to 1 is not told at the top. */
const LEAST_SCALED = 0.005;
/** How many changes stand at the top. */
const SENTENCES = 3;

/**
 * The figures of a recording. Only the duration is that of a part; what was counted is of the whole recording.
 * @param {Recording} r @param {boolean} isPart whether the report is of a part of it
 */
export function recordingLine({ durationNs, sampledWords, lossWords, event, frequency_hz, runs }, isPart) {
  const scope = isPart ? ' in the whole recording' : durationNs > 0 ? ` in ${(durationNs / 1e9).toFixed(1)} s` : '';
  const facts = [
    isPart && durationNs > 0 && amount(durationNs, 'nanoseconds'),
    `${sampledWords}${scope}${lossWords}`,
    event,
    frequency_hz ? `${frequency_hz} Hz` : '',
    runs > 1 ? `${runs} runs` : '',
  ];
  return facts.filter(Boolean).join(' · ');
}

/** What the recording is of, in words of its user or of the service. @param {Recording} r */
export const labelsLine = (r) => r.labels.map(([key, value]) => `${key} ${value}`).join(' · ');

/** The machine of a recording. @param {Recording} r */
function machineLine(r) {
  const facts = [
    r.cpu_model,
    r.cpu_limit && `limited to ${r.cpu_limit} CPU${r.cpu_limit === 1 ? '' : 's'}`,
    r.container && `container ${r.container.slice(0, 12)}`,
    r.kernel && `Linux ${r.kernel}`,
  ];
  return facts.filter(Boolean).join(' · ');
}

/**
 * What a sentence says of a function that changed, after its name.
 * @param {string} state @param {boolean} own whether it is about the function itself @param {Figure} figure as it was tested
 * @param {Pick<Meta, 'metric'|'unit'>} meta
 */
export function changeSentence(state, own, figure, { metric, unit }) {
  const measure = measureOf({ name: metric, unit });
  const [base, head] = figure.pair;
  const much = (/** @type {number} */ side) => `${figure.amount(side)}${unit === 'count' ? ` ${measure}` : ''}`;
  const whose = own ? ' itself' : ' with all it calls';
  if (state === 'new') return ` is new and takes ${much(1)}${whose}. `;
  if (state === 'gone') return ` is gone; it took ${much(0)}${whose}. `;
  const part = own ? ' itself' : ', with all it calls,';
  if (!base) return `${part} takes ${much(1)}, and took none in base. `;
  return `${part} takes ${changeWords(base, head, measure, unit === 'count')} (${figure.difference}). `;
}

/** A change in a sentence to quote. @param {Model} model @param {FunctionChange} change */
function sentence(model, change) {
  const { f, e, own } = change;
  const figure = testedFigure(model, f.id, own ? 'self' : 'total');
  const name = h('bdi', { title: changeHint(model, change) }, changeTitle(model, change));
  const waits = waitText(model, change);
  return [name, changeSentence(e.state, own, figure, model.meta), waits && `It ${waits}. `];
}

/** The name of a recording's file, without what every such file ends with. @param {Recording} r */
const fileOf = (r) => r.name.split('/').pop()?.replace(/(\.pb|\.folded|\.perf)?(\.gz|\.data|\.txt)?$/, '') || '';

/** The title of the page: what was recorded, and on which two sides. @param {Meta} meta */
export function titleOf({ title, recordings: [base, head] }) {
  if (title) return title;
  if (!head) return base.command || fileOf(base) || 'profile';
  const same = base.command === head.command;
  if (!same && base.command && head.command) return `${base.command} → ${head.command}`;
  const [from, to] = [fileOf(base), fileOf(head)];
  const sides = from && to && from !== to ? `${from} → ${to}` : 'base → head';
  return base.command || head.command ? `${base.command || head.command}: ${sides}` : sides;
}

/**
 * What was done to the figures of head, where that is more than to compare shares. Reasons stand in the details.
 * @param {Meta} meta
 */
function scaleSentence({ factor, scaleWords, scaleText }) {
  if (!scaleText || !factor || Math.abs(factor - 1) < LEAST_SCALED) return null;
  const times = factor.toPrecision(3);
  const text = `Head's figures are multiplied by ${times}, to compare both sides ${scaleWords}.`;
  return h('p.dim', { title: scaleText }, text);
}

/** The largest changes in sentences. @param {Model} model */
function sentences(model) {
  const changed = model.provenChanges().filter(({ isOfOthers }) => !isOfOthers);
  if (!changed.length) return h('p.changes', {}, 'No function is proven to have changed.');
  const first = changed.slice(0, SENTENCES).flatMap((change) => sentence(model, change));
  const others = changed.length - SENTENCES;
  const rest = others > 0 && `${others} other change${others === 1 ? ' is' : 's are'} proven, too. `;
  return h('p.changes', {}, ...first, rest);
}

/** The rows of the table of origins that have something to tell. @param {Meta} meta @returns {[string, LedgerRow][]} */
function ledgerRows({ ledger, interrupts, compilation, runQueue, runQueueTitle }) {
  /** @type {[string, LedgerRow][]} */
  const rows = ['user', 'library', 'system', 'unknown'].map((name) => [name, ledger[name]]);
  rows.push([ORIGINS[INTERRUPTS], interrupts], [runQueueTitle, runQueue]);
  if (compilation) rows.push([ORIGINS[COMPILATION], compilation]);
  return rows.filter(([, row]) => row && (row.base || row.head));
}

/** The table of origins. @param {Model} model */
function originTable(model) {
  const { metric, unit } = model.meta;
  const titles =
    model.sides === 2
      ? ['base', model.factor === 1 ? 'head' : 'head, scaled', 'difference']
      : [measureOf({ name: metric, unit }), 'of total'];
  const cells = (/** @type {Figure} */ figure) =>
    model.sides === 2
      ? [figure.withShare(0), figure.withShare(1), figure.difference]
      : [figure.amount(1), figure.share(1)];
  /** Waiting for a CPU has the colour of interrupts. @param {string} name */
  const colourOf = (name) => ORIGIN_COLOURS[ORIGINS.includes(name) ? ORIGINS.indexOf(name) : INTERRUPTS];
  const rows = ledgerRows(model.meta).map(([name, row]) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, swatch(colourOf(name)), name),
      ...cells(ledgerFigure(model.meta, row)).map((text) => h('td', {}, text)),
    ),
  );
  const head = ['origin', ...titles].map((text) => h('th', { scope: 'col' }, text));
  return h('table.ledger', {}, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows));
}

/** Origins, evidence and recordings. @param {Model} model @param {boolean} isPart */
function columns(model, isPart) {
  const { meta } = model;
  const recording = (/** @type {Recording} */ r, /** @type {number} */ i) =>
    h(
      'p',
      {},
      model.sides === 2 && h('b', {}, i ? 'head ' : 'base '),
      r.name && `${r.name} – `,
      r.command,
      ...[recordingLine(r, isPart), machineLine(r), ...[labelsLine(r), r.verified].filter(Boolean)].flatMap((line) => [
        h('br'),
        h('span.dim', {}, line),
      ]),
    );
  const evidence = model.sides === 2 && [h('p.dim', {}, meta.scaleText), h('p.dim', {}, meta.evidenceText)];
  const isThere = (/** @type {LedgerRow|undefined} */ row) => !!(row?.base || row?.head);
  const machine = [
    isThere(meta.interrupts) && h('p.dim', {}, meta.interruptsWords),
    isThere(meta.compilation) && h('p.dim', {}, meta.compilationWords),
    isThere(meta.runQueue) && h('p.dim', {}, meta.runQueueWords),
  ];
  return h(
    'div.columns',
    {},
    h('div', {}, h('h2', {}, 'By origin of the code'), originTable(model), ...machine, ...(evidence || [])),
    h('div', {}, h('h2', {}, 'Recordings'), ...meta.recordings.map(recording)),
  );
}

/** What explains the line at the top. @param {Model} model @param {string[]} warnings @param {boolean} isPart */
function details(model, warnings, isPart) {
  const { meta } = model;
  return h(
    'div.details',
    { tabIndex: 0, role: 'region', 'aria-label': 'Details' },
    model.sides === 2 && h('p', {}, ...named(meta.verdictText)),
    ...meta.commits.map((text) => h('p.commit', {}, h('bdi', {}, ...named(text)))),
    warnings.length > 0 && h('ul.warnings', {}, ...warnings.map((text) => h('li', {}, text))),
    model.sides === 2 && sentences(model),
    scaleSentence(meta),
    columns(model, isPart),
  );
}

/**
 * @typedef {object} Header
 * @property {HTMLElement} element
 * @property {() => void} complete
 * @property {(isPart: boolean) => void} tellScope says that the figures here are of the whole, where other views show a
 *   part
 * @property {(model: Model) => void} tellMetric says what is shown, and how much of it there is
 */

/** How much of the shown metric there is under the filters. @param {Model} model */
function metricText(model) {
  const whole = wholeFigure(model);
  return `shown: ${measureOf(model.shownMetric)} ${model.sides === 2 ? whole.span : whole.amount(1)}`;
}

/**
 * The parts of a sentence in which names stand between backquotes.
 * @param {string} text @param {(name: string) => string} [shorten]
 */
function named(text, shorten = (name) => name) {
  return text.split('`').map((part, i) => (i % 2 ? h('code', {}, shorten(part)) : part));
}

/**
 * The top of the page: the title and a line that opens; of a service, also what it did. Calling `complete` fills in what does not change its height;
 * this happens after the first picture.
 * @param {Model} model @param {HTMLElement} corner the place for controls in the upper right corner
 * @param {string} [name] of the part of the recording that the report is of, where it is one
 * @returns {Header}
 */
export function header(model, corner, name = '') {
  const { meta } = model;
  const title = titleOf(meta);
  const heading = h('h1');
  const warnings = meta.warnings;
  const warned = warnings.length > 0 && h('span.warned', {}, warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`);
  const line =
    model.sides === 2
      ? [h(`span.badge.v-${meta.verdict}`, {}, meta.verdict), h('span.words', {}, ...named(meta.verdictText, listName))]
      : [h('span.words', {}, recordingLine(meta.recordings[0], !!name))];
  const metric = h('span.metric');
  const scope = h('span.scope', { hidden: true }, 'of the whole, without the filters');
  const opens = h('span.opens', {}, 'details');
  const more = h('details.more', {}, h('summary.verdict', {}, ...line, scope, metric, warned, opens));
  const element = h('header', {}, h('div.top', {}, heading, corner), more, requestsLine(meta.requests));
  const complete = () => {
    Object.assign(heading, { title, textContent: title });
    document.title = `${name && `${name} – `}${title} – Kelvin${model.sides === 2 ? ' diff' : ''}`;
    more.append(details(model, warnings, !!name));
  };
  return {
    element,
    complete,
    tellScope: (isPart) => (scope.hidden = !isPart),
    tellMetric: (model) => (metric.textContent = metricText(model)),
  };
}
