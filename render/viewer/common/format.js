// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and names as people read them.

/** @type {[number, string][]} */
const TIME_STEPS = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

/** @type {[number, string][]} */
const SIZE_STEPS = [
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
];

/** Differences of less time than this come from rounding, in nanoseconds. */
const LEAST_NS = 0.5;

/** A value with its unit. @param {number} value @param {string} unit */
export function amount(value, unit) {
  if (!Number.isFinite(value)) return '–';
  if (unit === 'bytes') return sizeText(value);
  if (unit.startsWith('1/')) return digits(value / Number(unit.slice(2)));
  if (unit !== 'nanoseconds') return `${count(value)}${unit === 'count' ? '' : ` ${unit}`}`;
  const size = Math.abs(value);
  if (size < LEAST_NS) return '0 s';
  // A value that rounds to 1000 of a unit is 1.00 of the next.
  const [step, name] = TIME_STEPS.find(([step]) => size >= 0.9995 * step) || TIME_STEPS[TIME_STEPS.length - 1];
  return `${step === 1 ? count(value) : digits(value / step)} ${name}`;
}

/**
 * A value with its unit, in three digits also where that is less than a unit: "2.45 ns" (format_precise).
 * @param {number} value @param {string} unit
 */
export function precise(value, unit) {
  if (value === 0) return '0';
  return unit === 'nanoseconds' && Math.abs(value) < 999.5 ? `${digits(value)} ns` : amount(value, unit);
}

/** @param {number} bytes */
function sizeText(bytes) {
  const [step, name] = SIZE_STEPS.find(([size]) => Math.abs(bytes) >= 0.9995 * size) || [1, 'B'];
  return step === 1 ? `${count(bytes)} B` : `${digits(bytes / step)} ${name}`;
}

/** A number with three significant digits. @param {number} value */
export function digits(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  return size >= 99.95 ? count(value) : value.toFixed(size >= 9.995 ? 1 : 2);
}

/** A whole number with commas between thousands. @param {number} value */
export function count(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** The sign of a value. @param {number} value */
function signed(value) {
  return value > 0 ? '+' : value < 0 ? '−' : '±';
}

/** @param {number} value @param {string} unit */
export function signedAmount(value, unit) {
  if (!Number.isFinite(value)) return '–';
  const least = unit === 'nanoseconds' || unit === 'bytes' || unit === 'count' ? LEAST_NS : 0;
  return signed(Math.abs(value) < least ? 0 : value) + amount(Math.abs(value), unit);
}

/**
 * Both ends of an interval in the unit of the greater one.
 * @param {number} low @param {number} high @param {string} unit
 */
export function interval(low, high, unit) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const [step, name] = (unit === 'nanoseconds' && TIME_STEPS.find(([step]) => size >= 0.9995 * step)) || [0, ''];
  if (!step) return `${signedAmount(low, unit)} to ${signedAmount(high, unit)}`;
  const end = (/** @type {number} */ value) => signed(value) + digits(Math.abs(value) / step);
  return `${end(low)} to ${end(high)} ${name}`;
}

/** A share in percent, rounded as in text and sentences (format_percent). @param {number} part @param {number} whole */
export function percent(part, whole) {
  if (!(whole > 0) || !Number.isFinite(part)) return '–';
  const value = (100 * part) / whole;
  const size = Math.abs(value);
  return `${size >= 99.95 ? count(value) : value.toFixed(size >= 0.0995 ? 1 : 2)} %`;
}

/** A share in percent with its sign. @param {number} part @param {number} whole */
export function signedPercent(part, whole) {
  if (!(whole > 0) || !Number.isFinite(part)) return '–';
  const size = percent(Math.abs(part), whole);
  // What rounds to nothing has no direction.
  return signed(size === '0.00 %' ? 0 : part) + size;
}

/** A difference in points of the total, as '+5.59 points of total'. @param {number} points */
export function pointsText(points) {
  const size = Math.abs(points).toFixed(2);
  return `${signed(size === '0.00' ? 0 : points)}${size} points of total`;
}

/** From this factor on a change is told as a factor instead of in percent. */
const LEAST_FACTOR = 2;

/**
 * The change from base to head: '+12.3 %', or '8.76×' from twice as much on.
 * @param {number} base @param {number} head
 */
export function change(base, head) {
  return base > 0 && head >= LEAST_FACTOR * base ? `${digits(head / base)}×` : signedPercent(head - base, base);
}

