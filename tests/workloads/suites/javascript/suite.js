// SPDX-License-Identifier: GPL-3.0-or-later
// node suite.js: the suite with tinybench and CodSpeed's plugin.
import { withCodSpeed } from "@codspeed/tinybench-plugin";
import { Bench } from "tinybench";
import { numbers, text, workFib, workMap, workParse, workSort } from "./work.js";

const bench = withCodSpeed(new Bench({ time: 500 }));

bench.add("fib", function runFib() { workFib(15); });
bench.add("sort", function runSort() { workSort(numbers); });
bench.add("parse", function runParse() { workParse(text); });
bench.add("map", function runMap() { workMap(numbers); });
await bench.run();
console.table(bench.table());
