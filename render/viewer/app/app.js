// SPDX-License-Identifier: GPL-3.0-or-later
// Ties state, model and the parts of the page together: this module alone knows all of them. Every change of the state
// goes through `set`. Parts get what they need when they are made, and never the App.

import { Address } from './address.js';
import { Changing } from './changing.js';
import { drawChips } from '../views/chips.js';
import { TimelineView } from '../timeline/timelineview.js';
import { Colours } from '../drawing/colour.js';
import { ControlBar, drawCorner } from '../views/controls.js';
import { copied, h, renew } from '../common/dom.js';
import { Filtering } from './filtering.js';
import { linesAfter, linesOf } from './lining.js';
import { HandOver } from '../export/handover.js';
import { FunctionList } from '../views/functions.js';
import { header } from '../views/header.js';
import { helpDialog } from './help.js';
import { inspect, overview, stackText } from '../views/inspector.js';
import { onKey } from './keys.js';
import { legend } from '../views/legend.js';
import { Menu } from '../common/menu.js';
import { firstPlace } from '../model/changes.js';
import { unfollowed } from '../model/following.js';
import { Model } from '../model/model.js';
import { comparedTexts } from '../model/expressions.js';
import { textsOf } from '../model/names.js';
import { Searcher } from '../model/pattern.js';
import { aroundOf, picked } from './picking.js';
import { Picture } from '../picture/picture.js';
import { readFor } from './reading.js';
import { Searching } from './searching.js';
import { SourcePane } from '../views/source.js';
import { splitter } from '../common/splitter.js';
import { DEFAULTS } from '../model/state.js';
import { asToolbar } from '../common/toolbar.js';
import { crumbs } from '../picture/status.js';
import { chooseTheme, prefersDark, showTheme, SYSTEM_DARK } from '../common/theme.js';
import { drawWaitRow } from '../views/waitviews.js';
import { skipButton } from '../common/widgets.js';

/** @typedef {import('../data/report.js').Report} Report */
/** @typedef {import('../model/state.js').Change} Change */
/** @typedef {import('../model/state.js').State} State */

/** In a window as wide as this each bar of a report has one row. Elsewhere lists are as wide as their longest choice. */
const ONE_ROW = CSS.supports('field-sizing', 'content') ? 1280 : 1440;
/** After this time a frame that was drawn is on the screen. */
const PRESENTED_MS = 5;
/** How long a step of long work may take. */
const SLICE_MS = 30;
/** When the first click is prepared for, after everything is there. */
const PREPARE_MS = 50;

