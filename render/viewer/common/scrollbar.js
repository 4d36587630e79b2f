// SPDX-License-Identifier: GPL-3.0-or-later
// A scroll bar that shows how far a picture is scrolled, and can be dragged.

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

  /**
   * Shows a place in the picture; all in pixels.
   * @param {number} at distance from the top
   * @param {number} room height of the window on the picture @param {number} whole height of the picture
   */
  show(at, room, whole) {
    this.element.hidden = whole <= room;
    if (whole <= room) return;
    const size = Math.max(SMALLEST, (room * room) / whole);
    this.scale = (whole - room) / (room - size || 1);
    this.element.style.height = `${size}px`;
    this.element.style.transform = `translateY(${at / this.scale}px)`;
  }
}
