// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of a report. This is the one place that knows that a page stores them in compressed blocks, and which
// block holds what: everything else asks a Report for tables and gets them decoded.

import { readBlock, readLater } from './block.js';
import { decodeBottlenecks, decodeReleases, decodeSamples, decodeTimeline, decodeTree } from './decode.js';
import { decodeLineStacks, LineTable } from './lines.js';
import { decodeFunctions } from './symbols.js';

/** @typedef {import('./decode.js').Costs} Costs */
/** @typedef {import('./lines.js').LineStacks} LineStacks */
/** @typedef {import('./decode.js').Releases} Releases */
/** @typedef {import('./decode.js').Samples} Samples */
/** @typedef {import('./decode.js').Timeline} Timeline */
/** @typedef {import('./symbols.js').Func} Func */
/** @typedef {import('./tree.js').Tree} Tree */

/**
 * A value type of the profiles; the tested one is what the evidence is about.
 * @typedef {{name: string, words: string, unit: string, isCount: boolean, tested: boolean}} Metric
 */

/**
 * A class of waits (`profile/waits.c`): in words, as in "waiting for a lock", and as "#9e270f"; CPU time has the neutral
 * colour of the theme. The time of an idle one is in the metric `idle` alone.
 * @typedef {{words: string, reason: string, colour: string, isIdle: boolean}} WaitClass
 */

/**
 * A thread as [number of its run, process id, thread id, name of its process, its own name].
 * @typedef {[number, number, number, string, string]} Thread
 */

/**
 * What is known of one recording, or of all runs of one side; null where nobody measured it. Facts have the names of
 * `profile/facts.c`.
 * @typedef {object} Recording
 * @property {string} name
 * @property {string} command
 * @property {string} event
 * @property {string} cpu_model
 * @property {string} kernel
 * @property {string} call_graph
 * @property {string} container
 * @property {number|null} cpu_limit in CPUs; null for none
 * @property {number} frequency_hz
 * @property {number} runs
 * @property {number} durationNs
 * @property {string} sampledWords how many samples there are
 * @property {string} lossWords what was lost and how stacks ended, each behind a dot
 * @property {string} verified how many stacks and names were compared with other libraries; "" where nobody asked
 * @property {[string, string][]} labels what it is of: key and value of each
 * @property {boolean} hasTimeline
 * @property {Thread[]} threads
 */

/**
 * A row of the table of origins.
 * @typedef {{base: number, head: number, delta: number}} LedgerRow
 */

/**
 * The answers of one side by bucket of their latency (`profile/requests.h`), from the first bucket that has some on.
 * @typedef {{first: number, counts: number[], p50: number, p99: number}} Latencies
 */

/**
 * How many requests a second one side answered, or sent where it answered none, in equal parts of the time up to
 * `endUs`, in microseconds.
 * @typedef {{endUs: number, perSecond: number[]}} Rates
 */

/**
 * What the recorded program did, in words; null for a side that does not tell how long its answers took, or when they
 * were.
 * @typedef {{words: string, state: string, latencies: (Latencies|null)[], rates: (Rates|null)[]}} Requests
 */