export class App {
  /** @param {HTMLElement} root @param {Report} report @param {import('./address.js').Within} [within] */
  constructor(root, report, within = {}) {
    this.root = root;
    this.report = report;
    this.within = within;
    const model = new Model(report);
    this.model = model;
    const single = { view: 'head', colour: model.hasWaits ? 'waiting' : 'origin' };
    const defaults = { ...DEFAULTS, ...(model.sides === 1 && single) };
    this.address = new Address(defaults, (state) => this.#showAddressed(state), within);
    /** @type {State} */ this.state = this.address.last;
    /** Whether the page is to show its first change, because its address says nothing. */
    this.opens = this.address.isEmpty;
    this.colours = new Colours(model.functions, model.waitClasses);
    this.frame = 0;
    this.pending = false;
    /** How many times something was to be shown. */ this.turn = 0;
    this.tablesDue = false;
    /** Whether the model shows the state. */ this.shown = false;
    /** Whether everything around the picture is there. */ this.whole = false;
    /** @type {Map<string, string>} what each part around the picture was last drawn for */ this.drawn = new Map();
    /** How many call trees the legend has been drawn for. */ this.trees = 0;
    /** @type {import('../data/tree.js').Tree|null} the last one of them */ this.drawnTree = null;
    /** @type {HTMLDialogElement|null} made when somebody asks for it */ this.help = null;
    /** @type {TimelineView|null} made after the first picture */ this.timeline = null;
    /** @type {SourcePane|null} made after the first picture */ this.source = null;
    /** @type {Searching|null} made after the first picture */ this.searching = null;
    /** @type {HandOver|null} made after the first picture */ this.handOver = null;
    /** @type {Changing|null} made after the first picture */ this.changing = null;
    /** Whether the state comes from an address, which may be a link into another report. */ this.isLinked = !!location.hash;
    /** What of such a link is not here; empty from the next change on. */ this.note = '';
    this.set = this.set.bind(this);
    this.tell = this.tell.bind(this);
    this.status = h('div.status');
    this.live = h('div.offscreen', { 'aria-live': 'polite', role: 'status' });
    this.picture = this.#makePicture();
    this.filtering = this.#makeFiltering();
    this.menu = new Menu(within.until);
    this.list = new FunctionList(model, {
      pick: (func) => this.#pickFunction(func),
      lines: (func) => this.#showLines(func),
      menu: (func, place) => this.#openMenu(func, -1, place),
    });
    this.inspector = h('aside.inspector', { 'aria-label': 'Inspector', tabIndex: 0 });
    this.crumbs = h('nav.crumbs', { 'aria-label': 'Path to the zoomed frame' });
    this.chips = h('span.chips');
    this.filters = asToolbar(h('div.filters', { 'aria-label': 'Filters' }));
    this.waits = asToolbar(h('div.filters', { 'aria-label': 'Waits by class' }));
    this.place = h('div.place', {}, this.crumbs, this.chips, this.status);
    this.legend = asToolbar(h('div.legend', { 'aria-label': 'Legend' }));
    this.bar = h('section.controls', { 'aria-label': 'Controls and search' });
    this.controls = new ControlBar();
    this.corner = asToolbar(h('div.corner', { 'aria-label': 'Views' }));
    this.header = header(model, this.corner, within.name);
    this.header.element.prepend(skipButton('To the picture', () => this.#focusView()));
    this.#setDark(prefersDark());
    this.#assemble();
    this.#bindKeys();
    this.#searchApart();
    SYSTEM_DARK.addEventListener('change', () => this.#setDark(prefersDark()), { signal: within.until });
    this.#show();
  }

  /** Shows what somebody else has made of the address. @param {State} state */
  #showAddressed(state) {
    this.state = state;
    this.isLinked = true;
    this.note = '';
    this.opens = this.address.isEmpty;
    this.#show();
  }

  #makePicture() {
    return new Picture({
      model: this.model,
      colours: this.colours,
      set: this.set,
      redraw: () => this.#refresh(false),
      flush: () => this.#flush(),
      menu: (node, place) => this.#openMenu(node < 0 ? -1 : this.model.tree.func[node], node, place),
      hovered: () => this.model.selected < 0 && this.#drawInspector(),
      magnified: () => this.#refresh(true),
      tell: this.tell,
      announce: (text) => (this.live.textContent = text),
    });
  }

  #makeFiltering() {
    return new Filtering({
      model: this.model,
      state: () => this.state,
      set: this.set,
      zoom: (node) => this.picture.zoom(node),
      around: (func, which) => this.#showAround(func, which),
      lines: (func) => this.#showLines(func),
      copy: (node) => this.#copy(stackText(this.model, node), 'stack'),
      link: () => this.#copyLink(),
    });
  }

  /**
   * Opens the menu of a function, and of one of its frames.
   * @param {number} func or -1 @param {number} node or -1 @param {{x: number, y: number}} place
   */
  #openMenu(func, node, place) {
    const f = this.model.functions[func];
    this.menu.open(f ? f.name : 'All stacks', this.filtering.items(func, node), place);
  }

