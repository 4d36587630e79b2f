// SPDX-License-Identifier: GPL-3.0-or-later
// How colours look, also to people who see fewer of them.

/** @param {number[]} c 0 to 255 @returns {number[]} linear light */
const linear = (c) => c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));

/** @param {number[]} a @param {number[]} b WCAG 2 contrast */
export function contrast(a, b) {
  const [x, y] = [a, b].map((c) => {
    const [r, g, l] = linear(c);
    return 0.2126 * r + 0.7152 * g + 0.0722 * l + 0.05;
  });
  return Math.max(x, y) / Math.min(x, y);
}

/** Machado, Oliveira and Fernandes 2009, full strength, on linear light. */
const VISION = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
export const VISIONS = Object.keys(VISION);

/** CIELAB (D65) of a colour as seen with a vision. @param {number[]} c @param {keyof VISION} vision */
function lab(c, vision) {
  const m = VISION[vision];
  const [r, g, b] = linear(c);
  const [x, y, z] = [0, 3, 6].map((i) => Math.min(1, Math.max(0, m[i] * r + m[i + 1] * g + m[i + 2] * b)));
  const f = (/** @type {number} */ t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 / 116) * t + 16 / 116);
  const fx = f((0.4124564 * x + 0.3575761 * y + 0.1804375 * z) / 0.95047);
  const fy = f(0.2126729 * x + 0.7151522 * y + 0.072175 * z);
  const fz = f((0.0193339 * x + 0.119192 * y + 0.9503041 * z) / 1.08883);
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

const degrees = Math.PI / 180;

/** CIEDE2000 between two CIELAB colours (Sharma, Wu and Dalal 2005). @param {number[]} p @param {number[]} q */
export function ciede2000(p, q) {
  const meanC = (Math.hypot(p[1], p[2]) + Math.hypot(q[1], q[2])) / 2;
  const g = 0.5 * (1 - Math.sqrt(meanC ** 7 / (meanC ** 7 + 25 ** 7)));
  const [a1, a2] = [p[1] * (1 + g), q[1] * (1 + g)];
  const [c1, c2] = [Math.hypot(a1, p[2]), Math.hypot(a2, q[2])];
  const hue = (/** @type {number} */ a, /** @type {number} */ b) => (a || b ? (Math.atan2(b, a) / degrees + 360) % 360 : 0);
  const [h1, h2] = [hue(a1, p[2]), hue(a2, q[2])];
  const grey = c1 * c2 === 0;
  let dh = h2 - h1;
  if (grey) dh = 0;
  else if (dh > 180) dh -= 360;
  else if (dh < -180) dh += 360;
  const sum = h1 + h2;
  const meanH = grey ? sum : Math.abs(h1 - h2) <= 180 ? sum / 2 : (sum < 360 ? sum + 360 : sum - 360) / 2;
  const meanL = (p[0] + q[0]) / 2;
  const c = (c1 + c2) / 2;
  const cos = (/** @type {number} */ angle) => Math.cos(angle * degrees);
  const t = 1 - 0.17 * cos(meanH - 30) + 0.24 * cos(2 * meanH) + 0.32 * cos(3 * meanH + 6) - 0.2 * cos(4 * meanH - 63);
  const sl = 1 + (0.015 * (meanL - 50) ** 2) / Math.sqrt(20 + (meanL - 50) ** 2);
  const sc = 1 + 0.045 * c;
  const sh = 1 + 0.015 * c * t;
  const turn = 30 * Math.exp(-(((meanH - 275) / 25) ** 2));
  const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(2 * turn * degrees);
  const l = (q[0] - p[0]) / sl;
  const dc = (c2 - c1) / sc;
  const dH = (2 * Math.sqrt(c1 * c2) * Math.sin((dh / 2) * degrees)) / sh;
  return Math.sqrt(l * l + dc * dc + dH * dH + rt * dc * dH);
}

/** The least distance between any two of some colours, and where. @param {Record<string, number[]>} colours @param {string[]} [visions] */
export function leastDistance(colours, visions = VISIONS) {
  let least = { distance: Infinity, where: '' };
  const names = Object.keys(colours);
  for (const vision of /** @type {any[]} */ (visions))
    for (let i = 0; i < names.length; i++)
      for (let j = 0; j < i; j++) {
        const distance = ciede2000(lab(colours[names[i]], vision), lab(colours[names[j]], vision));
        if (distance < least.distance) least = { distance, where: `${names[j]} and ${names[i]}, ${vision}` };
      }
  return least;
}
