// The network of the dashboard: a canvas with a place for every node, coloured and sized by how far its model is from
// the others', and the same as a table. Node places come from the server.
//
//   const network = prdoNetwork(element, table);   network.update(picture, {values, neighbours, self});
"use strict";

const prdoNetwork = (() => {
  // The same steps as plot/color.rs, dark to light.
  const RAMP = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
  const LABELLED = 40, FEW = 300, ALL = 12, WORST = 8, BINS = 24;

  const make = (tag, name, parent, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  };
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e4 ? String(Number(x.toPrecision(3))) : x.toExponential(2).replace("e+", "e").replace("-", "−"));
  const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

  // Light means little and dark much on a light page, and the other way round on a dark one: what differs stands out.
  function shade(part) {
    const at = Math.min(Math.max(isDark() ? part : 1 - part, 0), 1) * (RAMP.length - 1), k = Math.min(Math.floor(at), RAMP.length - 2);
    const mix = (a, b) => Math.round(a + (b - a) * (at - k));
    const bytes = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    const [a, b] = [bytes(RAMP[k]), bytes(RAMP[k + 1])];
    return `rgb(${a.map((v, i) => mix(v, b[i])).join(",")})`;
  }

  // Where a value lies between the least and the largest, by logarithms: they differ by powers of ten.
  function scaleOf(values) {
    const sound = values.filter((v) => Number.isFinite(v) && v > 0);
    if (sound.length === 0) return null;
    let low = Infinity, high = 0;
    for (const v of sound) { low = Math.min(low, v); high = Math.max(high, v); }
    const span = Math.log(high / low);
    return { low, high, part: (v) => (v > 0 && span > 1e-9 ? Math.max(0, Math.log(v / low) / span) : v > 0 ? 0.5 : 0) };
  }

  return function prdoNetwork(element, table) {
    element.replaceChildren();
    const box = make("div", "picture", element), canvas = make("canvas", "", box), tip = make("div", "tip", box);
    const legend = make("div", "scale", element), caption = make("p", "soft", element);
    canvas.setAttribute("role", "img");
    tip.hidden = true;
    let picture = null, state = { values: [], neighbours: [], self: null }, places = [], radius = 4;

    const nameOf = (k) => (picture.names && picture.names[k]) || `node ${k}`;
    const neighbourOf = (k) => state.neighbours.find((n) => n.name === (picture.names || [])[k]);

    // What stands beside each node: its name and state, or its number.
    function label(k) {
      const other = neighbourOf(k), named = (picture.names || []).length > 0;
      if (!named) return [String(k)];
      return [nameOf(k), nameOf(k) === state.self ? "this node" : other ? other.state : ""].filter(Boolean);
    }
    const labels = () => picture.x.map((_, k) => label(k));

    function layout(size) {
      const n = picture.nodes, named = (picture.names || []).length > 0;
      const widest = named && n <= LABELLED ? Math.max(...labels().flat().map((line) => 7.2 * line.length)) : 0;
      const margin = named ? Math.min(0.32 * size, Math.max(44, widest + 24)) : n <= LABELLED ? 38 : n > FEW && picture.kind === "ring" ? 36 : 12, room = size - 2 * margin;
      places = picture.x.map((x, k) => [margin + x * room, margin + picture.y[k] * room]);
      let apart = Infinity;
      for (let k = 1; k < Math.min(n, 400); k += 1) {
        apart = Math.min(apart, Math.hypot(places[k][0] - places[k - 1][0], places[k][1] - places[k - 1][1]));
      }
      radius = n > FEW ? Math.max(1.7, Math.min(4, room / Math.sqrt(n) * 0.22)) : Math.max(2.4, Math.min(12, apart * 0.36, room / Math.sqrt(n) * 0.3));
    }

    function draw() {
      if (!picture || !picture.x) return;
      const size = Math.max(200, box.clientWidth || 400), dense = window.devicePixelRatio || 1;
      // A path lies on one line: it needs no square.
      const flat = picture.y.every((y) => y === picture.y[0]);
      const height = flat ? 90 : size;
      canvas.width = size * dense; canvas.height = height * dense; canvas.style.height = `${height}px`;
      const g = canvas.getContext("2d");
      g.scale(dense, dense);
      layout(size);
      if (flat) places = places.map(([x]) => [x, height / 2]);
      const scale = scaleOf(state.values);
      const edges = picture.pairs.length / 2;
      g.strokeStyle = css("--soft");
      g.globalAlpha = edges > 5000 ? 0.06 : edges > 1500 ? 0.14 : edges > 300 ? 0.35 : 0.6;
      g.lineWidth = edges > 1500 ? 0.6 : 1;
      g.beginPath();
      for (let k = 0; k < picture.pairs.length; k += 2) {
        const [a, b] = [places[picture.pairs[k]], places[picture.pairs[k + 1]]];
        if (a && b) { g.moveTo(a[0], a[1]); g.lineTo(b[0], b[1]); }
      }
      g.stroke();
      g.globalAlpha = 1;
      // The worst on top.
      const order = places.map((_, k) => k).sort((a, b) => (state.values[a] || 0) - (state.values[b] || 0));
      const round = picture.nodes > FEW && scale && picture.kind === "ring";
      for (const k of order) if (round) drawTick(g, k, scale); else drawNode(g, k, scale);
      drawLegend(scale);
      const one = `${picture.nodes} nodes, ${picture.edges} links`;
      canvas.setAttribute("aria-label", `${one}; the table beside names the nodes that differ most`);
    }

    // Of very many nodes on a ring each is a stroke outwards, the longer the farther its model is from the average.
    function drawTick(g, k, scale) {
      const middle = (canvas.clientWidth || 400) / 2, [x, y] = places[k], value = state.values[k];
      const part = Number.isFinite(value) ? scale.part(value) : 0, far = Math.hypot(x - middle, y - middle) || 1;
      const end = 1 + (4 + 24 * part) / far;
      g.strokeStyle = shade(part);
      g.lineWidth = Math.max(1.4, 2.4 * Math.PI * far / picture.nodes);
      g.beginPath();
      g.moveTo(x, y);
      g.lineTo(middle + (x - middle) * end, middle + (y - middle) * end);
      g.stroke();
    }

    function drawNode(g, k, scale) {
      const [x, y] = places[k], value = state.values[k], other = neighbourOf(k), me = nameOf(k) === state.self;
      const part = scale && Number.isFinite(value) ? scale.part(value) : 0;
      const away = other && other.state === "not reached";
      const r = picture.nodes > FEW ? radius : radius * (scale ? 0.72 + 0.5 * part : 1);
      g.beginPath();
      g.arc(x, y, r, 0, 2 * Math.PI);
      g.fillStyle = scale && Number.isFinite(value) ? shade(part) : me ? css("--fill") : other && !away ? css("--mark") : away ? css("--ground") : css("--line");
      g.fill();
      if (picture.nodes <= FEW) {
        g.lineWidth = me || away ? 2.5 : 1;
        g.strokeStyle = away ? css("--warn") : me ? css("--fill") : css("--text");
        g.setLineDash(away ? [4, 3] : []);
        g.stroke();
        g.setLineDash([]);
      }
      if (picture.nodes > LABELLED) return;
      const named = (picture.names || []).length > 0, middle = canvas.clientWidth / 2 || 200;
      const away2 = Math.hypot(x - middle, y - middle) || 1, out = r + 9;
      const below = Math.abs(x - middle) < 0.2 * middle;
      const dx = picture.nodes === 1 ? 0 : (x - middle) / away2, dy = picture.nodes === 1 ? 1 : (y - middle) / away2;
      g.fillStyle = css("--text");
      g.font = `${named ? 13 : 11}px system-ui, 'DejaVu Sans', sans-serif`;
      g.textAlign = below || !named ? "center" : dx > 0 ? "left" : "right";
      g.textBaseline = "middle";
      const lines = label(k);
      lines.forEach((line, row) => {
        g.fillStyle = row === 0 ? css("--text") : away ? css("--warn") : css("--soft");
        const up = dy < 0 && below ? -(lines.length - 1 - row) : row - (below ? 0 : (lines.length - 1) / 2);
        // Within the picture, however long the name is.
        const half = g.measureText(line).width, edge = canvas.clientWidth || 400;
        let at = x + dx * out;
        if (g.textAlign === "center") at = Math.min(Math.max(at, half / 2 + 2), edge - half / 2 - 2);
        if (g.textAlign === "left") at = Math.min(at, edge - half - 2);
        if (g.textAlign === "right") at = Math.max(at, half + 2);
        g.fillText(line, at, y + dy * (out + 3) + up * 15);
      });
    }

    function drawLegend(scale) {
      legend.replaceChildren();
      if (!scale) return;
      make("span", "", legend, number(scale.low));
      const strip = make("i", "", legend);
      strip.style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map(shade).join(",")})`;
      make("span", "", legend, number(scale.high));
      make("span", "", legend, "‖xᵢ − x̄‖², logarithmic");
    }

    function drawTable() {
      table.replaceChildren();
      if (state.neighbours.length > 0) return drawNeighbours();
      const sound = state.values.map((v, k) => [v, k]).filter(([v]) => Number.isFinite(v));
      if (sound.length === 0) {
        make("p", "soft", table, "How far each node's model is from the average is not known (yet).");
        return;
      }
      if (picture && picture.nodes === 1) {
        make("p", "soft", table, "One node has nobody to disagree with.");
        return;
      }
      sound.sort((a, b) => b[0] - a[0]);
      const scroll = make("div", "scroll", table), t = make("table", "", scroll);
      make("caption", "", t, sound.length > ALL ? `The ${WORST} of ${sound.length} nodes that differ most from the average model` : "Distance of each node's model from the average");
      const head = make("tr", "", t);
      ["node", "‖xᵢ − x̄‖²", "of the mean"].forEach((text) => make("th", "", head, text));
      const mean = sound.reduce((sum, [v]) => sum + v, 0) / sound.length;
      for (const [value, k] of sound.slice(0, sound.length > ALL ? WORST : ALL)) {
        const row = make("tr", "", t);
        [nameOf(k), number(value), mean > 0 ? `${(value / mean).toFixed(2)} ×` : "–"].forEach((text) => make("td", "", row, text));
      }
      if (sound.length > 50) drawBars(sound.map(([v]) => v));
    }

    function drawNeighbours() {
      const t = make("table", "", make("div", "scroll", table)), head = make("tr", "", t);
      make("caption", "", t, "Neighbours of this node");
      ["neighbour", "state"].forEach((text) => make("th", "words", head, text));
      for (const n of state.neighbours) {
        const row = make("tr", "", t);
        make("td", "", row, n.name);
        make("td", "words", row, n.state + (n.why ? `: ${n.why}` : ""));
      }
    }

    // How many nodes have which distance: a thousand dots show less.
    function drawBars(values) {
      const scale = scaleOf(values);
      if (!scale || scale.high <= scale.low) return;
      const counts = new Array(BINS).fill(0);
      for (const v of values) counts[Math.min(BINS - 1, Math.floor(scale.part(v) * BINS))] += 1;
      const most = Math.max(...counts), bars = make("div", "bars", table);
      counts.forEach((count, k) => {
        const bar = make("i", "", bars);
        bar.style.height = `${100 * count / most}%`;
        bar.style.background = shade((k + 0.5) / BINS);
        bar.title = `${count} nodes`;
      });
      const words = make("div", "bars-words", table);
      [number(scale.low), "nodes by ‖xᵢ − x̄‖²", number(scale.high)].forEach((text) => make("span", "", words, text));
    }

    canvas.addEventListener("pointermove", (event) => {
      const edge = canvas.getBoundingClientRect(), at = [event.clientX - edge.left, event.clientY - edge.top];
      let best = -1, least = Math.max(radius + 6, 12);
      places.forEach(([x, y], k) => { const d = Math.hypot(x - at[0], y - at[1]); if (d < least) { least = d; best = k; } });
      tip.hidden = best < 0;
      if (best < 0) return;
      const other = neighbourOf(best), value = state.values[best];
      tip.textContent = nameOf(best) + (Number.isFinite(value) ? `: ${number(value)}` : "") + (other ? `: ${other.state}` : "");
      tip.style.left = `${Math.min(Math.max(places[best][0] + 10, 0), Math.max(0, edge.width - tip.offsetWidth))}px`;
      tip.style.top = `${Math.max(0, places[best][1] - 34)}px`;
    });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { draw(); drawTable(); });
    let width = 0;
    new ResizeObserver(() => { if (box.clientWidth !== width) { width = box.clientWidth; draw(); } }).observe(box);

    return {
      update(next, now) {
        picture = next;
        state = { values: now.values || [], neighbours: now.neighbours || [], self: now.self || null };
        const problem = picture && picture.problem, drawable = picture && picture.x;
        box.hidden = !drawable;
        const sample = drawable && picture.every > 1 ? `; every ${picture.every}th link is drawn` : "";
        const lambda = drawable && Number.isFinite(picture.lambda) ? `, λ = ${picture.lambda.toFixed(6)}` : "";
        caption.textContent = problem || (drawable ? `${picture.kind ? `${picture.kind}: ` : ""}${picture.nodes} ${picture.members ? "member" : "node"}${picture.nodes === 1 ? "" : "s"}, ${picture.edges} link${picture.edges === 1 ? "" : "s"}${lambda}${sample}` : "");
        draw();
        drawTable();
      },
    };
  };
})();
