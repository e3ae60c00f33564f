"use strict";
// The offline kit: the page's own data as a source of pairs, and the browser's store as the book.
(() => {
  const L = window.Leadline;
  const { id } = L;
  const APART = 20, APART_AT_END = 5;

  // A number in [0, 1) from words, the same on every computer: it orders the pairs for one person.
  function chance(text) {
    let hash = 0x811c9dc5;
    for (const unit of text) hash = Math.imul(hash ^ unit.codePointAt(0), 0x01000193) >>> 0;
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
    return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
  }

  class KitSource {
    constructor(data, who) {
      Object.assign(this, { data, who, settings: data.settings, space: `kit|${data.name}|${who}`, memory: [], safe: true });
      this.prefix = `leadline:kit:${data.name}:${who}:`;
      const named = data.pairs.map((pair) => [chance(`${who}|${pair.pair}`), pair]);
      this.order = (data.who ? data.pairs : named.sort((a, b) => a[0] - b[0]).map(([, pair]) => pair)).map((pair) => pair.pair);
      this.pairs = new Map(data.pairs.map((pair) => [pair.pair, pair]));
      this.names = new Map(data.pairs.map((pair) => [JSON.stringify([pair.query_id, pair.doc_id]), pair.pair]));
      this.rows = this.read();
    }

    read() {
      const keys = [];
      try {
        for (let place = 0; place < localStorage.length; place += 1) {
          if (localStorage.key(place).startsWith(this.prefix)) keys.push(localStorage.key(place));
        }
        return keys.sort().map((key) => JSON.parse(localStorage.getItem(key)));
      } catch {
        this.safe = false;
        return [];
      }
    }
    write(row) {
      const key = this.prefix + String(this.rows.length).padStart(8, "0");
      try {
        localStorage.setItem(key, JSON.stringify(row));
      } catch {
        this.safe = false;
        id("unsafe").hidden = false;
      }
      this.rows.push(row);
      this.unsaved = true;
      return row;
    }
    standing() {
      const gone = new Set(this.rows.map((row) => row.undoes).filter(Boolean));
      return this.rows.filter((row) => !row.undoes && !gone.has(row.id));
    }
    // The name of a row's pair; the second showing of a pair has a name of its own.
    nameOf(row) {
      return (row.repeat ? "again:" : "") + this.names.get(JSON.stringify([row.query_id, row.doc_id]));
    }
    shown(name) {
      const again = name.startsWith("again:"), pair = this.pairs.get(again ? name.slice(6) : name);
      const own = this.standing().find((row) => this.nameOf(row) === name);
      return { ...pair, pair: name, judgment: own ? { grade: null, mark: null, evidence: [], note: "", ...own } : null };
    }
    progress() {
      const said = this.standing();
      return { done: said.filter((row) => !row.repeat && row.mark !== "skip").length, total: this.order.length,
        skipped: said.filter((row) => row.mark === "skip").length, per_hour: null, remaining_seconds: null };
    }

    async next(count, skipped) {
      const said = this.standing(), places = new Map(said.map((row, place) => [this.nameOf(row), place]));
      const open = skipped ? said.filter((row) => row.mark === "skip").map((row) => this.nameOf(row))
        : this.order.filter((name) => !places.has(name));
      const due = this.data.pairs.filter((pair) => pair.again && places.has(pair.pair) && !places.has(`again:${pair.pair}`)
        && said[places.get(pair.pair)].grade !== undefined
        && said.length - places.get(pair.pair) > (open.length ? APART : APART_AT_END)).map((pair) => `again:${pair.pair}`);
      return { pairs: [...(skipped ? [] : due), ...open].slice(0, count).map((name) => this.shown(name)), progress: this.progress() };
    }
    async pair(name) { return this.shown(name); }
    async document(name) { return this.data.documents[name]; }
    async send({ kind, body }) {
      if (kind === "undo") {
        if (this.standing().some((row) => row.id === body.judgment)) this.takeBack(body.judgment);
        return { undone: null, progress: this.progress() };
      }
      if (!this.rows.some((row) => row.id === body.id)) {
        const again = body.pair.startsWith("again:"), pair = this.pairs.get(again ? body.pair.slice(6) : body.pair);
        const before = this.standing().find((row) => this.nameOf(row) === body.pair);
        if (before) this.takeBack(before.id);
        const row = { id: body.id, query_id: pair.query_id, doc_id: pair.doc_id, who: this.who, kind: "person",
          guideline: this.settings.guideline_version, text_hash: body.text_hash, seconds: body.seconds, when: this.now() };
        if (body.mark) row.mark = body.mark;
        else row.grade = body.grade;
        if (body.note) row.note = body.note;
        if (body.evidence.length) row.evidence = body.evidence;
        if (again) row.repeat = true;
        for (const name of ["probability", "stratum"]) if (pair[name] !== undefined) row[name] = pair[name];
        this.write(row);
      }
      return { saved: body.id, progress: this.progress(), reveal: null };
    }
    // Times always ascend, so that books order the rows as they were given.
    now() {
      const last = this.rows.length ? Date.parse(this.rows.at(-1).when) : 0;
      return new Date(Math.max(Date.now(), last + 1)).toISOString();
    }
    takeBack(name) {
      const row = this.rows.find((one) => one.id === name);
      this.write({ id: L.newId(), query_id: row.query_id, doc_id: row.doc_id, who: this.who, kind: "person", undoes: name,
        when: this.now() });
    }
    async undo() {
      const last = this.standing().at(-1);
      if (!last) return { undone: null, progress: this.progress() };
      const shown = this.shown(this.nameOf(last));
      this.takeBack(last.id);
      return { undone: shown, progress: this.progress() };
    }
    download() {
      const name = this.who.replace(/[^\p{L}\p{N}._-]+/gu, "-") || "assessor";
      L.save(`judgments-${name}.jsonl`, this.rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      this.unsaved = false;
    }
  }

  function open(data, who) {
    const source = new KitSource(data, who);
    id("unsafe").hidden = source.safe;
    id("who").textContent = who;
    id("download").hidden = false;
    id("download").addEventListener("click", () => source.download());
    window.addEventListener("beforeunload", (event) => { if (!source.safe && source.unsaved) event.preventDefault(); });
    L.judge = new L.Judge(source);
    L.judge.start();
  }
  L.KitSource = KitSource;

  L.startKit = () => {
    const data = JSON.parse(id("data").textContent), key = `leadline:kit-name:${data.name}`;
    const known = data.who || L.stored(localStorage, key);
    if (known) return open(data, known);
    id("loading").hidden = true;
    id("name-form").hidden = false;
    id("name").focus();
    id("name-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const who = id("name").value.trim();
      if (!who) return;
      L.stored(localStorage, key, who);
      // A hidden field keeps the focus until the next frame, and digits typed into a field are no grades.
      id("name").blur();
      id("name-form").hidden = true;
      id("loading").hidden = false;
      open(data, who);
    });
    return undefined;
  };
})();
