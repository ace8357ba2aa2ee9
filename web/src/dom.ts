/** Small helpers for building the page. Text always becomes a text node: no name can become markup. */

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

/** An element with attributes, listeners ("onclick") and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** A name from outside. It is isolated, so that right-to-left text in it cannot reorder the rest of the line. */
export const nameOf = (text: string) => h("bdi", { class: "name" }, text);

export const byId = (id: string): HTMLElement => {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
};

/** Change a text only if it differs, to avoid a useless layout. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Buttons of which one is pressed. */
export function choice<T extends string>(label: string, options: [T, string, string?][], chosen: () => T, choose: (value: T) => void) {
  const buttons = options.map(([value, text, title]) => h("button", { type: "button", title, onclick: () => choose(value) }, text));
  const show = () => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i][0] === chosen())));
  show();
  return { element: h("span", { class: "choice", role: "group", "aria-label": label }, ...buttons), show };
}

/** The values next to the pointer, within the window; null hides them. */
export function tip(text: string | null, x = 0, y = 0): void {
  const element = byId("tip");
  element.classList.toggle("on", text !== null);
  if (text === null) return;
  setText(element, text);
  const box = element.getBoundingClientRect();
  const left = x + 16 + box.width < innerWidth ? x + 16 : x - 16 - box.width;
  element.style.left = `${Math.max(4, left)}px`;
  element.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - box.height - 4))}px`;
}

/** Work that never runs twice at the same time. If it is requested while it runs, it runs once more afterwards. It must not throw. */
export function inTurn(work: () => Promise<void>): () => void {
  let running = false, again = false;
  const run = async () => {
    running = true;
    do {
      again = false;
      await work();
    } while (again);
    running = false;
  };
  return () => {
    again = true;
    if (!running) void run();
  };
}

/** Measure how long a piece of work occupies the main thread; tests read the result from the timeline. */
export function timed<T>(what: string, work: () => T): T {
  const start = performance.now();
  try {
    return work();
  } finally {
    performance.measure(`limpet ${what}`, { start, end: performance.now() });
  }
}
