"use strict";
// Shows a pair and the state of saving; it decides nothing.
(() => {
  const L = window.Leadline;
  const { el, id, link, webAddress, marked, points, units, sentences, columnar } = L;
  // The server gives so many characters of grey text; less where the document begins or ends.
  const AROUND = 400;
  const put = (node, text) => { node.textContent = text || ""; node.hidden = !text; };

  class View {
    constructor(settings) {
      this.settings = settings;
      this.picked = null;
      this.showTerms = true;
    }

    // `entry` is {pair, said, note, evidence}: what is shown, what was answered, and what is being written.
    show(entry) {
      const { pair } = entry;
      this.entry = entry;
      this.picked = null;
      id("loading").hidden = id("end").hidden = true;
      id("work").hidden = id("given").hidden = false;
      put(id("query"), pair.query);
      id("query").classList.toggle("long", pair.query.length > 140);
      id("need").replaceChildren(...(pair.need ? [el("b", {}, "Wanted: "), pair.need] : []));
      id("need").hidden = !pair.need;
      put(id("title"), pair.title || pair.doc_id);
      put(id("path"), pair.path);
      this.card(pair);
      this.stems = L.terms(pair.query);
      this.sentences = sentences(pair.text);
      put(id("before"), pair.before && `${points(pair.before) < AROUND ? "" : "…"}${pair.before.trimEnd()}`);
      put(id("after"), pair.after && `${pair.after.trimStart()}${points(pair.after) < AROUND ? "" : "…"}`);
      id("text").classList.toggle("current", Boolean(pair.before || pair.after));
      for (const name of ["before", "text", "after"]) id(name).classList.toggle("code", columnar(pair.text));
      id("whole").hidden = !pair.has_more;
      id("note").value = entry.note;
      this.grow();
      this.text();
      this.answers(entry.said);
      for (const part of ["reading", "columns", "asked"]) id(part).scrollTop = 0;
      window.scrollTo(0, 0);
      // With the focus in the document, arrows, space and page keys scroll it.
      if (document.activeElement === document.body) id("document").focus({ preventScroll: true });
      id("document").classList.remove("fresh");
      void id("document").offsetWidth;
      id("document").classList.add("fresh");
    }

    card(pair) {
      const image = webAddress(pair.image), fields = Object.entries(pair.fields || {});
      const list = [...fields.map(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]),
        ...(pair.link ? [[el("dt", {}, "link"), el("dd", {}, link(pair.link, pair.link))]] : [])];
      id("card").hidden = !image && !list.length;
      id("card").classList.toggle("plain", !image);
      id("card").replaceChildren(
        ...(image ? [el("img", { src: image, alt: `Picture: ${pair.title || pair.doc_id}`, referrerpolicy: "no-referrer" })] : []),
        el("dl", { class: "fields" }, ...list.flat()));
    }

    // The text again, with the query's words, the evidence, and what is being picked.
    text() {
      const { pair, evidence } = this.entry;
      const spans = evidence.map((span) => ({ start: units(pair.text, span.start), end: units(pair.text, span.end), class: "evidence" }));
      if (this.picked) {
        const [from, to] = [Math.min(...this.picked), Math.max(...this.picked)];
        spans.push({ start: this.sentences[from][0], end: this.sentences[to][1], class: "picked" });
      }
      id("text").replaceChildren(...marked(pair.text, this.showTerms ? this.stems : new Set(), spans));
      id("text").hidden = !pair.text;
      id("spans").replaceChildren(...evidence.map((span, place) => el("li", {}, el("q", {}, short(span.quote, 160)),
        el("button", { type: "button", "data-span": place, "aria-label": `Remove the mark ${short(span.quote, 40)}` }, "×"))));
      id("evidence-box").hidden = !evidence.length;
      if (this.picked) id("text").querySelector(".picked")?.scrollIntoView({ block: "nearest" });
    }

    answers(said) {
      for (const button of document.querySelectorAll("[data-grade], [data-mark]")) {
        const { grade, mark } = button.dataset;
        const on = said && (mark ? said.mark === mark : said.grade === Number(grade));
        button.setAttribute("aria-pressed", String(Boolean(on)));
      }
    }

    // The note is one line high until it says more.
    grow() {
      const note = id("note");
      note.rows = Math.min(6, Math.max(1, note.value.split("\n").length, Math.ceil(note.value.length / 48)));
    }

    progress(progress, waiting, pace) {
      const done = Math.min(progress.total, progress.done + waiting), left = progress.total - done;
      id("count").textContent = `${done} of ${progress.total}`;
      id("progress").max = Math.max(1, progress.total);
      id("progress").value = done;
      const seconds = pace ? pace * left : progress.remaining_seconds;
      const parts = [];
      if (pace) parts.push(`${pace < 10 ? pace.toFixed(1) : Math.round(pace)} s a pair`);
      if (typeof seconds === "number" && left) parts.push(`about ${L.duration(seconds)} left`);
      id("pace").textContent = parts.join(" · ");
    }

    saving(outbox) {
      const waiting = outbox.waiting().length, refused = outbox.refused().length, node = id("save");
      let words = outbox.saved ? "✓ saved" : "", state = "";
      if (waiting && outbox.problem) {
        [words, state] = [`${waiting} not saved yet: ${outbox.problem}. Kept here, trying again.`, "failed"];
        if (!outbox.safe) words = `${waiting} not saved, and this browser keeps nothing: leave the page open. ${outbox.problem}.`;
      } else if (waiting > 1) [words, state] = [`saving ${waiting}…`, "waiting"];
      else if (waiting) [words, state] = ["saving…", "waiting"];
      if (refused) [words, state] = [`${words ? `${words} · ` : ""}${refused} refused`, "failed"];
      if (node.textContent !== words) node.textContent = words;
      node.className = `save ${state}`;
      id("retry").hidden = !(waiting && outbox.problem);
      id("show-refused").hidden = !refused;
    }

    // One line on what was just done; and, where the person wants it, what was hidden until then.
    last(words, reveal) {
      id("last").replaceChildren(el("span", {}, words), ...(reveal ? [el("span", { class: "reveal" }, revealed(reveal))] : []));
    }

    end(progress, actions) {
      id("work").hidden = id("given").hidden = id("loading").hidden = true;
      this.entry = null;
      const end = id("end");
      end.hidden = false;
      const all = progress.done >= progress.total;
      end.replaceChildren(el("h2", {}, all ? "All pairs are judged" : "Nothing to judge for now"),
        el("p", { class: "soft" }, all ? "Thank you. You may still undo, or look back."
          : `${progress.done} of ${progress.total} are done${progress.skipped ? `, ${progress.skipped} skipped` : ""}. The rest is with other people, or skipped.`),
        ...actions.map(([words, action, key]) => el("button", { type: "button", onclick: action },
          words, ...(key ? [el("kbd", {}, key)] : []))));
      end.focus();
    }

    full(whole) {
      id("full-title").textContent = whole.title || whole.doc_id;
      id("full-path").textContent = whole.path || "";
      const chunk = whole.start === null || whole.start === undefined ? []
        : [{ start: units(whole.text, whole.start), end: units(whole.text, whole.end), class: "chunk" }];
      id("full-text").classList.toggle("code", columnar(whole.text));
      id("full-text").replaceChildren(...marked(whole.text, this.showTerms ? this.stems : new Set(), chunk));
      id("full").showModal();
      id("full-text").querySelector(".chunk")?.scrollIntoView({ block: "start" });
      id("full-text").focus({ preventScroll: true });
    }
  }

  const short = (text, most) => {
    const plain = text.replace(/\s+/g, " ").trim(), all = [...plain];
    return all.length > most ? `${all.slice(0, most - 1).join("")}…` : plain;
  };
  function revealed(reveal) {
    const ranks = Object.entries(reveal.ranks || {}).map(([system, rank]) => `${system} ranked it ${rank}`);
    const others = (reveal.others || []).map((one) => `${one.who}${one.kind === "model" ? " (model)" : ""} said ${one.mark || one.grade}`);
    return [...ranks, ...others].join(" · ") || "no system's top and no other labels";
  }
  Object.assign(L, { View, short });
})();
