// SPDX-License-Identifier: GPL-3.0-or-later
// What the numbers in the columns of a page stand for: origins of functions, verdicts, and flags of frames.

/**
 * Origins by number. Those from INTERRUPTS on are beside the program: system code that no total and no test includes.
 * Interrupts are what the machine did in a thread; compilation is what a language's run time compiled while it ran.
 */
export const ORIGINS = ['unknown', 'user', 'library', 'system', 'interrupts', 'compilation'];
export const USER = 1;
export const LIBRARY = 2;
export const SYSTEM = 3;
export const INTERRUPTS = 4;
export const COMPILATION = 5;
/** Origins in the order of lists. */
export const LISTED_ORIGINS = [USER, LIBRARY, SYSTEM, INTERRUPTS, COMPILATION, 0];

/**
 * Verdicts on a difference by number. A page holds all but the last one, which stands for frames whose figures a filter
 * has changed: the ones that were tested are others.
 */
export const STATES = ['same', 'unproven', 'more', 'less', 'new', 'gone', 'moved', 'untested'];
export const UNPROVEN = 1;
export const MORE = 2;
export const LESS = 3;
export const NEW = 4;
export const GONE = 5;
export const UNTESTED = 7;
/** A number beside those of the verdicts, for what the legend marks: the frames with a part in their function's. */
export const OF_FUNCTION = 8;

/** Flag of a frame: the compiler inlined it into its caller. */
export const INLINED = 1;
/** Flag of a frame: it is beside the program, in an interrupt or a compiler; the figures of those above leave it out. */
export const INTERRUPT = 2;
/**
 * Flag of a frame: its function is proven to have changed, and the frame has a part in that which its own verdict does
 * not tell. That verdict is about the total of the frame alone.
 */
export const PLACE = 4;

/** The number of the verdict on a function. @param {{state: string}|null|undefined} estimate */
export function stateOf(estimate) {
  return estimate ? Math.max(0, STATES.indexOf(estimate.state)) : 0;
}
