"use strict";
// Who takes part: names, roles, open invitations.
(() => {
  const { el, id, api, table } = window.Leadline;

  async function ask() {
    try {
      const { accounts, invitations } = await api.get("/api/accounts");
      id("state").textContent = "";
      const end = (name) => el("button", { type: "button", "aria-label": `End the sessions and links of ${name}`, onclick: () => revoke(name) }, "End");
      id("result").replaceChildren(
        table("People; ending closes every session and open link of a name, its judgments stay", ["Name", "Role", "Since", "State", ""],
          accounts.map((one) => el("tr", {}, el("th", { scope: "row" }, one.name), el("td", {}, one.role), el("td", {}, String(one.created).slice(0, 16)),
            el("td", {}, one.active ? "active" : "closed"), el("td", {}, one.active ? end(one.name) : "")))),
        invitations.length ? table("Invitations not used yet", ["Name", "Role", "Until", ""],
          invitations.map((one) => el("tr", {}, el("th", { scope: "row" }, one.name), el("td", {}, one.role),
            el("td", {}, String(one.expires).slice(0, 16)), el("td", {}, end(one.name))))) : "");
    } catch (error) {
      id("state").textContent = `The server says: ${error.message}`;
    }
  }
  async function revoke(name) {
    if (!window.confirm(`End every session and open link of ${name}?`)) return;
    try {
      await api.post("/api/accounts/revoke", { name });
      await ask();
    } catch (error) {
      id("state").textContent = `Not done: ${error.message}`;
    }
  }
  id("invite").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const made = await api.post("/api/invitations", { name: id("name").value.trim(), role: id("role").value });
      id("made").hidden = false;
      id("link").value = new URL(made.path, window.location.origin).href;
      id("link").focus();
      id("link").select();
      await ask();
    } catch (error) {
      id("state").textContent = `Not done: ${error.message}`;
    }
  });
  ask();
})();