  #makeHandOver() {
    const { colours, list, model, picture, root, within } = this;
    return new HandOver({
      root,
      model,
      colours,
      list,
      state: () => this.state,
      scene: (state) => picture.scene(state),
      setDark: (dark) => this.#setDark(dark),
      chosen: () => this.chosen,
      copyStack: () => this.#copySelection(),
      copyLink: () => this.#copyLink(),
      say: (text) => this.#say(text),
      name: within.name,
      until: within.until,
    });
  }

  /** Opens the menu of the ways to give to somebody what is seen: below its button, wherever the key was pressed. */
  #openHandOver() {
    const { left, bottom } = this.corner.querySelector('[aria-haspopup]')?.getBoundingClientRect() || { left: 0, bottom: 0 };
    if (this.handOver) this.menu.open('Hand over', this.handOver.items(), { x: left, y: bottom });
  }

  /** The frame that keys are about: the selected one, or the one that is pointed at; or -1. */
  get chosen() {
    return this.model.selected >= 0 ? this.model.selected : this.picture.hover;
  }

  /** Puts the parts on the page that decide how much room the picture has. The others come later and move nothing. */
  #assemble() {
    const bar = splitter(this.list.element, 'the function list', () => this.#refresh(false));
    const left = h('div.left', {}, this.place, this.waits, this.filters, this.picture.element, bar, this.list.element);
    this.root.replaceChildren(
      this.header.element,
      this.bar,
      h('main', {}, left, this.inspector),
      h('footer', {}, this.legend),
      this.live,
    );
  }

  /** Makes the rest of the page. */
  #complete() {
    const { model, colours, set, tell } = this;
    this.whole = true;
    this.header.complete();
    this.searching = this.#makeSearching();
    this.handOver = this.#makeHandOver();
    this.bar.append(this.controls.element, this.searching.field);
    this.changing = this.#makeChanging();
    this.chips.before(this.changing.element, this.searching.found);
    const menu = (/** @type {number} */ func, /** @type {{x: number, y: number}} */ place) =>
      this.#openMenu(func, -1, place);
    const select = (/** @type {number} */ node, /** @type {string} */ process) => this.#selectRecorded(node, process);
    this.timeline = new TimelineView({ model, colours, set, tell, select, menu });
    this.place.before(this.timeline.strip.canvas);
    const split = splitter(this.timeline.element, 'the timeline', () => this.#refresh(false));
    this.picture.element.after(split, this.timeline.element);
    const place = (/** @type {HTMLElement} */ lines) =>
      this.list.element.previousElementSibling?.before(splitter(lines, 'the lines', () => this.#refresh(false)), lines);
    this.source = new SourcePane(model, { set, place, closed: () => this.#focusView() });
    this.#drawAround();
    this.#drawLegend();
    if (this.report.hasTimelines) this.timeline.draw(this.state);
    this.root.append(this.picture.tip.element, this.menu.element);
    this.picture.complete();
  }

  /** Gives the focus to what fills the window. */
  #focusView() {
    const { list, picture, state, timeline } = this;
    if (state.tab === 'timeline') timeline?.overlay.focus();
    else if (state.tab === 'functions') list.focus();
    else picture.overlay.focus();
  }

  #makeSearching() {
    return new Searching({
      model: this.model,
      typed: (text) => this.set({ search: text, picked: '' }, true),
      changed: (text) => this.set({ search: text }),
      entered: (text) => {
        this.set({ search: text, picked: '' });
        this.model.update(this.state);
      },
      show: (node) => this.picture.select(node, true),
      menu: (place) => this.menu.open(this.state.search, this.filtering.foundItems(), place),
      leave: () => this.picture.overlay.focus(),
    });
  }

  #makeChanging() {
    return new Changing({
      model: this.model,
      state: () => this.state,
      show: (place) => this.#showChange(place),
      announce: (text) => (this.live.textContent = text),
    });
  }

  /** Selects a frame where it can be seen. @param {{node: number, gone: boolean}} place */
  #showChange({ node, gone }) {
    const { model, picture, state } = this;
    // What is gone has widths of its own, in which another zoom may be right.
    const zoom = gone || state.removed ? '' : model.pathTo(picture.zoomFor(node, true));
    this.set({ selected: model.pathTo(node), removed: gone, zoom });
  }

  #bindKeys() {
    const { filtering, model, picture, set } = this;
    const funcOf = (/** @type {number} */ node) => model.tree.func[node] ?? -1;
    /** @type {import('./keys.js').KeyActions} */
    const actions = {
      model,
      set,
      state: () => this.state,
      back: () => this.address.back(),
      select: (node) => picture.select(node),
      zoom: (node) => picture.zoom(node),
      home: () => picture.home(),
      magnify: (factor) => picture.magnify(factor),
      around: (func, which) => this.#showAround(func, which),
      search: () => this.searching?.field.focus(),
      match: (step) => this.searching?.next(step),
      change: (step) => this.changing?.next(step),
      copy: () => this.#copySelection(),
      lines: () => (this.state.source ? this.source?.close() : this.#showLines(funcOf(this.chosen))),
      list: () => this.list.toggle(),
      filter: (kind) => filtering.toggle(kind, funcOf(this.chosen)),
      filterFound: (kind) => filtering.toggleFound(kind),
      removeFilter: () => filtering.removeLast(),
      processes: () => filtering.switchProcesses(),
      range: () => this.#typeRange(),
      menu: () => this.#openMenu(funcOf(model.selected), model.selected, picture.placeOf(model.selected)),
      handOver: () => this.#openHandOver(),
      help: () => this.#showHelp(),
      isHelpOpen: () => !!this.help?.open,
    };
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      const isOpen = this.state.tab === 'timeline' && !actions.isHelpOpen();
      // What has the focus gets the keys, and the timeline where neither has it.
      const isOfTimeline = isOpen && event.target !== picture.overlay && this.timeline?.onKey(event);
      if (!isOfTimeline) onKey(event, actions);
    };
    document.addEventListener('keydown', pressed, { signal: this.within.until });
  }

  /** Lets the model run searches that may never end where they can be stopped. */
  #searchApart() {
    const { model } = this;
    const searcher = new Searcher((part) => model.functions.map((f) => textsOf(f, part)));
    const filterer = new Searcher((part) => model.functions.map((f) => comparedTexts(f, part)));
    for (const one of [searcher, filterer]) this.within.until?.addEventListener('abort', () => one.stop());
    model.narrowing.expressions.runApart = (pattern, part, done) => filterer.run(pattern, part, done);
    model.names.runApart = (pattern, part, done) =>
      searcher.run(pattern, part, (hits, error) => {
        done(hits, error);
        this.#refresh(true);
      });
  }

  /** @param {boolean} dark */
  #setDark(dark) {
    this.colours.dark = this.picture.flame.dark = dark;
    showTheme(dark);
    if (this.shown) this.#refresh(true);
  }

  #switchTheme() {
    const dark = !this.colours.dark;
    chooseTheme(dark);
    this.#setDark(dark);
  }

  /** Changes the state. @param {Change} change @param {boolean} [replace] whether this makes no step in the history */
  set(change, replace = false) {
    this.state = { ...this.state, ...change, ...linesAfter(this.state, change) };
    this.note = '';
    this.address.note(this.state, replace);
    this.#show();
  }

  /**
   * Draws the state at once, so that nothing is left to do in the next frame. Work that takes long is done in steps.
   */
  async #show() {
    const { model, report, state } = this;
    const turn = ++this.turn;
    try {
      await readFor(report, model, state);
      if (state.range && model.hasTimeline) await this.#openTimeline();
      for (const work = model.ahead(state); work && !work.run(SLICE_MS);) {
        await new Promise((resolve) => setTimeout(resolve));
        if (turn !== this.turn || this.#isOver) return;
      }
    } catch (error) {
      this.#unread(error);
      this.address.write();
      return;
    }
    this.#refresh(true);
    queueMicrotask(() => this.#flush());
  }

  /** Reads the timelines, and draws them when they are there. */
  async #openTimeline() {
    const { report } = this;
    if (report.hasTimelines) return;
    await report.readTimelines();
    this.#refresh(true);
  }

  /**
   * Draws once with the next frame, however often it is called.
   * @param {boolean} all whether the parts around the picture changed
   */
  #refresh(all) {
    this.pending = this.pending || all;
    this.frame ||= requestAnimationFrame(() => this.#flush());
  }

  /** Draws now what is due, and tells whether something was. */
  #flush() {
    if (!this.frame) return false;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const all = this.pending;
    this.pending = false;
    this.#update(all);
    return true;
  }

  /** Whether the report was taken off the page. */
  get #isOver() {
    return !!this.within.until?.aborted;
  }

  /** @param {boolean} all */
  #update(all) {
    const { picture, state } = this;
    if (this.#isOver) return;
    if (all) this.#updateModel();
    if (!this.shown) this.#begin();
    if (this.opens) this.#openAtAnswer();
    picture.draw(this.state);
    if (all && this.whole) this.#drawAround();
    if (this.report.hasTimelines) this.timeline?.draw(state);
    if (all) this.#afterwards();
  }

  /** Makes the model show the state. */
  #updateModel() {
    const { colours, model, picture, state } = this;
    const { tree } = model;
    model.update(state);
    if (model.tree !== tree) picture.forget();
    colours.mode = state.colour;
    colours.palette = state.palette;
    colours.most = model.most;
    if (state.tab === 'timeline')
      this.#openTimeline().catch((error) => this.#say(`The timeline cannot be read: ${error.message}.`));
  }

  /**
   * Prepares the first picture. Bars that wrap, or show more than usual, must be there before it: their height is not
   * known.
   */
  #begin() {
    this.shown = true;
    this.root.dataset.tab = this.state.tab;
    if (innerWidth < ONE_ROW || location.hash || this.model.hasWaits) this.#complete();
    this.picture.settle();
  }

  /** Shows the first proven change, or the function that the report is opened for, where the address says nothing else. */
  #openAtAnswer() {
    const { address, model, picture, within } = this;
    this.opens = false;
    const node = firstPlace(model, this.state, within.first);
    if (node <= 0) return;
    const zoom = model.pathTo(picture.zoomFor(node, true));
    this.state = { ...this.state, zoom };
    address.opensAs(this.state);
    model.update(this.state);
    picture.openAt(node, zoom);
  }

  /** Draws the bars; each is made again only when what it shows has changed. */
  #drawAround() {
    const { model, state, colours, set } = this;
    this.root.dataset.tab = state.tab;
    const { zoom: _zoom, selected: _selected, source: _source, line: _line, inlined: _inlined, ...rest } = state;
    const { range: _range, search: _search, picked: _picked, origins: _origins, states: _states, bottlenecks: _b, ...controlled } = rest;
    const shown = { model, state, set };
    if (this.#differs('controls', [controlled, model.removed?.base])) this.controls.draw(shown);
    if (this.#differs('chips', [rest, model.hidden, model.side, model.waitSums])) {
      const before = this.filters.textContent;
      drawChips(this.chips, this.filters, shown);
      if (model.hasWaits) drawWaitRow(this.waits, shown);
      const now = this.filters.textContent;
      if (now !== before) this.live.textContent = now || 'no filters';
    }
    this.header.tellScope(model.isPart);
    if (model.hasWaits) this.header.tellMetric(model);
    if (this.#differs('corner', [colours.dark, state.view, state.tab])) this.#drawCorner();
    this.source?.draw(state);
  }

  /** Draws the legend, with the sums that the first picture does not need. */
  #drawLegend() {
    const { model, state, colours, set } = this;
    const { colour, palette, origins, states, bottlenecks } = state;
    const marks = [origins, states, bottlenecks];
    const meaning = [state.tab, colour, model.metric, palette, marks, colours.dark, model.most, model.side];
    if (this.#differs('legend', [meaning, model.totals(), this.#rebuilt()]))
      renew(this.legend, legend(model, colours, state, set));
  }

  /** A number that changes with the call tree. */
  #rebuilt() {
    if (this.drawnTree !== this.model.callTree) this.trees++;
    this.drawnTree = this.model.callTree;
    return this.trees;
  }

  #drawCorner() {
    const { model, state, set, colours } = this;
    drawCorner(
      this.corner,
      { model, state, set },
      {
        dark: colours.dark,
        switchTheme: () => this.#switchTheme(),
        handOver: () => this.#openHandOver(),
        showHelp: () => this.#showHelp(),
      },
    );
  }

  /** Draws where one is: the path to the zoomed frame, the match, the frame in words. */
  #drawPlace() {
    const { model, state, picture } = this;
    const { zoom, selected: _selected, ...rest } = state;
    const { nodes, sum } = model.found;
    const at = model.matches ? nodes.indexOf(model.selected) : 0;
    const found = [rest, nodes.length, sum, at, !!model.matches, model.names.error];
    if (this.#differs('search', found)) this.searching?.draw(state);
    const { isMagnified } = picture;
    const goTo = { zoom: (/** @type {number} */ node) => picture.zoom(node), home: () => picture.home() };
    const isAway = isMagnified || picture.isOpenedBelow;
    if (this.#differs('crumbs', [zoom, model.zoom, isAway, rest]))
      this.crumbs.replaceChildren(...crumbs(model, isAway, goTo));
    this.changing?.draw();
    picture.tell();
  }

  /** Whether a part shows something else than when it was last drawn. @param {string} what @param {unknown} shown */
  #differs(what, shown) {
    const text = JSON.stringify(shown);
    if (this.drawn.get(what) === text) return false;
    this.drawn.set(what, text);
    return true;
  }

  /** Draws what may come a frame after the picture: the tables beside it. */
  #afterwards() {
    if (this.tablesDue) return;
    this.tablesDue = true;
    requestAnimationFrame(() => setTimeout(() => this.#drawTables(), PRESENTED_MS));
  }

  #drawTables() {
    this.tablesDue = false;
    if (this.#isOver) return;
    this.address.write();
    if (!this.whole) this.#complete();
    if (this.isLinked) this.#noteLink();
    this.#drawPlace();
    this.#drawLegend();
    this.#drawInspector();
    if (document.documentElement.dataset.ready) {
      // The timeline has its place.
      if (this.state.tab !== 'timeline') this.list.fill(this.state);
      return;
    }
    requestAnimationFrame(() => setTimeout(() => this.#firstList(), PRESENTED_MS));
  }

  /**
   * Fills the list for the first time. That takes longer than everything before it, so that the picture is shown
   * first.
   */
  #firstList() {
    if (this.#isOver) return;
    this.list.fill(this.state);
    document.documentElement.dataset.ready = '1';
    // The first click needs the frames of each function; where there are waits, the next one may be on another metric.
    setTimeout(() => {
      if (this.#isOver) return;
      this.model.framesOf(0);
      this.picture.draw(this.state);
      if (this.model.hasWaits) this.#readWaits().catch(this.#unread);
      if (this.model.meta.hasBottlenecks) this.#readBottlenecks().catch(this.#unread);
      this.report.readLines().catch(this.#unread);
    }, PREPARE_MS);
  }

  /** Reads what is told of waits: the values of all metrics, and what is known of locks and of what ended waits. */
  async #readWaits() {
    await this.report.readSamples();
    await this.report.readReleases();
    this.#drawInspector();
  }

  /** Reads what holds functions up, for the list and the inspector. */
  async #readBottlenecks() {
    await this.report.readBottlenecks();
    this.list.fill(this.state);
    this.#drawInspector();
  }

  #drawInspector() {
    const { model, picture } = this;
    const pinned = model.selected >= 0;
    const node = pinned ? model.selected : picture.hover;
    const pick = (/** @type {number} */ func) => this.#pickFunction(func);
    if (node < 0) {
      const heading = h('div.offscreen', { role: 'heading', 'aria-level': 2 }, 'Overview');
      this.inspector.replaceChildren(heading, overview(model, pick));
      return;
    }
    // A frame is read from its beginning, also where the one before it was read to its end.
    if (this.#differs('inspected', node)) this.inspector.scrollTop = 0;
    this.inspector.replaceChildren(
      inspect(model, node, pinned, {
        pick,
        around: (func, which) => this.#showAround(func, which),
        lines: (func, line) => this.#showLines(func, line),
        copy: (text, what) => this.#copy(text, what),
        zoom: (at) => picture.zoom(at),
        filter: (kind, func) => this.filtering.toggle(kind, func),
        select: (at) => picture.select(at),
        unfold: () => this.set({ trunks: false }),
      }),
    );
  }

  /** Opens the timeline with the cursor where a range of time is typed. */
  #typeRange() {
    if (!this.model.hasTimeline) return;
    this.timeline?.bar.focus();
    this.set({ tab: 'timeline' });
  }

  #showHelp() {
    const help = (this.help ||= helpDialog(this.within.keys || []));
    this.root.append(help);
    help.showModal();
    // The button that gets the focus stands at the end, but reading begins at the top.
    help.scrollTop = 0;
  }

  /** Copies a text to the clipboard. @param {string} text @param {string} what */
  async #copy(text, what) {
    this.#say((await copied(text)) ? `${what} copied` : `cannot copy the ${what} here`);
  }

  /** Says what of a link is not in this report. */
  #noteLink() {
    this.isLinked = false;
    this.note = unfollowed(this.model, this.state);
    if (this.note) this.live.textContent = this.note;
  }

  /** Copies the address, which holds the state. */
  #copyLink() {
    this.address.write();
    this.#copy(location.href, 'link');
  }

  /**
   * Shows a text in the status line; while nothing is pointed at, what of a link is not here stays there.
   * @param {...(Node|string)} content
   */
  tell(...content) {
    this.status.replaceChildren(...(this.note && this.picture.hover < 0 ? [this.note] : content));
  }

  /** Shows a text in the status line and tells it to screen readers. @param {string} text */
  #say(text) {
    this.live.textContent = text;
    this.tell(text);
  }

  /** Says that a part of the report cannot be read. @param {any} error */
  #unread = (error) => this.#say(`A part of this report cannot be read: ${error.message}.`);

  /** Marks all frames of a function, and selects its widest. @param {number} func */
  #pickFunction(func) {
    const { model, picture, state } = this;
    this.set(picked(model, state, func, (node) => picture.zoomFor(node)));
  }

  /**
   * Selects the frame of the picture that a frame of the report is, or its next caller there; where the tree is turned,
   * the function.
   * @param {number} node @param {string} process that it is of
   */
  #selectRecorded(node, process) {
    const { model, picture } = this;
    if (model.turned) this.#pickFunction(model.tables.tree.func[node]);
    else picture.select(model.shownFrames.of(node, process), true);
  }

  /** @param {number} func @param {'callers'|'callees'|'both'} which of them are shown around a function */
  #showAround(func, which) {
    this.set(aroundOf(this.model, func, which));
  }

  /** Shows the lines of a function. @param {number} func or -1 @param {string} [line] the one that keys are about */
  #showLines(func, line) {
    const change = linesOf(this.model, func, line);
    this.source?.expect();
    if (change) this.set(change);
  }

  #copySelection() {
    const { chosen: node, model } = this;
    if (node > 0) this.#copy(stackText(model, node), 'stack');
  }
}
