// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that cost what the program says: `lines.js ROUNDS SCALE`. Rounds differ in length, so that no sampling keeps step.
// A line that ends in `// NAME` is charged by lap('NAME').
'use strict';

const laps = new Map();
let last = 0;

function cpu() {
	const used = process.cpuUsage();
	return used.user + used.system;
}

function lap(name) {
	const now = cpu();
	if (name)
		laps.set(name, (laps.get(name) ?? 0) + now - last);
	last = cpu();
}

function mix(value) {
	return (Math.imul(value, 1664525) + 1013904223) | 0;
}

function twist(value, count) {
	for (let i = 0; i < count; i++) value = mix(value ^ i); // twist
	return value;
}

function texts(value) {
	let sum = 0;
	lap();
	for (let i = 0; i < 300; i++) sum += JSON.stringify({ a: value, b: [i, i + 1], c: 'text' }).length; // json
	lap('json');
	for (let i = 0; i < 300; i++) sum += String(value + i).padStart(40, 'ab').split('b').length; // split
	lap('split');
	return sum;
}

function* numbers(count) {
	for (let i = 0; i < count; i++) yield i; // yield
}

function work(value, scale) {
	lap();
	for (let i = 0; i < 400 * scale; i++) value = (Math.imul(value, 1664525) + i) | 0; // plain
	lap('plain');
	for (let i = 0; i < 800 * scale; i++) value = mix(value + i); // mixed
	lap('mixed');
	value ^= twist(value, 1600 * scale); // called
	lap('called');
	for (const n of numbers(100 * scale)) value ^= n; // numbers
	lap('numbers');
	value += Array.from({ length: 50 * scale }, (_, i) => i ^ value).filter((n) => n & 1).length; // arrays
	lap('arrays');
	value ^= texts(value); // texts
	return value;
}

const [rounds, scale] = process.argv.slice(2).map(Number);
const start = cpu();
let value = 1;
for (let i = 0; i < rounds; i++)
	value = work(value, Math.ceil(scale * (0.2 + Math.random())));
const total = cpu() - start;
const source = require('fs').readFileSync(__filename, 'utf8').split('\n');
console.log('total', total * 1000);
for (const [name, spent] of laps)
	console.log(`lines.js:${source.findIndex((line) => line.endsWith(`// ${name}`)) + 1} ${spent * 1000}`);
process.exitCode = value === 42 ? 1 : 0;
