// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of a report. Views ask for few of many functions, so that their properties stay in columns until they
// are read.

import { Columns } from './block.js';
import { INTERRUPTS, STATES, stateOf } from './codes.js';

/** Numbers of the verdicts that are proven changes of a function in its place. */
export const PROVEN = new Set(['more', 'less', 'new', 'gone'].map((state) => STATES.indexOf(state)));

/**
 * Base, head and their difference in scaled units; null is what the report does not know.
 * @typedef {object} Estimate
 * @property {number} base
 * @property {number} head
 * @property {number} delta
 * @property {number|null} low
 * @property {number|null} high
 * @property {number|null} detectable
 * @property {string} state
 */

/** @param {number} value */
const known = (value) => (Number.isNaN(value) ? null : value);

class Estimates {
  /** @param {Columns} columns @param {number} count */
  constructor(columns, count) {
    this.base = columns.floats(count);
    this.head = columns.floats(count);
    this.low = columns.floats(count);
    this.high = columns.floats(count);
    this.detectable = columns.floats(count);
    this.state = columns.raw(count);
  }

  /** @param {number} id @returns {Estimate} */
  of(id) {
    return {
      base: this.base[id],
      head: this.head[id],
      delta: this.head[id] - this.base[id],
      low: known(this.low[id]),
      high: known(this.high[id]),
      detectable: known(this.detectable[id]),
      state: STATES[this.state[id]],
    };
  }
}

/**
 * A function of a group, which nothing tells apart from build to build: its side, and its times as they were measured,
 * with all it calls and in itself.
 * @typedef {{name: number, side: number, self: number, total: number}} Member
 */

/** The members of groups by the function that stands for the group. @param {Columns} columns */
function membersOf(columns) {
  /** @type {Map<number, Member[]>} */ const members = new Map();
  for (let left = columns.varint(); left > 0; left--) {
    const func = columns.varint();
    const [side, name] = [columns.varint(), columns.varint()];
    const [self, total] = columns.floats(2);
    if (!members.has(func)) members.set(func, []);
    members.get(func)?.push({ name, side, self, total });
  }
  return members;
}

/** Columns that the first picture does not need. */
class Details {
  /** @param {Columns} columns @param {number} count @param {number} sides */
  constructor(columns, count, sides) {
    const numbers = () => columns.numbers(new Int32Array(count));
    this.module = numbers();
    this.file = numbers();
    this.key = numbers();
    this.full = numbers();
    this.place = numbers();
    this.line = numbers();
    this.rule = numbers();
    this.rank = numbers();
    this.movedTo = sides === 2 ? numbers() : null;
    this.changedLine = sides === 2 ? numbers() : null;
    this.members = sides === 2 ? membersOf(columns) : null;
  }
}

/**
 * What much of a change is waiting for: the class of waits, the function that waits, the lock, and who ended most of
 * these waits in base and in head, of a lock by letting it go. Functions are numbers; -1 for none.
 * @typedef {{one: number, func: number, lock: string, by: [number, number]}} ChangeWait
 */

/**
 * A change as the report has it (`diff/verdict/changes.h`): functions of a chain of calls whose proven differences are
 * one, the outermost first, and the one that names it.
 * @typedef {object} Change
 * @property {number} func @property {boolean} own whether its figures are those of the function itself
 * @property {boolean} isOfOthers other changes say all of it: it is listed behind them, and not counted
 * @property {number} caller the user's function that it is called from, where it has none of its own; -1 for none
 * @property {number} to the last function of its title, which begins with the caller, else the function; -1 for none
 * @property {boolean} isCut whether the title leaves functions out before that
 * @property {number[]} chain @property {ChangeWait[]} waits where much of it waits
 */

const CHANGE_IS_SELF = 1;
const CHANGE_IS_OF_OTHERS = 2;
const CHANGE_IS_CUT = 4;

/**
 * Reads the changes; the names of locks are known when the texts behind them have been read.
 * @param {Columns} columns @returns {(texts: string[]) => Change[]}
 */
