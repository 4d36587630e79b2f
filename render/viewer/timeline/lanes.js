// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a recording by thread: which lanes a timeline has, in which order, and how long an event stands for.

import { processOf } from '../model/processes.js';
import { lowerBound } from '../model/sums.js';

/** @typedef {import('../data/decode.js').Samples} Samples */
/** @typedef {import('../data/decode.js').Timeline} Timeline */
/** @typedef {import('../data/report.js').Metric} Metric */
/** @typedef {import('../data/report.js').Recording} Recording */
/** @typedef {import('../data/tree.js').Tree} Tree */

/** Microseconds of the units of time. @type {Record<string, number>} */
const TIME_UNITS = { nanoseconds: 1e-3, microseconds: 1, milliseconds: 1e3, seconds: 1e6 };
/** How long an event stands for where nothing tells, in microseconds. */
const UNKNOWN_PERIOD = 1000;

/**
 * The microseconds that the events of each sample stand for together; null where no metric is a time. Metrics of one
 * sample are different readings of the same time, so that the largest counts.
 * @param {Samples} samples @param {Metric[]} metrics
 */
function spentTimes({ count, values }, metrics) {
  /** @type {Float64Array|null} */
  let spent = null;
  metrics.forEach(({ unit, isCount }, metric) => {
    if (isCount || !TIME_UNITS[unit]) return;
    spent ||= new Float64Array(count);
    const column = values[metric];
    const length = TIME_UNITS[unit];
    for (let i = 0; i < count; i++) spent[i] = Math.max(spent[i], column[i] * length);
  });
  return /** @type {Float64Array|null} */ (spent);
}

/** When the last event was. @param {Timeline} timeline @returns {number} in microseconds */
function lastTime({ starts, time }) {
  let last = 0;
  for (let i = 1; i < starts.length; i++) if (starts[i] > starts[i - 1]) last = Math.max(last, time[starts[i] - 1]);
  return last;
}

/**
 * The events of samples that are shown.
 * @param {Timeline} timeline @param {Uint8Array} isKept 1 for each sample that is shown
 * @returns {Timeline}
 */
function passingEvents({ count, starts, time, sample, weight }, isKept) {
  const kept = { count: 0, starts: new Int32Array(starts.length), time: new Float64Array(count), weight: new Map() };
  const samples = new Int32Array(count);
  for (let thread = 0; thread + 1 < starts.length; thread++) {
    for (let i = starts[thread]; i < starts[thread + 1]; i++) {
      if (!isKept[sample[i]]) continue;
      if (weight.has(i)) kept.weight.set(kept.count, weight.get(i));
      kept.time[kept.count] = time[i];
      samples[kept.count++] = sample[i];
    }
    kept.starts[thread + 1] = kept.count;
  }
  return { ...kept, sample: samples };
}

/** The events of one side, by thread and in order of time. */
export class Track {
  /**
   * @param {Samples} samples @param {Timeline} timeline @param {Metric[]} metrics
   * @param {Pick<Recording, 'frequency_hz'>} recording
   * @param {Uint8Array|null} isKept 1 for each sample whose events are shown; null for all
   * @param {Uint8Array|null} kinds the class of waits of each sample, 0 for CPU time; null where there are no waits
   */
  constructor(samples, timeline, metrics, recording, isKept, kinds) {
    this.isKept = isKept;
    this.kinds = kinds;
    this.samples = samples;
    const shown = isKept ? passingEvents(timeline, isKept) : timeline;
    this.timeline = shown;
    this.spent = spentTimes(samples, metrics);
    /** The end of the last event's time, shown or not, in microseconds. */ this.end = lastTime(timeline);
    const { starts, time } = shown;
    /** Where the events of a thread begin, and those of the next. */ this.starts = starts;
    /** Times of the events by thread. */ this.time = time;
    /** @type {Float64Array|null} the weights of the events of each sample together, where events have weights */
    this.weights = shown.weight.size ? new Float64Array(samples.count) : null;
    for (const [event, weight] of shown.weight)
      /** @type {Float64Array} */ (this.weights)[shown.sample[event]] += weight;
    /** The time that an event without a weight stands for. */ this.period = this.#periodOf(recording.frequency_hz);
    /** @type {{lengths: Float64Array, times: Float64Array}|null} how long events look, and are, where there are waits */
    this.settled = null;
    if (kinds) this.#settle();
  }

