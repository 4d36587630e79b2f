// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a report a state shows: by metric, thread, process, time, function and module. It hands out the call
// tree of the report with the figures of that part. Nothing here touches the browser.

import { Expressions } from './expressions.js';
import { chosenStacks, chooseStacks, expressionsOf, filtersOf, hasKind, meaningOf, selfOf, timesOf } from './filters.js';
import { Memo } from '../common/memo.js';
import { addProcessRows, pairedRows, processOf, processRows, splitTree } from './processes.js';
import { filteredSelf, filteredValues, selfOfSamples, timeWithoutInterrupts } from './sums.js';
import { originsOf } from '../data/symbols.js';
import { lineOf, samplesThrough } from './throughlines.js';
import { statesUnder } from '../data/tree.js';

/** @typedef {import('./filters.js').Meant} Meant */
/** @typedef {import('../data/report.js').Tables} Tables */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('../data/symbols.js').Func} Func */
/** @typedef {import('../data/tree.js').Tree} Tree */

/** What a thread is called. @param {import('../data/report.js').Thread} thread */
const nameOf = ([, , tid, process, own]) => own || process || `thread ${tid}`;

export class Narrowing {
  /**
   * @param {Tables} tables @param {(hash: string) => Func|undefined} functionOf
   * @param {() => void} functionsAdded rows of processes were added to the functions
   */
  constructor(tables, functionOf, functionsAdded) {
    this.tables = tables;
    this.functionOf = functionOf;
    this.functionsAdded = functionsAdded;
    this.functions = tables.functions;
    this.sides = tables.meta.sides;
    /** Whether every recording tells when its samples were taken. */
    this.hasTimeline = tables.meta.recordings.every((recording) => recording.hasTimeline);
    this.rowsMade = processRows(tables.meta.recordings);
    /** The number of the function of the first row of a process; -1 until there are rows. */ this.firstProcess = -1;
    this.memo = new Memo();
    this.expressions = new Expressions(tables.functions);
    /** @type {Map<string, Set<number>[]>|null} */ this.namesMade = null;
    /** @type {[value: string, text: string][]|null} */ this.choicesMade = null;
    /** @type {Map<string, (side: number, thread: number) => boolean>} what keeps threads, by what it is made for */
    this.kept = new Map();
    /** The time [base, head] of everything in the metric that was last shown. */ this.whole = [0, 0];
    /** @type {Meant[]} what the last text of filters means */ this.meant = [];
    /** @type {Uint8Array|null} the stacks that it keeps */ this.chosen = null;
    /** @type {import('./sums.js').Kept} the samples that it keeps */ this.keptSamples = null;
  }

  /**
   * The processes as rows. Which of base and head are one is known when there are samples.
   * @returns {import('./processes.js').Row[]}
   */
  get rows() {
    const [base, head] = this.tables.samples;
    if (this.sides === 2 && base && head && this.memo.isNew('rows', base, head))
      this.rowsMade = pairedRows(this.rowsMade, this.tables.tree, [base, head], this.testedMetric, this.threads);
    return this.rowsMade;
  }

  /** The names of the rows of processes. */
  get processes() {
    return this.rows.map(({ name }) => name);
  }

  /** How many functions the report has: a row of a process is none. */
  get functionCount() {
    return this.firstProcess < 0 ? this.functions.length : this.firstProcess;
  }

  /**
   * The ids of threads by what a state calls them, as a set for each side: by name, and where several of one run share
   * that, also by number, as "#812".
   */
  threadNames() {
    return (this.namesMade ||= this.#nameThreads());
  }

  #nameThreads() {
    /** @type {Map<string, Set<number>[]>} */
    const names = new Map();
    const note = (/** @type {string} */ name, /** @type {number} */ side, /** @type {number} */ id) => {
      const ids = names.get(name) || [new Set(), new Set()];
      ids[side].add(id);
      names.set(name, ids);
    };
    const listed = this.threads.map((threads) => threads.map((thread) => [nameOf(thread), thread[0]].join('\0')));
    this.threads.forEach((threads, side) => threads.forEach((thread, id) => note(nameOf(thread), side, id)));
    this.threads.forEach((threads, side) => {
      const seen = new Set();
      const shared = new Set(listed[side].filter((name) => seen.size === seen.add(name).size));
      threads.forEach((thread, id) => shared.has(listed[side][id]) && note(`#${thread[2]}`, side, id));
    });
    return names;
  }

