// Interactive charts for reports and the live dashboard: plain JavaScript, no dependency.
//
//   const chart = prdoChart(element, spec);   chart.update(spec);
//
// spec = {
//   axes:   [{key, label}],                                what the x axis may show; the first is shown first
//   panels: [{key, title, label, log, percent, range,      one plot each; range [low, high] or null
//             reference: {value, label}, help}],           a dashed line at a value, and what the title means; or null
//   series: [{name, style, columns: {key: [numbers or null]}, low: {key: […]}, high: {key: […]}}]
// }
// Colours are the CSS variables --series-0 … --series-8 (chart.css); dashes and markers repeat them for those who
// see no colours. Nothing here writes HTML from data: every text goes in as text.
"use strict";

const prdoChart = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  // The same order as plot/color.rs.
  const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933", "#aa3377", "#808080"];
  const DASHES = ["", "7 3", "2 2.5", "8 3 2 3", "5 5", "8 3 2 3 2 3", "4 2", "1 4"];
  // Corners in units of the radius, as in plot/series.rs; null is a disc, "ring" a ring.
  const MARKERS = [null, "-.85,-.85 .85,-.85 .85,.85 -.85,.85", "0,-1.2 1.1,.8 -1.1,.8", "0,-1.3 1.3,0 0,1.3 -1.3,0",
    "0,1.2 1.1,-.8 -1.1,-.8",
    "-.35,-1.2 .35,-1.2 .35,-.35 1.2,-.35 1.2,.35 .35,.35 .35,1.2 -.35,1.2 -.35,.35 -1.2,.35 -1.2,-.35 -.35,-.35",
    "-1.2,0 .8,-1.1 .8,1.1", "ring"];
  const HEIGHT = 250, TOP = 10, RIGHT = 14, BOTTOM = 44;
  const MANY = 2000;   // more points than this are thinned for drawing
  const MARKS = 8;     // markers on a long line

  const color = (k) => `var(--series-${k % COLORS.length}, ${COLORS[k % COLORS.length]})`;
  const isNumber = (x) => typeof x === "number" && Number.isFinite(x);
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
  // The nearest number that is one: room around the largest values would be infinite, and an axis without end.
  const finite = (x) => clamp(x, -Number.MAX_VALUE, Number.MAX_VALUE);

  function html(tag, name, parent, text) {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  }

  function draw(parent, tag, attributes, style, text) {
    const node = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    Object.assign(node.style, style || {});
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  function marker(parent, x, y, k, radius) {
    const shape = MARKERS[k % MARKERS.length], paint = { fill: color(k) };
    if (shape === null) return draw(parent, "circle", { cx: x, cy: y, r: radius }, paint);
    if (shape === "ring") {
      return draw(parent, "circle", { cx: x, cy: y, r: radius }, { fill: "none", stroke: color(k), strokeWidth: 1.6 });
    }
    const transform = `translate(${x} ${y}) scale(${radius})`;
    return draw(parent, "polygon", { points: shape, transform }, paint);
  }

  // ---- Numbers for people ------------------------------------------------------------------------------------

  function short(x, digits) {
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e-3 && size < 1e5) return String(Number(x.toPrecision(digits))).replace("-", "−");
    const [factor, power] = x.toExponential(Math.max(0, Math.min(2, digits - 1))).split("e");
    return `${Number(factor)}e${Number(power)}`.replaceAll("-", "−");
  }

  function scaled(x, units, digits) {
    let unit = 0;
    while (Math.abs(x) >= 999.5 && unit + 1 < units.length) { x /= 1000; unit += 1; }
    return `${Number(x.toPrecision(digits))}${units[unit]}`;
  }

  function xText(x, key, digits) {
    if (key.startsWith("bytes")) return scaled(x, [" B", " kB", " MB", " GB", " TB", " PB"], digits);
    if (Math.abs(x) >= 1e5) return scaled(x, ["", " k", " M", " G", " T"], digits);
    return short(x, Math.max(digits, 5));
  }

  function yText(y, panel, digits) {
    return panel.percent ? `${short(100 * y, digits)} %` : short(y, digits);
  }

  // ---- Scales ------------------------------------------------------------------------------------------------

  function linearTicks(low, high, wanted, least) {
    const rough = Math.max((high - low) / Math.max(1, wanted), least || 0);
    if (!(rough > 0) || !Number.isFinite(rough)) return [low];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) || rough;
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && ticks.length < 50; k += 1) {
      ticks.push(Number((k * step).toPrecision(12)));
    }
    return ticks.filter(Number.isFinite);
  }

  function logTicks(low, high, wanted) {
    const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
    const apart = Math.max(1, Math.ceil((to - from) / wanted));
    const factors = to - from <= 1 ? [1, 2, 3, 5, 7] : to - from <= 3 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let power = from; power <= to; power += apart) factors.forEach((f) => ticks.push(f * 10 ** power));
    const inside = ticks.filter((t) => Number.isFinite(t) && t >= low * 0.999 && t <= high * 1.001);
    return inside.length > 1 ? inside : linearTicks(low, high, wanted).filter((t) => t > 0);
  }

  function scale(low, high, from, to, log) {
    const map = log ? Math.log10 : (x) => x;
    const [a, b] = [map(low), map(high)];
    // By halves: the distance of two finite values need not be finite.
    const at = (x) => from + (map(x) / 2 - a / 2) / ((b / 2 - a / 2) || 1) * (to - from);
    const back = (p) => { const m = a + (p - from) / ((to - from) || 1) * (b - a); return log ? 10 ** m : m; };
    return { at, back, low, high };
  }

  // The range that holds all values, with room where they are all the same.
  function extent(values, log) {
    let low = Infinity, high = -Infinity;
    for (const v of values) if (isNumber(v) && (!log || v > 0)) { low = Math.min(low, v); high = Math.max(high, v); }
    if (low > high) return null;
    if (log) {
      // In logarithms: the quotient of two finite values need not be finite.
      const [a, b] = [Math.log10(low), Math.log10(high)], room = a === b ? 0.3 : (b - a) * 0.04;
      return [Math.max(10 ** (a - room), Number.MIN_VALUE), Math.min(10 ** (b + room), Number.MAX_VALUE)];
    }
    if (low === high) return low === 0 ? [-1, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1].map(finite);
    const room = high * 0.05 - low * 0.05;
    // Quantities that are never negative do not get an axis that is.
    return [low >= 0 ? Math.max(0, low - room) : low - room, high + room].map(finite);
  }

  // ---- Points ------------------------------------------------------------------------------------------------

  // What a panel can show of a series: [x, y, low, high]; what was not measured is left out.
  function pointsOf(series, axis, key, log) {
    const columns = series.columns || {}, xs = columns[axis] || [], ys = columns[key] || [];
    const lows = (series.low || {})[key] || [], highs = (series.high || {})[key] || [];
    const points = [];
    for (let k = 0; k < Math.min(xs.length, ys.length); k += 1) {
      if (!isNumber(xs[k]) || !isNumber(ys[k]) || (log && ys[k] <= 0)) continue;
      const band = isNumber(lows[k]) && isNumber(highs[k]) && (!log || highs[k] > 0);
      points.push([xs[k], ys[k], band ? (log && lows[k] <= 0 ? ys[k] : lows[k]) : ys[k], band ? highs[k] : ys[k]]);
    }
    return points;
  }

  // First, lowest, highest and last point of every column of pixels: the same picture from fewer points.
  function thin(points, x) {
    if (points.length <= MANY) return points;
    const kept = [];
    for (let start = 0; start < points.length;) {
      const column = Math.floor(x.at(points[start][0]));
      let [low, high, last] = [start, start, start];
      for (let k = start; k < points.length && Math.floor(x.at(points[k][0])) === column; k += 1) {
        if (points[k][1] < points[low][1]) low = k;
        if (points[k][1] > points[high][1]) high = k;
        last = k;
      }
      [...new Set([start, low, high, last])].sort((a, b) => a - b).forEach((k) => kept.push(points[k]));
      start = last + 1;
    }
    return kept;
  }

  // The point whose x is nearest, by halving: x never falls along a run.
  function nearest(points, x) {
    let [low, high] = [0, points.length - 1];
    if (high < 0) return null;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (points[middle][0] < x) low = middle; else high = middle;
    }
    return Math.abs(points[low][0] - x) <= Math.abs(points[high][0] - x) ? points[low] : points[high];
  }

  // ---- One panel ---------------------------------------------------------------------------------------------

  function makePanel(chart, key) {
    const box = html("section", "chart-panel");
    const head = html("div", "chart-head", box);
    const title = html("h3", "", head);
    const log = html("button", "chart-button", head, "log");
    log.type = "button";
    log.addEventListener("click", () => { chart.logs.set(key, !chart.isLog(panel.spec)); chart.render(); });
    const stage = html("div", "chart-stage", box);
    const svg = draw(stage, "svg", { tabindex: 0, role: "img" });
    const tip = html("div", "chart-tip", stage);
    tip.hidden = true;
    const panel = { box, title, log, stage, svg, tip, lines: [], x: null, y: null, spec: { key }, width: 0 };
    const point = (event) => {
      if (!panel.x) return;
      const edge = svg.getBoundingClientRect();
      chart.pick(panel, panel.x.back(clamp(event.clientX - edge.left, panel.left, panel.width - RIGHT)));
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") chart.leave(); });
    svg.addEventListener("blur", () => chart.leave());
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return chart.leave();
      const steps = { ArrowLeft: -1, ArrowRight: 1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
      if (!(event.key in steps)) return;
      event.preventDefault();
      chart.step(panel, steps[event.key]);
    });
    return panel;
  }

  function drawPanel(chart, panel) {
    const { svg, spec } = panel, log = chart.isLog(spec), axis = chart.axis();
    panel.title.textContent = spec.title || spec.key;
    if (spec.help) panel.title.title = spec.help; else panel.title.removeAttribute("title");
    panel.log.setAttribute("aria-pressed", String(log));
    panel.log.setAttribute("aria-label", `${spec.title || spec.key}: logarithmic scale`);
    panel.lines = chart.visible().map((series) => ({ series, points: pointsOf(series, axis.key, spec.key, log) }))
      .filter((line) => line.points.length > 0);
    svg.replaceChildren();
    panel.width = Math.max(160, panel.stage.clientWidth || 460);
    svg.setAttribute("width", panel.width);
    svg.setAttribute("height", HEIGHT);
    svg.setAttribute("aria-label", `${spec.title || spec.key} against ${axis.label}; arrow keys read values`);
    panel.x = panel.y = null;
    const xs = extent(panel.lines.flatMap((l) => [l.points[0][0], l.points[l.points.length - 1][0]]), false);
    const all = function* () { for (const l of panel.lines) for (const p of l.points) { yield p[1]; yield p[2]; yield p[3]; } if (panel.lines.length > 0 && spec.reference) yield spec.reference.value; };
    const fixed = Array.isArray(spec.range) && !log ? spec.range : null;
    const ys = fixed || extent(all(), log);
    if (!xs || !ys) {
      const chosen = chart.visible(), below = log && chosen.some((s) => pointsOf(s, axis.key, spec.key, false).length > 0);
      const why = below ? "no value above 0 for a logarithmic scale" : chosen.length === 0 && chart.spec.series.length > 0 ? "nothing chosen" : "no data yet";
      draw(svg, "text", { x: panel.width / 2, y: HEIGHT / 2, "text-anchor": "middle", class: "chart-soft" }, {}, why);
      return;
    }
    // From the first point to the last: no room is lost beside the lines.
    const first = Math.min(...panel.lines.map((l) => l.points[0][0]));
    const last = Math.max(...panel.lines.map((l) => l.points[l.points.length - 1][0]));
    const ticks = (log ? logTicks : linearTicks)(ys[0], ys[1], 5);
    const texts = ticks.map((t) => yText(t, spec, 3));
    panel.left = 30 + 7.8 * Math.max(3, ...texts.map((t) => t.length));
    panel.x = scale(first === last ? xs[0] : first, first === last ? xs[1] : last, panel.left, panel.width - RIGHT, false);
    panel.y = scale(ys[0], ys[1], HEIGHT - BOTTOM, TOP, log);
    drawAxes(svg, panel, ticks, texts, axis);
    for (const line of panel.lines) drawLine(svg, panel, line, chart.spec.series.length > 1);
    drawReference(svg, panel);
    panel.cursor = draw(svg, "g", { class: "chart-cursor" });
  }

  function drawAxes(svg, panel, ticks, texts, axis) {
    const { x, y, left, width, spec } = panel, base = HEIGHT - BOTTOM;
    ticks.forEach((tick, k) => {
      const at = y.at(tick);
      draw(svg, "line", { x1: left, x2: width - RIGHT, y1: at, y2: at, class: "chart-grid" });
      draw(svg, "text", { x: left - 6, y: at + 4, "text-anchor": "end" }, {}, texts[k]);
    });
    linearTicks(x.low, x.high, Math.max(2, Math.floor((width - left) / 80)), 1).forEach((tick) => {
      const at = x.at(tick);
      draw(svg, "line", { x1: at, x2: at, y1: base, y2: base + 4, class: "chart-axis" });
      const anchor = at > width - RIGHT - 12 ? "end" : "middle";
      const edge = anchor === "end" ? width - 2 : at;
      draw(svg, "text", { x: edge, y: base + 17, "text-anchor": anchor }, {}, xText(tick, axis.key, 3));
    });
    draw(svg, "path", { d: `M${left} ${TOP}V${base}H${width - RIGHT}`, class: "chart-axis" });
    draw(svg, "text", { x: (left + width - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle", class: "chart-soft" }, {}, axis.label);
    const middle = (TOP + base) / 2;
    if (spec.label) {
      draw(svg, "text", { x: 10, y: middle, "text-anchor": "middle", class: "chart-soft", transform: `rotate(-90 10 ${middle})` }, {}, spec.label);
    }
  }

  // A value to hold the lines against; its name stands on the side where they do not end.
  function drawReference(svg, panel) {
    const { reference } = panel.spec;
    if (!reference || !isNumber(reference.value)) return;
    const at = panel.y.at(reference.value), right = panel.width - RIGHT;
    if (!(at >= TOP && at <= HEIGHT - BOTTOM)) return;
    draw(svg, "line", { x1: panel.left, x2: right, y1: at, y2: at, class: "chart-reference" });
    const ends = panel.lines.map((l) => panel.y.at(l.points[l.points.length - 1][1]));
    const above = ends.reduce((sum, y) => sum + y, 0) / ends.length > at;
    const base = (above && at > TOP + 16) || at > HEIGHT - BOTTOM - 18 ? at - 5 : at + 14;
    draw(svg, "text", { x: right - 4, y: base, "text-anchor": "end", class: "chart-soft chart-halo" }, {}, reference.label);
  }

  function drawLine(svg, panel, { series, points }, several) {
    const { x, y } = panel, k = series.style || 0;
    const inside = (v) => clamp(y.at(v), TOP, HEIGHT - BOTTOM).toFixed(1);
    const shown = thin(points, x);
    if (shown.some((p) => p[2] !== p[1] || p[3] !== p[1])) {
      const upper = shown.map((p) => `${x.at(p[0]).toFixed(1)} ${inside(p[3])}`);
      const lower = shown.map((p) => `${x.at(p[0]).toFixed(1)} ${inside(p[2])}`).reverse();
      draw(svg, "path", { d: `M${upper.concat(lower).join("L")}Z` }, { fill: color(k), fillOpacity: 0.17 });
    }
    const path = shown.map((p) => `${x.at(p[0]).toFixed(1)} ${inside(p[1])}`).join("L");
    const dash = several ? DASHES[k % DASHES.length] : "";
    draw(svg, "path", { d: `M${path}`, class: "chart-line" }, { stroke: color(k), strokeDasharray: dash || "none" });
    if (!several && points.length > 1) return;
    const every = Math.max(1, Math.floor(points.length / MARKS));
    // Each series starts its markers elsewhere, so that they do not cover each other.
    for (let at = points.length > MARKS ? (k * 3) % every : 0; at < points.length; at += every) {
      marker(svg, x.at(points[at][0]), Number(inside(points[at][1])), k, 3.2);
    }
  }

  // The crosshair, the points nearest to it and their values.
  function drawCursor(chart, panel) {
    const { tip } = panel;
    if (panel.cursor) panel.cursor.replaceChildren();
    tip.hidden = true;
    const found = chart.cursor === null || !panel.x ? [] :
      panel.lines.map((line) => ({ series: line.series, point: nearest(line.points, chart.cursor) })).filter((f) => f.point);
    if (found.length === 0) return "";
    const axis = chart.axis(), at = clamp(panel.x.at(chart.cursor), panel.left, panel.width - RIGHT);
    draw(panel.cursor, "line", { x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM });
    tip.replaceChildren();
    const where = xText(chart.cursor, axis.key, 4);
    html("div", "chart-soft", tip, `${axis.label} ${where}`);
    const words = [`${axis.label} ${where}`];
    for (const { series, point } of found) {
      const k = series.style || 0;
      marker(panel.cursor, panel.x.at(point[0]), clamp(panel.y.at(point[1]), TOP, HEIGHT - BOTTOM), k, 4.2);
      const row = html("div", "chart-row", tip);
      sample(row, k, chart.spec.series.length > 1);
      const band = point[2] !== point[3] && panel === chart.active && panel.width > 420 ? ` (${yText(point[2], panel.spec, 3)} to ${yText(point[3], panel.spec, 3)})` : "";
      html("span", "", row, chart.spec.series.length > 1 ? series.name : panel.spec.label || panel.spec.title);
      // A series that has no point here says where its nearest one is.
      const far = Math.abs(panel.x.at(point[0]) - at) > 6 ? ` at ${xText(point[0], axis.key, 3)}` : "";
      html("b", "", row, yText(point[1], panel.spec, 4) + band + far);
      words.push(`${series.name} ${yText(point[1], panel.spec, 4)}${far}`);
    }
    tip.hidden = false;
    // On the side of the crosshair that has room, and never beyond the panel's edges.
    tip.style.left = "0px";
    const wide = tip.offsetWidth, left = at > (panel.left + panel.width) / 2 ? at - 10 - wide : at + 10;
    tip.style.left = `${clamp(left, 0, Math.max(0, panel.width - wide))}px`;
    // Above the curves or beneath them, whichever hides less.
    const height = found.reduce((sum, f) => sum + panel.y.at(f.point[1]), 0) / found.length;
    tip.style.top = `${height < (TOP + HEIGHT - BOTTOM) / 2 ? HEIGHT - BOTTOM - tip.offsetHeight - 6 : TOP}px`;
    return words.join(", ");
  }

  function sample(parent, k, several) {
    const svg = draw(parent, "svg", { width: 26, height: 10, "aria-hidden": "true" });
    const dash = several ? DASHES[k % DASHES.length] : "";
    draw(svg, "line", { x1: 0, x2: 26, y1: 5, y2: 5, class: "chart-line" }, { stroke: color(k), strokeDasharray: dash || "none" });
    if (several) marker(svg, 13, 5, k, 3.2);
  }

  // ---- All panels --------------------------------------------------------------------------------------------

  return function prdoChart(element, spec) {
    const hidden = new Set(), panels = new Map();
    let chosen = null, drawnLegend = null, drawnAxes = null;
    element.replaceChildren();
    element.classList.add("chart");
    const bar = html("div", "chart-bar", element);
    const legend = html("div", "chart-legend", bar);
    const label = html("label", "chart-soft", bar, "against ");
    const select = html("select", "", label);
    const grid = html("div", "chart-grid-of-panels", element);
    const spoken = html("div", "chart-spoken", element);
    spoken.setAttribute("aria-live", "polite");

    const chart = {
      spec: { axes: [], panels: [], series: [] }, logs: new Map(), cursor: null, active: null,
      axis: () => chart.spec.axes.find((a) => a.key === chosen) || chart.spec.axes[0] || { key: "round", label: "rounds" },
      isLog: (panel) => (chart.logs.has(panel.key) ? chart.logs.get(panel.key) : Boolean(panel.log)),
      visible: () => chart.spec.series.filter((s) => !hidden.has(s.name)),
      leave() { chart.cursor = null; for (const panel of panels.values()) drawCursor(chart, panel); },
      // Snaps to the nearest point of the panel and shows it in all of them.
      pick(panel, x) {
        const near = panel.lines.map((line) => nearest(line.points, x)).filter(Boolean);
        if (near.length === 0) return;
        chart.active = panel;
        chart.cursor = near.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a))[0];
        for (const other of panels.values()) {
          const words = drawCursor(chart, other);
          if (other === panel) spoken.textContent = document.activeElement === panel.svg ? words : "";
        }
      },
      step(panel, by) {
        const line = panel.lines.reduce((a, b) => (a && a.points.length >= b.points.length ? a : b), null);
        if (!line) return;
        const start = by > 0 ? -1 : line.points.length;
        const now = chart.cursor === null ? (Number.isFinite(by) ? start : 0) : line.points.indexOf(nearest(line.points, chart.cursor));
        chart.pick(panel, line.points[clamp(now + by, 0, line.points.length - 1)][0]);
      },
      render() {
        drawControls();
        for (const panel of panels.values()) { drawPanel(chart, panel); drawCursor(chart, panel); }
      },
    };

    function drawControls() {
      const axes = JSON.stringify(chart.spec.axes), names = JSON.stringify(chart.spec.series.map((s) => [s.name, s.style]));
      if (axes !== drawnAxes) {
        select.replaceChildren();
        for (const axis of chart.spec.axes) html("option", "", select, axis.label).value = axis.key;
        drawnAxes = axes;
      }
      select.value = chart.axis().key;
      label.hidden = chart.spec.axes.length < 2;
      if (names !== drawnLegend) {
        legend.replaceChildren();
        for (const series of chart.spec.series) {
          const button = html("button", "chart-button", legend);
          button.type = "button";
          sample(button, series.style || 0, chart.spec.series.length > 1);
          html("span", "", button, series.name);
          button.addEventListener("click", () => {
            if (!hidden.delete(series.name)) hidden.add(series.name);
            chart.render();
          });
        }
        drawnLegend = names;
      }
      legend.hidden = chart.spec.series.length < 2;
      chart.spec.series.forEach((s, k) => legend.children[k].setAttribute("aria-pressed", String(!hidden.has(s.name))));
    }

    function update(next) {
      const given = next || {};
      chart.spec = { axes: given.axes || [], panels: given.panels || [], series: given.series || [] };
      const wanted = new Set(chart.spec.panels.map((p) => p.key));
      for (const [key, panel] of panels) if (!wanted.has(key)) { panel.box.remove(); panels.delete(key); }
      for (const one of chart.spec.panels) {
        if (!panels.has(one.key)) panels.set(one.key, makePanel(chart, one.key));
        const panel = panels.get(one.key);
        panel.spec = one;
        // Only what is new or moved is put in its place, so that the focus stays where it is.
        if (grid.children[chart.spec.panels.indexOf(one)] !== panel.box) {
          grid.insertBefore(panel.box, grid.children[chart.spec.panels.indexOf(one)] || null);
        }
      }
      chart.render();
    }

    select.addEventListener("change", () => { chosen = select.value; chart.cursor = null; chart.render(); });
    update(spec);
    if (typeof ResizeObserver === "function") {
      let width = element.clientWidth;
      new ResizeObserver(() => {
        if (element.clientWidth !== width) { width = element.clientWidth; chart.render(); }
      }).observe(element);
    }
    return { update };
  };
})();
