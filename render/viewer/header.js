// SPDX-License-Identifier: GPL-3.0-or-later
// The top of the page: what was compared, the verdict in words to quote, what limits it; and the legend at its foot.

import { INTERRUPTS, ORIGINS, STATES } from './symbols.js';
import { css, ORIGIN_COLOURS } from './colour.js';
import { h } from './dom.js';
import { amount, changeWords, count, listName, measureOf, percent, signedAmount } from './format.js';
import { swatch } from './inspector.js';

/** @typedef {import('./model.js').Model} Model */

const SENTENCES = 3;

/** How whole the stacks are, where somebody measured it. @param {any} r */
function stacksText(r) {
  if (r.wholePercent != null) return `${r.wholePercent.toFixed(1)} % whole stacks`;
  return r.call_graph === 'fp' && 'stacks from frame pointers';
}

/** @param {any} r */
function recordingLine(r) {
  const seconds = r.durationNs / 1e9;
  const facts = [
    r.samples == null ? 'samples not counted' : `${count(r.samples)} sample${r.samples === 1 ? '' : 's'}`,
    seconds ? `in ${seconds.toFixed(1)} s` : '',
    r.lost != null && `${count(r.lost)} lost`,
    stacksText(r),
    r.event,
    r.frequency_hz ? `${r.frequency_hz} Hz` : '',
    r.runs > 1 ? `${r.runs} runs` : '',
  ];
  return facts.filter(Boolean).join(' · ');
}

/** Where it was recorded. @param {any} r */
function machineLine(r) {
  const facts = [
    r.cpu_model,
    r.cpu_limit > 0 && `limited to ${r.cpu_limit} CPU${r.cpu_limit === 1 ? '' : 's'}`,
    r.container && `container ${r.container.slice(0, 12)}`,
    r.kernel && `Linux ${r.kernel}`,
  ];
  return facts.filter(Boolean).join(' · ');
}

/** What a sentence says of a function that changed. @param {{e: import('./symbols.js').Estimate, own: boolean}} change @param {{metric: string, unit: string}} meta */
export function changeText({ e, own }, { metric, unit }) {
  const measure = measureOf({ name: metric, unit });
  const much = (/** @type {number} */ value) => (unit === 'count' ? `${amount(value, unit)} ${measure}` : amount(value, unit));
  if (e.state === 'new') return ` is new and takes ${much(e.head)}. `;
  if (e.state === 'gone') return ` is gone; it took ${much(e.base)}. `;
  const part = own ? '' : ', with all it calls,';
  if (!e.base) return `${part} takes ${much(e.head)}, and took none in base. `;
  return `${part} takes ${changeWords(e.base, e.head, measure, unit === 'count')} (${signedAmount(e.delta, unit)}). `;
}

/** One change in a sentence to quote. @param {ReturnType<Model['provenChanges']>[0]} change @param {any} meta */
function sentence(change, meta) {
  const { name } = change.f;
  return [h('bdi', { title: name }, listName(name)), changeText(change, meta)];
}

/** The first three changes. @param {Model} model */
function sentences(model) {
  const changed = model.provenChanges();
  if (!changed.length) return h('p.changes', {}, 'No function is proven to have changed.');
  return h('p.changes', {}, ...changed.slice(0, SENTENCES).flatMap((change) => sentence(change, model.meta)));
}

/** @param {Model} model */
function ledger(model) {
  const rows = ['user', 'library', 'system', 'unknown']
    .map((name) => [name, model.meta.ledger[name]])
    .filter(([, o]) => o && (o.base || o.head));
  const { interrupts } = model.meta;
  if (interrupts?.base || interrupts?.head) rows.push([ORIGINS[INTERRUPTS], interrupts]);
  const totals = [model.meta.total.base, model.meta.total.head];
  return h(
    'table.ledger',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'origin'),
        ...(model.sides === 2
          ? ['base', model.factor === 1 ? 'head' : 'head, scaled', 'difference']
          : [measureOf({ name: model.meta.metric, unit: model.meta.unit }), 'of total']
        ).map((t) => h('th', { scope: 'col' }, t)),
      ),
    ),
    h(
      'tbody',
      {},
      ...rows.map(([name, o]) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, swatch(ORIGIN_COLOURS[ORIGINS.indexOf(name)]), name),
          ...(model.sides === 2
            ? [
                `${amount(o.base, model.meta.unit)} ${percent(o.base, totals[0])}`,
                `${amount(o.head, model.meta.unit)} ${percent(o.head, totals[1])}`,
                signedAmount(o.delta, model.meta.unit),
              ]
            : [amount(o.head, model.meta.unit), percent(o.head, totals[1])]
          ).map((t) => h('td', {}, t)),
        ),
      ),
    ),
  );
}

