"use strict";
// How far people agree: over all, grade by grade, by person, by two people, by query.
(async () => {
  const { el, id, api, table, badge, share } = window.Leadline;
  const cell = (text, kind = "num") => el("td", { class: kind }, text === null || text === undefined ? "–" : String(text));

  function tile(name, value, words) {
    return el("div", { class: "panel tile" }, name, el("b", {}, value), el("span", { class: "small soft" }, words));
  }
  function confusion(found, scale) {
    return table("How often one person gave the row's grade and another the column's, for the same pair",
      ["", ...found.grades.map((grade) => ({ name: badge(scale, grade), kind: "cell" }))],
      found.confusion.map((line, row) => el("tr", {}, el("th", { scope: "row" }, badge(scale, found.grades[row]), " ",
        scale.find((level) => level.grade === found.grades[row])?.name || ""),
      ...line.map((count, column) => cell(count, `cell${row === column ? " diagonal" : ""}${count ? "" : " soft"}`)))));
  }

  try {
    const [found, settings] = await Promise.all([api.get("/api/agreement"), api.get("/api/settings")]);
    id("state").textContent = found.pairs ? `${found.pairs} pairs are judged by at least two people; ${found.people} people in all.`
      : `No pair is judged by two people yet (${found.people} ${found.people === 1 ? "person" : "people"} so far), so nothing can be said of agreement.`;
    const parts = [];
    if (found.pairs) {
      parts.push(el("div", { class: "tiles" },
        tile("Krippendorff's alpha", share(found.alpha), "ordinal; 1 is full agreement, 0 is chance"),
        tile("Cohen's kappa", share(found.kappa), "quadratic weights, mean over pairs of people"),
        tile("Pairs judged twice", String(found.pairs), "single judgments do not count here")));
      parts.push(el("h2", {}, "Grade by grade"), confusion(found, settings.scale));
    }
    if (found.by_person.length) {
      parts.push(el("h2", {}, "By person"), table("A person's own agreement is over the pairs that they were shown twice",
        ["Person", ...["Judgments", "Hours", "An hour", "Shown twice", "Agrees with self", "Agrees with others", "kappa", "alpha"].map((name) => ({ name, num: true }))],
        found.by_person.map((one) => el("tr", {}, el("th", { scope: "row" }, one.who), cell(one.judgments), cell(share(one.hours)),
          cell(share(one.per_hour, 0)), cell(one.repeats), cell(share(one.self_agreement)),
          cell(share(one.agreement)), cell(share(one.kappa)), cell(share(one.alpha))))));
    }
    if (found.by_pair_of_people.length) {
      parts.push(el("h2", {}, "By two people"), table("Pairs that both judged",
        ["Person", "And", ...["Pairs", "Same grade", "kappa"].map((name) => ({ name, num: true }))],
        found.by_pair_of_people.map((one) => el("tr", {}, el("th", { scope: "row" }, one.a), cell(one.b, null), cell(one.pairs),
          cell(one.agreed), cell(share(one.kappa))))));
    }
    if (found.by_query.length) {
      parts.push(el("h2", {}, "By query"), table("Queries with pairs judged by at least two people",
        ["Query", ...["Pairs", "Same grade", "alpha"].map((name) => ({ name, num: true }))],
        found.by_query.map((one) => el("tr", {}, el("th", { scope: "row" }, one.query), cell(one.pairs),
          cell(share(one.agreement)), cell(share(one.alpha))))));
    }
    id("result").replaceChildren(...parts);
  } catch (error) {
    id("state").textContent = `The server says: ${error.message}`;
  }
})();
