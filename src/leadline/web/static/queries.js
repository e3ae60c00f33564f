"use strict";
// Every query in a table: how many pairs, how many judged, and the share of each system's first ten that is.
(() => {
  const { el, svg, id, api, table } = window.Leadline;

  function share({ judged, returned }) {
    if (!returned) return el("td", { class: "num soft" }, "–");
    const part = judged / returned;
    return el("td", { class: "num" }, el("span", { class: "meter", "aria-hidden": "true" },
      svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { width: part * 100, height: 10 }))),
    `${judged}/${returned}`);
  }
  function row(one, systems) {
    const to = `${api.root()}/compare?query_id=${encodeURIComponent(one.query_id)}`;
    const name = systems.length > 1 && document.body.dataset.role === "lead" ? el("a", { href: to }, one.query) : one.query;
    return el("tr", {}, el("th", { scope: "row" }, name, one.need ? el("div", { class: "small soft" }, one.need) : null,
      Object.keys(one.fields || {}).length ? el("div", { class: "small soft" },
        Object.entries(one.fields).map(([key, value]) => `${key}: ${value}`).join(" · ")) : null),
    ...[one.pairs, one.judged, one.unsure, one.broken, one.disputed].map((count) => el("td", { class: "num" }, String(count))),
    ...systems.map((system) => share(one.judged_at_10[system] || { judged: 0, returned: 0 })));
  }
  function show({ systems, queries }) {
    id("state").textContent = queries.length === 1 ? "1 query" : `${queries.length} queries`;
    const head = ["Query", ...["Pairs", "Judged", "Not sure", "Broken", "Differ"].map((name) => ({ name, num: true })),
      ...systems.map((system) => ({ name: `judged@10 ${system}`, num: true }))];
    id("result").replaceChildren(queries.length
      ? table("Judged documents over the returned ones of the first ten, for each system", head, queries.map((one) => row(one, systems)))
      : el("p", {}, "No query is like that."));
  }

  let last = 0;
  async function ask() {
    const turn = (last += 1);
    const values = { text: id("text").value.trim() };
    for (const name of ["unjudged", "disputed"]) if (id(name).checked) values[name] = "true";
    history.replaceState(null, "", `?${new URLSearchParams(Object.entries(values).filter(([, value]) => value))}`);
    try {
      const answer = await api.get("/api/queries", values);
      if (turn === last) show(answer);
    } catch (error) {
      id("state").textContent = `The server says: ${error.message}`;
    }
  }
  const given = new URLSearchParams(window.location.search);
  id("text").value = given.get("text") || "";
  for (const name of ["unjudged", "disputed"]) id(name).checked = given.get(name) === "true";
  let timer = null;
  id("filters").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 150); });
  id("filters").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  ask();
})();
