"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 100;
  const find = (id) => document.getElementById(id);
  const grouped = (n) => n.toLocaleString("en-US");
  const byText = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

  // --- tables that sort by their headings ---
  const sortable = (table, sort) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const usual = button.dataset.kind === "number" ? "descending" : "ascending";
        const other = usual === "descending" ? "ascending" : "descending";
        const next = head.getAttribute("aria-sort") === usual ? other : usual;
        heads.forEach((each) => each.hasAttribute("aria-sort") && each.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", next);
        sort(place, button.dataset.kind, next === "ascending" ? 1 : -1);
      });
    });
  };

  const columnTable = find("column-table");
  sortable(columnTable, (place, kind, sign) => {
    const body = columnTable.tBodies[0];
    const key = (row) => {
      const cell = row.cells[place];
      return kind === "number" ? Number(cell.dataset.value) : cell.textContent.trim();
    };
    const order = kind === "number" ? (a, b) => key(a) - key(b) : (a, b) => byText(key(a), key(b));
    body.append(...[...body.rows].sort((a, b) => sign * order(a, b)));
  });

  // --- the threshold ---
  const slider = find("slider");
  let threshold = data.threshold;
  const keptAt = (column, t) => {
    if (!column.likely.length || t === data.threshold) return column.kept;
    const place = Math.round(t * 100);
    return column.settled_kept + column.likely.slice(place + 1).reduce((sum, n) => sum + n, 0);
  };
  const setCount = (cell, count, before) => {
    cell.textContent = grouped(count);
    if (cell.dataset.value !== undefined) cell.dataset.value = count;
    cell.classList.toggle("changed", count !== before);
  };
  const showThreshold = () => {
    let kept = 0, filled = 0, keptBefore = 0;
    data.columns.forEach((column, place) => {
      const now = keptAt(column, threshold);
      kept += now;
      filled += column.missing - now;
      keptBefore += column.kept;
      if (!column.likely.length) return;
      document.querySelectorAll(`[data-column="${place}"]`).forEach((part) => {
        part.querySelectorAll('[data-role="kept"]').forEach((cell) => setCount(cell, now, column.kept));
        part.querySelectorAll('[data-role="filled"]').forEach((cell) =>
          setCount(cell, column.missing - now, column.missing - column.kept));
        const line = part.querySelector(".likely .threshold");
        if (line) ["x1", "x2"].forEach((x) => line.setAttribute(x, threshold * 320));
        part.querySelectorAll(".likely rect").forEach((bar, k) => {
          bar.setAttribute("class", k / 20 >= threshold - 1e-9 ? "kept" : (k + 1) / 20 <= threshold + 1e-9 ? "imputed" : "mixed");
        });
      });
    });
    const shown = threshold === data.threshold ? String(Number(threshold.toFixed(4))) : threshold.toFixed(2);
    find("slider-value").textContent = threshold.toFixed(2);
    find("slider-option").textContent = `--set threshold=${shown}`;
    const moved = kept - keptBefore;
    const change = threshold === data.threshold ? ", as in the completed table." :
      moved === 0 ? ": as before." : `: ${grouped(Math.abs(moved))} ${moved > 0 ? "more" : "fewer"} kept than at ${data.threshold}.`;
    find("slider-words").textContent = `${grouped(kept)} cells kept as NA, ${grouped(filled)} filled in${change}`;
  };
  if (slider) {
    slider.addEventListener("input", () => {
      const chosen = Number(slider.value);
      threshold = Math.abs(chosen - data.threshold) < 0.005 ? data.threshold : chosen;
      showThreshold();
      showReview();
    });
    find("slider-reset").addEventListener("click", () => {
      slider.value = data.threshold;
      slider.dispatchEvent(new Event("input"));
    });
  }

  // --- cells to review ---
  const table = find("review-table");
  const cells = data.review.map(([row, index, column, probability, call, imputed, reason, settled]) =>
    ({ row, index, column, probability, call, imputed, reason, settled, decision: "" }));
  let shownCells = cells, limit = PAGE, order = null, exported = true;
  const callAt = (cell) =>
    cell.settled || threshold === data.threshold ? cell.call : cell.probability > threshold ? "meaningful" : "lost";
  const keys = [
    (cell) => cell.row, (cell) => cell.column, (cell) => cell.probability, callAt,
    (cell) => cell.imputed, (cell) => cell.decision,
  ];
  const element = (kind, name, text) => {
    const made = document.createElement(kind);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const isolated = (kind, name, text) => {
    const made = element(kind, name);
    made.append(element("bdi", "", text));
    return made;
  };
  const decisionButtons = (cell) => {
    const group = element("span", "decide");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", `Decision for row ${cell.row} of ${cell.column}`);
    for (const call of ["meaningful", "lost"]) {
      const button = element("button", "", call);
      button.type = "button";
      button.setAttribute("aria-pressed", String(cell.decision === call));
      button.addEventListener("click", () => {
        cell.decision = cell.decision === call ? "" : call;
        exported = false;
        group.querySelectorAll("button").forEach((each) =>
          each.setAttribute("aria-pressed", String(each.textContent === cell.decision)));
        showWords();
      });
      group.append(button);
    }
    return group;
  };
  const line = (cell) => {
    const row = element("tr");
    row.setAttribute("role", "row");
    const place = element("td", "number place", String(cell.row));
    if (cell.index) place.append(element("br"), isolated("span", "small", cell.index));
    const call = callAt(cell);
    const decision = element("td", "decision");
    decision.append(decisionButtons(cell));
    row.append(
      place, isolated("td", "name", cell.column), element("td", "number likely", cell.probability.toFixed(2)),
      element("td", `call ${call}`, call), isolated("td", "value", cell.imputed || "–"), decision,
      isolated("td", "why", cell.reason));
    [...row.cells].forEach((each) => each.setAttribute("role", "cell"));
    return row;
  };
  const showWords = () => {
    const decided = cells.filter((cell) => cell.decision).length;
    const hidden = shownCells.length < cells.length ? ` of ${grouped(cells.length)}` : "";
    find("review-words").textContent = `${grouped(shownCells.length)}${hidden} cells, ${grouped(decided)} decided.`;
    find("export").disabled = decided === 0;
    find("export").textContent = decided ? `Export ${grouped(decided)} decisions (CSV)` : "Export decisions";
  };
  const showReview = () => {
    if (!table) return;
    const column = find("filter-column").value, call = find("filter-call").value;
    const decided = find("filter-decided").value, text = find("filter-text").value.trim().toLowerCase();
    shownCells = cells.filter((cell) =>
      (!column || cell.column === data.columns[Number(column)].name) && (!call || callAt(cell) === call) &&
      (!decided || (decided === "yes") === Boolean(cell.decision)) &&
      (!text || [cell.row, cell.index, cell.column, cell.imputed, cell.reason].join("\n").toLowerCase().includes(text)));
    if (order) {
      const { key, kind, sign } = order;
      shownCells.sort((a, b) => sign * (kind === "number" ? key(a) - key(b) : byText(String(key(a)), String(key(b)))));
    }
    table.tBodies[0].replaceChildren(...shownCells.slice(0, limit).map(line));
    find("more").hidden = shownCells.length <= limit;
    find("more").textContent = `Show more (${grouped(shownCells.length - limit)} left)`;
    showWords();
  };
  const decideShown = (choose) => {
    shownCells.forEach((cell) => { cell.decision = choose(cell); });
    exported = false;
    showReview();
  };
  const quoted = (text) => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const runs = (text) => /^'*(?:[\s\x00-\x1f\u200b]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/.test(text) && Number.isNaN(Number(text)); // in a spreadsheet
  const guarded = (text) => (runs(text) ? `'${text}` : text);
  const csv = () => {
    const lines = cells.filter((cell) => cell.decision).map((cell) =>
      [cell.row, cell.column, cell.probability, cell.call, cell.imputed, cell.reason, cell.decision]);
    const header = ["row", "column", "probability", "call", "imputed", "reason", "decision"];
    return [header, ...lines].map((each) => each.map((part) => quoted(guarded(String(part)))).join(",")).join("\n") + "\n";
  };
  if (table) {
    const present = new Set(cells.map((cell) => cell.column));
    data.columns.forEach((column, place) => {
      if (!present.has(column.name)) return;
      const option = element("option", "", column.name);
      option.value = String(place);
      find("filter-column").append(option);
    });
    for (const id of ["filter-column", "filter-call", "filter-decided", "filter-text"]) {
      find(id).addEventListener("input", () => { limit = PAGE; showReview(); });
    }
    sortable(table, (place, kind, sign) => { order = { key: keys[place], kind, sign }; showReview(); });
    find("more").addEventListener("click", () => { limit += 5 * PAGE; showReview(); });
    find("decide-shown").addEventListener("click", () => decideShown((cell) => cell.decision || callAt(cell)));
    find("clear-shown").addEventListener("click", () => decideShown(() => ""));
    find("export").addEventListener("click", () => {
      const link = element("a");
      link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
      link.download = "decisions.csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      exported = true;
    });
    window.addEventListener("beforeunload", (event) => { if (!exported) event.preventDefault(); });
    showReview();
  }
})();
