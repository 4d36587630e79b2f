// SPDX-License-Identifier: GPL-3.0-or-later
// Ties state, model and picture together. Every change of state goes through set().

import { Chronology } from './chronology.js';
import { Colours } from './colour.js';
import { drawControls, drawCorner, select } from './controls.js';
import { readLater } from './block.js';
import { decodeSamples, decodeTimeline } from './decode.js';
import { copied, h } from './dom.js';
import { FunctionList } from './functions.js';
import { header, legend } from './header.js';
import { inspect, overview, stackText } from './inspector.js';
import { helpDialog, onKey } from './keys.js';
import { Picture } from './picture.js';
import { Searching } from './searching.js';
import { splitter } from './splitter.js';
import { remember, remembered } from './storage.js';
import { DEFAULTS, fromHash, toHash } from './state.js';
import { crumbs } from './status.js';
import { hashOf } from './symbols.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').State} State */

/** What somebody chose for all reports. */
const THEME = 'kelvin-theme';
const SYSTEM_DARK = matchMedia('(prefers-color-scheme: dark)');
/** In a window as wide as this each bar of a report has one row. */
const ONE_ROW = 1280;
/** By then a frame that was made is on the screen. */
const PRESENTED_MS = 5;
/** As long may one step of something long take. */
const SLICE_MS = 30;

function prefersDark() {
  const choice = remembered(THEME);
  return choice ? choice === 'dark' : SYSTEM_DARK.matches;
}

export class App {
  /** @param {HTMLElement} root @param {Model} model */
  constructor(root, model) {
    this.root = root;
    this.model = model;
    this.defaults = { ...DEFAULTS, view: model.sides === 2 ? 'diff' : 'head', colour: model.sides === 2 ? 'diff' : 'origin' };
    /** @type {State} */ this.state = fromHash(location.hash, this.defaults);
    this.colours = new Colours(model.functions);
    this.frame = 0;
    this.pending = false;
    /** How many times something was to be shown. */ this.turn = 0;
    this.tablesDue = false;
    /** @type {{replace: boolean}|null} how the state is to be written into the address */ this.addressDue = null;
    /** Whether the model shows the state yet. */ this.shown = false;
    /** Whether all that stands around the picture is there. */ this.whole = false;
    /** @type {Map<string, string>} what was last drawn around the picture */ this.drawn = new Map();
    /** @type {Promise<void>|undefined} */ this.samplesRead = undefined;
    /** @type {Promise<void>|undefined} */ this.timelineOpened = undefined;
    this.timelineRead = false;
    /** @type {HTMLDialogElement|null} made when it is asked for */ this.help = null;
    this.status = h('div.status');
    this.live = h('div.offscreen', { 'aria-live': 'polite', role: 'status' });
    this.picture = new Picture(this);
    this.flame = this.picture.flame;
    this.searching = new Searching(this);
    /** @type {Chronology|null} */ this.chronology = null;
    this.list = new FunctionList(this);
    this.inspector = h('aside.inspector', { 'aria-label': 'Inspector', tabIndex: 0 });
    this.crumbs = h('nav.crumbs', { 'aria-label': 'Path to the zoomed frame' });
    this.legend = h('div.legend');
    this.bar = h('div.controls', { role: 'toolbar', 'aria-label': 'Controls' });
    this.controls = h('span.pieces');
    this.corner = h('div.corner', { role: 'toolbar', 'aria-label': 'Views' });
    this.header = header(model, this.corner);
    this.theme(prefersDark());
    this.assemble();
    this.bind();
    this.show();
  }

  /** What says how much room the picture has: the rest is filled in when that is on the screen, and moves nothing. */
  assemble() {
    const bar = splitter(this.list.element, () => this.refresh(false));
    const left = h('div.left', {}, this.crumbs, this.picture.element, bar, this.list.element);
    this.root.replaceChildren(
      this.header.element,
      this.bar,
      h('main', {}, left, this.inspector),
      h('footer', {}, this.legend, this.status),
      this.live,
    );
  }

