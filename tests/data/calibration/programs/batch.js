// SPDX-License-Identifier: GPL-3.0-or-later
// Reads lines of JSON, counts, matches and sorts: batch.js FOLDER.
"use strict";
const fs = require("fs");
const zlib = require("zlib");

function read(path) {
  return fs.readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

function count(rows) {
  const counts = new Map();
  for (const row of rows) for (const tag of row.tags) counts.set(tag, (counts.get(tag) || 0) + 1);
  return counts;
}

function match(rows) {
  return rows.filter((row) => /\b([a-f]+)\w* (\w*[aeiou]{2}\w*)/.test(row.name)).length;
}

function distance(a, b) {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    let last = row[0];
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const next = Math.min(last + (a[i - 1] === b[j - 1] ? 0 : 1), row[j] + 1, row[j - 1] + 1);
      last = row[j];
      row[j] = next;
    }
  }
  return row[b.length];
}

const rows = read(`${process.argv[2]}/rows.json`);
const sorted = rows.slice().sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
let near = 0;
for (let i = 1; i < sorted.length; i++) near += distance(sorted[i].name, sorted[i - 1].name) < 8 ? 1 : 0;
console.log(count(rows).size, match(rows), near, zlib.deflateSync(JSON.stringify(rows.slice(0, 40000)), { level: 3 }).length);
