"use strict";
// Logs in by the token of an invitation link.
(() => {
  const { id, api } = window.Leadline;
  id("login").addEventListener("submit", async (event) => {
    event.preventDefault();
    const typed = id("token")?.value.trim() ?? "";
    const token = event.target.dataset.token || typed.split("/").pop();
    id("state").textContent = "";
    try {
      const response = await fetch(`${api.root()}/api/login`, { method: "POST", body: JSON.stringify({ token }),
        headers: { "Content-Type": "application/json" } });
      if (response.ok) return window.location.replace(`${api.root()}/`);
      const answer = await response.json().catch(() => ({}));
      id("state").textContent = answer.error || `the server answered ${response.status}`;
    } catch {
      id("state").textContent = "the server cannot be reached";
    }
    return undefined;
  });
})();
