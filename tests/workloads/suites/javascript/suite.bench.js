// SPDX-License-Identifier: GPL-3.0-or-later
// npx vitest bench --run
import { bench, describe } from "vitest";
import { numbers, text, workFib, workMap, workParse, workSort } from "./work.js";

describe("suite", () => {
	const options = { time: 500 };

	bench("fib", function runFib() { workFib(15); }, options);
	bench("sort", function runSort() { workSort(numbers); }, options);
	bench("parse", function runParse() { workParse(text); }, options);
	bench("map", function runMap() { workMap(numbers); }, options);
});
