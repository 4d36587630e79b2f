// SPDX-License-Identifier: GPL-3.0-or-later

/**
 * An element with properties, attributes (those with a dash, and role), and children. Text is always text, never markup.
 * @param {string} tag @param {Record<string, any>} [props] @param {...(Node|string|null|undefined|false)} children
 * @returns {any}
 */
export function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name || 'div');
  if (classes.length) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key.includes('-') || key === 'role' || key === 'for') element.setAttribute(key, String(value));
    else /** @type {any} */ (element)[key] = value;
  }
  for (const child of children) if (child || child === '') element.append(child);
  return element;
}

/** Makes the controls of a bar anew; what had the focus has it again. @param {HTMLElement} bar @param {(Node|false|null)[]} list */
export function renew(bar, list) {
  const focused = bar.contains(document.activeElement) ? document.activeElement : null;
  const label = focused ? labelOf(focused) : '';
  bar.replaceChildren(.../** @type {Node[]} */ (list.filter(Boolean)));
  if (!label) return;
  const again = [...bar.querySelectorAll('button, select, input')].find((e) => labelOf(e) === label);
  /** @type {HTMLElement|undefined} */ (again)?.focus();
}

/** What a control is called, to find it again after it was built anew. @param {any} element */
function labelOf(element) {
  return element.ariaLabel || element.closest('label')?.textContent || element.title || element.textContent;
}

/** Puts a text where a person can paste it from; whether that went well. @param {string} text */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h('textarea', { value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
