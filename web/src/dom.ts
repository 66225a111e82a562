// Building elements. Text is always text: nothing of a trace is ever read as HTML.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | EventListener | undefined>;

/** An element with attributes (`on…` are listeners, `style` is allowed) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = String(value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** A small square in the colour of a class of states. */
export function swatch(index: number): HTMLElement {
  return h("i", { class: "swatch", style: `background:var(--class-${index})` });
}

/** A small square in the colour of a kind of spans. */
export function kindSwatch(index: number): HTMLElement {
  return h("i", { class: "swatch kind", style: `background:var(--kind-${index})` });
}

/** A bar of shares, largest parts first come first; `parts` are class and weight. */
export function shareBar(parts: readonly (readonly [number, number])[], title: string): HTMLElement {
  const total = parts.reduce((sum, [, weight]) => sum + weight, 0) || 1;
  const bar = h("span", { class: "shares", title });
  for (const [index, weight] of parts) {
    bar.append(h("i", { style: `background:var(--class-${index});width:${((weight / total) * 100).toFixed(2)}%` }));
  }
  return bar;
}
