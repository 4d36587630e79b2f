// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the page is light or dark.

import { remember, remembered } from './storage.js';

/** The name of the theme that somebody chose for all reports. */
const THEME = 'kelvin-theme';

/** What the system prefers; it tells when that changes. */
export const SYSTEM_DARK = matchMedia('(prefers-color-scheme: dark)');

export function prefersDark() {
  const choice = remembered(THEME);
  return choice ? choice === 'dark' : SYSTEM_DARK.matches;
}

/** @param {boolean} dark */
export function showTheme(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

/** Remembers what somebody chose. @param {boolean} dark */
export function chooseTheme(dark) {
  remember(THEME, dark ? 'dark' : 'light');
}
