// SPDX-License-Identifier: GPL-3.0-or-later
// The report in a real browser: what people open it for.

import './browser/tasks.js';
