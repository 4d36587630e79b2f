// SPDX-License-Identifier: GPL-3.0-or-later
// The viewer's modules state their types in JSDoc; the compiler of TypeScript checks them and writes nothing.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

test('every module of the viewer keeps the types that it states', { timeout: 300000 }, () => {
  const compiler = join(here, 'node_modules/typescript/bin/tsc');
  const run = spawnSync(process.execPath, [compiler, '--project', here, '--pretty', 'false'], { encoding: 'utf8' });
  assert.equal(run.stdout + run.stderr, '');
  assert.equal(run.status, 0);
});
