/* What is chosen in one place is shown in all: rows of tables and boxes of graphs have keys (data-key,
   a box several with spaces between), marks of figures one of the same (customdata). */
const choice = (() => {
  let chosen = new Set();
  const figures = [], followers = [];
  const keys = (element) => element.dataset.key.split(" ");
  const own = (element) => keys(element).some((key) => chosen.has(key));
  const mark = (place) => {
    const points = place.data.map((trace) =>
      chosen.size === 0 || !trace.customdata ? null
        : trace.customdata.flatMap((key, index) => (chosen.has(key) ? [index] : [])));
    const traces = place.data.flatMap((trace, index) => (trace.customdata ? [index] : []));
    if (traces.length)
      Plotly.restyle(place, { selectedpoints: traces.map((index) => points[index]) }, traces);
  };
  const show = (element) => { // in its own frame: the page stays where the reader looks
    const frame = element.closest(".scroll, .canvas"), place = element.getBoundingClientRect();
    const seen = frame.getBoundingClientRect();
    if (place.top < seen.top || place.bottom > seen.bottom)
      frame.scrollTop += (place.top + place.bottom - seen.top - seen.bottom) / 2;
    if (element.tagName !== "TR" && (place.left < seen.left || place.right > seen.right))
      frame.scrollLeft += (place.left + place.right - seen.left - seen.right) / 2;
  };
  const update = (from) => {
    const first = new Set(); // of each frame: the others are beside it
    document.querySelectorAll("[data-key]").forEach((element) => {
      element.classList.toggle("chosen", own(element));
      const frame = element.closest(".scroll, .canvas");
      if (!own(element) || first.has(frame)) return;
      first.add(frame);
      if (!frame.contains(from)) show(element);
    });
    figures.forEach(mark);
    followers.forEach((follow) => follow());
  };
  const choose = (found, from) => {
    const again = found.length === chosen.size && found.every((key) => chosen.has(key));
    chosen = new Set(again ? [] : found);
    update(from);
  };
  document.addEventListener("click", (event) => {
    const element = event.target.closest?.("[data-key]");
    if (element) choose(keys(element), element);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && chosen.size) choose([], null);
    const box = event.target.closest?.(".box");
    if (box && event.key === "Enter") choose(keys(box), box);
  });
  return {
    figure: (place) => {
      figures.push(place);
      place.on("plotly_click", (event) => {
        const key = event.points[0].customdata;
        if (key) choose([key], null);
      });
      if (chosen.size) mark(place);
    },
    follow: (follower) => {
      followers.push(follower);
      if (chosen.size) update(document.body);
    },
  };
})();
