// SPDX-License-Identifier: GPL-3.0-or-later
// Ties state, model and picture together. Every change of state goes through set().

import { Chronology } from './chronology.js';
import { Colours } from './colour.js';
import { drawControls, drawCorner, select } from './controls.js';
import { decodeTimeline, readBlock } from './decode.js';
import { h } from './dom.js';
import { Flame, ROW } from './draw.js';
import { amount, percent, signedAmount, signedPercent } from './format.js';
import { FunctionList } from './functions.js';
import { header, legend } from './header.js';
import { inspect, overview, stackText, STATE_WORDS } from './inspector.js';
import { helpDialog, onKey } from './keys.js';
import { splitter } from './splitter.js';
import { DEFAULTS, fromHash, pathOf, shortHash, toHash } from './state.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').State} State */

export class App {
  /** @param {HTMLElement} root @param {Model} model */
  constructor(root, model) {
    this.root = root;
    this.model = model;
    this.defaults = { ...DEFAULTS, view: model.sides === 2 ? 'diff' : 'head', colour: model.sides === 2 ? 'diff' : 'origin' };
    /** @type {State} */ this.state = fromHash(location.hash, this.defaults);
    this.colours = new Colours(model.functions);
    this.hover = -1;
    /** @type {import('./draw.js').Box|null} */ this.hoverBox = null;
    this.frame = 0;
    this.maxScroll = 0;
    this.search = h('input');
    this.canvas = h('canvas.flame', { 'aria-hidden': 'true' });
    this.overlay = h('canvas.overlay', {
      tabIndex: 0,
      role: 'tree',
      'aria-label': 'Flame graph: arrows move between frames, Enter zooms',
      'aria-activedescendant': 'active-frame',
      'aria-owns': 'active-frame',
    });
    this.active = h('div.offscreen', { id: 'active-frame', role: 'treeitem', 'aria-selected': 'true' });
    this.live = h('div.offscreen', { 'aria-live': 'polite', role: 'status' });
    this.flame = new Flame(this.canvas, this.overlay);
    this.flameHost = h('div.flame-host', {}, this.canvas, this.overlay);
    this.chronology = new Chronology(this);
    this.list = new FunctionList(this);
    this.inspector = h('aside.inspector', { 'aria-label': 'Inspector', tabIndex: 0 });
    this.crumbs = h('nav.crumbs', { 'aria-label': 'Path to the zoomed frame' });
    this.status = h('div.status');
    this.legend = h('div.legend');
    this.controls = h('div.controls', { role: 'toolbar', 'aria-label': 'Controls' });
    this.help = helpDialog();
    this.corner = h('span.corner');
    const left = h('div.left', {}, this.chronology.strip, this.crumbs, this.flameHost, this.chronology.element);
    left.append(
      splitter(this.list.element, () => this.refresh(false)),
      this.list.element,
    );
    this.root.replaceChildren(
      header(model, this.corner),
      this.controls,
      h('main', {}, left, this.inspector),
      h('footer', {}, this.legend, this.status),
      this.active,
      this.live,
      this.help,
    );
    this.bind();
    this.theme(remembered('kelvin-theme'));
    if (this.state.tab === 'timeline' || this.state.range) this.openTimeline();
    this.refresh(true);
  }

