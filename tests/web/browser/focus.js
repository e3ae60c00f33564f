// What has the focus: how it is told, and whether it can be seen.
() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const [r, g, b, a = 1] = numbers(getComputedStyle(one).backgroundColor);
      if (a > 0.5) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(node), box = node.getBoundingClientRect();
  const [low, high] = [light(numbers(style.outlineColor)), light(ground(node.parentElement))].sort((a, b) => a - b);
  const visible = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && (high + 0.05) / (low + 0.05) >= 3;
  const x = Math.min(Math.max(box.left + Math.min(box.width, 40) / 2, 1), window.innerWidth - 2);
  const y = Math.min(Math.max(box.top + Math.min(box.height, 20) / 2, 1), window.innerHeight - 2);
  const top = document.elementFromPoint(x, y);
  node.dataset.met ??= String(document.querySelectorAll("[data-met]").length);
  return { met: node.dataset.met, what: `${node.tagName.toLowerCase()}#${node.id}.${[...node.classList].join(".")} ${node.textContent.trim().slice(0, 20)}`,
    visible, uncovered: Boolean(top && (node.contains(top) || top.contains(node))),
    inside: box.bottom > 0 && box.top < window.innerHeight && box.right > 0 && box.left < window.innerWidth };
}