  /** The threads to choose from, each with what a reader calls it. @returns {[value: string, text: string][]} */
  get threadChoices() {
    return (this.choicesMade ||= this.#listThreads());
  }

  /** What a reader calls the threads of a state. @param {string} thread */
  threadText(thread) {
    return this.threadChoices.find(([value]) => value === thread)?.[1] || thread;
  }

  /** @returns {[value: string, text: string][]} */
  #listThreads() {
    const names = [...this.threadNames()].map(([name, ids]) => {
      const side = ids[0].size ? 0 : 1;
      const [id] = ids[side];
      const own = nameOf(this.threads[side][id]);
      return { name, text: own === name ? name : `${own} ${name}` };
    });
    const order = new Intl.Collator(undefined, { numeric: true });
    names.sort((a, b) => order.compare(a.text, b.text));
    return [['', 'all'], .../** @type {[string, string][]} */ (names.map(({ name, text }) => [name, text]))];
  }

  /** Whether processes are the first row. @param {State} state */
  showsProcesses({ processes }) {
    return processes && this.rows.length > 1;
  }

  /** The number of the metric that the evidence is about. */
  get testedMetric() {
    return Math.max(0, this.#metricNamed(({ tested }) => tested));
  }

  /** @param {(metric: import('../data/report.js').Metric) => boolean} is */
  #metricNamed(is) {
    return (this.tables.meta.metrics || []).findIndex(is);
  }

  /** The number of the metric of a state. @param {State} state */
  metricOf({ metric }) {
    const at = this.#metricNamed(({ name }) => name === metric);
    return at < 0 ? this.testedMetric : at;
  }

  /** Whether the metric of a state is the tested one. @param {State} state */
  isTested(state) {
    return this.metricOf(state) === this.testedMetric;
  }

  /** Whether a state cannot be shown without samples: filters and untested metrics need them. @param {State} state */
  needsSamples(state) {
    const ofThreads = !!state.thread || !!this.processIn(state) || this.showsProcesses(state);
    return ofThreads || !!state.range || !this.isTested(state) || this.needsLines(state);
  }

  /** Whether a state filters by a line. @param {Pick<State, 'filters'>} state */
  needsLines({ filters }) {
    return !!this.tables.meta.hasLines && hasKind(filters, 'line');
  }

  /** Expressions of the filters of a state that have to be tried apart before it is shown. @param {State} state */
  slowExpressions({ filters }) {
    return this.expressions.unknown(expressionsOf(filters));
  }

  /** What the filters of a state mean here. @param {State} state */
  meantBy({ filters }) {
    const { expressions, functionOf, functions, processes, tables } = this;
    const line = (/** @type {string} */ hash) => lineOf(tables, functionOf, hash);
    const found = (/** @type {string} */ text) => expressions.find(text);
    if (this.memo.isNew('meant', filters, this.rows, tables.lineStacks, expressions.answers))
      this.meant = meaningOf(filtersOf(filters), functions, functionOf, processes, line, found);
    return this.meant;
  }

  /**
   * The nodes of the report whose stacks the filters keep, as 1 by node; null where they keep all.
   * @param {State} state
   */
  passesIn(state) {
    const { functions, tables } = this;
    if (this.memo.isNew('chosen', state.filters, tables.lineStacks, this.expressions.answers))
      this.chosen = chosenStacks(tables.tree, functions, this.meantBy(state));
    return this.chosen;
  }

  /** The samples that the filters by stack and by line keep. @param {State} state @returns {import('./sums.js').Kept} */
  keptIn(state) {
    const [passes, meant] = [this.passesIn(state), this.meantBy(state)];
    const { samples } = this.tables;
    if (this.memo.isNew('kept', passes, samples, state.filters)) this.keptSamples = passes && this.#keptOf(passes, meant);
    return this.keptSamples;
  }