/**
 * The change from base to head for a sentence: '12.3 % more time', or '8.76 times as much time'.
 * @param {number} base @param {number} head @param {string} measure @param {boolean} isCount
 */
export function changeWords(base, head, measure, isCount) {
  if (head >= LEAST_FACTOR * base) return `${digits(head / base)} times as ${isCount ? 'many' : 'much'} ${measure}`;
  return `${percent(Math.abs(head - base), base)} ${head > base ? 'more' : isCount ? 'fewer' : 'less'} ${measure}`;
}

/**
 * The word for what a metric measures: 'time', 'page faults', or its name in words where it has one.
 * @param {{name: string, unit: string, words?: string}} metric
 */
export function measureOf({ name, unit, words = name }) {
  if (words !== name) return words;
  return unit === 'nanoseconds' ? 'time' : name.replaceAll('-', ' ');
}

/** The file without its folders. @param {string} file */
export const baseName = (file) => file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);

/** The name of a module for a reader. @param {string} module */
export function moduleName(module) {
  return module === '[kernel.kallsyms]' || module === '[guest.kernel.kallsyms]' ? 'kernel' : module;
}

/** A name isolated, so that its marks of writing direction turn nothing but itself. @param {string} text */
export function isolated(text) {
  return /^[\x20-\x7e]*$/.test(text) ? text : `\u2068${text}\u2069`;
}

/**
 * A name for the clipboard. It may be pasted into a terminal, so that control characters and invisible ones become
 * U+FFFD, as in all text that Kelvin writes.
 * @param {string} name
 */
export function pasted(name) {
  return name.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
}

/** Code without a name, and the exported function that it lies near: `libz.so+0x4970 near deflate`. */
const NEAR = /^(.*\+0x[0-9a-f]+.*) near /s;
const ANONYMOUS = '(anonymous namespace)';
const LOCALS = '.<locals>';
/** Deeper brackets count as such without a pair, which bounds the time that a name takes. */
const MOST_DEPTH = 64;
const WORD = /[\w$\x80-\uffff]/;
const WORDS = /[\w$\x80-\uffff]+/y;
const SIGN = /\(\)|\[\]|<=>|<<=|>>=|->\*|<<|>>|->|<=|>=|<|>/y;
const CLOSING = ')>]}';
const OPENING = '(<[{';

/**
 * Forms of a shown name, longest first: whole, without arguments, without those of templates, the last part. The rule
 * is that of profile/shorten.c, and tests/data/names.tsv has an example of each case.
 * @param {string} name
 */
export function shorterNames(name) {
  const unnamed = NEAR.exec(name);
  if (unnamed) return [name, unnamed[1]];
  const plain = withoutArguments(name) || name;
  const bare = withoutTemplates(plain);
  const last = lastPart(bare);
  const leaf = last ? MORE + (bare[last - 1] === ':' ? '::' : bare[last - 1]) + bare.slice(last) : bare;
  return [name, plain, bare, leaf].filter((form, i, forms) => i === 0 || form !== forms[i - 1]);
}

/** A mark for what is left out. */
export const MORE = '…';

/** A name for a line of a list: whole when it is short, else without the text in brackets. @param {string} name */
export function listName(name) {
  if (name.length <= 48) return name;
  const [, plain = name, bare = plain] = shorterNames(name);
  return plain.length <= 48 ? plain : bare;
}

/** The end of the word at a place, with the sign of an operator of C++. @param {string} name @param {number} at */
function skipWord(name, at) {
  WORDS.lastIndex = at;
  const [word = ''] = WORDS.exec(name) || [];
  const end = at + word.length;
  SIGN.lastIndex = end;
  return word === 'operator' ? end + (SIGN.exec(name)?.[0].length || 0) : end;
}

/** The end of the pair of brackets that opens at a place; 0 if there is none. @param {string} name @param {number} at */
function skipBrackets(name, at) {
  const open = [];
  do {
    const c = name[at];
    const closes = CLOSING.indexOf(c);
    if (WORD.test(c)) {
      at = skipWord(name, at);
      continue;
    }
    if (OPENING.includes(c)) {
      if (open.length === MOST_DEPTH) return 0;
      open.push(c);
    } else if (c === '>') {
      if (name[at - 1] !== '-' && open[open.length - 1] === '<') open.pop();
    } else if (closes >= 0) {
      // A `<` between round brackets may be a comparison.
      while (open[open.length - 1] === '<') open.pop();
      if (open.pop() !== OPENING[closes]) return 0;
    }
    at++;
  } while (open.length && at < name.length);
  return open.length ? 0 : at;
}

