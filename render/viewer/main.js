// SPDX-License-Identifier: GPL-3.0-or-later
import { App } from './app.js';
import { readBlock } from './block.js';
import { decodeTree } from './decode.js';
import { Model } from './model.js';
import { decodeFunctions } from './symbols.js';

const root = /** @type {HTMLElement} */ (document.getElementById('app'));

/** What the first picture needs; samples and the timeline are read when they are asked for. */
async function start() {
  const blocks = ['meta', 'functions', 'tree'].map(readBlock);
  const meta = JSON.parse(new TextDecoder().decode(await blocks[0]));
  const functions = decodeFunctions(await blocks[1], meta.sides);
  const tree = decodeTree(await blocks[2], meta.sides);
  /** @type {any} */ (window).kelvin = new App(root, new Model({ meta, functions, tree, samples: [null, null] }));
}

start().catch((error) => {
  root.textContent = `This report cannot be read: ${error.message}. It may have been cut off while it was copied; write it again.`;
});
