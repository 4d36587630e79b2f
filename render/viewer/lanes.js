// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a recording by thread: which lanes a timeline has, in which order, and how long an event stands for.

/** @typedef {import('./decode.js').Samples} Samples */
/** @typedef {import('./decode.js').Timeline} Timeline */
/** @typedef {import('./report.js').Metric} Metric */
/** @typedef {import('./report.js').Recording} Recording */
/** @typedef {import('./tree.js').Tree} Tree */

/** Microseconds of the units of time. @type {Record<string, number>} */
const TIME_UNITS = { nanoseconds: 1e-3, microseconds: 1, milliseconds: 1e3, seconds: 1e6 };
/** How long an event stands for where nothing tells, in microseconds. */
const UNKNOWN_PERIOD = 1000;

/**
 * The first of sorted times that is not before a time.
 * @param {Float64Array} times @param {number} time @param {number} begin @param {number} end
 */
export function lowerBound(times, time, begin, end) {
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (times[middle] < time) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

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

/** The events of one side, by thread and in order of time. */
export class Track {
  /**
   * @param {Samples} samples @param {Timeline} timeline @param {Metric[]} metrics
   * @param {Pick<Recording, 'frequency_hz'>} recording
   */
  constructor(samples, timeline, metrics, recording) {
    this.samples = samples;
    this.timeline = timeline;
    this.spent = spentTimes(samples, metrics);
    /** The end of the last event's time, in microseconds. */ this.end = 0;
    let threads = 0;
    for (let i = 0; i < samples.count; i++) threads = Math.max(threads, samples.thread[i] + 1);
    /** Where the events of a thread begin, and those of the next. */ this.starts = new Int32Array(threads + 1);
    /** Times of the events by thread. */ this.time = new Float64Array(timeline.count);
    /** Their numbers in the timeline. */ this.event = new Int32Array(timeline.count);
    this.#sort();
    /** @type {Float64Array|null} the weights of the events of each sample together, where events have weights */
    this.weights = timeline.weight.size ? new Float64Array(samples.count) : null;
    for (const [event, weight] of timeline.weight)
      /** @type {Float64Array} */ (this.weights)[timeline.sample[event]] += weight;
    /** The time that an event without a weight stands for. */ this.period = this.#periodOf(recording.frequency_hz);
  }

  /** Puts the events of each thread together. They are in order of time already. */
  #sort() {
    const { event, samples, starts, time, timeline } = this;
    const { count, sample } = timeline;
    const { thread } = samples;
    const next = new Int32Array(starts.length + 1);
    for (let i = 0; i < count; i++) next[thread[sample[i]] + 1]++;
    for (let t = 1; t < next.length; t++) next[t] += next[t - 1];
    starts.set(next.subarray(0, starts.length));
    for (let i = 0; i < count; i++) {
      const at = next[thread[sample[i]]]++;
      event[at] = i;
      time[at] = timeline.time[i];
      if (timeline.time[i] > this.end) this.end = timeline.time[i];
    }
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
    return this.samples.node[this.timeline.sample[this.event[at]]];
  }

  /** How long an event stands for. @param {number} at its place in this track */
  length(at) {
    const { event, period, spent, timeline, weights } = this;
    const weight = weights && timeline.weight.get(event[at]);
    if (!weight || !weights) return period;
    const sample = timeline.sample[event[at]];
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
 * @property {number} busy the time that its events stand for, in microseconds
 */

/**
 * The threads of one side that have events.
 * @param {number} side @param {Track} track @param {Recording} recording @param {Tree} tree
 * @returns {Lane[]}
 */
function lanesOf(side, track, recording, tree) {
  const { samples, starts, spent, period } = track;
  const threads = starts.length - 1;
  const depth = new Int32Array(threads);
  const busy = new Float64Array(threads);
  for (let i = 0; i < samples.count; i++) {
    const thread = samples.thread[i];
    depth[thread] = Math.max(depth[thread], tree.depth[samples.node[i]]);
    busy[thread] += spent ? spent[i] : samples.times[i] * period;
  }
  /** @type {Lane[]} */
  const out = [];
  for (let thread = 0; thread < threads; thread++) {
    if (starts[thread] === starts[thread + 1]) continue;
    const [run, , tid, process, own] = recording.threads[thread] || [0, 0, thread, '', ''];
    const name = own || process || 'thread';
    const [begin, end] = [starts[thread], starts[thread + 1]];
    out.push({ side, track, thread, process, name, tid, run, begin, end, depth: depth[thread], busy: busy[thread] });
  }
  return out.sort((a, b) => b.busy - a.busy || a.thread - b.thread);
}

/**
 * Lanes of both sides in the order in which they are drawn: by process, the busiest process first; within it the
 * busiest thread first. A thread of base stands above the thread of head with the same names, of several the one that
 * has the same place in order of time spent.
 * @param {Lane[][]} sides the lanes of each side, the busiest first @returns {Lane[]}
 */
export function ordered(sides) {
  /** @type {Map<string, {process: string, busy: number, lanes: Lane[]}>} */
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
      const group = groups.get(key) || { process: lane.process, busy: 0, lanes: [] };
      group.busy += lane.busy;
      group.lanes.push(lane);
      groups.set(key, group);
      processes.set(lane.process, (processes.get(lane.process) || 0) + lane.busy);
    }
  }
  const timeOf = (/** @type {string} */ process) => processes.get(process) || 0;
  const order = (/** @type {string} */ a, /** @type {string} */ b) => timeOf(b) - timeOf(a) || (a < b ? -1 : 1);
  return [...groups.values()]
    .sort((a, b) => (a.process === b.process ? b.busy - a.busy : order(a.process, b.process)))
    .flatMap((group) => group.lanes);
}

/**
 * The lanes of a report.
 * @param {import('./report.js').Tables} tables with samples and timelines
 * @returns {{lanes: Lane[], end: number}} `end` of the longest run in microseconds
 */
export function allLanes({ meta, tree, samples, timelines }) {
  const sides = [];
  let end = 1;
  for (let side = 2 - meta.sides; side < 2; side++) {
    const own = samples[side];
    const timeline = timelines[side];
    const recording = meta.recordings[meta.sides === 1 ? 0 : side];
    if (!own || !timeline?.count) continue;
    const track = new Track(own, timeline, meta.metrics || [], recording);
    sides.push(lanesOf(side, track, recording, tree));
    end = Math.max(end, track.end + track.period);
  }
  return { lanes: ordered(sides), end };
}