  /**
   * The samples whose stacks pass, and go through the line that is filtered by.
   * @param {Uint8Array} passes by node @param {Meant[]} meant
   */
  #keptOf(passes, meant) {
    const { lineStacks, samples } = this.tables;
    const kept = samples.map((of) => of && Uint8Array.from(of.node, (node) => passes[node]));
    for (const { row } of meant) {
      if (row === undefined || !lineStacks) continue;
      const through = samplesThrough(lineStacks, row);
      kept.forEach((marks, side) => marks?.forEach((_, i) => through[side]?.[i] || (marks[i] = 0)));
    }
    return kept;
  }

  /** The name of the process that a filter keeps; empty for all. @param {State} state */
  processIn(state) {
    return this.meantBy(state).find(({ filter }) => filter.kind === 'process')?.subject || '';
  }

  /**
   * Whether a thread passes the filters by thread and by process; undefined where all do.
   * @param {string} thread @param {string} process the name of a row of processes
   */
  keepsThread(thread, process) {
    const ids = thread ? this.threadNames().get(thread) : null;
    if (!ids && !process) return undefined;
    const key = JSON.stringify([thread, process]);
    const known = this.kept.get(key);
    if (known) return known;
    const of = this.rows.find(({ name }) => name === process)?.of || [process, process];
    const isKept = this.threads.map((threads, side) =>
      Uint8Array.from(threads, (one) => (!process || processOf(one) === of[side] ? 1 : 0)),
    );
    if (ids) isKept.forEach((marks, side) => marks.forEach((_, id) => ids[side].has(id) || (marks[id] = 0)));
    const keeps = (/** @type {number} */ side, /** @type {number} */ id) => isKept[side][id] === 1;
    this.kept.set(key, keeps);
    return keeps;
  }

  /** The threads of both sides. */
  get threads() {
    const all = this.tables.meta.recordings.map(({ threads }) => threads);
    return this.sides === 1 ? [[], all[0]] : all;
  }

  /** The range of time that counts; null for all. @param {State} state */
  #rangeIn({ range }) {
    return this.hasTimeline ? range : null;
  }

  /** Whether filters leave a part of the samples. @param {State} state */
  isPart(state) {
    const keepThread = this.keepsThread(state.thread, this.processIn(state));
    return !!(this.#rangeIn(state) || keepThread || chooseStacks(this.meantBy(state)));
  }

  /** What each sample [base, head] counts for under the filters. @param {State} state */
  valuesIn(state) {
    const { samples, timelines } = this.tables;
    const keepThread = this.keepsThread(state.thread, this.processIn(state));
    const [kept, metric, range] = [this.keptIn(state), this.metricOf(state), this.#rangeIn(state)];
    return filteredValues(samples, timelines, { keepThread, range, metric, kept });
  }

  /** The tree of the report under the filters. @param {State} state */
  tree(state) {
    const { tree, samples, timelines } = this.tables;
    const [metric, tested] = [this.metricOf(state), this.isTested(state)];
    const keepThread = this.keepsThread(state.thread, this.processIn(state));
    const range = this.#rangeIn(state);
    const passes = this.passesIn(state);
    const hasLine = this.meantBy(state).some(({ row }) => row !== undefined);
    if (this.showsProcesses(state)) {
      const values = this.valuesIn(state);
      return this.#splitByProcess(values, this.isPart(state)) || this.#withValues(selfOfSamples(tree, samples, values), tested);
    }
    if (!keepThread && !range && tested && !hasLine) return passes ? this.#withValues(selfOf(tree.self, passes), true) : tree;
    const self = filteredSelf(tree, samples, timelines, { keepThread, range, metric, kept: this.keptIn(state) });
    return this.#withValues(self, tested);
  }

  /** The tree of the report with other figures. @param {Float64Array[]} self @param {boolean} tested */
  #withValues(self, tested) {
    const { tree } = this.tables;
    const other = tree.withSelf(self);
    if (tested && this.sides === 2) other.state = statesUnder(tree, other);
    return other;
  }

  /**
   * The tree with a row of each process.
   * @param {(Float64Array|null)[]} values of the samples @param {boolean} isPart
   */
  #splitByProcess(values, isPart) {
    const { functions, rows, tables, threads } = this;
    if (this.firstProcess < 0) {
      this.firstProcess = functions.length;
      addProcessRows(functions, rows);
      this.functionsAdded();
    }
    const factor = tables.meta.factor || 1;
    return splitTree({ ...tables, values, threads, rows, factor, isPart, first: this.firstProcess });
  }

  /**
   * The time [base, head] of everything, without filters and without interrupts, and of what each filter is about.
   * @param {State} state @param {Tree} part the tree under the filters
   * @param {number[]} repeated the time of stacks with a recursion that was folded
   */
  times(state, part, repeated) {
    const { functions, tables } = this;
    const metric = this.metricOf(state);
    const { samples, timelines, tree } = tables;
    const meant = this.meantBy(state);
    const origins = originsOf(functions);
    const self = this.isTested(state) ? tree.self : filteredSelf(tree, samples, timelines, { metric });
    const sum = (/** @type {Float64Array[]} */ of) => timeWithoutInterrupts(tree, of);
    const process = this.processIn(state);
    const range = this.#rangeIn(state);
    const keepThread = this.keepsThread(state.thread, '');
    const isOnly = [process, range, keepThread, chooseStacks(meant)].filter(Boolean).length === 1;
    const keeping = (/** @type {import('./sums.js').SampleFilter} */ filters) =>
      isOnly
        ? timeWithoutInterrupts(part, part.self)
        : sum(filteredSelf(tree, samples, timelines, { ...filters, metric }));
    const times = timesOf(tree, self, functions, meant, origins);
    if (this.memo.isNew('whole', self)) this.whole = sum(self);
    meant.forEach(({ filter, row, subject }, i) => {
      if (row !== undefined && tables.lineStacks)
        times[i] = sum(filteredSelf(tree, samples, timelines, { metric, kept: samplesThrough(tables.lineStacks, row) }));
      if (filter.kind === 'recursion') times[i] = repeated;
      if (filter.kind === 'process' && subject) times[i] = keeping({ keepThread: this.keepsThread('', process) });
    });
    return {
      all: this.whole,
      filters: times,
      thread: keepThread ? keeping({ keepThread }) : null,
      range: range ? keeping({ range }) : null,
    };
  }
}
