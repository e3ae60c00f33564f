"use strict";
// The judging screen: what the keys do, which pair is next, and how an answer reaches the book.
(() => {
  const L = window.Leadline;
  const { el, id, points, newId } = L;
  const ENOUGH = 3, AHEAD = 5, RECENT = 20, REMEMBERED = 300;
  const REASONS = {
    skip: ["I know too little about the subject", "the query can be read in several ways", "I need more context", "I want to think again later"],
    broken: ["empty or garbled text", "not the document its title says", "cut in a bad place", "outdated, or no longer there"],
  };

  function stored(store, key, value) {
    try {
      if (value === undefined) return JSON.parse(store.getItem(key));
      if (value === null) store.removeItem(key);
      else store.setItem(key, JSON.stringify(value));
    } catch { /* without storage only the comfort is lost; the outbox says so itself */ }
    return null;
  }

  class Judge {
    constructor(source) {
      const { settings } = source, space = source.space;
      Object.assign(this, { source, settings, space, view: new L.View(settings), clock: new L.Clock() });
      Object.assign(this, { ahead: [], fetching: null, paces: [], empty: false, skipped: false, reveals: false });
      this.progress = { done: 0, total: 0, skipped: 0, per_hour: null, remaining_seconds: null };
      this.outbox = new L.Outbox(space, (entry) => source.send(entry), (answer) => { this.progress = answer.progress; }, () => this.status());
      this.reveals = Boolean(stored(localStorage, `leadline:reveal:${space}`));
      // What this tab has seen, and the answers it has given, in order; both outlive a reload.
      const kept = stored(sessionStorage, `leadline:trail:${space}`) || { names: [], given: [] };
      this.trail = kept.names.map((name) => ({ name, pair: null, said: null, note: "", evidence: [], seconds: 0 }));
      this.given = kept.given;
      this.at = this.trail.length;
    }
    async start() {
      this.wire();
      if (this.source.family) this.outbox.adopt(this.source.family);
      this.outbox.flush();
      await this.fresh();
    }
    get entry() { return this.trail[this.at] || null; }
    shown() { return this.view.entry; }

    remember() {
      const names = this.trail.filter((entry) => entry.said).map((entry) => entry.name).slice(-REMEMBERED);
      stored(sessionStorage, `leadline:trail:${this.space}`, { names, given: this.given.slice(-REMEMBERED) });
    }
    draft() {
      const entry = this.shown();
      if (!entry) return;
      entry.note = id("note").value;
      entry.seconds = this.clock.seconds();
      if (entry.said) return;
      stored(localStorage, `leadline:draft:${this.space}`,
        { name: entry.name, note: entry.note, evidence: entry.evidence, seconds: entry.seconds });
    }
    status() {
      const waiting = this.outbox.waiting();
      const judged = waiting.filter((entry) => entry.kind === "judgment").length, undone = waiting.length - judged;
      const pace = this.paces.length ? this.paces.reduce((sum, one) => sum + one, 0) / this.paces.length : null;
      this.view.saving(this.outbox);
      if (this.progress.total) this.view.progress(this.progress, judged - undone, pace);
    }

    // Pairs are fetched before they are needed. Those that wait to be saved are still open to the server: they are passed over.
    topUp() {
      if (this.fetching || this.ahead.length >= ENOUGH || this.empty) return this.fetching;
      const sent = this.outbox.waiting().map((entry) => entry.body.pair);
      const wanted = Math.min(50, AHEAD + this.ahead.length + sent.length + this.trail.filter((entry) => !entry.said).length);
      this.fetching = this.source.next(wanted, this.skipped).then((answer) => {
        const taken = new Set([...sent, ...this.outbox.waiting().map((entry) => entry.body.pair),
          ...this.ahead.map((pair) => pair.pair), ...this.trail.filter((entry) => entry.pair && !entry.said).map((entry) => entry.name)]);
        const fresh = answer.pairs.filter((pair) => !taken.has(pair.pair));
        this.ahead.push(...fresh);
        this.progress = answer.progress;
        this.empty = !fresh.length && !sent.length;
        this.fetching = null;
        this.status();
      }, (error) => {
        this.fetching = null;
        throw error;
      });
      return this.fetching;
    }

    async show(at) {
      const before = this.at;
      this.at = at;
      const entry = this.entry;
      if (!entry.pair) {
        this.moving = true;
        try {
          entry.pair = await this.source.pair(entry.name);
        } catch (error) {
          this.at = before;
          this.view.last(`The pair cannot be shown: ${error.message}`);
          return;
        } finally {
          this.moving = false;
        }
        const own = entry.pair.judgment;
        if (own) Object.assign(entry, { said: own, note: own.note || "", evidence: own.evidence || [] });
        if (this.entry !== entry) return;
      }
      const draft = stored(localStorage, `leadline:draft:${this.space}`);
      if (draft && draft.name === entry.name && !entry.said && !entry.note && !entry.evidence.length) {
        Object.assign(entry, { note: draft.note, evidence: draft.evidence, seconds: draft.seconds });
      }
      this.clock.restart(entry.said ? 0 : entry.seconds);
      this.view.show(entry);
      id("back").disabled = at === 0;
    }

    async forward() {
      if (this.moving) return undefined;
      this.draft();
      this.view.last("");
      return this.at < this.trail.length - 1 ? this.show(this.at + 1) : this.fresh();
    }
    // After an answer: the next pair of this tab that has none, else a new one.
    async onward() {
      const open = this.trail.findIndex((entry, place) => place > this.at && entry.pair && !entry.said);
      return open >= 0 ? this.show(open) : this.fresh();
    }
    async fresh() {
      if (!this.ahead.length) {
        // Until the next pair stands there, no key answers: it would answer the one before once more.
        this.moving = true;
        if (this.shown()?.said || !this.shown()) id("loading").hidden = false;
        try {
          await this.topUp();
          if (!this.ahead.length && this.outbox.waiting().length && !this.outbox.problem) await this.settled();
        } catch (error) {
          return this.stuck(error);
        } finally {
          this.moving = false;
        }
      }
      const pair = this.ahead.shift();
      if (!pair) return this.finish();
      this.trail.push({ name: pair.pair, pair, said: null, note: "", evidence: [], seconds: 0 });
      this.topUp()?.catch(() => { /* shown when the pairs are really needed */ });
      return this.show(this.trail.length - 1);
    }
    async settled() {
      while (this.outbox.busy) await new Promise((resolve) => setTimeout(resolve, 20));
      this.empty = false;
      await this.topUp();
    }
    stuck(error) {
      id("loading").hidden = true;
      const open = this.shown();
      if (open && !open.said) return this.view.last(`No further pairs: ${error.message}`);
      this.view.entry = null;
      id("work").hidden = id("given").hidden = true;
      id("end").hidden = false;
      id("end").replaceChildren(el("h2", {}, "No pairs at the moment"),
        el("p", { role: "alert" }, `${error.message}. What you said is kept in this browser and is sent as soon as that works.`),
        el("button", { type: "button", class: "main", onclick: () => { this.outbox.flush(); this.forward(); } }, "Try now"));
      clearTimeout(this.again);
      this.again = setTimeout(() => { if (!this.shown()) this.forward(); }, 3000);
      return undefined;
    }
    finish() {
      const open = this.trail.findIndex((entry) => entry.pair && !entry.said);
      if (open >= 0) return open === this.at && this.shown() ? this.view.last("This is the last pair that is open to you.") : this.show(open);
      this.at = this.trail.length;
      const actions = [["Undo the last answer", () => this.undo(), this.settings.keys.undo]];
      if (this.progress.skipped) actions.unshift([`Judge the ${this.progress.skipped} skipped`, () => this.restart(true)]);
      if (this.source.download) actions.unshift(["Download the judgments", () => this.source.download()]);
      else actions.push(["Look for new pairs", () => this.restart(false)]);
      this.view.end(this.progress, actions);
      return undefined;
    }
    restart(skipped) {
      Object.assign(this, { skipped, empty: false });
      return this.forward();
    }
    back() {
      if (this.moving) return;
      this.draft();
      this.view.last("");
      if (this.at > 0) this.show(this.at - 1);
    }

    say(answer, reason) {
      const entry = this.shown();
      if (!entry || this.moving || this.undoing) return;
      this.draft();
      const { pair } = entry, note = [reason, entry.note.trim()].filter(Boolean).join("\n").slice(0, 4000);
      const body = { id: newId(), pair: pair.pair, ...answer, evidence: entry.evidence, note,
        seconds: entry.seconds, text_hash: pair.text_hash };
      entry.said = { id: body.id, grade: null, mark: null, ...answer };
      entry.note = note;
      this.given = [...this.given.filter((one) => one.pair !== pair.pair), { id: body.id, pair: pair.pair }];
      this.paces = [...this.paces, entry.seconds].slice(-RECENT);
      stored(localStorage, `leadline:draft:${this.space}`, null);
      this.remember();
      if (document.activeElement === id("note")) id("document").focus({ preventScroll: true });
      const words = `${this.named(answer)}: ${L.short(pair.title || pair.doc_id, 60)}`;
      this.view.last(words);
      this.outbox.add("judgment", body).then((found) => {
        if (found.refused) return this.refused(entry, body, found);
        this.latest = { words, reveal: found.reveal, id: body.id };
        if (this.given.at(-1)?.id === body.id) this.view.last(words, this.reveals && found.reveal);
        return undefined;
      });
      this.onward();
    }
    // A refused answer is not stored. A pair whose text has changed is judged again, as it is now.
    async refused(entry, body, found) {
      this.given = this.given.filter((one) => one.id !== body.id);
      this.remember();
      this.view.last(`Not stored: ${found.refused}`);
      if (found.code !== "changed") return;
      const pair = await this.source.pair(body.pair).catch(() => null);
      if (pair) Object.assign(entry, { pair, said: null, evidence: [] });
    }
    named(answer) {
      if (answer.mark) return { unsure: "Not sure", skip: "Skipped", broken: "Broken" }[answer.mark];
      const level = this.settings.scale.find((one) => one.grade === answer.grade);
      return `${answer.grade}${level?.name ? ` ${level.name}` : ""}`;
    }

    // An answer of this tab is taken back through the outbox, so that it works without the server; an older one by asking.
    async undo() {
      if (this.undoing || this.moving) return;
      this.undoing = true;
      this.draft();
      try {
        const last = this.given.pop();
        if (last) {
          this.remember();
          this.outbox.add("undo", { id: newId(), pair: last.pair, judgment: last.id });
          const place = this.trail.findLastIndex((entry) => entry.name === last.pair);
          return await this.reopen(place, last.pair, null);
        }
        if (this.outbox.waiting().length) return this.view.last("Older answers can be taken back once everything is saved.");
        const answer = await this.source.undo();
        this.progress = answer.progress;
        this.status();
        if (!answer.undone) return this.view.last("Nothing is left to undo.");
        const { pair } = answer.undone;
        return await this.reopen(this.trail.findLastIndex((entry) => entry.name === pair), pair, answer.undone);
      } catch (error) {
        return this.view.last(`Not undone: ${error.message}`);
      } finally {
        this.undoing = false;
      }
    }
    async reopen(place, name, pair) {
      this.empty = false;
      this.ahead = this.ahead.filter((one) => one.pair !== name);
      if (place < 0) {
        place = Math.min(this.at, this.trail.length);
        this.trail.splice(place, 0, { name, pair, said: null, note: "", evidence: [], seconds: 0 });
        const own = pair?.judgment;
        if (own) Object.assign(this.trail[place], { note: own.note || "", evidence: own.evidence || [] });
      }
      const entry = this.trail[place];
      await this.show(place);
      entry.said = null;
      this.view.answers(null);
      this.remember();
      this.view.last("Taken back: judge it again, or move on.");
    }
  }

  Object.assign(L, { Judge, REASONS, stored, pointsOf: (text, span) => [points(text, span.start), points(text, span.end)] });
})();
