// Building nodes. Text is only ever set as text: nothing here, or anywhere in the console, parses HTML.

/** An element with properties (`class`, `on…` listeners, `aria-…` and other attributes) and children. */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name in PROPERTIES) node[PROPERTIES[name]] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const PROPERTIES = { class: "className", text: "textContent", value: "value" };

// Characters that hide, or that turn text around so that it reads as something else.
const DECEPTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text for a decision: characters that could deceive the reader are spelled out. */
export function plain(text) {
  return text.replace(DECEPTIVE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function seconds(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}
