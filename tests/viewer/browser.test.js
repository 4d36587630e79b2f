// SPDX-License-Identifier: GPL-3.0-or-later
// The report in a real browser, from file://. One file, so that one browser serves all.

import './browser/page.js';
import './browser/picture.js';
import './browser/keys.js';
import './browser/hands.js';
import './browser/controls.js';
import './browser/inspector.js';
import './browser/functions.js';
import './browser/timeline.js';
import './browser/address.js';
import './browser/around.js';
import './browser/metrics.js';
import './browser/hostile.js';
import './browser/media.js';
import './browser/access.js';
import './browser/large.js';
