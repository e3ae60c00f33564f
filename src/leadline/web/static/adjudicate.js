"use strict";
// The pairs that people differ on, for the lead to decide.
(() => {
  const L = window.Leadline;
  const { el, id, api, badge, terms, marked, units, columnar, typing, newId } = L;
  let settings = null, cases = [];

  const said = (label) => (label.mark ? { unsure: "not sure", skip: "skipped", broken: "broken" }[label.mark]
    : settings.scale.find((level) => level.grade === label.grade)?.name || `grade ${label.grade}`);

  function answers(one) {
    return el("ul", { class: "answers" }, one.labels.map((label) => el("li", {},
      label.mark ? el("span", { class: "badge none" }, "–") : badge(settings.scale, label.grade),
      el("span", {}, `${label.label}: ${said(label)}`),
      label.note ? el("q", { class: "note small" }, label.note) : null,
      ...(label.evidence || []).map((span) => el("span", { class: "note small soft" }, "marked ", el("mark", { class: "evidence" }, span.quote))))));
  }
  function decided(one) {
    return one.adjudicated ? `Decided: ${one.adjudicated.grade}${one.adjudicated.note ? `, “${one.adjudicated.note}”` : ""}` : "";
  }

  function shown(one, place) {
    const name = `case-${place}`, spans = one.labels.flatMap((label) => label.evidence || [])
      .map((span) => ({ start: units(one.text, span.start), end: units(one.text, span.end), class: "evidence" }));
    const note = el("input", { type: "text", id: `${name}-note`, maxlength: 4000, autocomplete: "off", value: one.adjudicated?.note || null });
    const state = el("p", { class: "small", role: "status" }, decided(one));
    const buttons = settings.scale.map((level) => el("button", { type: "button", "data-grade": level.grade,
      "aria-pressed": String(one.adjudicated?.grade === level.grade), class: "grade" },
    badge(settings.scale, level.grade), el("span", { class: "name" }, level.name || `Grade ${level.grade}`)));
    const article = el("article", { class: "panel case", tabindex: "-1", "aria-labelledby": `${name}-title` },
      el("h2", { id: `${name}-title`, class: "first" }, one.query), one.need ? el("p", { class: "soft small" }, one.need) : null,
      el("h3", {}, one.title || one.doc_id, one.path ? el("span", { class: "soft small" }, ` ${one.path}`) : null),
      el("div", { class: `text${columnar(one.text) ? " code" : ""}`, tabindex: "0", role: "region", "aria-label": "Document" }, ...marked(one.text, terms(one.query), spans)),
      answers(one),
      el("div", { class: "grades", role: "group", "aria-label": `Decide: ${one.query}` }, ...buttons),
      el("div", { class: "field" }, el("label", { for: `${name}-note` }, "Why"), note), state);

    async function decide(grade) {
      state.textContent = "saving…";
      // The same decision sent again keeps its id, so that a save repeated after a failure is one row.
      if (article.sent?.grade !== grade || article.sent?.note !== note.value.trim()) article.sent = { grade, note: note.value.trim(), id: newId() };
      try {
        await api.post("/api/adjudications", { id: article.sent.id, pair: one.pair, grade, note: article.sent.note });
        one.adjudicated = { grade, note: article.sent.note };
        state.textContent = `✓ ${decided(one)}`;
        for (const button of buttons) button.setAttribute("aria-pressed", String(Number(button.dataset.grade) === grade));
        go(place + 1);
      } catch (error) {
        state.textContent = `Not saved: ${error.message}. Try again.`;
      }
    }
    for (const button of buttons) button.addEventListener("click", () => decide(Number(button.dataset.grade)));
    return { article, decide };
  }

  function go(place) {
    const next = cases[Math.max(0, Math.min(cases.length - 1, place))];
    next?.article.focus({ preventScroll: true });
    next?.article.scrollIntoView({ block: "start" });
  }
  const here = () => cases.findIndex((one) => one.article.contains(document.activeElement));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.closest("article")?.focus();
      return;
    }
    const level = settings?.scale.find((one) => String(one.key) === event.key), place = here();
    if (event.key === "j") go(place + 1);
    else if (event.key === "k") go(place < 0 ? 0 : place - 1);
    else if (level && place >= 0) cases[place].decide(level.grade);
    else return;
    event.preventDefault();
  });

  async function ask() {
    try {
      settings ??= await api.get("/api/settings");
      const { pairs } = await api.get("/api/disagreements", { all: String(id("all").checked) });
      id("state").textContent = pairs.length ? `${pairs.length} ${pairs.length === 1 ? "pair" : "pairs"}` : "People agree on every pair that two of them judged.";
      cases = pairs.map(shown);
      id("result").replaceChildren(...cases.map((one) => one.article));
    } catch (error) {
      id("state").textContent = `The server says: ${error.message}`;
    }
  }
  id("all").addEventListener("change", ask);
  ask();
})();
