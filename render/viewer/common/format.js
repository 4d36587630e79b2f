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

/** A share in percent. @param {number} part @param {number} whole */
export function percent(part, whole) {
  if (!(whole > 0) || !Number.isFinite(part)) return '–';
  const value = (100 * part) / whole;
  const size = Math.abs(value);
  const decimals = size >= 99.95 && size !== 100 ? 0 : size >= 9.95 ? 1 : 2;
  return `${size >= 999.5 ? count(value) : value.toFixed(decimals)} %`;
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
const NEAR = /^(\S+\+0x[0-9a-f]+) near /;

/**
 * Forms of a name, longest first: whole, without arguments, without template arguments, the last part. Code without a
 * name loses the function that it lies near, which it is not.
 * @param {string} name
 */
export function shorterNames(name) {
  const unnamed = NEAR.exec(name);
  if (unnamed) return [plainStrings(name), plainStrings(unnamed[1])];
  const out = [plainStrings(name)];
  const plain = plainStrings(name).replace(/\(anonymous namespace\)/g, '{anon}');
  const noArguments = withoutBrackets(plain, '(', ')');
  if (noArguments && noArguments !== out[0]) out.push(noArguments);
  const noTemplates = withoutBrackets(noArguments || plain, '<', '>', '‹…›');
  if (noTemplates && noTemplates !== out[out.length - 1]) out.push(noTemplates);
  const last = noTemplates.lastIndexOf('::');
  const path = goPath(noTemplates);
  if (last > 0 && last + 2 < noTemplates.length) out.push(`…::${noTemplates.slice(last + 2)}`);
  else if (path) out.push(`…${noTemplates.slice(path - 1)}`);
  return out;
}

/**
 * The length of the path before a package of Go: of `crypto/internal/` in `crypto/internal/sha256.Sum`; 0 for none.
 * @param {string} name
 */
function goPath(name) {
  return /^(?:[\w.~%-]+\/)+(?=[\w.~%-]*\.)/.exec(name)?.[0].length || 0;
}

/** The name with the strings of C++'s standard library as people write them. @param {string} name */
export function plainStrings(name) {
  if (!name.includes('std::')) return name;
  return name
    .replace(/std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> ?>/g, 'std::string')
    .replace(/std::basic_string_view<char, std::char_traits<char> ?>/g, 'std::string_view');
}

/** A name for a line of a list: whole when it is short, else without the text in brackets. @param {string} name */
export function listName(name) {
  const plain = plainStrings(name);
  if (plain.length <= 48) return plain;
  const [, noArguments = plain, noTemplates = noArguments] = shorterNames(plain);
  return noArguments.length <= 48 ? noArguments : noTemplates;
}

/**
 * Whether a bracket after `before` belongs to the name: of a receiver of Go as in `main.(*Server).handle`, or of an
 * operator of C++.
 * @param {string} before
 */
function isPartOfName(before) {
  return before.endsWith('.') || /\boperator[-<>]*$/.test(before);
}

/**
 * The name without the text in brackets; a mark takes the place of each.
 * @param {string} name @param {string} open @param {string} close @param {string} [mark]
 */
function withoutBrackets(name, open, close, mark = '') {
  const first = name.indexOf(open);
  let depth = 0;
  let kept = 0;
  let out = first < 0 ? name : name.slice(0, first);
  for (const c of first < 0 ? '' : name.slice(first)) {
    if (c === open && depth === 0 && isPartOfName(out)) {
      out += c;
      kept++;
    } else if (c === close && depth === 0 && (kept || isPartOfName(out))) {
      out += c;
      kept = Math.max(0, kept - 1);
    } else if (c === open) {
      if (depth++ === 0) out += mark;
    } else if (c === close && depth > 0) {
      depth--;
    } else if (depth === 0) {
      out += c;
    }
  }
  return depth ? name : out.replace(/ (const|\[clone.*)$/, '').trim();
}
