// SPDX-License-Identifier: GPL-3.0-or-later
// The work of the four benchmarks that the suites of all languages have.
export const numbers = [];
for (let i = 0, state = 1; i < 2000; i++) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	numbers.push(state >>> 8);
}
export const text = "12.5 3 4711.25 ".repeat(200);

export function workFib(n) {
	return n < 2 ? n : workFib(n - 1) + workFib(n - 2);
}

export function workSort(source) {
	const values = source.slice();

	for (const gap of [701, 301, 132, 57, 23, 10, 4, 1])
		for (let i = gap; i < values.length; i++) {
			const value = values[i];
			let j = i;

			for (; j >= gap && values[j - gap] > value; j -= gap) values[j] = values[j - gap];
			values[j] = value;
		}
	return values;
}

export function workParse(source) {
	let sum = 0;

	for (const word of source.split(" ")) sum += Number(word);
	return sum;
}

export function workMap(keys) {
	const sums = new Map();

	for (const key of keys) sums.set(key % 509, (sums.get(key % 509) ?? 0) + key);
	return sums.size;
}