function changesOf(columns) {
  const numbers = (/** @type {number} */ count) => Array.from({ length: count }, () => columns.varint());
  const entries = Array.from({ length: columns.varint() }, () => {
    const [flags, func, caller, to, length] = numbers(5);
    const chain = numbers(length);
    const waits = Array.from({ length: columns.varint() }, () => numbers(6));
    return { flags, func, caller: caller - 1, to: to - 1, chain, waits };
  });
  /** @param {string[]} texts @param {number[]} wait @returns {ChangeWait} */
  const waitOf = (texts, [one, func, lock, number, base, head]) => ({
    one,
    func: func - 1,
    lock: lock ? texts[lock - 1] : number ? `${number} (no name)` : '',
    by: [base - 1, head - 1],
  });
  return (texts) =>
    entries.map(({ flags, waits, ...change }) => ({
      ...change,
      own: (flags & CHANGE_IS_SELF) !== 0,
      isOfOthers: (flags & CHANGE_IS_OF_OTHERS) !== 0,
      isCut: (flags & CHANGE_IS_CUT) !== 0,
      waits: waits.map((wait) => waitOf(texts, wait)),
    }));
}

/** The columns of all functions. */
class Symbols {
  /** @param {Uint8Array} bytes @param {number} sides */
  constructor(bytes, sides) {
    const columns = new Columns(bytes);
    const count = columns.varint();
    this.count = count;
    this.origin = columns.raw(count);
    this.source = columns.raw(count);
    this.code = columns.raw(count);
    this.languages = columns.raw(count);
    this.self = sides === 2 ? new Estimates(columns, count) : null;
    this.total = sides === 2 ? new Estimates(columns, count) : null;
    // The kind of match is for readers of JSON: no view shows it.
    if (sides === 2) columns.raw(count);
    this.name = columns.fixed(count);
    const readChanges = sides === 2 ? changesOf(columns) : () => [];
    const texts = columns.varint();
    this.texts = texts ? columns.text(columns.varint()).split('\0') : [];
    if (this.texts.length !== texts) throw new Error("the page's names are cut off");
    /** What the report lists as changes. */ this.changes = readChanges(this.texts);
    /** Whether the change that a function names is about the function itself, by function. */
    this.owns = new Map(this.changes.map(({ func, own }) => [func, own]));
    /** @type {Details|null} */ this.read = null;
    this.readDetails = () => new Details(columns, count, sides);
  }

  get details() {
    return (this.read ||= this.readDetails());
  }
}

/** One function of a report. */
export class Func {
  /** @param {Symbols} table @param {number} id */
  constructor(table, id) {
    this.table = table;
    this.id = id;
  }
  get name() {
    return this.table.texts[this.table.name[this.id]];
  }
  get module() {
    return this.table.texts[this.table.details.module[this.id]];
  }
  /** The name that identifies it to the program: of a Python function with its file. */
  get fullName() {
    const full = this.table.details.full[this.id];
    return full ? this.table.texts[full - 1] : this.name;
  }
  /** Where people look for it: its module, or the file and line of a Python function. */
  get place() {
    const place = this.table.details.place[this.id];
    return place ? this.table.texts[place - 1] : this.module;
  }
  /** Its language, and above that the one that it interprets, as the page has them. */
  get languages() {
    return this.table.languages[this.id];
  }
  get file() {
    return this.table.texts[this.table.details.file[this.id]];
  }
  get line() {
    return this.table.details.line[this.id];
  }
  /** The line whose own time changed most, in head, where the change of the function itself is proven; else 0. */
  get changedLine() {
    return this.table.details.changedLine?.[this.id] || 0;
  }
  /** The functions that it is the sum of, where nothing tells them apart from build to build. */
  get members() {
    const { texts, details } = this.table;
    return (details.members?.get(this.id) || []).map((member) => ({ ...member, name: texts[member.name] }));
  }
  /** What identifies the function in every report. */
  get key() {
    const key = this.table.details.key[this.id];
    return key ? this.table.texts[key - 1] : `${this.name}\`${this.module}`;
  }
  /** Index of ORIGINS. */
  get origin() {
    return this.table.origin[this.id];
  }
  get rule() {
    return this.table.details.rule[this.id];
  }
  get source() {
    return this.table.source[this.id];
  }
  /** Whether its machine code changed: 0 unknown, 1 the same, 2 changed. */
  get code() {
    return this.table.code[this.id];
  }
  /** Whether it is a row of a process, which is no function. */
  get isProcess() {
    return false;
  }
  /** Its place in the order of siblings that all reports share. */
  get rank() {
    return this.table.details.rank[this.id];
  }
  get self() {
    return this.table.self?.of(this.id);
  }
  get total() {
    return this.table.total?.of(this.id);
  }
  /** The function that this one is called on the other side, by number; -1 for none. */
  get movedTo() {
    const { movedTo } = this.table.details;
    return movedTo ? movedTo[this.id] - 1 : -1;
  }
}

