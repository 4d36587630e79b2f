// SPDX-License-Identifier: GPL-3.0-or-later
// Shows that a picture is higher than its place, and how far it is scrolled. It can be dragged.

import { h } from './dom.js';

const SMALLEST = 24;

export class Scrollbar {
  /** @param {(by: number) => void} scroll by as many pixels of the picture */
  constructor(scroll) {
    this.scale = 1;
    let from = 0;
    const held = (/** @type {PointerEvent} */ e) => {
      if (e.buttons !== 1) return;
      scroll((e.clientY - from) * this.scale);
      from = e.clientY;
    };
    this.element = h('div.thumb', {
      'aria-hidden': 'true',
      hidden: true,
      onpointermove: held,
      onpointerdown: (/** @type {PointerEvent} */ e) => {
        from = e.clientY;
        this.element.setPointerCapture(e.pointerId);
      },
    });
  }

  /** @param {number} at how far it is scrolled from the top @param {number} room of the place @param {number} whole of the picture */
  show(at, room, whole) {
    this.element.hidden = whole <= room;
    if (whole <= room) return;
    const size = Math.max(SMALLEST, (room * room) / whole);
    this.scale = (whole - room) / (room - size || 1);
    this.element.style.height = `${size}px`;
    this.element.style.transform = `translateY(${at / this.scale}px)`;
  }
}
