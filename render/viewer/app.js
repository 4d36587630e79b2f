// SPDX-License-Identifier: GPL-3.0-or-later
// Ties state, model and picture together. Every change of state goes through set().

import { Colours } from './colour.js';
import { decodeTimeline, readBlock } from './decode.js';
import { h } from './dom.js';
import { Flame, ROW } from './draw.js';
import { amount, digits, percent, signedAmount, signedPercent } from './format.js';
import { header, legend } from './header.js';
import { inspect, stackText, STATE_WORDS } from './inspector.js';
import { depthBelow } from './layout.js';
import { helpDialog, onKey } from './keys.js';
import { DEFAULTS, fromHash, pathOf, shortHash, toHash } from './state.js';
import { Grid } from './table.js';
import { activity, chart, drawChart, drawStrip } from './timeline.js';

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
    this.matchAt = -1;
    this.frame = 0;
    this.build();
  }

  build() {
    const { model } = this;
    this.canvas = h('canvas.flame', { 'aria-hidden': 'true' });
    this.overlay = h('canvas.overlay', { tabIndex: 0, role: 'tree', 'aria-label': 'Flame graph: arrows move between frames, Enter zooms', 'aria-activedescendant': 'active-frame' });
    this.active = h('div.offscreen', { id: 'active-frame', role: 'treeitem', 'aria-selected': 'true' });
    this.live = h('div.offscreen', { 'aria-live': 'polite', role: 'status' });
    this.strip = h('canvas.strip', { 'aria-label': 'Samples over time: drag to select a range, double-click to clear it', role: 'img' });
    this.chartCanvas = h('canvas.chart', { 'aria-label': 'Flame chart of one thread in order of time', role: 'img' });
    this.chartHost = h('div.chart-host', {}, this.chartCanvas);
    this.flameHost = h('div.flame-host', {}, this.canvas, this.overlay);
    this.inspector = h('aside.inspector', { 'aria-label': 'Inspector' });
    this.crumbs = h('nav.crumbs', { 'aria-label': 'Path to the zoomed frame' });
    this.status = h('div.status');
    this.legend = h('div.legend');
    this.controls = h('div.controls', { role: 'toolbar', 'aria-label': 'View' });
    this.gridHost = h('div.grid', { 'aria-label': 'Functions' });
    this.gridFilter = h('input', { type: 'search', placeholder: 'filter functions', 'aria-label': 'Filter functions', oninput: () => this.fillGrid() });
    this.stateFilter = h('select', { 'aria-label': 'Filter by verdict', onchange: () => this.fillGrid() }, h('option', { value: '' }, 'all'), ...['more', 'less', 'new', 'gone', 'moved', 'unproven'].map((s) => h('option', { value: s }, s)));
    this.gridCount = h('span.dim');
    this.flame = new Flame(this.canvas, this.overlay);
    this.grid = new Grid(this.gridHost, (row) => this.pickFunction(row.f.id));
    this.functionsPane = h('section.functions', {}, h('div.bar', {}, h('h3', {}, 'Functions'), this.gridFilter, model.sides === 2 && this.stateFilter, this.gridCount), this.gridHost);
    this.main = h('main', {}, h('div.left', {}, this.strip, this.crumbs, this.flameHost, this.chartHost, this.functionsPane), this.inspector);
    this.root.replaceChildren(header(model), this.controls, this.main, h('footer', {}, this.legend, this.status), this.active, this.live, (this.help = helpDialog()));
    this.bind();
    this.setGridColumns();
    this.theme(localStorage_('kelvin-theme'));
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
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.theme(localStorage_('kelvin-theme')));
    this.bindBrush();
  }

  bindBrush() {
    let from = -1;
    const timeAt = (/** @type {MouseEvent} */ e) => (Math.max(0, Math.min(e.offsetX, this.strip.clientWidth)) / this.strip.clientWidth) * this.activity.end;
    this.strip.addEventListener('mousedown', (/** @type {MouseEvent} */ e) => (from = timeAt(e)));
    window.addEventListener('mouseup', () => (from = -1));
    this.strip.addEventListener('mousemove', (/** @type {MouseEvent} */ e) => {
      if (from < 0) return;
      const to = timeAt(e);
      if (Math.abs(to - from) > this.activity.end / 400) this.set({ range: [Math.min(from, to), Math.max(from, to)] }, true);
    });
    this.strip.addEventListener('dblclick', () => this.set({ range: null }));
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
    storeLocally('kelvin-theme', next);
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
    this.model.treeKey = '';
    this.refresh(true);
  }

  hasTimeline() {
    return this.model.meta.recordings.some((/** @type {any} */ r) => r.hasTimeline);
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
      this.drawControls();
      this.drawCrumbs();
      this.legend.replaceChildren(...legend(model, this.colours, state, (o) => this.toggleOrigin(o)));
      this.drawInspector();
      this.fillGrid();
    }
    this.root.dataset.tab = state.tab;
    this.strip.hidden = !this.timelineRead;
    this.flame.resize();
    this.drawFlame();
    this.drawTimeline();
    document.documentElement.dataset.painted = String(performance.now() | 0);
  }

  colourOf(/** @type {number} */ node) {
    const { model } = this;
    return this.colours.of(model.tree.func[node], model.stateOf(node), model.pointsOf(node));
  }

  drawFlame() {
    const { model, flame } = this;
    const deepest = (depthBelow(model.tree, model.widths, model.zoom) + 1) * ROW;
    this.maxScroll = Math.max(0, deepest - flame.height);
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

  rootName() {
    const side = this.model.sides === 1 ? '' : this.state.removed && this.model.removedCount ? 'gone since base' : this.state.view === 'diff' ? (this.state.reversed ? 'base, coloured by what head changes' : 'head, coloured by its difference from base') : this.state.view;
    return side ? `all – ${side}` : 'all';
  }

  mark() {
    const { model } = this;
    const matches = model.matches;
    this.flame.mark({ hover: this.hover, selected: model.selected, hasMatches: !!matches, matches: (node) => !!matches && matches(model.tree.func[node]) });
    this.drawStatus();
  }

  drawStatus() {
    const { model, hoverBox } = this;
    const node = this.hover >= 0 ? this.hover : model.selected;
    if (node < 0) {
      this.status.textContent = '';
      return;
    }
    const [base, head] = model.valueOf(node);
    const [totalBase, totalHead] = model.totals();
    const unit = model.meta.unit;
    const merged = hoverBox && hoverBox.merged > 1 ? ` (first of ${hoverBox.merged} frames too narrow to draw)` : '';
    const figures =
      model.sides === 1
        ? `${amount(head, unit)} ${percent(head, totalHead)}`
        : `base ${amount(base, unit)} ${percent(base, totalBase)} → head ${amount(head, unit)} ${percent(head, totalHead)} · ${signedAmount(head - base, unit)} ${signedPercent(head - base, base)} of base · ${/** @type {any} */ (STATE_WORDS)[model.stateOf(node)]}`;
    this.status.textContent = `${model.nameOf(node)}${merged} — ${figures}`;
    if (node === model.selected) this.active.textContent = `${model.nameOf(node)}, ${figures}, depth ${model.tree.depth[node]}`;
  }

  drawInspector() {
    const { model } = this;
    const pinned = model.selected >= 0;
    const node = pinned ? model.selected : this.hover;
    this.inspector.replaceChildren(
      inspect(model, node, pinned, {
        pick: (func) => this.pickFunction(func),
        callers: (func) => this.set({ callers: shortHash(model.functions[func].key), zoom: '', selected: '' }),
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
      ...shown.map((node) => (node < 0 ? h('span.dim', {}, '…') : h('button.link', { type: 'button', title: model.nameOf(node), 'aria-current': node === model.zoom, onclick: () => this.set({ zoom: pathOf(model.tree, model.functions, node) }) }, model.nameOf(node)))),
    );
    if (model.zoom > 0) this.crumbs.append(h('button', { type: 'button', title: 'reset the zoom (0)', onclick: () => this.set({ zoom: '' }) }, 'reset'));
  }

  toggleOrigin(/** @type {number} */ origin) {
    const digit = String(origin);
    this.set({ origins: this.state.origins.includes(digit) ? this.state.origins.replace(digit, '') : this.state.origins + digit });
  }

  /** A choice of several, one pressed. @param {string} name @param {[any, string, string?][]} choices */
  choice(name, choices) {
    const current = /** @type {any} */ (this.state)[name];
    return h(
      'span.choice',
      { role: 'group' },
      ...choices.map(([value, label, hint]) => h('button', { type: 'button', 'aria-pressed': current === value, title: hint || '', onclick: () => this.set(/** @type {any} */ ({ [name]: value })) }, label)),
    );
  }

  /** @param {string} label @param {string} name @param {[string, string][]} options */
  select(label, name, options) {
    const current = /** @type {any} */ (this.state)[name];
    return h('label', {}, `${label} `, h('select', { value: current, onchange: (/** @type {any} */ e) => this.set(/** @type {any} */ ({ [name]: e.target.value, ...(name === 'thread' ? { zoom: '' } : {}) })) }, ...options.map(([value, text]) => h('option', { value, selected: value === current }, text))));
  }

  /** @param {string} label @param {string} name @param {string} hint */
  toggle(label, name, hint) {
    return h('label.toggle', { title: hint }, h('input', { type: 'checkbox', checked: /** @type {any} */ (this.state)[name], onchange: (/** @type {any} */ e) => this.set(/** @type {any} */ ({ [name]: e.target.checked, ...(name === 'inverted' ? { zoom: '', selected: '' } : {}) })) }), label);
  }

  drawControls() {
    const { model, state } = this;
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.keep;
    const two = model.sides === 2;
    const threads = [...model.threadNames().keys()].sort();
    const hiddenShare = model.hidden.map((value, side) => (model.shownBefore?.[side] ? (100 * value) / model.shownBefore[side] : 0));
    const hiddenText = state.system === 'hide' ? `hidden: ${two ? `${digits(hiddenShare[0])} % of base, ` : ''}${digits(hiddenShare[1])} %${two ? ' of head' : ' of all time'}` : state.system === 'fold' ? 'system time counts as its caller\'s' : '';
    const total = model.totals();
    const found = model.matches ? `${model.found.nodes.length ? `${this.matchAt >= 0 ? this.matchAt + 1 : 0}/` : ''}${model.found.nodes.length} · ${percent(model.found.sum[1] * model.factor || model.found.sum[0], model.found.sum[1] ? total[1] : total[0])}` : '';
    this.search = h('input', { type: 'search', placeholder: 'search  (/)', value: state.search, 'aria-label': 'Search functions, a regular expression', 'data-keep': 'search', onchange: (/** @type {any} */ e) => this.set({ search: e.target.value }), oninput: (/** @type {any} */ e) => this.searchSoon(e.target.value) });
    this.controls.replaceChildren(
      ...[
        two && this.choice('view', [['base', 'Base', 'b'], ['head', 'Head', 'h'], ['diff', 'Diff', 'd']]),
        this.choice('tab', [['flame', 'Flame'], ...(this.hasTimeline() ? [/** @type {[string, string]} */ (['timeline', 'Timeline'])] : []), ['functions', 'Functions']]),
        this.select('Colour', 'colour', [...(two ? [/** @type {[string, string]} */ (['diff', 'difference'])] : []), ['origin', 'origin'], ['function', 'function'], ['bottleneck', 'bottleneck']]),
        two && state.colour === 'diff' && this.select('', 'palette', [['kelvin', 'orange and blue'], ['classic', 'red and blue'], ['codspeed', 'red and green']]),
        h('label.toggle', { title: 'kernel and low-level runtime frames (s)' }, h('input', { type: 'checkbox', checked: state.system === 'show', onchange: (/** @type {any} */ e) => this.set({ system: e.target.checked ? 'show' : 'hide', zoom: '', selected: '' }) }), 'System calls'),
        state.system !== 'show' && this.select('', 'system', [['hide', 'hidden with their time'], ['fold', 'folded into their caller']]),
        hiddenText && h('span.chip', {}, hiddenText),
        two && state.view === 'diff' && h('button', { type: 'button', title: 'whose widths are drawn; colours keep their meaning', onclick: () => this.set({ reversed: !state.reversed }) }, state.reversed ? 'After → Before' : 'Before → After'),
        two && model.removedCount > 0 && this.toggle(`Removed (${model.removedCount})`, 'removed', 'stacks that only base has, in base widths (e)'),
        this.toggle('Invert', 'inverted', 'callers below callees (i)'),
        state.callers && h('button.chip', { type: 'button', onclick: () => this.set({ callers: '', zoom: '', selected: '' }) }, 'callers only ✕'),
        threads.length > 1 && this.select('Thread', 'thread', [['', 'all'], ...threads.map((t) => /** @type {[string, string]} */ ([t, t]))]),
        state.range && h('button.chip', { type: 'button', onclick: () => this.set({ range: null }) }, `${(state.range[0] / 1e6).toFixed(2)}–${(state.range[1] / 1e6).toFixed(2)} s ✕`),
        h('span.grow'),
        this.search,
        found && h('span.found', { title: model.searchError }, found),
        model.found.nodes.length > 0 && h('button', { type: 'button', title: 'previous match (N)', onclick: () => this.nextMatch(-1) }, '◀'),
        model.found.nodes.length > 0 && h('button', { type: 'button', title: 'next match (n)', onclick: () => this.nextMatch(1) }, '▶'),
        h('button', { type: 'button', title: 'light or dark', 'aria-label': 'Switch between light and dark', onclick: () => this.switchTheme() }, this.colours.dark ? '☀' : '☾'),
        h('button', { type: 'button', title: 'keys (?)', 'aria-label': 'Help', onclick: () => this.help.showModal() }, '?'),
      ].filter(Boolean),
    );
    if (focused === 'search') {
      this.search.focus();
      this.search.setSelectionRange(this.search.value.length, this.search.value.length);
    }
    if (state.tab === 'timeline') this.openTimeline();
  }

  /** @param {string} text */
  searchSoon(text) {
    clearTimeout(this.searchTimer);
    this.searchTimer = setTimeout(() => this.set({ search: text }, true), 120);
  }

  /** @param {number} step */
  nextMatch(step) {
    const { nodes } = this.model.found;
    if (!nodes.length) return;
    this.matchAt = (this.matchAt + step + nodes.length) % nodes.length;
    this.selectNode(nodes[this.matchAt], true);
  }

  /** @param {MouseEvent} e */
  moved(e) {
    if (e.buttons === 1 && this.dragFrom !== undefined) {
      this.flame.scroll = Math.max(0, Math.min(this.maxScroll || 0, this.flame.scroll - e.movementY));
      this.refresh(false);
    }
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
    if (reveal && (!inZoom || this.flame.place(node).w < 4)) change.zoom = pathOf(model.tree, model.functions, model.tree.parent[node] > 0 ? model.tree.parent[node] : 0);
    const y = model.tree.depth[node] * ROW;
    if (y < this.flame.scroll || y + ROW > this.flame.scroll + this.flame.height) this.flame.scroll = Math.max(0, y - this.flame.height / 3);
    this.set(change, !reveal);
    this.live.textContent = model.nameOf(node);
  }

  /** Shows all frames of a function and selects its widest. @param {number} func */
  pickFunction(func) {
    const { model } = this;
    let best = -1;
    for (let i = 1; i < model.tree.count; i++) if (model.tree.func[i] === func && (best < 0 || model.widths[i] > model.widths[best])) best = i;
    const name = model.functions[func].name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    this.grid.selected = func;
    this.set({ search: `^${name}$`, selected: best > 0 ? pathOf(model.tree, model.functions, best) : '', zoom: best > 0 && this.flame.place(best).w >= 2 ? this.state.zoom : '' });
  }

  copySelection() {
    const node = this.model.selected >= 0 ? this.model.selected : this.hover;
    if (node > 0) this.copy(stackText(this.model, node), 'stack');
  }

  setGridColumns() {
    const { model } = this;
    const unit = model.meta.unit;
    const share = (/** @type {number} */ side) => (/** @type {any} */ r) => `${amount(r.total[side], unit)} ${percent(r.total[side], model.totals()[side])}`;
    const f = (/** @type {any} */ r) => r.f;
    /** @type {import('./table.js').Column[]} */
    const one = [
      { id: 'name', title: 'function', left: true, text: (r) => f(r).name, value: (r) => f(r).name },
      { id: 'module', title: 'module', left: true, text: (r) => f(r).module, value: (r) => f(r).module },
      { id: 'self', title: 'self', text: (r) => `${amount(r.self[1], unit)} ${percent(r.self[1], model.totals()[1])}`, value: (r) => r.self[1] },
      { id: 'total', title: 'total', text: share(1), value: (r) => r.total[1] },
    ];
    /** @type {import('./table.js').Column[]} */
    const two = [
      one[0],
      one[1],
      { id: 'base', title: 'base total', text: share(0), value: (r) => r.total[0] },
      { id: 'head', title: 'head total', hint: 'scaled', text: share(1), value: (r) => r.total[1] },
      { id: 'self', title: 'Δ self', text: (r) => signedAmount(r.self[1] - r.self[0], unit), value: (r) => Math.abs(r.self[1] - r.self[0]) },
      { id: 'delta', title: 'Δ total', text: (r) => signedAmount(r.total[1] - r.total[0], unit), value: (r) => Math.abs(r.total[1] - r.total[0]) },
      { id: 'percent', title: 'Δ % of base', text: (r) => signedPercent(r.total[1] - r.total[0], r.total[0]), value: (r) => (r.total[0] ? Math.abs(r.total[1] / r.total[0] - 1) : Infinity) },
      { id: 'interval', title: '95 % interval', hint: 'of the difference in total, over the whole recordings', text: (r) => (f(r).total?.low == null ? '–' : `${signedAmount(f(r).total.low, unit)} to ${signedAmount(f(r).total.high, unit)}`), value: (r) => f(r).total?.low ?? -Infinity },
      { id: 'state', title: 'verdict', left: true, text: (r) => f(r).total?.state || '', value: (r) => ['new', 'gone', 'more', 'less', 'moved', 'unproven', 'same'].indexOf(f(r).total?.state), className: (r) => `s-${f(r).total?.state}` },
    ];
    this.grid.setColumns(model.sides === 2 ? two : one, model.sides === 2 ? 'delta' : 'self');
  }

  fillGrid() {
    const { model } = this;
    const text = this.gridFilter.value.toLowerCase();
    const wanted = this.stateFilter.value;
    const rows = [];
    for (const f of model.functions) {
      const total = [model.sums.total[0][f.id], model.sums.total[1][f.id] * model.factor];
      if (!total[0] && !total[1]) continue;
      if (text && !f.name.toLowerCase().includes(text) && !f.module.toLowerCase().includes(text)) continue;
      if (wanted && f.total?.state !== wanted) continue;
      if (this.state.origins && !this.state.origins.includes(String(f.origin))) continue;
      rows.push({ f, total, self: [model.sums.self[0][f.id], model.sums.self[1][f.id] * model.factor] });
    }
    this.gridCount.textContent = `${rows.length} of ${model.functions.length}`;
    this.grid.selected = model.selected > 0 ? model.tree.func[model.selected] : null;
    this.grid.setRows(rows);
  }

  drawTimeline() {
    const { model, state } = this;
    if (!this.timelineRead || this.strip.hidden) return;
    const ids = state.thread ? model.threadNames().get(state.thread) : null;
    this.activity = activity(model.timelines, model.page.samples, 300, ids ? (side, thread) => ids[side].has(thread) : undefined);
    drawStrip(this.strip, this.activity, state.range, model.sides === 2 ? ['#4393c3', '#d55e00'] : ['#888', '#4a90d9']);
    if (state.tab !== 'timeline') return;
    const side = model.sides === 2 && state.view === 'base' ? 0 : 1;
    const samples = model.page.samples[side];
    const timeline = model.timelines[side];
    if (!samples || !timeline) return;
    const thread = this.busiestThread(side, ids);
    const range = state.range || [0, this.activity.end];
    const boxes = chart(model.page.tree, samples, timeline, thread, range, (node) => node);
    const deepest = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
    this.chartCanvas.style.height = `${(deepest + 1) * 16}px`;
    const colour = (/** @type {number} */ node) => (state.colour === 'diff' ? this.colours.difference(['same', 'unproven', 'more', 'less', 'new', 'gone', 'moved'][model.page.tree.state[node]], 5) : this.colours.of(model.page.tree.func[node], '', 0));
    drawChart(this.chartCanvas, boxes, range, colour, (node) => model.functions[model.page.tree.func[node]].name, 16);
  }

  /** The chosen thread, or the one with the most samples. @param {number} side @param {Set<number>[]|null} ids */
  busiestThread(side, ids) {
    const samples = this.model.page.samples[side];
    const sums = new Map();
    for (let i = 0; i < samples.count; i++) {
      const thread = samples.thread[i];
      if (!ids || ids[side].has(thread)) sums.set(thread, (sums.get(thread) || 0) + samples.times[i]);
    }
    return [...sums].sort((a, b) => b[1] - a[1])[0]?.[0] ?? -1;
  }
}

/** Pages from file:// may have no storage. @param {string} name */
function localStorage_(name) {
  try {
    return localStorage.getItem(name) || '';
  } catch {
    return '';
  }
}

/** @param {string} name @param {string} value */
function storeLocally(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Not remembered, then.
  }
}
