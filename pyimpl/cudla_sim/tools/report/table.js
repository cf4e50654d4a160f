"use strict";
// A click on a column's head sorts its table: numbers by value, text by the reader's language.
// Cells without a value stay last in both directions.
document.querySelectorAll("table.sortable").forEach((table) => {
  const body = table.tBodies[0];
  table.querySelectorAll("th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const numeric = head.dataset.kind === "number";
      const value = (row) => {
        const text = row.cells[column].dataset.value;
        return numeric && text !== "" ? Number(text) : text;
      };
      const rows = Array.from(body.rows);
      rows.sort((a, b) => {
        const x = value(a), y = value(b);
        if (x === "" || y === "") return (x === "") - (y === "");
        const order = numeric ? x - y : x.localeCompare(y);
        return up ? order : -order;
      });
      body.append(...rows);
    });
  });
});