  /** The rest of the page. */
  complete() {
    this.whole = true;
    this.header.complete();
    this.bar.append(this.controls, h('span.grow'), this.searching.make());
    this.chronology = new Chronology(this);
    this.crumbs.before(this.chronology.strip);
    this.picture.element.after(this.chronology.element);
    this.drawAround();
    if (this.timelineRead) this.chronology.draw();
  }

  bind() {
    document.addEventListener('keydown', (e) => onKey(this, e));
    window.addEventListener('popstate', () => this.readAddress());
    window.addEventListener('hashchange', () => {
      if (!this.addressDue && location.hash.slice(1) !== toHash(this.state, this.defaults)) this.readAddress();
    });
    SYSTEM_DARK.addEventListener('change', () => this.theme(prefersDark()));
  }

  /** @param {boolean} dark */
  theme(dark) {
    this.colours.dark = this.flame.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    if (this.shown) this.refresh(true);
  }

  switchTheme() {
    const dark = !this.colours.dark;
    remember(THEME, dark ? 'dark' : 'light');
    this.theme(dark);
  }

  /** @param {Partial<State>} change @param {boolean} [replace] without a step in the history */
  set(change, replace = false) {
    this.writeAddress();
    Object.assign(this.state, change);
    this.addressDue = { replace };
    this.show();
  }

  /** The address follows a frame later than the picture: writing it takes longer than drawing. */
  writeAddress() {
    if (!this.addressDue) return;
    const { replace } = this.addressDue;
    this.addressDue = null;
    const hash = `#${toHash(this.state, this.defaults)}`;
    if (hash === (location.hash || '#')) return;
    if (replace) history.replaceState(null, '', hash);
    else history.pushState(null, '', hash);
  }

  /** The state before this one. */
  back() {
    this.writeAddress();
    history.back();
  }

  /** The address was changed by somebody else. */
  readAddress() {
    this.addressDue = null;
    this.state = fromHash(location.hash, this.defaults);
    this.show();
  }

  /** Draws the state at once: the frame that comes then has nothing left to do. What takes long leaves room for others. */
  async show() {
    const { model, state } = this;
    const turn = ++this.turn;
    try {
      if (model.needsSamples(state)) await this.readSamples();
      if (state.range && this.hasTimeline()) await this.openTimeline();
      for (const work = model.ahead(state); work && !work.run(SLICE_MS);) {
        await new Promise((resolve) => setTimeout(resolve));
        if (turn !== this.turn) return;
      }
    } catch (error) {
      this.say(`A part of this report cannot be read: ${/** @type {Error} */ (error).message}.`);
      this.writeAddress();
      return;
    }
    this.refresh(true);
    queueMicrotask(() => this.flush());
  }

  /** Samples are needed for filters and for what stands over time. @returns {Promise<void>|void} */
  readSamples() {
    const { page, meta, sides } = this.model;
    if (page.samples[1]) return;
    return (this.samplesRead ||= readLater('samples').then((bytes) => {
      page.samples = decodeSamples(bytes, sides, meta.metrics);
    }));
  }

  openTimeline() {
    return (this.timelineOpened ||= this.readTimeline());
  }

