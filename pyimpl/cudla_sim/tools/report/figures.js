/* Unpacks what lies in the page with gzip, libraries and data, and draws figures and graphs, each when
   it comes into view: the page's words and tables are there before. */
(async () => {
  const unpack = async (name) => {
    const element = document.getElementById(name);
    if (!element) return "";
    const packed = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    element.remove();
    return new Response(plain).text();
  };
  for (const library of ["plotly", "dagre"]) {
    const script = document.createElement("script");
    script.textContent = await unpack(library);
    document.head.append(script);
  }
  const drawings = JSON.parse(await unpack("figures"));
  const config = { displaylogo: false, responsive: true, scrollZoom: true };
  const drawGraph = drawGraphs(drawings);
  const waiting = new Set(document.querySelectorAll(".figure, .graph"));
  const draw = (place) => {
    if (!waiting.delete(place)) return;
    const figure = drawings[place.id];
    if (place.classList.contains("graph")) drawGraph(place);
    else Plotly.newPlot(place, figure.data, figure.layout, config).then(choice.figure);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting) {
        seen.unobserve(entry.target);
        draw(entry.target);
      }
  }, { rootMargin: "600px" });
  waiting.forEach((place) => seen.observe(place));
  window.addEventListener("beforeprint", () => [...waiting].forEach(draw));
})().catch((error) => {
  for (const place of document.querySelectorAll(".figure, .graph"))
    place.textContent = `This browser cannot draw the figure: ${error}`;
});
