// SPDX-License-Identifier: GPL-3.0-or-later
// Hashes of function keys: they give a function the same hue and the same short form in every report.

/**
 * FNV-1a of a key with its high bits folded into the low ones, from 0 up to but not including 1.
 * @param {string} key
 */
export function hashHue(key) {
  let hash = 2166136261;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 16777619);
  hash ^= hash >>> 15;
  return (hash >>> 0) / 4294967296;
}

/** The short form of a key in an address. @param {string} key */
export function shortHash(key) {
  return Math.floor(hashHue(key) * 4294967296).toString(36);
}

/** @type {WeakMap<object, string>} */
const hashes = new WeakMap();

/** The short form of a function in an address. @param {{key: string}} func */
export function hashOf(func) {
  let hash = hashes.get(func);
  if (hash === undefined) hashes.set(func, (hash = shortHash(func.key)));
  return hash;
}
