// SPDX-License-Identifier: GPL-3.0-or-later
// A service of Express: express.js PORT.
"use strict";
const zlib = require("zlib");
const express = require("express");

const orders = [];
for (let i = 0; i < 80; i++) orders.push({ id: i, name: `order ${(i * 7919) % 503} of customer ${i % 9}`, tags: [i % 5, i % 7], price: i * 1.25 });
const text = JSON.stringify(orders);
const app = express();

app.get("/orders", (request, response) => response.json(orders));
app.get("/parse", (request, response) => {
  const sums = new Map();
  for (const order of JSON.parse(text)) for (const tag of order.tags) sums.set(tag, (sums.get(tag) || 0) + order.price);
  response.json([...sums]);
});
app.get("/page/:title", (request, response) => {
  const rows = orders.slice().sort((a, b) => (a.name < b.name ? -1 : 1)).map((order) => `<tr><td>${order.id}</td><td>${order.name.replace(/order/g, "Order")}</td></tr>`);
  response.send(`<h1>${request.params.title}</h1><table>${rows.join("")}</table>`);
});
app.get("/zip", (request, response) => response.send(zlib.deflateRawSync(text, { level: 1 })));
app.listen(Number(process.argv[2]), "127.0.0.1");
