/* What is chosen in one place is shown in all: rows of tables have a key (data-key), marks of figures
   the same one (customdata). */
const choice = (() => {
  let chosen = "";
  const figures = [];
  const mark = (place) => {
    const points = place.data.map((trace) =>
      chosen === "" || !trace.customdata ? null
        : trace.customdata.flatMap((key, index) => (key === chosen ? [index] : [])));
    const traces = place.data.flatMap((trace, index) => (trace.customdata ? [index] : []));
    if (traces.length)
      Plotly.restyle(place, { selectedpoints: traces.map((index) => points[index]) }, traces);
  };
  const choose = (key, from) => {
    chosen = key === chosen ? "" : key;
    document.querySelectorAll("tr[data-key]").forEach((row) => {
      const own = chosen !== "" && row.dataset.key === chosen;
      row.classList.toggle("chosen", own);
      if (own && from !== row) row.scrollIntoView({ block: "nearest" });
    });
    figures.forEach(mark);
  };
  document.querySelectorAll("tr[data-key]").forEach((row) =>
    row.addEventListener("click", () => choose(row.dataset.key, row)));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && chosen !== "") choose(chosen, null);
  });
  return (place) => {
    figures.push(place);
    place.on("plotly_click", (event) => {
      const key = event.points[0].customdata;
      if (key) choose(key, place);
    });
    if (chosen !== "") mark(place);
  };
})();