/**
 * A proven change with the function that names it and its estimate: of the function itself (own), or with all that it
 * calls.
 * @typedef {Change & {f: Func, e: Estimate}} FunctionChange
 */

/**
 * The verdict on a function, which the header, the list and the inspector share: that of the change that it names; else
 * that on the function itself where its own change is proven, else that on it with all it calls. Undefined in a report of
 * one recording.
 * @param {Func} f @returns {{e: Estimate, own: boolean}|undefined}
 */
export function verdictOn(f) {
  const { self, total } = f;
  if (self && (f.table?.owns.get(f.id) ?? isProven(self.state))) return { e: self, own: true };
  return total && { e: total, own: false };
}

/** Whether a verdict is a proven change of a function in its place. @param {string} state */
export function isProven(state) {
  return PROVEN.has(STATES.indexOf(state));
}

/**
 * The functions whose change is proven, in themselves or with what they call.
 * @param {Func[]} functions
 */
export function provenFunctions(functions) {
  const table = functions[0]?.table;
  const isProvenIn = (/** @type {Uint8Array|undefined} */ states, /** @type {number} */ id) => !!states && PROVEN.has(states[id]);
  return functions.filter(({ id }) => isProvenIn(table?.self?.state, id) || isProvenIn(table?.total?.state, id));
}

/**
 * The proven changes, in the order in which they are listed.
 * @param {Func[]} functions @returns {FunctionChange[]}
 */
export function provenIn(functions) {
  const out = [];
  for (const change of functions[0]?.table?.changes || []) {
    const f = functions[change.func];
    const e = change.own ? f.self : f.total;
    if (e) out.push({ ...change, f, e });
  }
  return out;
}

/** From this part of both totals on the time of a function is that of the whole program. */
const WHOLE = 0.9;

/**
 * Whether a function runs nearly all the time on both sides, as `main` does, so that its change is that of the whole.
 * @param {number[]} pair its total [base, head] @param {number[]} totals of the program
 */
export function isWhole([base, head], totals) {
  return base >= WHOLE * totals[0] && head >= WHOLE * totals[1];
}

/**
 * A column of the report by the id of its functions, with what the rows have that were added to them.
 * @param {Func[]} functions @param {ArrayLike<number>|undefined} column @param {(f: Func) => number} valueOf
 * @returns {ArrayLike<number>}
 */
function columnOf(functions, column, valueOf) {
  if (column?.length === functions.length) return column;
  return Int32Array.from(functions, (f, id) => (column && id < column.length ? column[id] : valueOf(f)));
}

/** The origins of all functions, by id. @param {Func[]} functions */
export function originsOf(functions) {
  return columnOf(functions, functions[0]?.table?.origin, (f) => f.origin);
}

/**
 * The languages of all functions, by id: each as the page has it.
 * @param {Func[]} functions
 */
export function languagesOf(functions) {
  return columnOf(functions, functions[0]?.table?.languages, (f) => f.languages || 0);
}

/** The numbers of the verdicts on the totals of all functions, by id. @param {{total?: {state: string}}[]} functions */
export function totalStatesOf(functions) {
  const all = /** @type {Func[]} */ (functions);
  return columnOf(all, all[0]?.table?.total?.state, (f) => stateOf(f.total));
}

/** The verdicts on the functions themselves, as numbers by id. @param {Func[]} functions */
export function selfStatesOf(functions) {
  return columnOf(functions, functions[0]?.table?.self?.state, (f) => stateOf(f.self));
}

/** Whether the report knows of interrupts, or of compilers beside the program. @param {Func[]} functions */
export function hasInterrupts(functions) {
  return Array.prototype.some.call(originsOf(functions), (origin) => origin >= INTERRUPTS);
}

/** The places of all functions in the order of siblings, by id. @param {Func[]} functions */
export function ranksOf(functions) {
  return columnOf(functions, functions[0]?.table?.details.rank, (f) => f.rank);
}

/** @param {Uint8Array} bytes @param {number} sides @returns {Func[]} */
export function decodeFunctions(bytes, sides) {
  const table = new Symbols(bytes, sides);
  const out = new Array(table.count);
  for (let id = 0; id < table.count; id++) out[id] = new Func(table, id);
  return out;
}

/** Whether a function is the frame of a class of waits, and no code. @param {Pick<Func, 'name'|'module'>} f */
export const isWaitFrame = ({ name, module }) => !module && name.startsWith('[waiting: ');
