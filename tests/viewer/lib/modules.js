// SPDX-License-Identifier: GPL-3.0-or-later
// The modules of the viewer that tests know.

export * as format from '../../../render/viewer/common/format.js';
export * as table from '../../../render/viewer/common/table.js';
export * as block from '../../../render/viewer/data/block.js';
export * as codes from '../../../render/viewer/data/codes.js';
export * as decode from '../../../render/viewer/data/decode.js';
export * as hash from '../../../render/viewer/data/hash.js';
export * as symbols from '../../../render/viewer/data/symbols.js';
export * as tree from '../../../render/viewer/data/tree.js';
export * as ancestors from '../../../render/viewer/model/ancestors.js';
export * as bottleneck from '../../../render/viewer/model/bottleneck.js';
export * as filters from '../../../render/viewer/model/filters.js';
export * as figures from '../../../render/viewer/model/figures.js';
export * as folding from '../../../render/viewer/model/folding.js';
export * as layout from '../../../render/viewer/model/layout.js';
export * as lazy from '../../../render/viewer/model/lazy.js';
export { Model } from '../../../render/viewer/model/model.js';
export * as order from '../../../render/viewer/model/order.js';
export * as pattern from '../../../render/viewer/model/pattern.js';
export * as processes from '../../../render/viewer/model/processes.js';
export * as state from '../../../render/viewer/model/state.js';
export * as sums from '../../../render/viewer/model/sums.js';
export * as system from '../../../render/viewer/model/system.js';
export * as waiting from '../../../render/viewer/model/waiting.js';
export * as colour from '../../../render/viewer/drawing/colour.js';
export * as header from '../../../render/viewer/views/header.js';
export * as inspector from '../../../render/viewer/views/inspector.js';
export * as latencies from '../../../render/viewer/views/latencies.js';
export * as draw from '../../../render/viewer/picture/draw.js';
export * as status from '../../../render/viewer/picture/status.js';
export * as walk from '../../../render/viewer/picture/walk.js';
export * as axis from '../../../render/viewer/timeline/axis.js';
export * as chart from '../../../render/viewer/timeline/chart.js';
export * as lanes from '../../../render/viewer/timeline/lanes.js';
export * as timeline from '../../../render/viewer/timeline/timeline.js';
export * as benchmarks from '../../../render/viewer/suite/benchmarks.js';
