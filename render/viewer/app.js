// SPDX-License-Identifier: GPL-3.0-or-later
// Ties state, model and picture together. Every change of state goes through set().

import { Chronology } from './chronology.js';
import { Colours } from './colour.js';
import { drawControls, drawCorner, select } from './controls.js';
import { readBlock } from './block.js';
import { decodeSamples, decodeTimeline } from './decode.js';
import { h } from './dom.js';
import { Flame, ROW } from './draw.js';
import { FunctionList } from './functions.js';
import { header, legend } from './header.js';
import { inspect, overview, stackText } from './inspector.js';
import { helpDialog, onKey } from './keys.js';
import { Searcher } from './pattern.js';
import { splitter } from './splitter.js';
import { remember, remembered } from './storage.js';
import { DEFAULTS, fromHash, pathOf, toHash } from './state.js';
import { crumbs, figuresOf, rootName } from './status.js';
import { hashOf } from './symbols.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').State} State */

/** The path of the root, as a selection: without any, nothing is selected. */
const ROOT = '.';

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
    this.tablesDue = false;
    /** Whether the model shows the state yet. */ this.shown = false;
    /** @type {Map<string, string>} what was last drawn around the picture */ this.drawn = new Map();
    /** @type {Promise<void>|undefined} */ this.samplesRead = undefined;
    /** @type {Promise<void>|undefined} */ this.timelineOpened = undefined;
    this.timelineRead = false;
    /** How long the last search took, ms. */ this.searchTook = 0;
    /** @type {any} the tree that was last drawn */ this.treeDrawn = null;
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
    this.corner = h('div.corner', { role: 'toolbar', 'aria-label': 'Views' });
    this.assemble();
    this.bind();
    this.theme(remembered('kelvin-theme'));
    this.show();
  }

  /** The page's parts in their places. */
  assemble() {
    const left = h('div.left', {}, this.chronology.strip, this.crumbs, this.flameHost, this.chronology.element);
    left.append(
      splitter(this.list.element, () => this.refresh(false)),
      this.list.element,
    );
    this.root.replaceChildren(
      header(this.model, this.corner),
      this.controls,
      h('main', {}, left, this.inspector),
      h('footer', {}, this.legend, this.status),
      this.active,
      this.live,
      this.help,
    );
  }

  /** Searches that may take long. */
  searchApart() {
    const { model } = this;
    const searcher = new Searcher(() => model.functions.map((f) => f.name));
    model.searchApart = (pattern, done) =>
      searcher.run(pattern, (hits, error) => {
        done(hits, error);
        model.madeFrom.delete('search');
        this.refresh(true);
      });
  }

  bind() {
    this.searchApart();
    const over = this.overlay;
    over.addEventListener('mousemove', (/** @type {MouseEvent} */ e) => this.moved(e));
    over.addEventListener('mouseleave', () => this.hoverAt(null));
    over.addEventListener('click', (/** @type {MouseEvent} */ e) => this.clicked(e));
    over.addEventListener('dblclick', () => this.set({ zoom: '' }));
    over.addEventListener('wheel', (/** @type {WheelEvent} */ e) => this.wheeled(e), { passive: false });
    document.addEventListener('keydown', (e) => onKey(this, e));
    window.addEventListener('popstate', () => {
      this.state = fromHash(location.hash, this.defaults);
      this.show();
    });
    window.addEventListener('hashchange', () => {
      if (location.hash.slice(1) === toHash(this.state, this.defaults)) return;
      this.state = fromHash(location.hash, this.defaults);
      this.show();
    });
    new ResizeObserver(([entry]) => this.resized(entry.contentRect)).observe(this.flameHost);
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
    this.show();
  }

  /** Draws the state at once: the frame that comes then has nothing left to do. */
  async show() {
    const { model, state } = this;
    try {
      if (model.needsSamples(state)) await this.readSamples();
      if (state.range && this.hasTimeline()) await this.openTimeline();
    } catch (error) {
      this.say(`A part of this report cannot be read: ${/** @type {Error} */ (error).message}.`);
      return;
    }
    this.refresh(true);
    queueMicrotask(() => this.flush());
  }

  /** Samples are needed for filters and for what stands over time. @returns {Promise<void>|void} */
  readSamples() {
    const { page, meta, sides } = this.model;
    if (page.samples[1]) return;
    return (this.samplesRead ||= readBlock('samples').then((bytes) => {
      page.samples = decodeSamples(bytes, sides, meta.metrics);
    }));
  }

  openTimeline() {
    return (this.timelineOpened ||= this.readTimeline());
  }

  async readTimeline() {
    await this.readSamples();
    this.model.timelines = decodeTimeline(await readBlock('timeline'), this.model.sides);
    this.timelineRead = true;
    this.refresh(true);
  }

  hasTimeline() {
    return this.model.meta.recordings.every((/** @type {any} */ r) => r.hasTimeline);
  }

  /** One redraw a frame, however many changes. @param {boolean} all also what lies around the picture */
  refresh(all) {
    this.pending = this.pending || all;
    this.frame ||= requestAnimationFrame(() => this.flush());
  }

  /** What was asked for, now. */
  flush() {
    if (!this.frame) return;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const all = this.pending || false;
    this.pending = false;
    this.update(all);
  }

  /** @param {boolean} all */
  update(all) {
    const { model, state } = this;
    if (all) {
      const { tree } = model;
      model.update(state);
      this.shown = true;
      // A node's number means nothing in another tree.
      if (model.tree !== tree) Object.assign(this, { hover: -1, hoverBox: null });
      this.colours.mode = state.colour;
      this.colours.palette = state.palette;
      this.colours.most = model.most;
      if (state.tab === 'timeline')
        this.openTimeline().catch((error) => this.say(`The timeline cannot be read: ${error.message}.`));
    }
    this.drawFlame();
    if (all) this.drawAround();
    if (this.timelineRead) this.chronology.draw();
    if (all) this.afterwards();
  }

  /** The bars; each is made anew only when what it shows has changed. */
  drawAround() {
    const { model, state, colours } = this;
    this.root.dataset.tab = state.tab;
    this.chronology.strip.hidden = !this.timelineRead;
    const { zoom: _zoom, selected: _selected, ...rest } = state;
    const { nodes, sum } = model.found;
    const at = model.matches ? nodes.indexOf(model.selected) : 0;
    const shown = [rest, model.removedCount, model.hidden, nodes.length, sum, at, !!model.matches, model.searchError];
    if (this.differs('controls', shown)) drawControls(this, this.controls);
    if (this.differs('corner', [colours.dark, state.view, state.tab])) drawCorner(this, this.corner);
    if (
      this.differs('legend', [state.colour, model.metric, state.palette, state.origins, state.states, colours.dark, model.most])
    )
      this.drawLegend();
    this.drawCrumbs();
  }

  /** @param {string} what @param {any} shown */
  differs(what, shown) {
    const text = JSON.stringify(shown);
    if (this.drawn.get(what) === text) return false;
    this.drawn.set(what, text);
    return true;
  }

  /** What may come a frame after the picture: the tables beside it. */
  afterwards() {
    if (this.tablesDue) return;
    this.tablesDue = true;
    requestAnimationFrame(() => setTimeout(() => this.drawTables()));
  }

  drawTables() {
    this.tablesDue = false;
    if (this.state.tab === 'flame' && !this.flame.drawn) return this.afterwards();
    this.drawInspector();
    if (document.documentElement.dataset.ready) this.list.fill();
    else requestAnimationFrame(() => setTimeout(() => this.firstList()));
  }

  /** Filling the list for the first time takes longer than all that came before: the picture is on the screen by then. */
  firstList() {
    this.list.fill();
    document.documentElement.dataset.ready = '1';
    // What the first click will ask for.
    setTimeout(() => this.model.framesOf(0), 50);
  }

  /** @param {DOMRectReadOnly} box */
  resized({ width, height }) {
    if (!this.flame.resize(width, height)) return;
    if (this.frame) this.flush();
    else this.drawFlame();
  }

  colourOf(/** @type {number} */ node) {
    const { model } = this;
    return this.colours.of(model.tree.func[node], model.stateOf(node), model.pointsOf(node));
  }

  drawFlame() {
    const { model, flame } = this;
    if (!this.shown || flame.width <= 1) return;
    if (this.treeDrawn !== model.tree) {
      this.treeDrawn = model.tree;
      // Callers stand above: as much room for them as for callees.
      if (model.tree.twin) flame.scroll = -Math.floor((0.45 * flame.height) / ROW) * ROW;
    }
    const scene = {
      tree: model.tree,
      width: model.width,
      zoom: model.zoom,
      colour: (/** @type {number} */ node) => this.colourOf(node),
      state: (/** @type {number} */ node) => model.stateOf(node),
      name: (/** @type {number} */ node) => (node ? model.nameOf(node) : rootName(this)),
      textures: this.state.colour === 'diff',
    };
    if (!model.tree.isLazy) this.clampScroll();
    flame.draw(scene);
    if (model.tree.isLazy && this.clampScroll()) flame.draw(scene);
    document.documentElement.dataset.painted ||= String(performance.now() | 0);
    this.mark();
  }

  /** First and last place to scroll to. */
  scrollRange() {
    const [highest, lowest] = this.model.rowRange();
    return [highest * ROW, Math.max(highest * ROW, (lowest + 1) * ROW - this.flame.height)];
  }

  /** Whether the picture was scrolled beyond its end. */
  clampScroll() {
    const { flame } = this;
    if (!flame.scroll) return false;
    const [first, last] = this.scrollRange();
    const before = flame.scroll;
    flame.scroll = Math.max(first, Math.min(last, before));
    return flame.scroll !== before;
  }

  /** Stacks that are gone stand in the difference only. */
  canShowRemoved() {
    return this.model.sides === 2 && this.state.view === 'diff' && this.model.removedCount > 0;
  }

  mark() {
    const { model } = this;
    this.flame.mark({ hover: this.hover, selected: model.selected, matches: model.matches });
    this.drawStatus();
  }

  drawStatus() {
    const { model, hoverBox } = this;
    const node = this.hover >= 0 ? this.hover : model.selected;
    const merged = hoverBox && hoverBox.merged > 1 ? ` (first of ${hoverBox.merged} frames too narrow to draw)` : '';
    this.status.replaceChildren(...(node < 0 ? [] : [h('bdi', {}, model.nameOf(node)), `${merged} — ${figuresOf(model, node)}`]));
    // What a screen reader is told follows the keyboard, not the pointer.
    const at = model.selected >= 0 ? model.selected : model.zoom;
    this.active.replaceChildren(h('bdi', {}, model.nameOf(at)), `, ${figuresOf(model, at)}, depth ${model.tree.depth[at]}`);
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
        around: (func, which) => this.showAround(func, which),
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
    this.crumbs.replaceChildren(...crumbs(model, (node) => this.set({ zoom: pathOf(model.tree, model.functions, node) })));
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
    const begin = performance.now();
    const search = () => {
      this.set({ search: text, picked: '' }, true);
      // Typing waits for as long as the last search took.
      queueMicrotask(() => (this.searchTook = performance.now() - begin));
    };
    if (this.searchTook < 30) search();
    else this.searchTimer = setTimeout(search, Math.min(200, this.searchTook));
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
    this.set({ selected: path || ROOT, zoom: path });
  }

  /** @param {WheelEvent} e */
  wheeled(e) {
    if (e.ctrlKey) return;
    const [first, last] = this.scrollRange();
    if (first === last) return;
    e.preventDefault();
    this.flame.scroll = Math.max(first, Math.min(last, this.flame.scroll + e.deltaY));
    this.refresh(false);
  }

  /** @param {number} node @param {boolean} [reveal] */
  selectNode(node, reveal = false) {
    const { model } = this;
    const path = pathOf(model.tree, model.functions, node);
    const change = /** @type {Partial<State>} */ ({ selected: path || ROOT });
    const inZoom = model.tree.holds(model.zoom, node);
    if (reveal && (!inZoom || this.flame.place(node).w < 4))
      change.zoom = pathOf(model.tree, model.functions, model.tree.parent[node] > 0 ? model.tree.parent[node] : 0);
    const y = model.tree.row(node) * ROW;
    if (y < this.flame.scroll || y + ROW > this.flame.scroll + this.flame.height)
      this.flame.scroll = y - Math.floor(this.flame.height / 3);
    this.set(change, !reveal);
    this.live.textContent = model.nameOf(node);
  }

  /** Shows all frames of a function and selects its widest. @param {number} func */
  pickFunction(func) {
    const { model } = this;
    const best = model.widestOf(func);
    this.set({
      search: '',
      picked: hashOf(model.functions[func]),
      selected: best > 0 ? pathOf(model.tree, model.functions, best) : '',
      zoom: best > 0 && this.flame.place(best).w >= 2 ? this.state.zoom : '',
    });
  }

  /** What calls a function, what it calls, or both. @param {number} func @param {'callers'|'callees'|'both'} which */
  showAround(func, which) {
    const hash = hashOf(this.model.functions[func]);
    this.set({
      callers: which === 'callees' ? '' : hash,
      callees: which === 'callers' ? '' : hash,
      picked: '',
      zoom: '',
      selected: '',
    });
  }

  copySelection() {
    const node = this.model.selected >= 0 ? this.model.selected : this.hover;
    if (node > 0) this.copy(stackText(this.model, node), 'stack');
  }
}
