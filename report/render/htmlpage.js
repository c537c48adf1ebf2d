"use strict";
(() => {
  // Tables sort on the buttons of their heads. Cells without a value stay last.
  const key = (row, i) => row.cells[i]?.dataset.sort ?? "";
  const order = (i, up) => (a, b) => {
    const x = key(a, i), y = key(b, i);
    if (x === "" || y === "") return (x === "") - (y === "");
    const d = Number(x) - Number(y);
    return (up ? 1 : -1) * (Number.isNaN(d) ? (x < y ? -1 : x > y ? 1 : 0) : d);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((th, i) => th.querySelector("button")?.addEventListener("click", () => {
      const up = th.getAttribute("aria-sort") !== "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order(i, up)));
    }));
  }
  // A font of other widths is stretched to the room the labels were given.
  for (const text of document.querySelectorAll("svg.plot text[textLength]")) text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  // The value under the pointer, at once and on touch screens too.
  const tip = document.getElementById("tip");
  for (const spot of document.querySelectorAll(".hot")) {
    const title = spot.querySelector("title");
    spot.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  const tell = (spot) => {
    tip.hidden = !spot;
    if (!spot) return;
    tip.textContent = spot.getAttribute("aria-label");
    const area = spot.getBoundingClientRect(), box = tip.getBoundingClientRect();
    const left = area.left + area.width / 2 - box.width / 2;
    tip.style.left = Math.max(4, Math.min(left, innerWidth - box.width - 4)) + "px";
    tip.style.top = (area.top > box.height + 8 ? area.top - box.height - 4 : area.bottom + 4) + "px";
  };
  document.addEventListener("pointerover", (e) => tell(e.target.closest?.(".hot")));
  // Arrow keys walk through the values of the plot that has the focus.
  const at = new WeakMap();
  for (const plot of document.querySelectorAll("svg.plot")) {
    const spots = [...plot.querySelectorAll(".hot")];
    if (!spots.length) continue;
    plot.setAttribute("tabindex", "0");
    plot.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      const next = ((at.get(plot) ?? (step > 0 ? -1 : 0)) + step + spots.length) % spots.length;
      at.set(plot, next);
      tell(spots[next]);
    });
    plot.addEventListener("blur", () => tell(null));
  }
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  document.addEventListener("keydown", (e) => { if (e.key === "Escape") tip.hidden = true; });
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
})();
