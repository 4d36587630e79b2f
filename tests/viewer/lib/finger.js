// SPDX-License-Identifier: GPL-3.0-or-later
// A finger on the screen of a page.

/** A finger on the screen. @param {any} report */
export async function fingerOf(report) {
  const client = await report.page.context().newCDPSession(report.page);
  const send = (/** @type {string} */ type, /** @type {{x: number, y: number}[]} */ touchPoints) =>
    client.send('Input.dispatchTouchEvent', { type: /** @type {any} */ (type), touchPoints });
  return {
    /** @param {number} x @param {number} y */
    async longPress(x, y) {
      await send('touchStart', [{ x, y }]);
      await report.page.waitForTimeout(650);
      await send('touchEnd', []);
      await report.settle();
    },
    /** @param {number} x @param {number} y */
    async tap(x, y) {
      await report.page.touchscreen.tap(x, y);
      await report.settle();
    },
  };
}
