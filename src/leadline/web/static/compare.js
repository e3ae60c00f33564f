"use strict";
// Two runs side by side for one query: what is shared is joined by a line, grades have a colour and a letter.
(() => {
  const { el, svg, id, api, step } = window.Leadline;
  let scale = [], names = [];

  function badge(hit) {
    const level = scale.find((one) => one.grade === hit.grade), place = step(scale, hit.grade);
    const judged = hit.grade !== null && hit.grade !== undefined;
    const words = judged ? `grade ${hit.grade}${level?.name ? `, ${level.name}` : ""}` : "not judged";
    return el("span", { class: judged ? `badge g${place === null ? "x" : place}` : "badge none", title: words },
      el("span", { "aria-hidden": "true" }, hit.letter || "–"), el("span", { class: "unseen" }, words));
  }
  const move = (hit) => {
    if (hit.other_rank === null || hit.other_rank === undefined) return "not in the other";
    const way = hit.move > 0 ? "lower there" : "higher there";
    return hit.move ? `${Math.abs(hit.move)} ${way}` : "same rank";
  };
  // How the text begins, without the title that stands above it already.
  const start = (hit) => {
    const text = (hit.text || "").replace(/\s+/g, " ").trim();
    return hit.title && text.startsWith(hit.title) ? text.slice(hit.title.length).trim() : text;
  };
  function list(title, hits, side) {
    return el("section", { "aria-label": title }, el("h2", {}, title), el("ol", {}, ...hits.map((hit) => el("li", {
      "data-doc": hit.doc_id, tabindex: "0", class: side },
    el("span", { class: "rank" }, el("span", { class: "unseen" }, "rank "), String(hit.rank)), badge(hit),
    el("span", { class: "name" }, hit.title || hit.doc_id,
      el("span", { class: "unseen" }, `, ${move(hit)}. `), el("span", { class: "start" }, start(hit)))))));
  }

  // Lines from the middle of a row on the left to the middle of its row on the right, measured where they stand.
  function draw(drawing, left, right) {
    const box = drawing.getBoundingClientRect(), middle = (row) => row.getBoundingClientRect().top + row.offsetHeight / 2 - box.top;
    drawing.setAttribute("viewBox", `0 0 100 ${Math.max(1, box.height)}`);
    const other = new Map([...right.querySelectorAll("li")].map((row) => [row.dataset.doc, row]));
    const lines = [...left.querySelectorAll("li")].map((row, place) => {
      const to = other.get(row.dataset.doc);
      if (!to) return null;
      const [y1, y2] = [middle(row), middle(to)], there = [...right.querySelectorAll("li")].indexOf(to);
      const kind = there < place ? "up" : there > place ? "down" : "same";
      return svg("path", { d: `M0 ${y1}C50 ${y1} 50 ${y2} 100 ${y2}`, class: kind, "data-doc": row.dataset.doc });
    });
    drawing.replaceChildren(...lines.filter(Boolean));
  }
  function light(area, doc, on) {
    for (const part of area.querySelectorAll("[data-doc]")) if (part.dataset.doc === doc) part.classList.toggle("lit", on);
  }

  function show(found) {
    id("need").textContent = found.need || "";
    const shared = found.left.filter((hit) => found.right.some((one) => one.doc_id === hit.doc_id)).length;
    id("state").textContent = `${shared} of ${found.left.length} and ${found.right.length} documents are in both`;
    const left = list(found.a, found.left, "left"), right = list(found.b, found.right, "right");
    const drawing = svg("svg", { class: "moves", preserveAspectRatio: "none", "aria-hidden": "true" });
    const area = el("div", { class: "sides" }, left, el("div", { class: "between" }, drawing), right);
    for (const kind of ["pointerover", "focusin"]) {
      area.addEventListener(kind, (event) => { const row = event.target.closest("[data-doc]"); if (row) light(area, row.dataset.doc, true); });
    }
    for (const kind of ["pointerout", "focusout"]) {
      area.addEventListener(kind, (event) => { const row = event.target.closest("[data-doc]"); if (row) light(area, row.dataset.doc, false); });
    }
    const letters = new Map([...found.left, ...found.right].map((hit) => [hit.grade, hit]));
    const key = el("ul", { class: "key", "aria-label": "What the signs mean" },
      ...[["up", "higher on the right"], ["down", "lower on the right"], ["same", "same rank"]].map(([kind, words]) => el("li", {},
        svg("svg", { viewBox: "0 0 24 8", class: "moves", "aria-hidden": "true" }, svg("path", { d: "M0 4H24", class: kind })), ` ${words}`)),
      ...[...letters.values()].sort((x, y) => (y.grade ?? -1) - (x.grade ?? -1)).map((hit) => el("li", {}, badge(hit), " ",
        hit.grade === null ? "not judged" : scale.find((one) => one.grade === hit.grade)?.name || `grade ${hit.grade}`)));
    id("result").replaceChildren(key, area);
    draw(drawing, left, right);
    new ResizeObserver(() => draw(drawing, left, right)).observe(area);
  }
  function options(select, values, chosen) {
    select.replaceChildren(...values.map(([value, words]) => el("option", { value, selected: value === chosen }, words)));
  }

  async function ask() {
    const values = { query_id: id("query").value, a: id("a").value, b: id("b").value, k: id("k").value };
    history.replaceState(null, "", `?${new URLSearchParams(values)}`);
    id("previous").disabled = names.indexOf(values.query_id) <= 0;
    id("next").disabled = names.indexOf(values.query_id) >= names.length - 1;
    try {
      show(await api.get("/api/compare", values));
    } catch (error) {
      id("result").replaceChildren();
      id("state").textContent = `The server says: ${error.message}`;
    }
  }
  function turn(way) {
    const place = names.indexOf(id("query").value) + way;
    if (names[place] === undefined) return;
    id("query").value = names[place];
    ask();
  }
  async function begin() {
    try {
      const [settings, { systems, queries }] = await Promise.all([api.get("/api/settings"), api.get("/api/queries")]);
      scale = settings.scale;
      names = queries.map((one) => one.query_id);
      if (systems.length < 2) {
        id("filters").hidden = true;
        id("state").textContent = "Fewer than two systems are known here, so there is nothing to set side by side.";
        return;
      }
      const given = new URLSearchParams(window.location.search);
      options(id("query"), queries.map((one) => [one.query_id, one.query]), given.get("query_id"));
      options(id("a"), systems.map((one) => [one, one]), given.get("a") || systems[0]);
      options(id("b"), systems.map((one) => [one, one]), given.get("b") || systems[1]);
      if (given.get("k")) id("k").value = given.get("k");
      id("filters").addEventListener("change", ask);
      id("filters").addEventListener("submit", (event) => event.preventDefault());
      id("previous").addEventListener("click", () => turn(-1));
      id("next").addEventListener("click", () => turn(1));
      await ask();
    } catch (error) {
      id("state").textContent = `The server says: ${error.message}`;
    }
  }
  begin();
})();
