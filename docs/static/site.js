/* Keyboard and screen readers: the theme's menus are labels of hidden check boxes, which neither can
   reach. Here the labels become buttons. The words come from the page, in its language. */
(function () {
  "use strict";
  const words = document.getElementById("site-words").dataset;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const shut = [];

  // A label of a check box, as a button that opens something.
  function button(label, name, opened) {
    const box = document.getElementById(label.htmlFor);
    label.tabIndex = 0;
    label.setAttribute("role", "button");
    label.setAttribute("aria-label", name);
    const tell = () => label.setAttribute("aria-expanded", box.checked);
    const toggle = (open) => {
      box.checked = open;
      box.dispatchEvent(new Event("change"));
    };
    label.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(!box.checked);
    });
    box.addEventListener("change", tell);
    tell();
    if (opened) drawer(label, box, opened, toggle);
  }

  // What opens over a narrow page: the focus goes into it, Escape and leaving it shut it.
  function drawer(label, box, opened, toggle) {
    const inside = () => box.checked && opened.contains(document.activeElement);
    box.addEventListener("change", () => {
      if (!box.checked || !label.offsetParent) return;
      const first = all("a, button, input", opened).find((x) => x.offsetParent);
      requestAnimationFrame(() => first && first.focus({ preventScroll: true }));
    });
    opened.addEventListener("focusout", (event) => {
      const to = event.relatedTarget;
      if (label.offsetParent && to && !opened.contains(to) && to !== label) toggle(false);
    });
    opened.addEventListener("click", (event) => {
      if (event.target.closest("a[href^='#']")) toggle(false);
    });
    shut.push(() => {
      if (!box.checked || !label.offsetParent) return;
      const back = inside();
      toggle(false);
      if (back) label.focus();
    });
  }

  const sides = { __navigation: [words.menu, ".sidebar-drawer"], __toc: [words.contents, ".toc-drawer"] };
  for (const [box, [name, selector]] of Object.entries(sides)) {
    const opened = document.querySelector(selector);
    if (!opened) continue;
    opened.setAttribute("aria-label", name);
    all(`label[for=${box}]:not(.overlay)`).forEach((label) => button(label, name, opened));
  }
  all(".sidebar-tree label").forEach((label) => {
    const page = label.parentElement.querySelector("a");
    button(label, `${words.below} ${page ? page.textContent : ""}`);
  });
  all(".theme-toggle").forEach((toggle) => toggle.setAttribute("aria-label", words.colours));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") shut.forEach((close) => close());
  });

  // The page's own entry of the tree is in view, when the tree is longer than the window.
  const [tree] = all(".sidebar-scroll");
  const [here] = all(".sidebar-tree .current-page > a");
  if (tree && here) {
    const far = here.getBoundingClientRect().top - tree.getBoundingClientRect().top;
    if (far > tree.clientHeight - 60) tree.scrollBy({ top: far - tree.clientHeight / 2, behavior: "instant" });
  }

  if (/Mac|iP/.test(navigator.platform)) all(".sidebar-search kbd").forEach((key) => (key.textContent = "⌘ K"));

  // The network of the start page has the page's colours, and says how high it is.
  const [network] = all(".try iframe");
  if (network) {
    network.parentElement.addEventListener("toggle", () => (network.src = network.dataset.src), { once: true });
    const tell = () => network.contentWindow.postMessage({ theme: document.body.dataset.theme }, "*");
    addEventListener("message", (event) => {
      if (event.source !== network.contentWindow) return;
      network.style.height = `${event.data.height}px`;
      tell();
    });
    new MutationObserver(tell).observe(document.body, { attributeFilter: ["data-theme"] });
  }

  // The same place of the page in another language.
  all(".languages a").forEach((link) =>
    link.addEventListener("click", () => {
      link.search = location.search;
      link.hash = location.hash;
    }),
  );

  // Long tables are filtered: rows that lack a word go, and what is above nothing else.
  const rows = all("article tbody tr").map((row) => [row, row.textContent.toLowerCase()]);
  const before = document.querySelector("article section > section");
  if (rows.length > 100 && before) {
    const field = document.createElement("input");
    const told = document.createElement("p");
    Object.assign(field, { type: "search", className: "filter", placeholder: words.filter, spellcheck: false });
    field.setAttribute("aria-label", words.filter);
    told.setAttribute("role", "status");
    before.before(field, told);
    field.addEventListener("input", () => {
      const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const [row, text] of rows) row.hidden = !asked.every((word) => text.includes(word));
      for (const part of all("article section > section, .table-wrapper")) {
        const own = all("tbody tr", part);
        part.hidden = asked.length > 0 && own.every((row) => row.hidden);
      }
      told.textContent = asked.length ? `${words.rows} ${rows.filter(([row]) => !row.hidden).length}` : "";
    });
  }

  // What is wider than the page scrolls by itself: the keyboard reaches it.
  const wide = {
    ".table-wrapper": words.table,
    ".highlight > pre": words.code,
    "div.formula": words.formula,
  };
  function reach() {
    for (const [selector, name] of Object.entries(wide)) {
      all(selector).forEach((part, i) => {
        const scrolls = part.scrollWidth > part.clientWidth;
        const attributes = { tabindex: "0", role: "region", "aria-label": `${name} ${i + 1}` };
        for (const [key, value] of Object.entries(attributes)) {
          scrolls ? part.setAttribute(key, value) : part.removeAttribute(key);
        }
      });
    }
  }
  reach();
  addEventListener("load", () => {
    reach();
    all(".copybtn").forEach((copy) => {
      copy.dataset.tooltip = words.copy;
      copy.setAttribute("aria-label", words.copy);
    });
  });
  addEventListener("resize", reach);
})();