/**
 * The end of the piece of a name at a place: a word, an operator with its sign, a pair of brackets, or one letter.
 * @param {string} name @param {number} at
 */
function skipPiece(name, at) {
  const end = OPENING.includes(name[at]) ? skipBrackets(name, at) : 0;
  if (end || !WORD.test(name[at])) return end || at + 1;
  const word = skipWord(name, at);
  // `decltype (f(1))` is one type.
  const open = name.slice(at, word) === 'decltype' ? /^ ?\(/.exec(name.slice(word, word + 2)) : null;
  return (open && skipBrackets(name, word + open[0].length - 1)) || word;
}

/** @param {string} name */
function withoutArguments(name) {
  let out = '';
  let cut = false;
  for (let at = 0, next = 0; at < name.length; at = next) {
    next = skipPiece(name, at);
    if (name.startsWith(ANONYMOUS, at)) {
      out += '{anon}';
    } else if (name[at] === '(' && next > at + 1 && at > 0 && name[at - 1] !== '.') {
      cut = true;
      if (name[at - 1] === ' ' && name[next] === ' ') next++;
    } else if (name.startsWith(LOCALS, at)) {
      next = at + LOCALS.length;
    } else if (name.startsWith('{lambda(', at) && next > at + 1) {
      out += name.slice(at, at + 7) + name.slice(skipPiece(name, at + 7), next);
    } else {
      out += name.slice(at, next);
    }
  }
  return cut ? out.replace(/( const| volatile| &&?| )+$/, '') : out;
}

/** @param {string} name @returns {string} */
function withoutTemplates(name) {
  let out = '';
  for (let at = 0, next = 0; at < name.length; at = next) {
    next = skipPiece(name, at);
    const text = name.slice(at, next);
    // What a method of Rust belongs to: `<TYPE as TRAIT>`.
    const type = at === 0 && text[0] === '<' ? endOfType(text) : 0;
    if (type) out += withoutTemplates(text.slice(1, type));
    // Rust writes `collect::<Vec<u8>>`.
    else if (text[0] === '<' && text.length > 2 && name[at - 1] === ':') out = out.slice(0, -2);
    else if (text[0] === '<' && text.length > 2 && !isPart(text, name[at - 1])) out += `<${MORE}>`;
    else if (text[0] === '[' && text.length > 2 && at > 0 && WORD.test(name[at - 1])) out += `[${MORE}]`;
    else out += text;
  }
  return out;
}

/**
 * Whether brackets are a part of a name, and no arguments: `<lambda>`, `parse.<genexpr>`.
 * @param {string} text @param {string|undefined} before
 */
function isPart(text, before) {
  return (before === undefined || before === '.') && /^<[\w$\x80-\uffff]+>$/.test(text);
}

/** Where the type in `<TYPE as TRAIT>` ends; 0: it is no such pair. @param {string} text */
function endOfType(text) {
  for (let at = 1; at < text.length - 1; at = skipPiece(text, at)) if (text.startsWith(' as ', at)) return at;
  return 0;
}

/** Where the last part of a name begins that says by itself what is meant; 0: it has only one. @param {string} name */
function lastPart(name) {
  let last = 0;
  // The name of code without a symbol has the dots of its library's file.
  if (name.includes('+0x')) return 0;
  for (let at = 0; at < name.length; at = skipPiece(name, at)) {
    // A method of Go is not parted from its receiver.
    const isDot = name[at - 1] !== ')' && /^\.[\w$\x80-\uffff(<{]/.test(name.slice(at, at + 2));
    const isSeparator = isDot || name[at] === '\\' || name.startsWith('::', at);
    if (name.startsWith('::', at)) at++;
    if (isSeparator && isTelling(name.slice(at + 1, at + 10))) last = at + 1;
  }
  return last;
}

/** Whether a part says what is meant: an operator or a lambda needs what is before it. @param {string} part */
function isTelling(part) {
  return /^(?:[a-zA-Z_~\x80-\uffff]|\(\*)/.test(part) && !part.startsWith('operator') && !/^func\d/.test(part);
}

/**
 * Pieces of a name, between which a line may be broken: behind `::`, dots, slashes, commas and opening brackets.
 * @param {string} name @returns {string[]}
 */
export function namePieces(name) {
  return name.match(/.+?(?:::|[./\\,<(\[]+ ?|$)/gs) || [];
}
