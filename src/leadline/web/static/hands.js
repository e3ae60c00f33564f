"use strict";
// Keys, buttons, selections and dialogs of the judging screen.
(() => {
  const L = window.Leadline;
  const { el, id, typing, stored } = L;
  const MOST = 50, LONGEST = 20000;

  L.Judge.prototype.wire = function wire() {
    const { keys } = this.settings;
    const grades = new Map(this.settings.scale.map((level) => [String(level.key), level.grade]));
    const actions = new Map([
      [keys.unsure, () => this.say({ mark: "unsure" })], [keys.skip, () => this.ask("skip")], [keys.broken, () => this.ask("broken")],
      [keys.undo, () => this.undo()], [keys.help, () => id("help").showModal()], [keys.document, () => this.whole()],
      [keys.guide, () => { id("guide").open = !id("guide").open; }], [keys.note, () => id("note").focus()],
      [keys.evidence, () => this.evidence()], ["x", () => this.unmark(this.shown()?.evidence.length - 1)],
      ["h", () => this.terms(!this.view.showTerms)], ["r", () => this.reveal()],
      ["ArrowLeft", () => this.back()], ["ArrowRight", () => this.forward()],
    ]);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (document.querySelector("dialog[open]")) return this.inDialog(event);
      if (typing(event.target)) {
        if (event.key === "Escape") { event.target.blur(); id("document").focus({ preventScroll: true }); }
        return undefined;
      }
      if (this.view.picked && this.picking(event)) return event.preventDefault();
      const action = grades.has(event.key) ? () => this.say({ grade: grades.get(event.key) }) : actions.get(event.key);
      if (!action) return undefined;
      event.preventDefault();
      // A key that is held down answers once, not for every pair that comes by.
      if (!event.repeat || event.key.startsWith("Arrow")) action();
      return undefined;
    });
    for (const button of document.querySelectorAll("[data-grade]")) {
      button.addEventListener("click", () => this.say({ grade: Number(button.dataset.grade) }));
    }
    for (const button of document.querySelectorAll("[data-mark]")) {
      const { mark } = button.dataset;
      button.addEventListener("click", () => (mark === "unsure" ? this.say({ mark }) : this.ask(mark)));
    }
    const clicks = { undo: () => this.undo(), back: () => this.back(), forward: () => this.forward(), keys: () => id("help").showModal(),
      whole: () => this.whole(), pick: () => this.evidence(), retry: () => this.outbox.flush(), "show-refused": () => this.refusals(),
      "refused-keep": () => L.save("refused.json", JSON.stringify(this.outbox.refused(), null, 1)),
      "refused-again": () => { this.outbox.sendAgain(); id("refused").close(); },
      "refused-away": () => { for (const one of this.outbox.refused()) this.outbox.forget(one.key); id("refused").close(); this.status(); } };
    for (const [name, action] of Object.entries(clicks)) id(name).addEventListener("click", action);
    id("terms-on").addEventListener("change", (event) => this.terms(event.target.checked));
    if (id("reveals")) {
      id("reveals").checked = this.reveals;
      id("reveals").addEventListener("change", () => this.reveal());
    }
    // A press on the button must not end the selection that it is to mark.
    id("pick").addEventListener("mousedown", (event) => event.preventDefault());
    id("spans").addEventListener("click", (event) => {
      const place = event.target.dataset.span;
      if (place !== undefined) this.unmark(Number(place));
    });
    id("note").addEventListener("input", () => { this.view.grow(); this.draft(); });
    id("text").addEventListener("pointerup", () => setTimeout(() => this.select(), 0));
    for (const button of document.querySelectorAll("[data-close]")) {
      button.addEventListener("click", () => button.closest("dialog").close());
    }
    window.addEventListener("pagehide", () => this.draft());
    id("reason-form").addEventListener("submit", () => {
      const chosen = id("reasons").querySelector("input:checked"), own = id("reason-text").value.trim();
      const { mark } = id("reason").dataset;
      setTimeout(() => this.say({ mark }, [chosen?.value, own].filter(Boolean).join("; ")), 0);
    });
  };

  Object.assign(L.Judge.prototype, {
    // Digits choose a reason while the reasons are open; nothing else is heard there.
    inDialog(event) {
      if (!id("reason").open || (typing(event.target) && event.target.value !== "")) return;
      const place = Number(event.key) - 1, choices = id("reasons").querySelectorAll("input");
      if (/^[1-9]$/.test(event.key) && choices[place]) {
        event.preventDefault();
        choices[place].checked = true;
        choices[place].focus();
      } else if (event.key === "Enter" && event.target.matches("input[type=radio]")) {
        event.preventDefault();
        id("reason-form").requestSubmit();
      }
    },
    ask(mark) {
      if (!this.shown()) return;
      id("reason").dataset.mark = mark;
      id("reason-title").textContent = mark === "skip" ? "Skip: why?" : "Broken: what is wrong?";
      id("reasons").replaceChildren(id("reasons").querySelector("legend"), ...L.REASONS[mark].map((reason, place) =>
        el("label", { class: "plain" }, el("input", { type: "radio", name: "reason", value: reason, checked: place === 0 }),
          el("kbd", {}, String(place + 1)), reason)));
      id("reason-text").value = "";
      id("reason").showModal();
      id("reasons").querySelector("input").focus();
    },
    refusals() {
      id("refused-list").replaceChildren(...this.outbox.refused().map((one) => el("li", {}, `${one.refused} (${JSON.stringify(one.body)})`)));
      id("refused").showModal();
    },
    async whole() {
      const entry = this.shown();
      if (!entry) return;
      if (!entry.pair.has_more) return this.view.last("This is the whole document.");
      try {
        this.view.full(await this.source.document(entry.pair.doc_id));
      } catch (error) {
        this.view.last(`The document cannot be shown: ${error.message}`);
      }
      return undefined;
    },
    terms(on) {
      this.view.showTerms = id("terms-on").checked = on;
      if (this.shown()) this.view.text();
    },
    reveal() {
      this.reveals = !this.reveals;
      if (id("reveals")) id("reveals").checked = this.reveals;
      stored(localStorage, `leadline:reveal:${this.space}`, this.reveals);
      const found = this.latest;
      if (found) this.view.last(found.words, this.reveals && found.reveal);
      else this.view.last(this.reveals ? "Ranks and other labels of a pair will show once it is saved." : "Ranks and other labels stay hidden.");
    },

    // Evidence: by selecting text, or sentence by sentence.
    select() {
      const found = this.shown() && L.selected(id("text"));
      if (!found) return false;
      this.mark(found.start, found.end);
      window.getSelection().removeAllRanges();
      return true;
    },
    evidence() {
      if (!this.shown() || this.select() || !this.view.sentences.length) return;
      const first = this.view.sentences.findIndex(([start, end]) => id("text").textContent.slice(start, end).length > 0);
      this.view.picked = [first, first];
      this.pickedNow();
    },
    picking(event) {
      const { picked, sentences } = this.view, way = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (way) {
        const end = Math.max(0, Math.min(sentences.length - 1, picked[1] + way));
        this.view.picked = [event.shiftKey ? picked[0] : end, end];
        this.pickedNow();
      } else if (event.key === "Enter" || event.key === " " || event.key === this.settings.keys.evidence) {
        this.view.picked = null;
        this.mark(sentences[Math.min(...picked)][0], sentences[Math.max(...picked)][1]);
      } else if (event.key === "Escape") {
        this.view.picked = null;
        this.view.text();
        this.view.last("No sentence is chosen.");
      } else return false;
      return true;
    },
    pickedNow() {
      const { picked, sentences, entry } = this.view, [from, to] = [Math.min(...picked), Math.max(...picked)];
      this.view.text();
      this.view.last(`${from + 1}${to > from ? `–${to + 1}` : ""} of ${sentences.length}: “${
        L.short(entry.pair.text.slice(sentences[from][0], sentences[to][1]), 70)}”. Enter marks, arrows move, Esc ends.`);
    },
    // Marks that touch become one. `start` and `end` are UTF-16 places; what is kept counts code points.
    mark(start, end) {
      const entry = this.shown(), { text } = entry.pair;
      let [from, to] = L.pointsOf(text, { start, end });
      const apart = entry.evidence.filter((span) => {
        const touches = span.start <= to && span.end >= from;
        if (touches) [from, to] = [Math.min(from, span.start), Math.max(to, span.end)];
        return !touches;
      });
      if (to - from > LONGEST || apart.length >= MOST) return this.view.last(`Not marked: at most ${MOST} marks of ${LONGEST} characters.`);
      entry.evidence = [...apart, { start: from, end: to, quote: L.slice(text, from, to) }].sort((a, b) => a.start - b.start);
      this.view.text();
      this.draft();
      this.view.last(`Marked as evidence: “${L.short(L.slice(text, from, to), 70)}”${entry.said ? "; a grade saves the change" : ""}`);
      return undefined;
    },
    unmark(place) {
      const entry = this.shown();
      if (!entry || !(place >= 0)) return;
      entry.evidence = entry.evidence.filter((_, at) => at !== place);
      this.view.text();
      this.draft();
      this.view.last(`Mark removed${entry.said ? "; a grade saves the change" : ""}.`);
      if (document.activeElement === document.body) id("document").focus({ preventScroll: true });
    },
  });
})();
