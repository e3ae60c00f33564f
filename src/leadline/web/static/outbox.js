"use strict";
// Saves that the server has not confirmed yet, kept in the browser: they outlive a reload and a server that is down.
(() => {
  const PREFIX = "leadline:outbox:";
  const FIRST_WAIT = 1000, LONGEST_WAIT = 15000;

  class Outbox {
    // `send(entry)` resolves with the server's answer; it rejects with `error.refused` where sending again cannot help.
    // `told(answer)` hears every answer, also those to entries of an earlier page; `changed()` every change of what waits.
    constructor(space, send, told, changed) {
      Object.assign(this, { prefix: `${PREFIX}${space}:`, send, told, changed, saved: false, memory: new Map(), listeners: new Map() });
      Object.assign(this, { busy: false, timer: null, wait: FIRST_WAIT, problem: "", safe: true });
      const again = () => { this.wait = FIRST_WAIT; this.flush(); };
      window.addEventListener("online", again);
      window.addEventListener("beforeunload", (event) => { if (this.memory.size) event.preventDefault(); });
      document.addEventListener("visibilitychange", () => { if (!document.hidden && this.problem) again(); });
    }

    // One key an entry, so that two tabs never overwrite each other's list.
    entries() {
      const found = new Map(this.memory);
      try {
        for (let place = 0; place < localStorage.length; place += 1) {
          const key = localStorage.key(place);
          if (key.startsWith(this.prefix)) found.set(key, JSON.parse(localStorage.getItem(key)));
        }
      } catch { /* without storage the entries live in memory, and `safe` says so */ }
      return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, entry]) => ({ ...entry, key }));
    }
    // Answers of the same person under another guideline or for another book are not sent unasked, and not lost.
    adopt(family) {
      const others = [];
      try {
        for (let place = 0; place < localStorage.length; place += 1) {
          const key = localStorage.key(place);
          if (key.startsWith(PREFIX + family) && !key.startsWith(this.prefix)) others.push(key);
        }
        for (const key of others) {
          const entry = JSON.parse(localStorage.getItem(key));
          this.keep(this.prefix + key.split(":").slice(-2).join(":"), { ...entry, refused: "given under another guideline, or for another book" });
          localStorage.removeItem(key);
        }
      } catch { /* without storage there is nothing to adopt */ }
    }
    sendAgain() {
      for (const { key, kind, body } of this.refused()) this.keep(key, { kind, body });
      this.flush();
    }
    waiting() { return this.entries().filter((entry) => !entry.refused); }
    refused() { return this.entries().filter((entry) => entry.refused); }

    keep(key, entry) {
      try {
        localStorage.setItem(key, JSON.stringify(entry));
        this.memory.delete(key);
      } catch {
        this.memory.set(key, entry);
        this.safe = false;
      }
    }
    forget(key) {
      this.memory.delete(key);
      try { localStorage.removeItem(key); } catch { /* nothing was stored */ }
    }

    // The entry is in the browser's store before this returns; the promise resolves when the server has it or refuses it.
    add(kind, body) {
      this.last = Math.max(Date.now(), (this.last || 0) + 1);
      const key = `${this.prefix}${String(this.last).padStart(15, "0")}:${body.id}`;
      this.keep(key, { kind, body });
      this.changed();
      const done = new Promise((resolve) => this.listeners.set(key, resolve));
      this.flush();
      return done;
    }

    async flush() {
      if (this.busy) return;
      this.busy = true;
      clearTimeout(this.timer);
      try {
        for (let entry = this.waiting()[0]; entry; entry = this.waiting()[0]) {
          try {
            const answer = await this.send(entry);
            this.forget(entry.key);
            this.wait = FIRST_WAIT;
            this.problem = "";
            this.saved = true;
            this.told(answer);
            this.listeners.get(entry.key)?.(answer);
          } catch (error) {
            if (!error.refused) throw error;
            this.keep(entry.key, { kind: entry.kind, body: entry.body, refused: error.message });
            this.listeners.get(entry.key)?.({ refused: error.message, code: error.code });
          }
          this.listeners.delete(entry.key);
          this.changed();
        }
      } catch (error) {
        this.problem = error.message;
        this.timer = setTimeout(() => this.flush(), this.wait);
        this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
      } finally {
        this.busy = false;
        this.changed();
      }
    }
  }
  window.Leadline.Outbox = Outbox;
})();
