/* Unpacks Plotly, which lies in the page, and draws the figures, each when it comes into view: the
   page's words and tables are there before. */
(async () => {
  const element = document.getElementById("plotly");
  const packed = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(plain).text();
  document.head.append(script);
  element.remove();
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const config = { displaylogo: false, responsive: true, scrollZoom: true };
  const draw = (place) => {
    const figure = figures[place.id];
    Plotly.newPlot(place, figure.data, figure.layout, config).then(choice);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting) {
        seen.unobserve(entry.target);
        draw(entry.target);
      }
  }, { rootMargin: "600px" });
  const places = document.querySelectorAll(".figure");
  places.forEach((place) => seen.observe(place));
  window.addEventListener("beforeprint", () => places.forEach((place) => {
    if (!place.classList.contains("js-plotly-plot")) draw(place);
  }));
})().catch((error) => {
  for (const place of document.querySelectorAll(".figure"))
    place.textContent = `This browser cannot draw the figure: ${error}`;
});
