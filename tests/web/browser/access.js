// What a person who uses a keyboard, a screen reader or a dim screen would stumble over; a list of sentences.
() => {
  const faults = [];
  const shown = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length > 0;
  const where = (node) => `${node.tagName.toLowerCase()}${node.id ? `#${node.id}` : ""}.${[...node.classList].join(".")} “${(node.textContent || "").trim().slice(0, 30)}”`;
  const textOf = (id) => document.getElementById(id)?.textContent.trim() || "";
  const spoken = (node) => [...node.childNodes].map((child) => child.nodeType === 3 ? child.data
    : child.nodeType !== 1 || child.getAttribute("aria-hidden") === "true" ? "" : child.getAttribute("aria-label") || child.alt || spoken(child)).join("");
  function name(node) {
    if (node.getAttribute("aria-labelledby")) return node.getAttribute("aria-labelledby").split(/\s+/).map(textOf).join(" ").trim();
    if (node.getAttribute("aria-label")) return node.getAttribute("aria-label").trim();
    if (node.labels?.length) return [...node.labels].map((label) => label.textContent).join(" ").trim();
    if (node.tagName === "IMG") return (node.alt || "").trim();
    return spoken(node).trim();
  }
  const named = "button, a[href], input, select, textarea, summary, progress, img, dialog[open], [role=region], [role=group], [role=search], nav, table";
  for (const node of document.querySelectorAll(named)) {
    const own = node.tagName === "TABLE" ? node.caption?.textContent : name(node);
    if (shown(node) && !own) faults.push(`no name: ${where(node)}`);
  }
  for (const node of document.querySelectorAll("svg")) {
    if (!node.closest("[aria-hidden=true]") && !node.querySelector("title")) faults.push(`picture without a name: ${where(node)}`);
  }

  // Structure.
  if (!document.documentElement.lang) faults.push("no language");
  if (!document.title.trim()) faults.push("no title");
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(shown).map((node) => Number(node.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1 || levels[0] !== 1) faults.push(`headings begin ${levels.slice(0, 3)}`);
  levels.forEach((level, place) => { if (place && level > levels[place - 1] + 1) faults.push(`heading ${level} after ${levels[place - 1]}`); });
  if (document.querySelectorAll("main").length !== 1) faults.push("not one main part");
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) faults.push(`id twice: ${id}`);
  for (const node of document.querySelectorAll("[tabindex]")) if (node.tabIndex > 0) faults.push(`tabindex above 0: ${where(node)}`);
  if (document.documentElement.scrollWidth > window.innerWidth) faults.push(`wider than the window: ${document.documentElement.scrollWidth}`);
  for (const node of document.querySelectorAll("button, select, input, a.button")) {
    const box = node.getBoundingClientRect();
    const small = node.matches("[type=checkbox], [type=radio]") ? 12 : 24;
    if (shown(node) && (box.width < small || box.height < small)) faults.push(`small: ${where(node)} ${box.width}×${box.height}`);
  }

  // Contrast, from what the browser computed.
  const numbers = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
    return { rgb: [r, g, b], a };
  };
  const over = (top, below) => top.rgb.map((value, place) => value * top.a + below[place] * (1 - top.a));
  function ground(node) {
    if (!node) return [255, 255, 255];
    const colour = numbers(getComputedStyle(node).backgroundColor);
    return colour.a === 1 ? colour.rgb : over(colour, ground(node.parentElement));
  }
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || !shown(node) || node.closest("script, style, .unseen, .skip-link, noscript")) continue;
    const style = getComputedStyle(node), below = ground(node);
    for (let one = node; one; one = one.parentElement) if (getComputedStyle(one).opacity !== "1") faults.push(`see-through: ${where(one)}`);
    const found = ratio(over(numbers(style.color), below), below);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (found < (large ? 3 : 4.5)) faults.push(`contrast ${found.toFixed(2)}: ${where(node)}`);
  }
  for (const node of document.querySelectorAll("input, textarea, select, button:not(.quiet)")) {
    if (!shown(node) || node.disabled || node.matches("[type=checkbox], [type=radio]")) continue;
    if (node.placeholder) {
      const colour = numbers(getComputedStyle(node, "::placeholder").color);
      if (ratio(colour.rgb, ground(node)) < 4.5) faults.push(`contrast of what stands in an empty field: ${where(node)}`);
    }
    // A button that is words only is known by them.
    if (node.tagName === "BUTTON" && numbers(getComputedStyle(node).borderTopColor).a === 0) continue;
    const edge = numbers(getComputedStyle(node).borderTopColor);
    if (Math.max(ratio(edge.rgb, ground(node.parentElement)), ratio(ground(node), ground(node.parentElement))) < 3) faults.push(`edge hard to see: ${where(node)}`);
  }
  return faults;
}
