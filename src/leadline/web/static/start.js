"use strict";
// Opens the judging screen over the server.
(async () => {
  const L = window.Leadline;
  const begin = async () => {
    try {
      const source = await L.ApiSource.open();
      window.Leadline.judge = new L.Judge(source);
    } catch (error) {
      if (error.code === "login") return window.location.assign(`${L.api.root()}/login`);
      L.id("loading").textContent = `${error.message}. Trying again…`;
      setTimeout(begin, 2000);
      return undefined;
    }
    return L.judge.start();
  };
  await begin();
})();
