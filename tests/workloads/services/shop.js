// SPDX-License-Identifier: GPL-3.0-or-later
// A service of node: shop.js PORT. CHANGE names what its next release does in another way.
"use strict";
const fs = require("fs");
const http = require("http");

const change = process.env.CHANGE || "";
const countFile = fs.openSync(`${process.env.SERVICE_COUNTS}/${process.pid}`, "w");
let count = 0;

const versions = [];
for (let i = 0; i < 120; i++) versions.push([1 + (i % 3), (i * 7) % 10, (i * 3) % 8]);
const ranges = [">=1.2.0 <3.0.0", "^2.1.0", "~1.4.2", ">=2.0.0 <2.9.1", "<=1.9.9"];
const orders = [];
for (let i = 0; i < 60; i++) orders.push({ id: i, name: `order ${(i * 7919) % 503} of customer ${i % 9}`, tags: [i % 5, i % 7], price: i * 1.25 });

const comparators = new Map();

function parseComparator(text) {
  const found = /^(>=|<=|<|>|\^|~)?(\d+)\.(\d+)\.(\d+)$/.exec(text);
  return { operator: found[1] || "=", version: [Number(found[2]), Number(found[3]), Number(found[4])] };
}

function comparatorsOf(range) {
  if (change !== "comparator") {
    if (!comparators.has(range)) comparators.set(range, range.split(" ").map(parseComparator));
    return comparators.get(range);
  }
  return range.split(" ").map(parseComparator);
}

function compare(a, b) {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function test(comparator, version) {
  const order = compare(version, comparator.version);
  switch (comparator.operator) {
    case ">=": return order >= 0;
    case "<=": return order <= 0;
    case "<": return order < 0;
    case ">": return order > 0;
    case "^": return order >= 0 && version[0] === comparator.version[0];
    default: return order >= 0 && version[0] === comparator.version[0] && version[1] === comparator.version[1];
  }
}

function satisfies(version, range) {
  return comparatorsOf(range).every((comparator) => test(comparator, version));
}

function resolve() {
  let found = 0;
  for (let round = 0; round < 3; round++)
    for (const range of ranges) found += versions.filter((version) => satisfies(version, range)).length;
  return found;
}

function cloneOrders() {
  return change === "clone" ? JSON.parse(JSON.stringify(orders)) : orders;
}

function sumByTag() {
  const sums = {};
  for (let round = 0; round < 10; round++)
    for (const order of cloneOrders()) for (const tag of order.tags) sums[tag] = (sums[tag] || 0) + order.price;
  return JSON.stringify(sums);
}

function byName(a, b) {
  if (change === "locale") return a.name.localeCompare(b.name, "de", { numeric: true });
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function sortOrders() {
  let first = "";
  for (let round = 0; round < 2; round++) first = orders.slice().sort(byName)[0].name;
  return first;
}

function renderPage() {
  let page = "";
  for (const order of orders) {
    page += `<tr><td>${order.id}</td><td>${order.name}</td></tr>`;
    if (change === "checksum") page = page.replace(/checksum=\w+|$/, checksumOf(page));
  }
  return page;
}

function checksumOf(text) {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) | 0;
  return `checksum=${sum >>> 0}`;
}

const answers = { "/resolve": resolve, "/sums": sumByTag, "/sorted": sortOrders, "/page": renderPage };

http.createServer((request, response) => {
  fs.writeSync(countFile, `${++count}\n`, 0);
  response.end(String((answers[request.url] || resolve)()));
}).listen(Number(process.argv[2]), "127.0.0.1");