/**
 * What the page says of the whole report; `render/page_meta.c` writes it.
 * @typedef {object} Meta
 * @property {number} sides 1 or 2
 * @property {string} tool the program that wrote the page, with its version
 * @property {string} title what was recorded, as "checkout 4.2.1 → 4.3.0"; "" where labels do not say it
 * @property {string} metric name of the tested metric
 * @property {string} unit of the tested metric
 * @property {{base: number, head: number}} total
 * @property {number|null} factor what head is multiplied with to compare both sides
 * @property {string} scaleWords how that factor was found
 * @property {string} scaleText
 * @property {number|null} otherFactor where the load can be read in another way
 * @property {string} otherWords
 * @property {string} verdict
 * @property {string} verdictText
 * @property {string} evidenceText
 * @property {string} sameCodeWords what explains a change of a function whose machine code is the same
 * @property {{mode: string, q: number|null}} evidence
 * @property {Record<string, LedgerRow>} ledger by origin
 * @property {LedgerRow} interrupts
 * @property {string} interruptsWords
 * @property {LedgerRow} runQueue
 * @property {string} runQueueTitle
 * @property {string} runQueueWords
 * @property {LedgerRow} [compilation]
 * @property {string} [compilationWords]
 * @property {string[]} warnings
 * @property {Recording[]} recordings base and head, or head alone
 * @property {Record<string, string>} ruleTexts by number of the rule that decides an origin
 * @property {string[]} nameSources
 * @property {Metric[]} metrics
 * @property {{classes: WaitClass[], frames: [number, number][], hasReleases: boolean}|null} [waits] the classes of waits
 *   by number, of which 0 is CPU time, and the functions that are their frames, with the number of the class
 * @property {Requests|null} [requests] the work that the recorded program did
 * @property {boolean} [hasBottlenecks] whether the recordings tell what holds functions up
 * @property {string[]} commits which commits can be the cause, line by line; none where nobody asked
 * @property {boolean} [hasLines] whether the page has functions line by line
 * @property {boolean} [bottlenecksExplain] whether the tested metric is the cost whose parts are known
 */

/**
 * The tables that everything shown is made from. Samples and timelines hold null for a side that the report lacks, and
 * for both sides until they are asked for.
 * @typedef {object} Tables
 * @property {Meta} meta
 * @property {Func[]} functions
 * @property {Tree} tree
 * @property {(Samples|null)[]} samples [base, head]
 * @property {(Timeline|null)[]} timelines [base, head]
 * @property {(Releases|null)[]} releases [base, head]
 * @property {{functions: Costs, nodes: Costs}|null} bottlenecks null until they are asked for, and where there are none
 * @property {LineTable|null} [lines] likewise
 * @property {(LineStacks|null)[]|null} [lineStacks] likewise
 * @property {boolean} [lineStacksLeftOut] they have no room in the page
 */

/**
 * A benchmark as `render/page_benchmarks.c` writes it: name, URI, verdict, base, head, change, its interval, q, rounds
 * and iterations of base, of head, the number of the part of the page that explains it, and the function that does, with
 * its place.
 * @typedef {[string, string, string, number|null, number|null, number|null, number|null, number|null, number|null,
 *   number, number, number, number, number|null, [string, string]|null]} BenchmarkColumns
 */

/**
 * What the page says of a suite.
 * @typedef {object} SuiteTable
 * @property {number} sides 1 or 2
 * @property {number} leftOut how many parts have no room in the page
 * @property {number|null} all the part of all benchmarks together
 * @property {boolean} isMeasured values are times of an iteration, which the harness measured
 * @property {boolean} isExact
 * @property {string} tool
 * @property {string} title
 * @property {string} metric
 * @property {string} metricWords
 * @property {string} unit
 * @property {string} verdict
 * @property {string} verdictText
 * @property {string} evidenceText what the values are, and what the verdicts rest on
 * @property {string} shortWords what is said of a change that is not proven although its interval leaves out 0
 * @property {string[]} warnings
 * @property {{name: string, command: string}[]} recordings base and head, or head alone
 * @property {BenchmarkColumns[]} rows in the order in which they should be read
 */

/**
 * What the page of a suite says of its benchmarks. Its other tables belong to parts, one for each benchmark.
 * @returns {Promise<SuiteTable>}
 */
export async function readSuite() {
  return JSON.parse(new TextDecoder().decode(await readBlock('benchmarks')));
}

/**
 * Hands out the tables of the page. The first picture needs `meta`, `functions` and `tree`, so a report begins with
 * these; samples and timelines are decoded when `readSamples` and `readTimelines` are called for the first time, and
 * stay.
 * @implements {Tables}
 */
