// SPDX-License-Identifier: GPL-3.0-or-later
// What a person chose for all reports. Pages from file:// may have no storage, and then nothing is remembered.

/** @param {string} name */
export function remembered(name) {
  try {
    return localStorage.getItem(name) || '';
  } catch {
    return '';
  }
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A choice that cannot be stored is lost with the page.
  }
}