  bind() {
    const over = this.overlay;
    over.addEventListener('mousemove', (/** @type {MouseEvent} */ e) => this.moved(e));
    over.addEventListener('mouseleave', () => this.hoverAt(null));
    over.addEventListener('click', (/** @type {MouseEvent} */ e) => this.clicked(e));
    over.addEventListener('dblclick', () => this.set({ zoom: '' }));
    over.addEventListener('wheel', (/** @type {WheelEvent} */ e) => this.wheeled(e), { passive: false });
    document.addEventListener('keydown', (e) => onKey(this, e));
    window.addEventListener('popstate', () => {
      this.state = fromHash(location.hash, this.defaults);
      this.refresh(true);
    });
    window.addEventListener('hashchange', () => {
      if (location.hash.slice(1) === toHash(this.state, this.defaults)) return;
      this.state = fromHash(location.hash, this.defaults);
      this.refresh(true);
    });
    new ResizeObserver(() => this.refresh(false)).observe(this.flameHost);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.theme(remembered('kelvin-theme')));
  }

  /** @param {string} choice '', 'light' or 'dark' */
  theme(choice) {
    this.colours.dark = choice ? choice === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    this.flame.dark = this.colours.dark;
    document.documentElement.dataset.theme = this.colours.dark ? 'dark' : 'light';
    this.refresh(false);
  }

  switchTheme() {
    const next = this.colours.dark ? 'light' : 'dark';
    remember('kelvin-theme', next);
    this.theme(next);
  }

  /** @param {Partial<State>} change @param {boolean} [replace] without a step in the history */
  set(change, replace = false) {
    Object.assign(this.state, change);
    const hash = `#${toHash(this.state, this.defaults)}`;
    if (hash !== (location.hash || '#')) {
      if (replace) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
    }
    this.refresh(true);
  }

  async openTimeline() {
    if (this.timelineRead) return;
    this.timelineRead = true;
    this.model.timelines = decodeTimeline(await readBlock('timeline'), this.model.sides);
    this.refresh(true);
  }

  hasTimeline() {
    return this.model.meta.recordings.every((/** @type {any} */ r) => r.hasTimeline);
  }

  /** One redraw a frame, however many changes. @param {boolean} all also what lies around the picture */
  refresh(all) {
    this.pending = this.pending || all;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.update(this.pending || false);
      this.pending = false;
    });
  }

  /** @param {boolean} all */
  update(all) {
    const { model, state } = this;
    if (all) {
      model.update(state);
      this.colours.mode = state.colour;
      this.colours.palette = state.palette;
      this.colours.most = model.most;
      if (state.tab === 'timeline') this.openTimeline();
      drawControls(this, this.controls);
      drawCorner(this, this.corner);
      this.drawCrumbs();
      this.drawLegend();
    }
    this.root.dataset.tab = state.tab;
    this.chronology.strip.hidden = !this.timelineRead;
    this.flame.resize();
    this.drawFlame();
    if (this.timelineRead) this.chronology.draw();
    if (all) this.afterwards();
  }

  /** What may come a frame after the picture: the tables beside it. */
  afterwards() {
    clearTimeout(this.tables);
    this.tables = setTimeout(() => {
      this.drawInspector();
      this.list.fill();
      document.documentElement.dataset.painted = String(performance.now() | 0);
    });
  }

  colourOf(/** @type {number} */ node) {
    const { model } = this;
    return this.colours.of(model.tree.func[node], model.stateOf(node), model.pointsOf(node));
  }

  drawFlame() {
    const { model, flame } = this;
    this.maxScroll = Math.max(0, (model.deepest + 1) * ROW - flame.height);
    flame.scroll = Math.min(flame.scroll, this.maxScroll);
    flame.draw({
      tree: model.tree,
      widths: model.widths,
      left: model.left,
      zoom: model.zoom,
      colour: (node) => this.colourOf(node),
      state: (node) => model.stateOf(node),
      name: (node) => (node ? model.nameOf(node) : this.rootName()),
      textures: this.state.colour === 'diff',
      down: true,
    });
    this.mark();
  }

  /** Stacks that are gone stand in the difference only. */
  canShowRemoved() {
    return this.model.sides === 2 && this.state.view === 'diff' && this.model.removedCount > 0;
  }

  rootName() {
    const side =
      this.model.sides === 1
        ? ''
        : this.state.removed && this.canShowRemoved()
          ? 'gone since base'
          : this.state.view === 'diff'
            ? this.state.reversed
              ? 'base, coloured by what head changes'
              : 'head, coloured by its difference from base'
            : this.state.view;
    return side ? `all – ${side}` : 'all';
  }

  mark() {
    const { model } = this;
    const matches = model.matches;
    this.flame.mark({
      hover: this.hover,
      selected: model.selected,
      hasMatches: !!matches,
      matches: (node) => !!matches && matches(node),
    });
    this.drawStatus();
  }

  drawStatus() {
    const { model, hoverBox } = this;
    const node = this.hover >= 0 ? this.hover : model.selected;
    const merged = hoverBox && hoverBox.merged > 1 ? ` (first of ${hoverBox.merged} frames too narrow to draw)` : '';
    this.status.replaceChildren(...(node < 0 ? [] : [h('bdi', {}, model.nameOf(node)), `${merged} — ${this.figuresOf(node)}`]));
    // What a screen reader is told follows the keyboard, not the pointer.
    const at = model.selected >= 0 ? model.selected : model.zoom;
    this.active.replaceChildren(h('bdi', {}, model.nameOf(at)), `, ${this.figuresOf(at)}, depth ${model.tree.depth[at]}`);
  }

  /** @param {number} node */
  figuresOf(node) {
    const { model } = this;
    const { unit } = model.meta;
    const [base, head] = model.valueOf(node);
    const [totalBase, totalHead] = model.totals();
    if (model.sides === 1) return `${amount(head, unit)} ${percent(head, totalHead)}`;
    const sides = `base ${amount(base, unit)} ${percent(base, totalBase)} → head ${amount(head, unit)} ${percent(head, totalHead)}`;
    const change = `${signedAmount(head - base, unit)} ${signedPercent(head - base, base)} of base`;
    return `${sides} · ${change} · ${/** @type {any} */ (STATE_WORDS)[model.stateOf(node)]}`;
  }

  drawInspector() {
    const { model } = this;
    const pinned = model.selected >= 0;
    const node = pinned ? model.selected : this.hover;
    if (node < 0) {
      this.inspector.replaceChildren(overview(model, (func) => this.pickFunction(func)));
      return;
    }
    this.inspector.replaceChildren(
      inspect(model, node, pinned, {
        pick: (func) => this.pickFunction(func),
        callers: (func) =>
          this.set({ callers: shortHash(model.functions[func].key), callees: '', picked: '', zoom: '', selected: '' }),
        callees: (func) =>
          this.set({ callees: shortHash(model.functions[func].key), callers: '', picked: '', zoom: '', selected: '' }),
        copy: (text, what) => this.copy(text, what),
        zoom: (at) => this.set({ zoom: pathOf(model.tree, model.functions, at) }),
      }),
    );
  }

  /** @param {string} text @param {string} what */
  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      this.say(`${what} copied`);
    } catch {
      const area = h('textarea', { value: text });
      document.body.append(area);
      area.select();
      this.say(document.execCommand('copy') ? `${what} copied` : `cannot copy the ${what} here`);
      area.remove();
    }
  }

  /** @param {string} text */
  say(text) {
    this.live.textContent = text;
    this.status.textContent = text;
  }

  drawCrumbs() {
    const { model } = this;
    const path = [];
    for (let at = model.zoom; at >= 0; at = model.tree.parent[at]) path.push(at);
    path.reverse();
    const shown = path.length > 9 ? [...path.slice(0, 3), -1, ...path.slice(-5)] : path;
    this.crumbs.replaceChildren(
      ...shown.map((node) =>
        node < 0
          ? h('span.dim', {}, '…')
          : h(
              'button.link',
              {
                type: 'button',
                title: model.nameOf(node),
                'aria-current': node === model.zoom,
                onclick: () => this.set({ zoom: pathOf(model.tree, model.functions, node) }),
              },
              model.nameOf(node),
            ),
      ),
    );
    if (model.zoom > 0)
      this.crumbs.append(
        h('button', { type: 'button', title: 'reset the zoom (0)', onclick: () => this.set({ zoom: '' }) }, 'reset'),
      );
  }

  drawLegend() {
    const { model, state } = this;
    const toggle = (/** @type {'origins'|'states'} */ name, /** @type {string} */ digit) => {
      const marked = state[name];
      this.set({ [name]: marked.includes(digit) ? marked.replace(digit, '') : marked + digit });
    };
    /** @type {[string, string][]} */
    const palettes = [
      ['kelvin', 'orange and blue'],
      ['classic', 'red and blue'],
      ['codspeed', 'red and green'],
    ];
    this.legend.replaceChildren(...legend(model, this.colours, state, toggle));
    if (state.colour === 'diff') this.legend.append(select(this, 'palette', 'Palette', palettes, true));
  }

  /** @param {string} text */
  searchSoon(text) {
    clearTimeout(this.searchTimer);
    this.searchTimer = setTimeout(() => this.set({ search: text, picked: '' }, true), 120);
  }

  /** Leaves the field for the first match. */
  searchNow() {
    clearTimeout(this.searchTimer);
    const text = this.search.value;
    this.search.blur();
    this.set({ search: text, picked: '' });
    this.model.update(this.state);
    this.nextMatch(1);
    this.overlay.focus();
  }

  /** @param {number} step */
  nextMatch(step) {
    const { nodes } = this.model.found;
    if (!nodes.length) return;
    const at = nodes.indexOf(this.model.selected);
    this.selectNode(nodes[(Math.max(at, step > 0 ? -1 : 0) + step + nodes.length) % nodes.length], true);
  }

  /** @param {MouseEvent} e */
  moved(e) {
    this.hoverAt(this.flame.hit(e.offsetX, e.offsetY));
  }

  /** @param {import('./draw.js').Box|null} box */
  hoverAt(box) {
    const node = box ? box.node : -1;
    this.overlay.classList.toggle('over', node >= 0);
    if (node === this.hover) return;
    this.hover = node;
    this.hoverBox = box;
    this.mark();
    if (this.model.selected < 0) this.drawInspector();
  }

  /** @param {MouseEvent} e */
  clicked(e) {
    const box = this.flame.hit(e.offsetX, e.offsetY);
    if (!box) return;
    const path = pathOf(this.model.tree, this.model.functions, box.node);
    this.set({ selected: path, zoom: path });
  }

  /** @param {WheelEvent} e */
  wheeled(e) {
    if (!this.maxScroll && !e.ctrlKey) return;
    e.preventDefault();
    this.flame.scroll = Math.max(0, Math.min(this.maxScroll || 0, this.flame.scroll + e.deltaY));
    this.refresh(false);
  }

  /** @param {number} node @param {boolean} [reveal] */
  selectNode(node, reveal = false) {
    const { model } = this;
    const path = pathOf(model.tree, model.functions, node);
    const change = /** @type {Partial<State>} */ ({ selected: path });
    const inZoom = node >= model.zoom && node < model.tree.end[model.zoom];
    if (reveal && (!inZoom || this.flame.place(node).w < 4))
      change.zoom = pathOf(model.tree, model.functions, model.tree.parent[node] > 0 ? model.tree.parent[node] : 0);
    const y = model.tree.depth[node] * ROW;
    if (y < this.flame.scroll || y + ROW > this.flame.scroll + this.flame.height)
      this.flame.scroll = Math.max(0, y - this.flame.height / 3);
    this.set(change, !reveal);
    this.live.textContent = model.nameOf(node);
  }

  /** Shows all frames of a function and selects its widest. @param {number} func */
  pickFunction(func) {
    const { model } = this;
    let best = -1;
    for (let i = 1; i < model.tree.count; i++)
      if (model.tree.func[i] === func && (best < 0 || model.widths[i] > model.widths[best])) best = i;
    this.set({
      search: '',
      picked: shortHash(model.functions[func].key),
      selected: best > 0 ? pathOf(model.tree, model.functions, best) : '',
      zoom: best > 0 && this.flame.place(best).w >= 2 ? this.state.zoom : '',
    });
  }

  copySelection() {
    const node = this.model.selected >= 0 ? this.model.selected : this.hover;
    if (node > 0) this.copy(stackText(this.model, node), 'stack');
  }
}

/** Pages from file:// may have no storage. @param {string} name */
function remembered(name) {
  try {
    return localStorage.getItem(name) || '';
  } catch {
    return '';
  }
}

/** @param {string} name @param {string} value */
function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Not remembered, then.
  }
}
