"use strict";
// Text as a judgment counts it: offsets are code points, as Python counts characters, not JavaScript's UTF-16 units.
(() => {
  const STOP = new Set(("a an and any are as at be been but by can could did do does for from had has have how i if in into is it " +
    "its me my no not of on or our should so some than that the their them then there these they this to up us was we were " +
    "what when where whether which while who whose why will with would you your").split(" "));
  const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

  const LOW = (text, at) => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  const HIGH = (text, at) => (text.charCodeAt(at) & 0xfc00) === 0xd800;
  const inside = (text, unit) => unit > 0 && unit < text.length && LOW(text, unit) && HIGH(text, unit - 1);

  function points(text, units = text.length) {
    let count = 0;
    for (let at = 0; at < units; at += 1) if (!(at > 0 && LOW(text, at) && HIGH(text, at - 1))) count += 1;
    return count;
  }
  function units(text, count) {
    let at = 0;
    for (let seen = 0; seen < count && at < text.length; seen += 1) at += inside(text, at + 1) ? 2 : 1;
    return at;
  }
  const slice = (text, start, end) => text.slice(units(text, start), units(text, end));

  function words(text) {
    if (UNSPACED.test(text) && Intl.Segmenter) {
      return [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)]
        .filter((one) => one.isWordLike).map((one) => [one.index, one.index + one.segment.length]);
    }
    return [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].map((one) => [one.index, one.index + one[0].length]);
  }

  // Simple English word forms, enough to see "rotating" for "rotate"; it marks, it does not search.
  function stem(word) {
    let form = word.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
    if (form.length < 4) return form;
    form = form.replace(/ies$/, "y").replace(/(ch|sh|ss|x|z)es$/, "$1").replace(/([^su])s$/, "$1");
    if (form.length > 5) form = form.replace(/(?:ing|ed|er|ion)$/, "");
    if (form.length > 3) form = form.replace(/e$/, "").replace(/([^lsz])\1$/, "$1");
    return form;
  }
  function terms(query) {
    const all = words(query).map(([start, end]) => query.slice(start, end));
    const telling = all.filter((word) => !STOP.has(word.toLowerCase()));
    return new Set((telling.length ? telling : all).map(stem));
  }
  const hits = (text, stems) => words(text).filter(([start, end]) => stems.has(stem(text.slice(start, end))));

  function sentences(given) {
    // A line that is broken inside a sentence is no end of it; the text keeps its length.
    const text = given.replace(/([^\n.:;!?])\n(?=[^\n\s>|*\-•])/g, "$1 "), found = [];
    const parts = Intl.Segmenter
      ? [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)].map((one) => [one.index, one.segment])
      : [...text.matchAll(/[^.!?\n]+[.!?\n]*/g)].map((one) => [one.index, one[0]]);
    for (const [start, part] of parts) {
      const lead = part.length - part.trimStart().length, kept = part.trim().length;
      if (kept) found.push([start + lead, start + lead + kept]);
    }
    return found;
  }

  // Docstrings and tables are read by their columns, prose is not.
  function columnar(text) {
    const lines = text.split("\n").filter((line) => line.trim());
    return lines.length > 3 && lines.filter((line) => /^(\s{2,}|>>>|\||\t)/.test(line)).length / lines.length > 0.25;
  }

  // The text, with its terms and spans marked, as nodes. Spans are pairs of UTF-16 places; each may have a class.
  function marked(text, stems, spans) {
    const { el } = window.Leadline;
    const ranges = hits(text, stems).map(([start, end]) => ({ start, end, term: true }));
    for (const span of spans) if (span.end > span.start) ranges.push(span);
    const cuts = [...new Set([0, text.length, ...ranges.flatMap((one) => [one.start, one.end])])].sort((a, b) => a - b);
    const events = new Map(cuts.map((cut) => [cut, []]));
    for (const range of ranges) {
      events.get(range.start).push([range, 1]);
      events.get(range.end).push([range, -1]);
    }
    const open = new Set(), nodes = [];
    cuts.forEach((cut, place) => {
      for (const [range, way] of events.get(cut)) way > 0 ? open.add(range) : open.delete(range);
      const piece = text.slice(cut, cuts[place + 1] ?? cut);
      if (!piece) return;
      const names = [...open].map((range) => (range.term ? "term" : range.class)).filter(Boolean);
      nodes.push(names.length ? el("mark", { class: [...new Set(names)].join(" ") }, piece) : document.createTextNode(piece));
    });
    return nodes;
  }

  // Where the page's selection lies in the text that a node shows, in UTF-16 places; null where it lies elsewhere.
  function selected(node) {
    const selection = window.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0).cloneRange(), whole = document.createRange();
    whole.selectNodeContents(node);
    if (range.compareBoundaryPoints(Range.END_TO_START, whole) >= 0) return null;
    if (range.compareBoundaryPoints(Range.START_TO_END, whole) <= 0) return null;
    if (range.compareBoundaryPoints(Range.START_TO_START, whole) < 0) range.setStart(whole.startContainer, whole.startOffset);
    if (range.compareBoundaryPoints(Range.END_TO_END, whole) > 0) range.setEnd(whole.endContainer, whole.endOffset);
    const before = document.createRange();
    before.selectNodeContents(node);
    before.setEnd(range.startContainer, range.startOffset);
    const text = node.textContent;
    let start = before.toString().length, end = start + range.toString().length;
    if (inside(text, start)) start -= 1;
    if (inside(text, end)) end += 1;
    while (start < end && /\s/.test(text[start])) start += 1;
    while (end > start && /\s/.test(text[end - 1])) end -= 1;
    return end > start ? { start, end } : null;
  }

  Object.assign(window.Leadline, { points, units, slice, terms, stem, sentences, columnar, marked, selected });
})();
