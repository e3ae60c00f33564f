"use strict";
// Fills the parts of the page that answer: the choice of a measure, the names of bars, the table of queries.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const WIDE = 1000, HIGH = 300, PAGE = 25;
  const chosen = { measure: 0, pair: 0, sort: "size", down: true, search: "", show: "all", page: 0, open: new Set() };
  const id = (name) => document.getElementById(name);
  const all = (selector) => [...document.querySelectorAll(selector)];

  function el(tag, properties, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== null) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }
  const signed = (value) => (value === null ? "–" : (value < 0 ? "" : "+") + value.toFixed(4));
  const trimmed = (value) => String(Number(value.toPrecision(6)));
  const known = (value) => (typeof value === "number" ? value : value === "u" ? 0 : null);
  function told(value) {
    if (value === "u") return "0 u";
    if (value === "e") return "e";
    if (value === null || value === "n") return "–";
    return data.whole_numbers[chosen.measure] ? String(value) : value.toFixed(4);
  }
  const sides = () => data.pairs[chosen.pair];
  const spread = () => data.spreads[chosen.pair][chosen.measure];

  // Plots. The same shapes as the page draws for the first measure before any script runs.
  function bars(values, most) {
    const width = WIDE / Math.max(1, values.length), paths = ["", ""];
    values.forEach((value, place) => {
      if (!value) return;
      const end = 150 - (value / most) * 150;
      paths[value > 0 ? 0 : 1] += `M${(place * width).toFixed(2)} 150V${end.toFixed(1)}h${width.toFixed(2)}V150z`;
    });
    return paths;
  }
  function columns(counts) {
    const width = WIDE / counts.length, half = (counts.length - 1) / 2, most = Math.max(1, ...counts), paths = ["", "", ""];
    counts.forEach((count, place) => {
      if (!count) return;
      const top = HIGH - (count / most) * HIGH;
      paths[Math.sign(place - half) + 1] += `M${(place * width + 1).toFixed(2)} 300V${top.toFixed(1)}h${(width - 2).toFixed(2)}V300z`;
    });
    return paths;
  }
  function words(figure, axis, texts) {
    all(`#${figure} .${axis} span`).forEach((span, place) => { span.textContent = texts[place]; });
  }
  function plots() {
    const [candidate, baseline] = sides(), found = spread();
    const empty = { v: [], h: new Array(41).fill(0), m: 1, n: 0 };
    const { v, h, m, n } = found || empty;
    const what = `${data.measures[chosen.measure]}, ${data.systems[candidate]} − ${data.systems[baseline]}`;
    all(".what").forEach((span) => { span.textContent = what; });
    const drawn = id("sorted"), paths = bars(v, m);
    drawn.querySelector(".gain").setAttribute("d", paths[0]);
    drawn.querySelector(".loss").setAttribute("d", paths[1]);
    drawn.querySelector(".cursor").setAttribute("d", "");
    const edge = [`+${trimmed(m)}`, `+${trimmed(m / 2)}`, "0", `−${trimmed(m / 2)}`, `−${trimmed(m)}`];
    words("sorted-figure", "ys", edge);
    drawn.setAttribute("aria-label", `${n} differences from ${signed(v.length ? v[0] : null)} to ${signed(v.length ? v[v.length - 1] : null)}, least first`);
    id("sorted-said").textContent = `${n} queries with both values.` +
      (found && found.c ? ` Each bar is the mean of a block of about ${Math.floor(n / v.length)} queries.` : "");
    const shape = columns(h), half = (h.length - 1) / 2, sum = (list) => list.reduce((a, b) => a + b, 0);
    ["loss", "tie", "gain"].forEach((kind, place) => id("spread").querySelector(`.${kind}`).setAttribute("d", shape[place]));
    words("spread-figure", "ys", [String(Math.max(1, ...h)), "", "0"]);
    words("spread-figure", "xs", [...edge].reverse());
    const counted = `${sum(h.slice(0, half))} lost, ${h[half]} equal, ${sum(h.slice(half + 1))} gained`;
    id("spread").setAttribute("aria-label", `Distribution: ${counted}`);
    id("spread-said").textContent = counted;
    pointed = -1;
    say("Point at a bar, or focus the plot and use the arrow keys, to name its query; Enter or a double click opens it in the table.");
  }
  const say = (text) => { document.querySelector(".readout").textContent = text; };
  let pointed = -1;
  function point(place) {
    const found = spread();
    if (!found || !found.v.length) return;
    pointed = Math.min(found.v.length - 1, Math.max(0, place));
    const x = ((pointed + 0.5) / found.v.length) * WIDE;
    id("sorted").querySelector(".cursor").setAttribute("d", `M${x.toFixed(1)} 0V${HIGH}`);
    if (found.w) {
      const query = found.w[pointed], [candidate, baseline] = sides();
      const value = (system) => told(data.values[system][chosen.measure][query]);
      const text = data.texts.length && data.texts[query] ? `: ${data.texts[query]}` : "";
      say(`${signed(found.v[pointed])} (${value(baseline)} → ${value(candidate)}) ${data.queries[query]}${text}`);
    } else {
      say(`mean ${signed(found.v[pointed])} of ${found.c[pointed]} queries, from ${signed(found.lo[pointed])} to ${signed(found.hi[pointed])}`);
    }
  }
  function openPointed() {
    const found = spread();
    if (!found || !found.w || pointed < 0) return;
    const query = found.w[pointed];
    chosen.search = "";
    chosen.show = "all";
    id("search").value = "";
    id("show").value = "all";
    chosen.open = new Set([query]);
    chosen.page = Math.floor(rows().findIndex((row) => row.query === query) / PAGE);
    table();
    const button = document.querySelector(`#queries button[data-query="${query}"]`);
    if (button) { button.focus(); button.scrollIntoView({ block: "center" }); }
  }
  function watchPlot() {
    const drawn = id("sorted");
    const at = (event) => {
      const box = drawn.getBoundingClientRect(), found = spread();
      if (found) point(Math.floor(((event.clientX - box.left) / box.width) * found.v.length));
    };
    drawn.addEventListener("pointermove", at);
    drawn.addEventListener("pointerdown", at);
    drawn.addEventListener("dblclick", openPointed);
    drawn.addEventListener("focus", () => { if (pointed < 0) point(0); });
    drawn.addEventListener("keydown", (event) => {
      const found = spread();
      if (!found) return;
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -found.v.length, End: found.v.length }[event.key];
      if (step) { point(pointed + step); event.preventDefault(); }
      if (event.key === "Enter") { openPointed(); event.preventDefault(); }
    });
  }

  // The table of queries.
  function unjudged(system, query) {
    const grades = data.grades[system][query];
    return grades ? grades.slice(0, data.k).filter((grade) => grade === null).length : null;
  }
  function everyRow() {
    const [candidate, baseline] = sides(), found = spread(), exact = new Map();
    if (found && found.w) found.w.forEach((query, place) => exact.set(query, found.v[place]));
    return data.queries.map((name, query) => {
      const before = data.values[baseline][chosen.measure][query], after = data.values[candidate][chosen.measure][query];
      const a = known(before), b = known(after);
      let difference = a === null || b === null ? null : b - a;
      if (exact.has(query)) difference = exact.get(query);
      if (difference !== null && Math.abs(difference) < 1e-9) difference = 0;
      return { query, name, before, after, a, b, difference, u1: unjudged(baseline, query), u2: unjudged(candidate, query) };
    });
  }
  const KEYS = {
    name: (row) => row.name, before: (row) => row.a, after: (row) => row.b, difference: (row) => row.difference,
    size: (row) => (row.difference === null ? null : Math.abs(row.difference)), u1: (row) => row.u1, u2: (row) => row.u2,
  };
  const SHOWN = {
    all: () => true, gained: (row) => row.difference > 0, lost: (row) => row.difference < 0,
    equal: (row) => row.difference === 0, unjudged: (row) => row.u1 > 0 || row.u2 > 0, none: (row) => row.difference === null,
  };
  function rows() {
    const wanted = chosen.search.toLowerCase(), key = KEYS[chosen.sort], way = chosen.down ? -1 : 1;
    const kept = everyRow().filter((row) => SHOWN[chosen.show](row) &&
      (!wanted || row.name.toLowerCase().includes(wanted) || (data.texts[row.query] || "").toLowerCase().includes(wanted)));
    // What has no value stands last whichever way is chosen.
    return kept.sort((one, other) => {
      const a = key(one), b = key(other);
      if (a === null || b === null) return (a === null) - (b === null) || one.query - other.query;
      return way * (a < b ? -1 : a > b ? 1 : 0) || one.query - other.query;
    });
  }
  function heading(text, key, numeric) {
    const active = chosen.sort === key;
    const mark = active ? (chosen.down ? " ↓" : " ↑") : "";
    const button = el("button", {
      type: "button", "data-sort": key,
      onclick: () => {
        chosen.down = active ? !chosen.down : key !== "name";
        chosen.sort = key;
        chosen.page = 0;
        table();
        document.querySelector(`#queries button[data-sort="${key}"]`).focus();
      },
    }, text + mark);
    return el("th", { scope: "col", class: key === "size" ? "num size" : numeric ? "num" : null, "aria-sort": active ? (chosen.down ? "descending" : "ascending") : null }, button);
  }
  const highest = Math.max(0, ...data.grades.flat(2).filter((grade) => grade !== null));
  function badge(grade) {
    if (grade === null) return el("span", { class: "grade gu" }, "unjudged");
    const level = grade <= 0 ? 0 : highest <= 4 ? Math.max(1, Math.ceil(grade)) : Math.max(1, Math.ceil((grade / highest) * 4));
    return el("span", { class: `grade g${Math.min(4, level)}` }, `grade ${grade}`);
  }
  function ranking(system, other, query, role) {
    const list = data.ranks[system][query], others = data.ranks[other][query] || [];
    const title = el("h4", {}, `${data.systems[system]} (${role})`);
    if (!list) return el("section", {}, title, el("p", { class: "soft" }, data.ranks.flat().some((one) => one) ? "No documents returned, or its ranking is not carried in this file." : "Rankings are not carried in this file."));
    const body = el("tbody");
    list.forEach((document, place) => {
      const there = others.indexOf(document), rank = place + 1;
      const move = there < 0 ? (role === "baseline" ? "gone" : "new") : there === place ? "=" : (there > place) === (role === "candidate") ? `▲ ${there + 1}` : `▼ ${there + 1}`;
      const meaning = there < 0 ? `not in the other's first ${others.length}` : `rank ${there + 1} in the other`;
      body.append(el("tr", { class: rank === data.k && rank < list.length ? "cut" : null },
        el("td", { class: "num" }, String(rank)), el("td", { class: "doc" }, data.docs[document]),
        el("td", {}, badge(data.grades[system][query][place])), el("td", { class: "was", title: meaning, "aria-label": meaning }, move)));
    });
    const name = `${data.systems[system]}: rank, document, grade, rank in the other`;
    return el("section", {}, title, el("table", { "aria-label": name }, body));
  }
  function opened(query, columnsWide) {
    const [candidate, baseline] = sides();
    const both = el("div", { class: "sides" }, ranking(baseline, candidate, query, "baseline"), ranking(candidate, baseline, query, "candidate"));
    const note = el("p", { class: "soft" }, `To depth 20; the dashed line is k = ${data.k}, what is sent on. The last column is the rank in the other ranking: ▲ higher in the candidate, ▼ lower.`);
    return el("tr", { class: "opened", id: `opened-${query}` }, el("td", { colspan: columnsWide }, both, note));
  }
  function table() {
    const [candidate, baseline] = sides(), found = rows(), pages = Math.max(1, Math.ceil(found.length / PAGE));
    chosen.page = Math.min(Math.max(0, chosen.page), pages - 1);
    const head = el("tr", {}, heading("Query", "name", false), heading("Difference", "difference", true),
      heading("Size", "size", true), heading(data.systems[baseline], "before", true), heading(data.systems[candidate], "after", true),
      heading(`Unjudged @${data.k}, ${data.systems[baseline]}`, "u1", true), heading(`Unjudged @${data.k}, ${data.systems[candidate]}`, "u2", true));
    const body = el("tbody");
    for (const row of found.slice(chosen.page * PAGE, (chosen.page + 1) * PAGE)) {
      const open = chosen.open.has(row.query), text = data.texts[row.query];
      const button = el("button", {
        type: "button", "data-query": row.query, "aria-expanded": String(open), "aria-controls": `opened-${row.query}`,
        onclick: () => {
          if (!chosen.open.delete(row.query)) chosen.open.add(row.query);
          table();
          document.querySelector(`#queries button[data-query="${row.query}"]`).focus({ preventScroll: true });
        },
      }, `${open ? "▾" : "▸"} ${row.name}`);
      const way = row.difference > 0 ? "up" : row.difference < 0 ? "down" : "";
      const count = (value) => (value === null ? "–" : String(value));
      body.append(el("tr", {}, el("th", { scope: "row", class: "query" }, button, ...(text ? [el("span", { class: "text" }, text)] : [])),
        el("td", { class: `num ${way}` }, signed(row.difference)),
        el("td", { class: "num size" }, row.difference === null ? "–" : Math.abs(row.difference).toFixed(4)),
        el("td", { class: "num" }, told(row.before)), el("td", { class: "num" }, told(row.after)),
        el("td", { class: "num" }, count(row.u1)), el("td", { class: "num" }, count(row.u2))));
      if (open) body.append(opened(row.query, 7));
    }
    id("queries").replaceChildren(el("table", {}, el("thead", {}, head), body));
    const first = found.length ? chosen.page * PAGE + 1 : 0, last = Math.min(found.length, (chosen.page + 1) * PAGE);
    id("shown").textContent = `${first}–${last} of ${found.length}` + (found.length < data.queries.length ? ` (${data.queries.length} listed)` : "");
    const turn = (text, step, possible) => el("button", {
      type: "button", "data-turn": String(step), ...(possible ? {} : { disabled: "" }),
      onclick: () => { chosen.page += step; table(); (document.querySelector(`[data-turn="${step}"]:enabled`) || id("queries")).focus(); },
    }, text);
    id("pages").replaceChildren(turn("Previous", -1, chosen.page > 0), `page ${chosen.page + 1} of ${pages}`, turn("Next", 1, chosen.page < pages - 1));
  }

  function start() {
    all(".needs-script").forEach((part) => { part.hidden = false; });
    if (!data.pairs.length || !id("queries")) return;
    for (const [kind, key] of [["choose-measure", "measure"], ["choose-pair", "pair"]]) {
      all(`.${kind}`).forEach((select) => select.addEventListener("change", () => {
        chosen[key] = Number(select.value);
        all(`.${kind}`).forEach((other) => { other.value = select.value; });
        chosen.page = 0;
        plots();
        table();
      }));
    }
    id("search").addEventListener("input", () => { chosen.search = id("search").value.trim(); chosen.page = 0; table(); });
    id("show").addEventListener("change", () => { chosen.show = id("show").value; chosen.page = 0; table(); });
    // A browser may restore the choices of an earlier visit.
    all(".tools select").forEach((select) => { select.selectedIndex = 0; });
    id("search").value = "";
    watchPlot();
    table();
    let closed = [];
    window.addEventListener("beforeprint", () => {
      closed = all("details:not([open])");
      closed.forEach((one) => { one.open = true; });
    });
    window.addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));
  }
  start();
})();