  async readTimeline() {
    await this.readSamples();
    this.model.timelines = decodeTimeline(await readLater('timeline'), this.model.sides);
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

  /** Does what was asked for now; whether there was something. */
  flush() {
    if (!this.frame) return false;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const all = this.pending;
    this.pending = false;
    this.update(all);
    return true;
  }

  /** @param {boolean} all */
  update(all) {
    const { model, state } = this;
    if (all) {
      const { tree } = model;
      model.update(state);
      if (model.tree !== tree) this.picture.forget();
      this.colours.mode = state.colour;
      this.colours.palette = state.palette;
      this.colours.most = model.most;
      if (state.tab === 'timeline')
        this.openTimeline().catch((error) => this.say(`The timeline cannot be read: ${error.message}.`));
    }
    if (!this.shown) this.begin();
    this.picture.draw();
    if (all && this.whole) this.drawAround();
    if (this.timelineRead) this.chronology?.draw();
    if (all) this.afterwards();
  }

  /** Before the first picture. Bars that wrap, or show more than usual, take room that nobody knows before they are there. */
  begin() {
    this.shown = true;
    this.root.dataset.tab = this.state.tab;
    if (innerWidth < ONE_ROW || location.hash) this.complete();
    this.picture.settle();
  }

  /** The bars; each is made anew only when what it shows has changed. */
  drawAround() {
    const { model, state, colours } = this;
    this.root.dataset.tab = state.tab;
    if (this.chronology) this.chronology.strip.hidden = !this.timelineRead;
    const { zoom: _zoom, selected: _selected, ...rest } = state;
    const shown = [rest, model.removedCount, model.hidden];
    if (this.differs('controls', shown)) drawControls(this, this.controls);
    if (this.differs('corner', [colours.dark, state.view, state.tab])) drawCorner(this, this.corner);
    const meaning = [state.colour, model.metric, state.palette, state.origins, state.states, colours.dark, model.most];
    if (this.differs('legend', meaning)) this.drawLegend();
  }

  /** Where one is: the path, the match, the frame in words. */
  drawPlace() {
    const { model, state, picture } = this;
    const { zoom, selected: _selected, ...rest } = state;
    const { nodes, sum } = model.found;
    const at = model.matches ? nodes.indexOf(model.selected) : 0;
    if (this.differs('search', [rest, nodes.length, sum, at, !!model.matches, model.searchError])) this.searching.draw();
    if (this.differs('crumbs', [zoom, model.zoom, rest]))
      this.crumbs.replaceChildren(...crumbs(model, (node) => this.set({ zoom: picture.pathTo(node) })));
    picture.tell();
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
    requestAnimationFrame(() => setTimeout(() => this.drawTables(), PRESENTED_MS));
  }

  drawTables() {
    this.tablesDue = false;
    this.writeAddress();
    if (!this.whole) {
      this.complete();
      this.picture.showScroll();
    }
    this.drawPlace();
    this.drawInspector();
    if (document.documentElement.dataset.ready) {
      this.list.fill();
      return;
    }
    requestAnimationFrame(() => setTimeout(() => this.firstList(), PRESENTED_MS));
  }

  /** Filling the list for the first time takes longer than all that came before: the picture is on the screen by then. */
  firstList() {
    this.list.fill();
    document.documentElement.dataset.ready = '1';
    // What the first click will ask for.
    setTimeout(() => {
      this.model.framesOf(0);
      this.picture.draw();
    }, 50);
  }

  /** Stacks that are gone stand in the difference only. */
  canShowRemoved() {
    return this.model.sides === 2 && this.state.view === 'diff' && this.model.removedCount > 0;
  }

  drawInspector() {
    const { model, picture } = this;
    const pinned = model.selected >= 0;
    const node = pinned ? model.selected : picture.hover;
    if (node < 0) {
      this.inspector.replaceChildren(overview(model, (func) => this.pickFunction(func)));
      return;
    }
    this.inspector.replaceChildren(
      inspect(model, node, pinned, {
        pick: (func) => this.pickFunction(func),
        around: (func, which) => this.showAround(func, which),
        copy: (text, what) => this.copy(text, what),
        zoom: (at) => this.set({ zoom: picture.pathTo(at) }),
      }),
    );
  }

  showHelp() {
    const help = (this.help ||= helpDialog());
    this.root.append(help);
    help.showModal();
    // What has the focus stands at the end; reading begins at the top.
    help.scrollTop = 0;
  }

  /** @param {string} text @param {string} what */
  async copy(text, what) {
    this.say((await copied(text)) ? `${what} copied` : `cannot copy the ${what} here`);
  }

  /** @param {string} text */
  say(text) {
    this.live.textContent = text;
    this.status.textContent = text;
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

  /** Shows all frames of a function and selects its widest. @param {number} func */
  pickFunction(func) {
    const { model, picture } = this;
    const best = model.widestOf(func);
    this.set({
      search: '',
      picked: hashOf(model.functions[func]),
      selected: best > 0 ? picture.pathTo(best) : '',
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
      // The function itself is what the inspector tells of.
      selected: hash,
    });
  }

  copySelection() {
    const { model, picture } = this;
    const node = model.selected >= 0 ? model.selected : picture.hover;
    if (node > 0) this.copy(stackText(model, node), 'stack');
  }
}
