// SPDX-License-Identifier: GPL-3.0-or-later
// The report in a real browser, from file://: the other views and addresses.

import './browser/timeline.js';
import './browser/lanes.js';
import './browser/onepicture.js';
import './browser/filters.js';
import './browser/address.js';
import './browser/around.js';
import './browser/metrics.js';
import './browser/python.js';
import './browser/waiting.js';
import './browser/bottlenecks.js';
import './browser/requests.js';
