// SPDX-License-Identifier: GPL-3.0-or-later
// What a page is beside its views: suites, what it hands over, hostile names, media, sizes. Files of tests run at the same time.

import './browser/benchmarks.js';
import './browser/history.js';
import './browser/hostile.js';
import './browser/handover.js';
import './browser/links.js';
import './browser/media.js';
import './browser/large.js';
