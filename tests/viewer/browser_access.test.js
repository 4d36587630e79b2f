// SPDX-License-Identifier: GPL-3.0-or-later
// The report in a real browser, for all who read it: by contrast, by finger, by keyboard, by voice.

import './browser/contrast.js';
import './browser/touch.js';
import './browser/access.js';
