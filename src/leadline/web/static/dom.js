"use strict";
// Builds parts of a page. Data becomes text nodes and attributes only; nothing here parses markup.
window.Leadline = {};
(() => {
  const SVG = "http://www.w3.org/2000/svg";

  function fill(made, properties, children) {
    for (const [key, value] of Object.entries(properties || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return made;
  }
  const el = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
  const svg = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);
  const id = (name) => document.getElementById(name);

  // Only addresses of the web become links or pictures: a "javascript:" address in a document stays text.
  function webAddress(text) {
    try {
      const address = new URL(String(text));
      return address.protocol === "https:" || address.protocol === "http:" ? address.href : null;
    } catch {
      return null;
    }
  }

  function link(address, words) {
    const safe = webAddress(address);
    if (!safe) return el("span", {}, words);
    return el("a", { href: safe, rel: "noopener nofollow noreferrer", target: "_blank" }, words);
  }

  const typing = (node) => node instanceof Element &&
    (node.isContentEditable || node.matches("textarea, select, input:not([type=checkbox]):not([type=radio]):not([type=button])"));

  // A grade's colour is a step of the scale, from 0 (lowest) to 4 (highest); its letter says the same without colour.
  function step(scale, grade) {
    const place = scale.findIndex((level) => level.grade === grade);
    if (place < 0) return null;
    return scale.length < 2 ? 4 : Math.round((place / (scale.length - 1)) * 4);
  }
  function badge(scale, grade, absent = "not judged") {
    if (grade === null || grade === undefined) return el("span", { class: "badge none", title: absent }, "–");
    const level = scale.find((one) => one.grade === grade), place = step(scale, grade);
    const name = level ? level.name || `grade ${grade}` : `grade ${grade}, not on the scale`;
    return el("span", { class: `badge g${place === null ? "x" : place}`, title: name }, String(grade));
  }

  function table(caption, head, rows) {
    return el("div", {}, el("p", { class: "small soft", "aria-hidden": "true" }, caption),
      el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
        el("table", {}, el("caption", { class: "unseen" }, caption),
          el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col", class: cell.num ? "num" : cell.kind }, cell.name ?? cell)))),
          el("tbody", {}, rows))));
  }

  function duration(seconds) {
    if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
    const minutes = Math.round(seconds / 60);
    return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
  }

  // `randomUUID` is missing where a page came by plain http from another computer.
  function newId() {
    if (crypto.randomUUID) return crypto.randomUUID();
    return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // A file that the page itself made, for the person to keep.
  function save(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
    const made = el("a", { href: address, download: name });
    document.body.append(made);
    made.click();
    made.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  const share = (value, digits = 2) => (typeof value === "number" ? value.toFixed(digits) : "–");

  Object.assign(window.Leadline, { el, svg, id, link, webAddress, typing, step, badge, table, duration, newId, save, share });
})();
