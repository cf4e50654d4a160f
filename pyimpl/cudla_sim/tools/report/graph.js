/* Layer graphs: dagre places the boxes, this draws them as SVG. Boxes have the keys of table rows and
   bars; the one that is chosen shows its attributes. */
const drawGraphs = (graphs) => {
  const svg = (name, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const html = (name, attributes, ...children) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  };
  const LINE = 15, PAD = 8, TIME = "time";
  const pen = document.createElement("canvas").getContext("2d");
  const width = (text, font) => { pen.font = font; return pen.measureText(text).width; };

  const place = (graph) => {
    const found = new dagre.graphlib.Graph({ multigraph: true });
    found.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 34, marginx: 8, marginy: 8 });
    found.setDefaultEdgeLabel(() => ({}));
    for (const box of graph.boxes)
      found.setNode(box.name, {
        width: 3 * PAD + Math.max(width(box.title, "bold 12px sans-serif"),
          ...box.lines.map((line) => width(line, "11px sans-serif")), 60),
        height: 2 * PAD + LINE * (1 + box.lines.length),
      });
    graph.edges.forEach(([source, target, text], index) =>
      found.setEdge(source, target, { width: width(text, "10px sans-serif") + 8, height: 12,
        labelpos: "c" }, String(index)));
    dagre.layout(found);
    return found;
  };

  const curve = (points) => points.slice(1).reduce((path, to, index) => {
    const from = points[index], middle = (from.y + to.y) / 2;
    return `${path} C ${from.x} ${middle}, ${to.x} ${middle}, ${to.x} ${to.y}`;
  }, `M ${points[0].x} ${points[0].y}`);

  const drawEdges = (graph, placed, head) => placed.edges().map((edge) => {
    const text = graph.edges[Number(edge.name)][2], at = placed.edge(edge);
    return svg("g", { class: "edge" },
      svg("path", { d: curve(at.points), "marker-end": `url(#${head})` }),
      svg("text", { x: at.x, y: at.y + 3, "text-anchor": "middle" }, text));
  });

  const drawBox = (box, at) => {
    const lines = box.lines.map((line, index) =>
      svg("text", { x: 2 * PAD, y: PAD + LINE * (index + 1.8) }, line));
    return svg("g", { class: "box", tabindex: 0, "data-key": box.key, "data-name": box.name,
      transform: `translate(${at.x - at.width / 2} ${at.y - at.height / 2})` },
    svg("rect", { class: "body", width: at.width, height: at.height, rx: 5 }),
    svg("rect", { class: "stripe", width: 6, height: at.height, rx: 3 }),
    svg("text", { class: "title", x: 2 * PAD, y: PAD + LINE * 0.8 }, box.title), ...lines);
  };

  const colour = (graph, root, legend, by) => {
    for (const box of graph.boxes) {
      const drawn = root.querySelector(`[data-name="${CSS.escape(box.name)}"]`);
      const timed = by === TIME, share = box.share ?? 0;
      drawn.style.setProperty("--own", timed ? "#e8590c" : graph.groups[box.group]);
      drawn.style.setProperty("--depth", timed ? 0.04 + 0.8 * share : 0.22);
    }
    const shown = by === TIME
      ? [["no time", "rgb(232 89 12 / .04)"], ["the longest", "rgb(232 89 12 / .84)"]]
      : Object.entries(graph.groups);
    legend.replaceChildren(...shown.map(([name, paint]) => {
      const sample = html("i", {});
      sample.style.background = paint;
      return html("span", {}, sample, name);
    }));
  };

  const attributes = (graph, panel, name) => {
    const box = graph.boxes.find((one) => one.name === name);
    panel.replaceChildren();
    if (!box) return;
    const rows = box.attributes.map(([key, value]) =>
      html("tr", {}, html("th", { scope: "row" }, key), html("td", {}, value)));
    panel.append(html("h3", {}, box.title), html("table", {}, html("tbody", {}, ...rows)));
  };

  const draw = (element) => {
    const graph = graphs[element.id], placed = place(graph), size = placed.graph();
    const head = `${element.id}-head`;
    const root = svg("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img",
      "aria-label": "layers and what they read" },
    svg("defs", {}, svg("marker", { id: head, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9,
      markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M 0 0 L 8 4 L 0 8 z" }))),
    ...drawEdges(graph, placed, head),
    ...graph.boxes.map((box) => drawBox(box, placed.node(box.name))));
    const legend = html("span", { className: "legend" }), panel = html("aside", {});
    const canvas = html("div", { className: "canvas" }, root);
    let zoom = 1;
    const scale = (to) => {
      zoom = Math.min(3, Math.max(0.1, to));
      root.setAttribute("width", size.width * zoom);
      root.setAttribute("height", size.height * zoom);
    };
    const button = (text, label, action) =>
      html("button", { type: "button", title: label, onclick: action }, text);
    const whole = () => scale(Math.min(1, (canvas.clientWidth - 2) / size.width));
    const readable = () => { whole(); scale(Math.max(zoom, 0.6)); };
    const bar = html("div", { className: "bar" }, button("\u2212", "smaller", () => scale(zoom / 1.25)),
      button("+", "larger", () => scale(zoom * 1.25)), button("fit", "the whole width", whole));
    if (graph.timed) {
      const ways = html("select", {}, ...[graph.by, TIME].map((way) => html("option", {}, way)));
      ways.addEventListener("change", () => colour(graph, root, legend, ways.value));
      bar.append(html("label", {}, "colour by ", ways));
    }
    bar.append(legend);
    element.replaceChildren(bar, html("div", { className: "drawn" }, canvas, panel));
    colour(graph, root, legend, graph.by);
    readable();
    choice.follow(() =>
      attributes(graph, panel, root.querySelector(".box.chosen")?.dataset.name));
  };
  return draw;
};
