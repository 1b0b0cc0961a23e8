// The live dashboard: asks the server that it came from how things stand, every second, and shows it. What is shown
// stays when the server is gone.
"use strict";

(() => {
  // By which the server knows this page from others: it does not end before each has heard how the run did.
  const SELF = document.currentScript.nonce;
  const EVERY = 1000, HIDDEN = 5000, SLOWEST = 10000, PATIENCE = 3;
  // Every metric's axis or panel; the server puts them here.
  const { axes: AXES, panels: RUN_PANELS } = /*metrics*/ { axes: [], panels: [] };
  const NODE_PANELS = [
    { key: "test_accuracy", title: "Test accuracy of this member's model", label: "share right", percent: true, log: false, range: null },
    { key: "epsilon_spent", title: "Privacy spent by these records", label: "ε", log: false, percent: false, range: null },
    { key: "rounds_per_second", title: "Rounds per second since the start", label: "rounds/s", log: false, percent: false, range: null },
  ];

  const at = (id) => document.getElementById(id);
  const text = (id, words) => { const node = at(id); if (node.textContent !== words) node.textContent = words; };
  const show = (id, visible) => { at(id).hidden = !visible; };
  const make = (tag, name, parent, words) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (words !== undefined) node.textContent = words;
    if (parent) parent.append(node);
    return node;
  };
  const isNumber = (x) => typeof x === "number" && Number.isFinite(x);

  // ---- Numbers for people ------------------------------------------------------------------------------------
  const whole = (x) => Math.round(x).toLocaleString("en").replaceAll(",", "\u202f");
  const few = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? String(Number(x.toPrecision(4))) : x.toExponential(2).replace("e+", "e"));
  const scaled = (x, units) => {
    let k = 0;
    while (x >= 1000 && k + 1 < units.length) { x /= 1000; k += 1; }
    return `${Number(x.toPrecision(3))}${units[k]}`;
  };
  function duration(seconds) {
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    if (seconds < 60) return `${Math.round(seconds)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.round(seconds % 3600 / 60)} min`;
    return `${Math.floor(seconds / 86400)} d ${Math.round(seconds % 86400 / 3600)} h`;
  }

  // ---- What is known -----------------------------------------------------------------------------------------
  let rows = { epoch: -1, next: 0, columns: {}, last: {} };
  let state = null, picture = null, pictureOf = null, failures = 0, chart = null, network = null, drawn = "";

  function merge(fresh) {
    if (fresh.epoch !== rows.epoch || fresh.from !== rows.next) rows = { columns: {} };
    for (const [key, values] of Object.entries(fresh.columns)) rows.columns[key] = (rows.columns[key] || []).concat(values);
    rows.epoch = fresh.epoch; rows.next = fresh.next; rows.last = fresh.last;
  }

  // All kept rows, and the last one where it is not among them.
  function columns() {
    const rounds = rows.columns.round || [], last = rows.last.round;
    if (!isNumber(last) || rounds[rounds.length - 1] === last) return rows.columns;
    return Object.fromEntries(Object.entries(rows.columns).map(([key, values]) => [key, values.concat([rows.last[key]])]));
  }

  // ---- Drawing -----------------------------------------------------------------------------------------------
  const STATES = { running: "running", stopped: "stopped", failed: "failed", finished: "finished", waiting: "no data yet", unknown: "unknown", away: "not reached" };

  function draw(away) {
    const s = state || { state: "waiting", kind: "empty", message: "Waiting for the first answer." };
    const shown = away && !["finished", "failed", "stopped"].includes(s.state) ? "away" : s.state;
    const pill = at("pill");
    pill.className = `pill ${shown}`;
    text("pill", STATES[shown] || shown);
    text("title", s.title || "prdo: waiting for a run");
    document.title = `${isNumber(s.round) && isNumber(s.rounds) ? `${Math.floor(100 * s.round / Math.max(1, s.rounds))} % ` : ""}${s.title || "prdo"}`;
    const process = s.process && s.state === "running" && !away ? ` · process ${s.process}` : "";
    text("where", [s.folder, s.updated ? `as of ${s.updated.replace("T", " ").slice(0, 19)} UTC` : ""].filter(Boolean).join(" · ") + process);
    drawNotes(s, away);
    const run = s.kind === "run" || s.kind === "node";
    show("cards", run);
    if (run) drawCards(s);
    drawCurves(s, run);
    drawNetwork(s, run);
    drawLog(s.log || []);
    drawFacts(s.facts || []);
  }

  function drawNotes(s, away) {
    const notes = [];
    if (away) notes.push(["warn", ["finished", "failed", "stopped"].includes(s.state)
      ? "The process that served this page has ended. What it showed last stays here."
      : `The process that served this page cannot be reached: it has ended, or was stopped. What it showed last stays here. See how the run stands with: prdo watch ${s.folder || "DIR"}`]);
    if (s.message) notes.push([s.state === "failed" ? "bad" : s.state === "waiting" || s.kind === "results" ? "" : "warn", s.state === "failed" ? `The run failed: ${s.message}` : s.message]);
    if (s.test_seed) notes.push(["warn", s.test_seed]);
    if (s.simulation && s.kind === "run") notes.push(["", "Seeded simulation: not private against anyone who knows the seed."]);
    for (const problem of s.problems || []) notes.push(["warn", problem]);
    if (s.report && !away) notes.push(["report", ""]);
    const key = JSON.stringify(notes);
    if (key === drawn) return;
    drawn = key;
    at("notes").replaceChildren();
    for (const [kind, words] of notes) {
      const note = make("div", `note ${kind}`, at("notes"), words);
      if (kind !== "report") continue;
      const link = make("a", "", note, "Open the report");
      link.href = "report.html";
    }
  }

  function meter(id, part, warn) {
    const node = at(id), known = isNumber(part);
    node.hidden = !known;
    if (!known) return;
    node.firstElementChild.style.width = `${(100 * Math.min(Math.max(part, 0), 1)).toFixed(2)}%`;
    node.classList.toggle("high", Boolean(warn) && part > 0.9 && part <= 1.0001);
    node.classList.toggle("over", part > 1.0001);
    node.setAttribute("role", "progressbar");
    node.setAttribute("aria-valuenow", (100 * part).toFixed(0));
    node.setAttribute("aria-label", id === "round-meter" ? "rounds done" : "budget spent");
  }

  function drawCards(s) {
    text("round", `${isNumber(s.round) ? whole(s.round) : 0} of ${isNumber(s.rounds) ? whole(s.rounds) : "?"}`);
    meter("round-meter", isNumber(s.rounds) && s.rounds > 0 ? (s.round || 0) / s.rounds : null);
    const left = isNumber(s.seconds_left) && s.state === "running" ? `${duration(s.seconds_left)} left` : "";
    text("left", [left, isNumber(s.seconds) ? `${duration(s.seconds)} so far` : ""].filter(Boolean).join(", "));
    if (s.private && isNumber(s.epsilon)) {
      const spent = isNumber(s.epsilon_spent) ? s.epsilon_spent : 0;
      text("epsilon", `ε ${few(spent)} of ${few(s.epsilon)}`);
      text("budget", `at δ = ${isNumber(s.delta) ? s.delta.toExponential().replace("e+", "e") : "?"}${s.kind === "node" ? ", all runs of these records" : ", for every record"}`);
      meter("epsilon-meter", s.epsilon > 0 ? spent / s.epsilon : null, s.kind === "node");
    } else {
      text("epsilon", s.private === false ? "not private" : "ε not known");
      text("budget", s.private === false ? "ε = ∞: nothing is protected" : "");
      meter("epsilon-meter", null);
    }
    const last = rows.last || {}, accuracy = isNumber(last.test_accuracy) ? last.test_accuracy : s.test_accuracy;
    const norm = isNumber(last.grad_norm) ? `‖∇f‖ ${few(last.grad_norm)}` : "", loss = isNumber(last.loss) ? `loss ${few(last.loss)}` : "";
    // A row without a norm is one whose numbers have ended.
    const ended = isNumber(last.round) && last.grad_norm === null ? "not finite" : "–";
    text("metric-name", isNumber(accuracy) ? "test accuracy" : norm || ended !== "–" ? "gradient norm" : "measured");
    text("metric", isNumber(accuracy) ? `${(100 * accuracy).toFixed(2)} %` : norm || ended);
    const of = isNumber(last.round) ? `at round ${whole(last.round)}` : "nothing yet";
    text("metric-more", [isNumber(accuracy) ? norm : "", loss, of].filter(Boolean).join(", "));
    text("rate", isNumber(s.rounds_per_second) ? `${s.rounds_per_second < 10 ? s.rounds_per_second.toFixed(2) : whole(s.rounds_per_second)} rounds/s` : "–");
    const units = ["", " k", " M", " G", " T"];
    text("rate-more", [
      isNumber(s.gradients_per_second) ? `${scaled(s.gradients_per_second, units)} gradients/s` : "",
      isNumber(s.bytes_per_second) ? `${scaled(s.bytes_per_second, [" B", " kB", " MB", " GB", " TB"])}/s sent` : "",
    ].filter(Boolean).join(", "));
  }

  function drawCurves(s, run) {
    const all = columns(), panels = s.kind === "node" ? NODE_PANELS : RUN_PANELS;
    const known = panels.filter((panel) => (all[panel.key] || []).some((v) => isNumber(v) && (v > 0 || !panel.log)));
    const axes = AXES.filter((axis) => (all[axis.key] || []).some(isNumber));
    show("curves-part", run);
    if (!run) return;
    const key = `${rows.epoch}/${rows.next}/${rows.last.round}`;
    if (at("curves").dataset.key === key) return;
    at("curves").dataset.key = key;
    const empty = s.kind === "node" ? NODE_PANELS.slice(1, 2) : RUN_PANELS.slice(1, 3);
    const spec = { axes: axes.length ? axes : AXES.slice(0, 1), panels: known.length ? known : empty, series: [{ name: s.title || "run", style: 0, columns: all }] };
    if (chart) chart.update(spec); else chart = prdoChart(at("curves"), spec);
  }

  function drawNetwork(s, run) {
    show("network-part", run && Boolean(picture));
    if (!run || !picture) return;
    text("network-title", s.kind === "node" ? "Members" : "Network");
    if (!network) network = prdoNetwork(at("network"), at("nodes"));
    const key = JSON.stringify([s.disagreement, s.neighbours, picture.nodes]);
    if (at("network").dataset.key === key) return;
    at("network").dataset.key = key;
    network.update(picture, { values: s.disagreement, neighbours: s.neighbours, self: s.member });
  }

  function drawLog(lines) {
    show("log-part", lines.length > 0);
    const box = at("log"), key = JSON.stringify(lines[lines.length - 1]) + lines.length;
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    const below = box.scrollHeight - box.scrollTop - box.clientHeight < 30;
    box.replaceChildren();
    for (const line of lines) {
      const row = make("div", ["warning", "error"].includes(line.level) ? line.level : "", box);
      make("time", "", row, String(line.time || "").replace("T", " ").slice(0, 19));
      make("em", "", row, String(line.level || ""));
      make("span", "", row, String(line.text || ""));
    }
    if (below) box.scrollTop = box.scrollHeight;
  }

  function drawFacts(facts) {
    show("facts-part", facts.length > 0);
    const key = JSON.stringify(facts);
    if (at("facts").dataset.key === key) return;
    at("facts").dataset.key = key;
    at("facts").replaceChildren();
    for (const [name, value] of facts) { make("dt", "", at("facts"), name); make("dd", "", at("facts"), value); }
  }

  // ---- Asking ------------------------------------------------------------------------------------------------
  async function ask(path) {
    const stop = new AbortController(), timer = setTimeout(() => stop.abort(), 5000);
    try {
      const answer = await fetch(path, { cache: "no-store", signal: stop.signal });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      return await answer.json();
    } finally {
      clearTimeout(timer);
    }
  }

  async function poll() {
    let wait = document.hidden ? HIDDEN : EVERY;
    try {
      const fresh = await ask(`state.json?page=${SELF}&epoch=${rows.epoch}&from=${rows.next}`);
      merge(fresh.rows);
      delete fresh.rows;
      const run = fresh.kind === "run" || fresh.kind === "node";
      // A folder in which another run begins gets another picture.
      const key = JSON.stringify([fresh.folder, fresh.title, fresh.facts && fresh.facts.map((f) => f[1]).slice(2, 6)]);
      if (run && key !== pictureOf) {
        // Without it rather than not at all: the state may have been the server's last word.
        await ask("network.json").then((fresh) => { picture = fresh; pictureOf = key; if (network) at("network").dataset.key = ""; }, () => {});
      }
      state = fresh;
      failures = 0;
      draw(false);
    } catch (error) {
      failures += 1;
      wait = Math.min(SLOWEST, EVERY * 2 ** Math.max(0, failures - PATIENCE));
      // One lost answer says nothing.
      if (failures >= PATIENCE) draw(true);
    }
    setTimeout(poll, wait);
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden && state && failures === 0) draw(false); });
  // The run need not wait for a page that is closed.
  window.addEventListener("pagehide", () => { fetch(`closed?page=${SELF}`, { keepalive: true }).catch(() => {}); });
  draw(false);
  poll();
})();
