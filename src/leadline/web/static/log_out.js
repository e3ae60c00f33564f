"use strict";
// The button that ends the session, on every page that has it.
(() => {
  const { id, api } = window.Leadline;
  id("logout")?.addEventListener("click", async () => {
    await api.post("/api/logout", {});
    window.location.assign(`${api.root()}/login`);
  });
})();
