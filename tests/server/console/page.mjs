// As much of a document as the console's builders use, so that what they build can be looked at without a browser.

class Node {
  constructor(tag) {
    Object.assign(this, { tag, children: [], attributes: {}, listeners: {}, className: "" });
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }

  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }

  append(...children) {
    this.children.push(...children);
  }

  set textContent(text) {
    this.children = [text];
  }

  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }

  /** This node and all below it. */
  *all() {
    yield this;
    for (const child of this.children) if (child instanceof Node) yield* child.all();
  }

  find(tag) {
    return [...this.all()].filter((node) => node.tag === tag);
  }
}

globalThis.document = { createElement: (tag) => new Node(tag) };

export const root = (...children) => {
  const node = new Node("root");
  node.append(...children);
  return node;
};
