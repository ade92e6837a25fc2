/* Search in the pages of the reader's language: MiniSearch over the sections that search-index.js brings.
   Ctrl+K and / open it; results come while one types, and the arrows walk through them.

   Both scripts are read when they are first needed. That is done by elements, since pages that are
   opened as files may not fetch. */
(function () {
  "use strict";
  const SHOWN = 30;
  const box = document.querySelector(".search-box");
  const dialog = box.closest("dialog");
  const root = document.documentElement.dataset.content_root;
  const input = box.querySelector("input");
  const list = box.querySelector("[role=listbox]");
  const status = box.querySelector("[role=status]");

  // Words ------------------------------------------------------------------------------------------

  // In languages that write no spaces, or endings at their words, pairs of letters stand for words.
  const LETTERS = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}ー";
  const WORD = new RegExp(`[${LETTERS}]+|(?:(?![${LETTERS}])[\\p{L}\\p{N}_])+`, "gu");
  const ENDINGS = /(?<=^[a-z]{4,})(?:ing|ed|e?s|ions?|al|ally|en[ct]es?|ents?|e)$/;
  const isLatin = (word) => /^[a-z0-9_]/.test(word);
  const wordsOf = (text) => text.normalize("NFKC").toLowerCase().match(WORD) ?? [];
  const pairs = (word) => (word.length < 3 ? [word] : [...word.slice(1)].map((letter, i) => word[i] + letter));
  // A name is also found by what is behind an underscore, or begins with a digit: 2d in conv2d.
  const parts = (name) => [...name.matchAll(/(?<=^|_|[a-z](?=\d))(?=[^_])/g)].map(({ index }) => name.slice(index));
  const tokenize = (text) => wordsOf(text).flatMap((word) => (isLatin(word) ? parts(word) : pairs(word)));
  const typos = (edits) => (word) => isLatin(word) && word.length > 1 + edits && edits;

  // What is asked for: of a call, its name; K.name as name; without words that say nothing.
  const CALL = /^\s*([\w.]+)\(.*/;
  const PREFIX = /\b(?:kameleon\.)?(?:backend\.)?K\.(?=\w)/gi;
  const EMPTY = /^(?:a|an|the|of|in|to|for|with|how|do|i|is)$/;
  function asked(text) {
    const words = wordsOf(text.replace(CALL, "$1").replace(PREFIX, ""));
    const telling = words.filter((word) => !EMPTY.test(word));
    return telling.length ? telling : words;
  }
  const query = (words, combineWith, ending = /$/) => ({
    combineWith,
    queries: words.map((word) =>
      isLatin(word) ? word.replace(ending, "") : { combineWith: "OR", queries: pairs(word) },
    ),
  });

  // Index ------------------------------------------------------------------------------------------

  const script = (address) =>
    new Promise((done) => {
      const made = document.createElement("script");
      made.src = root + address;
      made.onload = done;
      document.head.append(made);
    });
  let loaded, index, sections;
  const load = () => (loaded ??= Promise.all(["_static/minisearch.js", "search-index.js"].map(script)).then(build));

  function build() {
    sections = window.searchIndex.flatMap(([address, own, name, [also, topic], parts]) =>
      parts.map(([anchor, title, text]) => ({ address, own, name, also, topic, page: parts[0][1], anchor, title, text })),
    );
    sections.forEach((section, id) => (section.id = id));
    index = new MiniSearch({ fields: ["name", "title", "also", "topic", "page", "text"], tokenize, processTerm: (word) => word });
    index.addAll(sections);
  }

  // Sections that have all words; else with one typing error, or two, names first; else some words.
  function search(words) {
    const whole = words.join("_");
    const options = {
      tokenize: (word) => [word],
      prefix: true,
      boost: { name: 8, title: 4, also: 3, page: 2 },
      // Functions come first, most of all the one that is named; conv2d before depthwise_conv2d.
      boostDocument: (id) => {
        const { name } = sections[id];
        return name === whole ? 20 : name ? 1.5 + 9 / name.length : 1;
      },
    };
    const typed = [1, 2].map((edits) => ({ combine: "AND", fuzzy: typos(edits) }));
    const attempts = [
      { combine: "AND", ending: ENDINGS },
      ...typed.map((attempt) => ({ ...attempt, fields: ["name"] })),
      ...typed,
      { combine: "OR", fuzzy: typos(2) },
    ];
    for (const { combine, ending, ...rest } of attempts) {
      const found = index.search(query(words, combine, ending), { ...options, ...rest });
      if (found.length) return found;
    }
    return [];
  }

  // Results ----------------------------------------------------------------------------------------

  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  // A text with what is found marked.
  const marked = (text, found) =>
    text.split(found).map((part, i) => (i % 2 ? element("mark", {}, part) : part));

  // What is around the first place; of a function, what it is.
  function excerpt({ name, text }, found) {
    const first = name ? 0 : Math.max(0, text.search(found));
    const start = first < 60 ? 0 : text.indexOf(" ", first - 60) + 1 || first;
    const end = Math.min(start, first) + 180;
    return [start ? "… " : "", ...marked(text.slice(Math.min(start, first), end), found), end < text.length ? " …" : ""];
  }

  function option({ id, terms }, words) {
    const { address, own, page, anchor, title } = sections[id];
    const said = [...words, ...terms].sort((a, b) => b.length - a.length).map(escaped);
    const found = new RegExp(`(${said.join("|")})`, "i");
    const href = `${root}${address}.html${anchor && title !== page ? `#${anchor}` : ""}`;
    const made = element("a", { href, id: `result-${id}`, role: "option", tabIndex: -1, lang: own ? "" : "en" });
    if (own) made.removeAttribute("lang");
    made.append(element("b", {}, ...marked(page, found)));
    if (title !== page) made.append(" › ", element("span", {}, ...marked(title, found)));
    made.append(element("span", { className: "excerpt" }, ...excerpt(sections[id], found)));
    return made;
  }

  let at = 0; // of the results, the one that Enter opens
  function select(i) {
    const options = [...list.children];
    at = (i + options.length) % options.length || 0;
    options.forEach((made, j) => made.setAttribute("aria-selected", j === at));
    options[at]?.scrollIntoView({ block: "nearest", behavior: "instant" });
    options[at] ? input.setAttribute("aria-activedescendant", options[at].id) : input.removeAttribute("aria-activedescendant");
  }

  function show() {
    const words = asked(input.value);
    const hits = search(words);
    list.replaceChildren(...hits.slice(0, SHOWN).map((hit) => option(hit, words)));
    list.scrollTop = 0;
    input.setAttribute("aria-expanded", hits.length > 0);
    status.textContent = !words.length ? "" : hits.length ? `${box.dataset.found} ${hits.length}` : box.dataset.nothing;
    box.querySelector(".search-all").hidden = !words.length || hits.length > 0;
    select(0);
    if (dialog) return;
    const address = new URL(location.href);
    words.length ? address.searchParams.set("q", input.value.trim()) : address.searchParams.delete("q");
    history.replaceState(null, "", address);
  }

  // Keys -------------------------------------------------------------------------------------------

  function open() {
    if (dialog && !dialog.open) dialog.showModal();
    input.focus({ preventScroll: !dialog });
    input.select();
    load();
  }

  const keys = {
    ArrowDown: () => select(at + 1),
    ArrowUp: () => select(at - 1),
    Enter: () => load().then(() => list.children[at]?.click()),
    Escape: () => (dialog ? dialog.close() : ((input.value = ""), show())),
  };
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  input.addEventListener("input", () => load().then(show));
  document.addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey;
    const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
    if (command ? event.key !== "k" : event.key !== "/" || typing) return;
    event.preventDefault();
    open();
  });
  document.querySelectorAll("[data-search]").forEach((link) =>
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open();
    }),
  );
  dialog?.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
  });
  if (!dialog) {
    input.value = new URLSearchParams(location.search).get("q") || "";
    open();
    if (input.value) load().then(show);
  }
})();