  /**
   * Moves the beginning of waits behind the samples of CPU time in them, and events into the order of their beginnings.
   * A wait is taken when it ends, with the time of shorter ones before it that are not told apart: what ran among these
   * ran before the wait itself.
   */
  #settle() {
    const { period, starts, timeline } = this;
    const { count, sample } = timeline;
    const begin = timeline.time.slice(0, count);
    const times = Float64Array.from(begin, (_, at) => this.length(at));
    const lengths = times.slice();
    const order = Int32Array.from(begin, (_, at) => at);
    /** The last sample of CPU time of a thread up to each event. */
    const ran = new Int32Array(count);
    for (let thread = 0; thread + 1 < starts.length; thread++) {
      const [first, behind] = [starts[thread], starts[thread + 1]];
      for (let at = first, last = -1; at < behind; at++) ran[at] = last = this.kind(at) ? last : at;
      for (let at = first; at < behind; at++) {
        if (!this.kind(at)) continue;
        const end = timeline.time[at] + times[at];
        const last = ran[lowerBound(timeline.time, end, at + 1, behind) - 1];
        if (last > at) begin[at] = Math.min(end, timeline.time[last] + period);
        lengths[at] = end - begin[at];
      }
      order.subarray(first, behind).sort((a, b) => begin[a] - begin[b] || a - b);
    }
    const moved = (/** @type {ArrayLike<number>} */ column) => Float64Array.from(order, (at) => column[at]);
    this.time = moved(begin);
    this.timeline = { ...timeline, time: this.time, sample: Int32Array.from(order, (at) => sample[at]) };
    this.settled = { lengths: moved(lengths), times: moved(times) };
  }

  /** @param {number} frequency in Hz; 0 where it is not known */
  #periodOf(frequency) {
    const { samples, spent, weights } = this;
    let sum = 0;
    let times = 0;
    for (let i = 0; spent && i < samples.count; i++) {
      if (weights?.[i]) continue;
      sum += spent[i];
      times += samples.times[i];
    }
    if (sum > 0 && times > 0) return sum / times;
    return frequency > 0 ? 1e6 / frequency : UNKNOWN_PERIOD;
  }

  /** The innermost frame of an event. @param {number} at its place in this track */
  node(at) {
    return this.samples.node[this.timeline.sample[at]];
  }

  /** When the last wait ends: it may have begun long before the last event. */
  lastEnd() {
    const { starts, time } = this;
    let last = 0;
    for (let i = 1; this.kinds && i < starts.length; i++)
      if (starts[i] > starts[i - 1]) last = Math.max(last, time[starts[i] - 1] + this.length(starts[i] - 1));
    return last;
  }

  /** The class of waits of an event; 0 for CPU time. @param {number} at its place in this track */
  kind(at) {
    return this.kinds ? this.kinds[this.timeline.sample[at]] : 0;
  }

  /** The time of an event: of a wait also the one before it began. @param {number} at its place in this track */
  timeOf(at) {
    return this.settled ? this.settled.times[at] : this.length(at);
  }

  /** How long an event stands for. @param {number} at its place in this track */
  length(at) {
    const { period, settled, spent, timeline, weights } = this;
    if (settled) return settled.lengths[at];
    const weight = weights && timeline.weight.get(at);
    if (!weight || !weights) return period;
    const sample = timeline.sample[at];
    return spent?.[sample] ? (spent[sample] * weight) / weights[sample] : period;
  }
}

/**
 * One thread of one side.
 * @typedef {object} Lane
 * @property {number} side
 * @property {Track} track
 * @property {number} thread its number in the recording
 * @property {string} process
 * @property {string} name
 * @property {number} tid
 * @property {number} run
 * @property {number} begin its first event in the track
 * @property {number} end the event behind its last
 * @property {number} depth of its deepest stack
 * @property {number} busy the CPU time that its events stand for, in microseconds
 * @property {number} waited the time of its waits, in microseconds
 */