export class Report {
  /** Use `Report.open`. @param {string} prefix @param {Meta} meta @param {Func[]} functions @param {Tree} tree */
  constructor(prefix, meta, functions, tree) {
    this.prefix = prefix;
    this.meta = meta;
    this.functions = functions;
    this.tree = tree;
    /** @type {(Samples|null)[]} */ this.samples = [null, null];
    /** @type {(Timeline|null)[]} */ this.timelines = [null, null];
    /** @type {(Releases|null)[]} */ this.releases = [null, null];
    /** @type {{functions: Costs, nodes: Costs}|null} */ this.bottlenecks = null;
    /** @type {LineTable|null} */ this.lines = null;
    /** @type {(LineStacks|null)[]|null} */ this.lineStacks = null;
    this.lineStacksLeftOut = false;
    /** @type {Promise<void>|null} */ this.linesComing = null;
    /** @type {Promise<void>|null} */ this.lineStacksComing = null;
    this.hasSamples = false;
    this.hasTimelines = false;
    /** @type {Promise<void>|null} */ this.samplesComing = null;
    /** @type {Promise<void>|null} */ this.timelinesComing = null;
  }

  /** Decodes what the first picture needs. Throws where the page is damaged. */
  static open() {
    return Report.#read('', readBlock);
  }

  /** The same of a part of a suite's page. @param {number} part */
  static openPart(part) {
    return Report.#read(`${part}-`, readLater);
  }

  /** @param {string} prefix of the names of blocks @param {(name: string) => Promise<Uint8Array>} read */
  static async #read(prefix, read) {
    const [metaBytes, functionBytes, treeBytes] = ['meta', 'functions', 'tree'].map((name) => read(prefix + name));
    /** @type {Meta} */ const meta = JSON.parse(new TextDecoder().decode(await metaBytes));
    const functions = decodeFunctions(await functionBytes, meta.sides);
    return new Report(prefix, meta, functions, decodeTree(await treeBytes, meta.sides));
  }

  /** Makes `samples` available. Filters by thread or time and metrics that were not tested need them. */
  readSamples() {
    return (this.samplesComing ||= readLater(`${this.prefix}samples`).then((bytes) => {
      this.samples = decodeSamples(bytes, this.meta.sides, this.meta.metrics);
      this.hasSamples = true;
    }));
  }

  /** Makes `releases` available. */
  async readReleases() {
    if (!this.meta.waits?.hasReleases || this.releases[1]) return;
    this.releases = decodeReleases(await readLater(`${this.prefix}waits`), this.meta.sides);
  }

  /** Makes `bottlenecks` available, where there are some. */
  async readBottlenecks() {
    if (!this.meta.hasBottlenecks || this.bottlenecks) return;
    this.bottlenecks = decodeBottlenecks(await readLater(`${this.prefix}bottlenecks`), this.meta.sides);
  }

  /** Makes `lines` available, where there are some. */
  async readLines() {
    if (!this.meta.hasLines) return;
    await (this.linesComing ||= readLater(`${this.prefix}lines`).then((bytes) => {
      this.lines = new LineTable(bytes, this.meta.sides);
    }));
  }

  /** Makes `lineStacks`, `lines` and `samples` available, where there are lines. */
  async readLineStacks() {
    if (!this.meta.hasLines) return;
    const bytes = () => readLater(`${this.prefix}linestacks`);
    await (this.lineStacksComing ||= Promise.all([bytes(), this.readLines(), this.readSamples()]).then(([stacks]) => {
      this.lineStacks = decodeLineStacks(stacks, this.meta.sides, this.lines?.count || 0);
      this.lineStacksLeftOut = !this.lineStacks;
    }));
  }

  /** Makes `timelines` and `samples` available. */
  readTimelines() {
    const timeline = () => readLater(`${this.prefix}timeline`);
    return (this.timelinesComing ||= Promise.all([timeline(), this.readSamples()]).then(([bytes]) => {
      this.timelines = decodeTimeline(bytes, this.meta.sides);
      this.hasTimelines = true;
    }));
  }
}
