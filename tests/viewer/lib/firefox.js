// SPDX-License-Identifier: GPL-3.0-or-later
// Debian's Firefox over WebDriver BiDi (https://w3c.github.io/webdriver-bidi/): playwright drives patched builds only.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import WebSocket from 'ws';

// These end a test whose browser hangs: on a machine that has other work it gets little of a CPU.
const START_MS = 300000;
const ANSWER_MS = 300000;

/** Where Firefox is, or ''. */
export function executable() {
  const folders = (process.env.PATH || '').split(delimiter);
  for (const name of ['firefox-esr', 'firefox'])
    for (const folder of folders) if (folder && existsSync(join(folder, name))) return join(folder, name);
  return '';
}

/** @template T @param {Promise<T>} promise @param {number} ms @param {string} what @returns {Promise<T>} */
function within(promise, ms, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing in ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The address that the browser says it listens at. @param {import('node:child_process').ChildProcess} child @returns {Promise<string>} */
function address(child) {
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (bytes) => {
      said += bytes;
      const found = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said);
      if (found) resolve(found[1]);
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`Firefox ended with ${code}: ${said.slice(-500)}`)));
  });
}

export class Firefox {
  /** @param {import('node:child_process').ChildProcess} child @param {string} profile @param {WebSocket} socket */
  constructor(child, profile, socket) {
    this.child = child;
    this.profile = profile;
    this.socket = socket;
    this.sent = 0;
    /** @type {Map<number, (message: any) => void>} */ this.waiting = new Map();
    /** @type {any[]} */ this.events = [];
    this.context = '';
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'event') this.events.push(message);
      else this.waiting.get(message.id)?.(message);
    });
  }

  static async start() {
    const profile = mkdtempSync(join(tmpdir(), 'kelvin-firefox-'));
    // No greeting, no update, no telemetry: nothing but the page.
    const off = ['browser.shell.checkDefaultBrowser', 'app.update.enabled', 'datareporting.policy.dataSubmissionEnabled'];
    const preferences = [
      ...off.map((name) => [name, false]),
      ['browser.download.folderList', 2],
      ['browser.download.dir', join(profile, 'saved')],
      ['browser.download.useDownloadDir', true],
    ];
    const lines = preferences.map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
    writeFileSync(join(profile, 'user.js'), lines.join(''));
    const child = spawn(
      executable(),
      ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', '--width', '1280', '--height', '800'],
      { env: { ...process.env, HOME: profile, MOZ_HEADLESS: '1' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    try {
      const url = await within(address(child), START_MS, 'Firefox does not start');
      const socket = new WebSocket(`${url}/session`);
      await within(
        new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject)),
        ANSWER_MS,
        'Firefox does not answer',
      );
      const firefox = new Firefox(child, profile, socket);
      await firefox.send('session.new', { capabilities: {} });
      await firefox.send('session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent'] });
      const { contexts } = await firefox.send('browsingContext.getTree', {});
      firefox.context = contexts[0].context;
      await firefox.send('browsingContext.setViewport', { context: firefox.context, viewport: { width: 1280, height: 800 } });
      return firefox;
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** @param {string} method @param {object} params @returns {Promise<any>} */
  async send(method, params) {
    const id = ++this.sent;
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.socket.send(JSON.stringify({ id, method, params }));
    const message = await within(answer, ANSWER_MS, method);
    this.waiting.delete(id);
    if (message.type === 'error') throw new Error(`${method}: ${message.message}`);
    return message.result;
  }

  /** @param {string} url */
  open(url) {
    return this.send('browsingContext.navigate', { context: this.context, url, wait: 'complete' });
  }

  /** Runs in the page; the result is JSON. @param {string} expression of a promise or a value @returns {Promise<any>} */
  async run(expression) {
    const { result, exceptionDetails } = await this.send('script.evaluate', {
      expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
      target: { context: this.context },
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  }

  /** Until something holds in the page. @param {string} expression */
  async until(expression) {
    const end = Date.now() + ANSWER_MS;
    while (!(await this.run(expression))) {
      if (Date.now() > end) throw new Error(`never came true: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Colours of points of what is on the screen. @param {number[][]} points @returns {Promise<number[][]>} */
  async pixels(points) {
    const { data } = await this.send('browsingContext.captureScreenshot', { context: this.context });
    return this.run(`new Promise((resolve, reject) => {
      const image = new Image();
      image.onerror = reject;
      image.onload = () => {
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d', { willReadFrequently: true });
        context.drawImage(image, 0, 0);
        resolve(${JSON.stringify(points)}.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data]));
      };
      image.src = 'data:image/png;base64,${data}';
    })`);
  }

  /** A file that the page saved. @param {string} ending @returns {Promise<Buffer>} */
  async saved(ending) {
    const folder = join(this.profile, 'saved');
    for (const end = Date.now() + ANSWER_MS; Date.now() < end;) {
      const names = existsSync(folder) ? readdirSync(folder) : [];
      const name = names.find((one) => one.endsWith(ending) && !names.includes(`${one}.part`));
      if (name && statSync(join(folder, name)).size) return readFileSync(join(folder, name));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`no file ${ending} was saved`);
  }

  /** What was complained about, and what was loaded. */
  complaints() {
    return this.events.filter((e) => e.method === 'log.entryAdded').map((e) => `${e.params.level}: ${e.params.text}`);
  }

  requests() {
    return this.events.filter((e) => e.method === 'network.beforeRequestSent').map((e) => e.params.request.url);
  }

  async close() {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    await this.send('browser.close', {}).catch(() => {});
    this.socket.close();
    await within(gone, ANSWER_MS, 'Firefox does not end').catch(() => this.child.kill('SIGKILL'));
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