/**
 * The threads of one side that have events.
 * @param {number} side @param {Track} track @param {Recording} recording @param {Tree} tree
 * @returns {Lane[]}
 */
function lanesOf(side, track, recording, tree) {
  const { isKept, kinds, samples, starts, spent, period } = track;
  const threads = starts.length - 1;
  const depth = new Int32Array(threads);
  const busy = new Float64Array(threads);
  const waited = new Float64Array(threads);
  for (let i = 0; i < samples.count; i++) {
    if (isKept && !isKept[i]) continue;
    const thread = samples.thread[i];
    depth[thread] = Math.max(depth[thread], tree.depth[samples.node[i]]);
    (kinds?.[i] ? waited : busy)[thread] += spent ? spent[i] : samples.times[i] * period;
  }
  /** @type {Lane[]} */
  const out = [];
  for (let thread = 0; thread < threads; thread++) {
    if (starts[thread] === starts[thread + 1]) continue;
    /** @type {import('../data/report.js').Thread} */
    const known = recording.threads[thread] || [0, 0, thread, '', ''];
    const [run, , tid, , own] = known;
    const process = processOf(known);
    const name = own || process || 'thread';
    const [begin, end] = [starts[thread], starts[thread + 1]];
    const times = { busy: busy[thread], waited: waited[thread] };
    out.push({ side, track, thread, process, name, tid, run, begin, end, depth: depth[thread], ...times });
  }
  return out.sort((a, b) => b.busy - a.busy || b.waited - a.waited || a.thread - b.thread);
}

/**
 * Lanes of both sides in the order in which they are drawn: by process, the busiest process first; within it the
 * busiest thread first. A thread of base stands above the thread of head with the same names, of several the one that
 * has the same place in order of time spent.
 * @param {Lane[][]} sides the lanes of each side, the busiest first @returns {Lane[]}
 */
export function ordered(sides) {
  /** @type {Map<string, {process: string, busy: number, waited: number, lanes: Lane[]}>} */
  const groups = new Map();
  /** @type {Map<string, number>} */
  const processes = new Map();
  for (const lanes of sides) {
    /** @type {Map<string, number>} */
    const places = new Map();
    for (const lane of lanes) {
      const names = JSON.stringify([lane.process, lane.name]);
      const place = places.get(names) || 0;
      places.set(names, place + 1);
      const key = `${place} ${names}`;
      const group = groups.get(key) || { process: lane.process, busy: 0, waited: 0, lanes: [] };
      group.busy += lane.busy;
      group.waited += lane.waited;
      group.lanes.push(lane);
      groups.set(key, group);
      processes.set(lane.process, (processes.get(lane.process) || 0) + lane.busy);
    }
  }
  const timeOf = (/** @type {string} */ process) => processes.get(process) || 0;
  const order = (/** @type {string} */ a, /** @type {string} */ b) => timeOf(b) - timeOf(a) || (a < b ? -1 : 1);
  return [...groups.values()]
    .sort((a, b) => (a.process === b.process ? b.busy - a.busy || b.waited - a.waited : order(a.process, b.process)))
    .flatMap((group) => group.lanes);
}

/**
 * The lanes of a report.
 * @param {import('../data/report.js').Tables} tables with samples and timelines
 * @param {import('../model/sums.js').Kept} [kept] the samples whose events are shown
 * @param {Uint8Array|null} [classes] the class of waits that each function is; null where there are none
 * @returns {{lanes: Lane[], end: number}} `end` of the longest run in microseconds
 */
export function allLanes({ meta, tree, samples, timelines }, kept = null, classes = null) {
  const sides = [];
  let end = 1;
  for (let side = 2 - meta.sides; side < 2; side++) {
    const own = samples[side];
    const timeline = timelines[side];
    const recording = meta.recordings[meta.sides === 1 ? 0 : side];
    if (!own || !timeline?.count) continue;
    const kinds = classes && Uint8Array.from(own.node, (node) => (node ? classes[tree.func[node]] : 0));
    const track = new Track(own, timeline, meta.metrics || [], recording, kept?.[side] || null, kinds);
    sides.push(lanesOf(side, track, recording, tree));
    end = Math.max(end, track.end + track.period, track.lastEnd());
  }
  return { lanes: ordered(sides), end };
}
