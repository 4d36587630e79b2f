// SPDX-License-Identifier: GPL-3.0-or-later
// The report in a real browser, from file://: the picture and what stands around it. One browser serves all tests of a file, and two
// files run at once.

import './browser/page.js';
import './browser/picture.js';
import './browser/trunks.js';
import './browser/changes.js';
import './browser/keys.js';
import './browser/hands.js';
import './browser/order.js';
import './browser/controls.js';
import './browser/inspector.js';
import './browser/functions.js';