/** What limits the proof. Base against itself should flag next to nothing. @param {any} meta */
function warningList({ warnings, evidence: e }) {
  const list = [...warnings];
  if (e.aaDone && e.aaFlags > Math.max(1, e.q * e.aaFunctions))
    list.push(
      `${e.aaFlags} of ${e.aaFunctions} functions differ when base is compared with itself, so single functions are less certain than they look`,
    );
  return list.length > 0 && h('ul.warnings', {}, ...list.map((text) => h('li', {}, text)));
}

/** @param {Model} model */
function details(model) {
  const { meta } = model;
  const recording = (/** @type {any} */ r, /** @type {number} */ i) =>
    h(
      'p',
      {},
      model.sides === 2 && h('b', {}, i ? 'head ' : 'base '),
      r.name && `${r.name} – `,
      r.command,
      h('br'),
      h('span.dim', {}, recordingLine(r)),
      h('br'),
      h('span.dim', {}, machineLine(r)),
    );
  const evidence = model.sides === 2 && h('p.dim', {}, meta.evidenceText);
  const interrupts = (meta.interrupts?.base || meta.interrupts?.head) && h('p.dim', {}, meta.interruptsWords);
  return h(
    'div.columns',
    {},
    h('div', {}, h('h3', {}, 'By origin of the code'), ledger(model), interrupts, evidence),
    h('div', {}, h('h3', {}, 'Recordings'), ...meta.recordings.map(recording)),
  );
}

/**
 * What takes no room of its own is filled in by `complete`, when the picture is on the screen.
 * @param {Model} model @param {HTMLElement} corner @returns {{element: HTMLElement, complete: () => void}}
 */
export function header(model, corner) {
  const { meta } = model;
  const [first, second] = meta.recordings;
  const title = meta.title || (second || first).command || 'profile';
  const foot = h('div.foot');
  const heading = h('h1');
  const element = h(
    'header',
    {},
    h('div.top', {}, heading, corner),
    model.sides === 2 && h('p.verdict', {}, h(`span.badge.v-${meta.verdict}`, {}, meta.verdict), ' ', meta.verdictText),
    model.sides === 2 && meta.scaleText && h('p.dim', {}, meta.scaleText),
    model.sides === 2 && sentences(model),
    warningList(meta),
    foot,
  );
  const complete = () => {
    Object.assign(heading, { title, textContent: title });
    const summary = model.sides === 2 ? 'Origins, evidence, recordings' : 'Origins and recording';
    foot.append(h('details.more', {}, h('summary', {}, summary), details(model)));
  };
  return { element, complete };
}

/** What an entry of the legend means. @type {Record<string, string>} */
const HINTS = {
  user: 'the program itself',
  library: 'code that others wrote: shared libraries and packages',
  system: 'the kernel, the C library, language runtimes',
  unknown: 'no rule decides where the code comes from',
  interrupts: "the machine's work in the threads: not in the total, and not compared",
  '+ new': 'only head has it',
  '− gone': 'only base has it; turn on Removed to see it',
};

/**
 * @param {Model} model @param {import('./colour.js').Colours} colours @param {import('./state.js').State} state
 * @param {(name: 'origins'|'states', digit: string) => void} toggle marks the frames of an entry
 */
export function legend(model, colours, state, toggle) {
  /** @param {'origins'|'states'} name @param {string} digit @param {string} colour @param {string} word @param {string} [meaning] */
  const key = (name, digit, colour, word, meaning = HINTS[word]) => {
    const on = state[name].includes(digit);
    const hint = `click to highlight these frames${meaning ? `: ${meaning}` : ''}`;
    return h(
      'button.key',
      { type: 'button', title: hint, 'aria-pressed': on, onclick: () => toggle(name, digit) },
      swatch(colour),
      word,
    );
  };
  if (colours.mode === 'origin')
    return [1, 2, 3, ...(model.hasInterrupts ? [INTERRUPTS] : []), 0].map((o) =>
      key('origins', String(o), ORIGIN_COLOURS[o], ORIGINS[o]),
    );
  if (colours.mode === 'function') return [h('span.dim', {}, 'Colour: each function has its own hue, the same in every report.')];
  if (!model.shownMetric.tested)
    return [h('span.dim', {}, `Colour: only ${model.meta.metric} was tested, so no frame is coloured as changed.`)];
  const c = colours.colours();
  const measure = measureOf(model.shownMetric);
  const words = { more: `more ${measure}`, less: `less ${measure}`, new: '+ new', gone: '− gone' };
  return [
    ...Object.entries(words).map(([name, word]) =>
      key('states', String(STATES.indexOf(name)), c[name], word, HINTS[word] || `takes ${word} in head, which is proven`),
    ),
    h(
      'span.key',
      { title: 'noise can explain the difference, or the difference is too small to matter' },
      swatch(css(colours.neutral())),
      'same, or not proven',
    ),
    h(
      'span.dim',
      { title: 'percentage points of the total: from 3 % to 5 % is +2 points; the strength of a colour follows the square root of the change' },
      `full colour: a change of ${model.most.toFixed(1)} points of the total`,
    ),
  ];
}
