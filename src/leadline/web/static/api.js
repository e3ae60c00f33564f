"use strict";
// The server as a source of pairs: every answer is JSON, every error says whether sending again can help.
(() => {
  const L = window.Leadline;
  const root = () => document.body.dataset.root || "";
  const PATIENCE = 15000;
  let settings = null;

  class Refused extends Error {
    constructor(message, code) {
      super(message);
      this.refused = true;
      this.code = code;
    }
  }

  async function ask(path, options = {}) {
    let response;
    try {
      response = await fetch(root() + path, { credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE), ...options });
    } catch {
      throw new Error("the server cannot be reached");
    }
    let answer = null;
    try {
      answer = await response.json();
    } catch { /* a proxy's own page: told by its status below */ }
    if (response.ok && answer) return answer;
    const words = (answer?.error || `the server answered ${response.status}`).replace(/[.\s]+$/, "");
    if (response.status === 401) {
      const error = new Error("you are logged out; log in again in another tab");
      error.code = "login";
      throw error;
    }
    // What a page sent and the server understood, but will not take, is not sent again.
    if ([400, 403, 404, 409, 413, 422].includes(response.status) && answer) throw new Refused(words, answer.code);
    throw new Error(words);
  }

  async function post(path, body, again = true) {
    if (!settings) settings = await ask("/api/settings");
    try {
      return await ask(path, { method: "POST", body: JSON.stringify(body),
        headers: { "Content-Type": "application/json", "X-CSRF-Token": settings.csrf } });
    } catch (error) {
      if (error.code !== "csrf" || !again) throw error;
      settings = await ask("/api/settings");
      return post(path, body, false);
    }
  }
  const query = (values) => {
    const kept = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
    return kept.length ? `?${new URLSearchParams(kept)}` : "";
  };
  const get = (path, values = {}) => ask(path + query(values));
  const encoded = (text) => encodeURIComponent(text).replaceAll("%2F", "/");

  class ApiSource {
    static async open() {
      settings = await ask("/api/settings");
      const source = new ApiSource();
      source.settings = settings;
      source.family = `${root()}|${settings.book}|${settings.assessor}|`;
      source.space = `${source.family}${settings.guideline_version}`;
      return source;
    }
    next(count, skipped) { return get("/api/next", { count, skipped }); }
    pair(name) { return get(`/api/pairs/${encodeURIComponent(name)}`); }
    document(name) { return get(`/api/documents/${encoded(name)}`); }
    undo() { return post("/api/undo", {}); }
    async send({ kind, body }) {
      if (kind === "judgment") return post("/api/judgments", body);
      // The answer is named, so that sending it twice takes back one.
      return post("/api/undo", { judgment: body.judgment });
    }
  }
  Object.assign(L, { ApiSource, api: { get, post, root } });
})();
