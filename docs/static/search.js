/* Search: looks for the reader's words in the texts of all pages, which search-index.js brings.

   A word of Latin letters is found where a word of the text begins with its stem, one that begins with a
   digit also behind letters (2d in conv2d); any other is found wherever it stands, since not all
   languages write spaces. A term that the pages have another word for is looked for by both. All words of
   a query must be on a page; pages come in the order of how much they are about them. */
(function () {
  "use strict";
  const SHOWN = 10;
  const FUNCTIONS = "backend/functions/";
  const ENDINGS = /(?:ing|ed|e?s|ions?|al|ally|en[ct]es?|ents?|e)$/;
  const box = document.getElementById("search");
  if (!box || !window.searchIndex) return;
  const input = box.querySelector("input");
  const list = box.querySelector("ol");
  const status = box.querySelector("[role=status]");
  const more = box.querySelector("button");
  const words = box.dataset;

  // In lower case, with letters of full width as others; every letter stays at its place.
  const fold = (text) =>
    text.toLowerCase().replace(/[\uff01-\uff5e]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0));

  const pages = window.searchIndex.pages.map(([name, own, sections]) => ({
    name,
    own,
    title: sections[0][1],
    sections: sections.map(([anchor, title, text]) => ({ anchor, title, text, folded: fold(text) })),
  }));
  const stem = (word) => (word.length > 5 && word.replace(ENDINGS, "").length > 3 ? word.replace(ENDINGS, "") : word);
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const isLatin = (word) => /^[\x20-\x7e]+$/.test(word);
  const pattern = (word) =>
    isLatin(word) ? `(?<![${/^\d/.test(word) ? "" : "a-z"}0-9])${escaped(stem(word))}` : escaped(word);

  // Tables of words, which are found in any of their forms.
  const byStem = (table) => new Map(Object.entries(table).map(([word, others]) => [stem(word), others]));
  const meanings = byStem(window.searchIndex.words);
  const names = byStem(window.searchIndex.names);
  const others = (table, word) => [].concat(table.get(stem(word)) ?? []);

  const anyOf = (words) => new RegExp(words.map(pattern).join("|"), "g");

  // A word of the reader's, as what it may be in the text, and in titles, where names are English.
  function term(word) {
    const said = [word, ...others(meanings, word)];
    const titles = [...said, ...said.flatMap((w) => others(names, w))];
    return { word, said, titles, found: anyOf(said), named: anyOf(titles) };
  }

  function termsOf(query) {
    // Of a call, its name.
    const asked = fold(query).trim().replace(/\s+/g, " ").replace(/^([\w.]+)\(.*/, "$1");
    if (meanings.has(stem(asked))) return [term(asked)];
    return asked
      .split(/[\s,;、，。]+/)
      .map((word) => word.replace(/^(?:kameleon\.)?(?:backend\.)?(?:k\.)?(?=.)/, ""))
      .filter(Boolean)
      .map(term);
  }

  const count = (text, found) => (text.match(found) || []).length;

  // How much a page is about a term: 0 if it isn't there. Titles tell most, then the first lines.
  function weight(page, { word, titles, found, named }) {
    const title = fold(page.title);
    const isFunction = page.name.startsWith(FUNCTIONS);
    const part = Math.max(0, ...(title.match(named) || []).map((m) => m.length)) / title.length;
    let sum = title === word ? 120 : titles.includes(title) ? 100 : part && 30 + 40 * part;
    let times = 0;
    page.sections.forEach((section, i) => {
      times += count(section.folded, found);
      // All functions have sections of the same titles.
      if (i && !isFunction && count(fold(section.title), found)) sum += 6;
      if (!i && count(section.folded.slice(0, 240), found)) sum += 12;
    });
    sum += (8 * times) / (times + 4);
    // A function's own page comes before pages that only mention the word.
    return sum && isFunction ? sum + 1 : sum;
  }

  // Pages by weight; each must have so many of the terms.
  function ranked(terms, needed) {
    return pages
      .map((page) => {
        const weights = terms.map((t) => weight(page, t)).filter(Boolean);
        // A title that has all of several words says more than one that is one of them.
        const whole = terms.length > 1 && terms.every((t) => count(fold(page.title), t.named));
        const sum = weights.reduce((a, b) => a + b, whole ? 100 : 0);
        return { page, terms, fits: weights.length >= needed, sum };
      })
      .filter((hit) => hit.fits && hit.sum)
      .sort((a, b) => b.sum - a.sum);
  }

  // Terms within long words, in languages without spaces, longest first.
  const known = [...meanings.keys(), ...names.keys()].filter((word) => !isLatin(word) && word.length > 1);
  const inside = new RegExp(`(${known.sort((a, b) => b.length - a.length).map(escaped).join("|") || "(?!)"})`);
  const pairs = (text) => (text.length < 3 ? [text] : [...text].slice(1).map((letter, i) => text[i] + letter));

  // A word's known terms, and of what is between them all pairs of letters.
  function partsOf(word) {
    if (isLatin(word)) return [word];
    return word.split(inside).flatMap((part, i) => (i % 2 ? [part] : part.length < 2 ? [] : pairs(part)));
  }

  // Where nothing has all words of the query, parts of these tell much.
  function search(query) {
    const terms = termsOf(query);
    if (!terms.length) return [];
    const hits = ranked(terms, terms.length);
    if (hits.length) return hits;
    const parts = terms.flatMap(({ word }) => partsOf(word));
    return ranked(parts.map(term), Math.ceil(parts.length / 2));
  }

  // The section of a page that has most of the terms.
  function bestSection({ page, terms }) {
    const first = page.name.startsWith(FUNCTIONS) ? 2 : 0.5; // a function's tells what it is
    const score = (s, i) =>
      terms.reduce((sum, t) => sum + Math.min(count(s.folded, t.found), 3) + 4 * count(fold(s.title), t.found), i ? 0 : first);
    return page.sections.map((s, i) => [score(s, i), s]).reduce((a, b) => (b[0] > a[0] ? b : a))[1];
  }

  const allOf = (patterns) => new RegExp(patterns.map((p) => p.source).join("|"), "g");

  // Text from one place to another, with what is found marked.
  function marked(text, found, start = 0, end = text.length) {
    const made = [];
    const folded = fold(text);
    let done = start;
    found.lastIndex = start;
    for (let m; (m = found.exec(folded)) && m[0] && m.index < end; ) {
      const mark = document.createElement("mark");
      mark.textContent = text.slice(m.index, m.index + m[0].length);
      made.push(text.slice(done, m.index), mark);
      done = m.index + m[0].length;
    }
    return [...made, text.slice(done, Math.max(done, end))];
  }

  // What is around the first place.
  function excerpt(section, terms) {
    const all = allOf(terms.map((t) => t.found));
    const first = all.exec(section.folded);
    let start = Math.max(0, (first ? first.index : 0) - 60);
    if (start) start = section.text.indexOf(" ", start) + 1 || start;
    if (first && start > first.index) start = first.index;
    const end = start + 180;
    const made = document.createElement("p");
    made.append(start ? "… " : "", ...marked(section.text, all, start, end), section.text.length > end ? " …" : "");
    return made;
  }

  function link(address, title, terms) {
    const made = document.createElement("a");
    made.href = address;
    made.append(...marked(title, allOf(terms.map((t) => t.named))));
    return made;
  }

  function item(hit) {
    const made = document.createElement("li");
    if (!hit.page.own) made.lang = "en";
    const section = bestSection(hit);
    const address = `${hit.page.name}.html`;
    made.append(link(address, hit.page.title, hit.terms));
    if (section !== hit.page.sections[0] && section.anchor) {
      made.append(" › ", link(`${address}#${section.anchor}`, section.title, hit.terms));
    }
    made.append(excerpt(section, hit.terms));
    return made;
  }

  let hits = [];
  function showMore() {
    const from = list.children.length;
    list.append(...hits.slice(from, from + SHOWN).map(item));
    more.hidden = list.children.length >= hits.length;
    return list.children[from];
  }

  function show() {
    const query = input.value.trim();
    hits = query ? search(query) : [];
    list.replaceChildren();
    showMore();
    status.textContent = !query ? "" : hits.length ? `${words.found} ${hits.length}` : words.nothing;
    box.querySelector(".search-all").hidden = !query || hits.length > 0;
    const address = new URL(location.href);
    query ? address.searchParams.set("q", query) : address.searchParams.delete("q");
    history.replaceState(null, "", address);
  }

  // The arrows walk through the results, Enter goes to the first one, Escape back to the field.
  function keys(event) {
    const places = [input, ...list.querySelectorAll("li > a:first-child")];
    const at = places.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing || at < 0) return;
    if (event.key === "Escape" && at) input.focus();
    else if (step && places[at + step]) places[at + step].focus();
    else return;
    event.preventDefault();
  }

  let waiting;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 120);
  });
  box.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    show();
    const first = list.querySelector("a");
    if (first) first.focus();
  });
  box.addEventListener("keydown", keys);
  more.addEventListener("click", () => showMore()?.querySelector("a").focus());
  input.value = new URLSearchParams(location.search).get("q") || "";
  show();
  if (!input.value) input.focus({ preventScroll: true });
})();
