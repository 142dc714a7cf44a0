"use strict";
// Shows the table of states and the trace. All of their data are in the page.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const threadCount = data.threads.length;
const colour = (thread) => `var(--t${thread % 6})`;

// The names of shared states and symbols: for a program, in words of the program.
const names = data.words || data;

function element(name, text, className) {
  const created = document.createElement(name);
  if (text !== undefined) created.textContent = text;
  if (className) created.className = className;
  return created;
}

// Returns the symbols of a stack, top first. Stack 0 is empty. Each other stack is a symbol on top of another stack.
function symbolsOf(stack) {
  const symbols = [];
  for (let at = stack; at > 0; at = data.stacks[at - 1][1]) symbols.push(data.stacks[at - 1][0]);
  return symbols;
}
const topOf = (stack) => (stack > 0 ? data.stacks[stack - 1][0] : -1);
// A stack comes after the stack that is below its top.
const heights = [0];
for (const [, below] of data.stacks) heights.push(heights[below] + 1);
const heightOf = (stack) => heights[stack];
const symbolName = (symbol) => (symbol < 0 ? "ε" : names.symbols[symbol]);
const stackText = (stack) => (stack > 0 ? symbolsOf(stack).map(symbolName).join(" ") : "ε");

// Shows the table: the new states at each k. Only the rows that the user can see are in the page.
function showTable() {
  const ROW = 24;
  const width = threadCount + 1;
  const kinds = [["visible", "visible states T(R_k)", data.visible]];
  if (data.states) kinds.push(["states", "states R_k", data.states]);
  for (const [value, name] of kinds) byId("kind").append(new Option(name, value));
  byId("thread").append(new Option("any", ""));
  data.threads.forEach((name, thread) => byId("thread").append(new Option(name, thread)));
  const offer = (list, names) => names.slice(0, 1000).forEach((name) => byId(list).append(new Option(name)));
  offer("shared-names", [...names.shared].sort());
  offer("symbol-names", ["ε", ...[...names.symbols].sort()]);

  const head = byId("rows").querySelector("thead");
  const body = byId("rows").querySelector("tbody");
  // The listed states: the table, its matching rows with their levels, and the columns of the threads.
  let table, matching, matchingLevels, columns;

  // Returns the numbers of the names that fit a text: of the name that equals it, or of all names that contain it.
  function wanted(text, names) {
    if (text === "") return null;
    const exact = names.indexOf(text);
    if (exact >= 0) return new Set([exact]);
    const part = text.toLowerCase();
    return new Set(names.flatMap((name, number) => (name.toLowerCase().includes(part) ? [number] : [])));
  }

  function filter() {
    table = kinds.find(([value]) => value === byId("kind").value)[2];
    const onlyLevel = byId("level").value;
    const onlyShared = wanted(byId("shared").value.trim(), names.shared);
    const text = byId("symbol").value.trim();
    const onlySymbols = text === "ε" || text === "-" ? new Set([-1]) : wanted(text, names.symbols);
    const thread = byId("thread").value;
    columns = thread === "" ? data.threads.map((_, i) => i + 1) : [Number(thread) + 1];
    // If only one thread is shown, equal rows are listed once.
    const seen = new Set();
    matching = [];
    matchingLevels = [];
    table.levels.forEach((rows, k) => {
      if (onlyLevel !== "" && Number(onlyLevel) !== k) return;
      for (let at = 0; at < rows.length; at += width) {
        if (onlyShared && !onlyShared.has(rows[at])) continue;
        if (onlySymbols && !columns.some((column) => onlySymbols.has(topOf(rows[at + column])))) continue;
        if (thread !== "") {
          const view = `${rows[at]},${rows[at + columns[0]]}`;
          if (seen.has(view)) continue;
          seen.add(view);
        }
        matching.push(at);
        matchingLevels.push(k);
      }
    });
    const listed = table.levels.reduce((sum, rows) => sum + rows.length / width, 0);
    let count = `${matching.length.toLocaleString("en")} of ${listed.toLocaleString("en")}`;
    if (thread !== "") count += `, as ${data.threads[thread]} sees them`;
    if (!table.is_complete) count += `; listed for k < ${table.levels.length} only, since there are ${table.of_states} in all`;
    byId("count").textContent = count;
    heading();
    byId("rows").scrollTop = 0;
    draw();
  }

  // Shows the heading. Columns are as wide as their names, up to a limit.
  function heading() {
    const longest = (names) => names.reduce((most, name) => Math.max(most, name.length), 0);
    const room = Math.min(longest(names.symbols) * (byId("kind").value === "states" ? 3 : 1), 48);
    const threads = columns.map((column) => data.threads[column - 1]);
    const wide = [Math.max(3, String(table.levels.length).length), Math.min(Math.max(longest(names.shared), 6), 90), ...threads.map((name) => Math.max(room, Math.min(name.length, 20), 4))];
    const row = element("tr");
    ["k", "shared", ...threads].forEach((name, column) => {
      const cell = element("th", name);
      cell.scope = "col";
      cell.title = name;
      cell.style.width = `calc(${wide[column]}ch + 1.4rem)`;
      row.append(cell);
    });
    // An empty column takes the remaining width.
    row.append(element("th"));
    byId("rows").firstChild.style.minWidth = `calc(${wide.reduce((sum, ch) => sum + ch)}ch + ${1.4 * wide.length}rem)`;
    head.replaceChildren(row);
  }

  function draw() {
    const seen = byId("rows");
    const from = Math.max(0, Math.floor(seen.scrollTop / ROW) - 20);
    const to = Math.min(matching.length, from + Math.ceil(seen.clientHeight / ROW) + 40);
    const rows = [];
    const space = (count) => {
      const row = element("tr", undefined, "space");
      const cell = element("td");
      cell.colSpan = columns.length + 3;
      cell.style.height = `${count * ROW}px`;
      row.append(cell);
      return row;
    };
    if (from > 0) rows.push(space(from));
    for (let i = from; i < to; i++) {
      const [at, k] = [matching[i], matchingLevels[i]];
      const row = element("tr", undefined, i > 0 && matchingLevels[i - 1] !== k ? "starts" : "");
      row.append(element("td", k));
      const level = table.levels[k];
      [names.shared[level[at]], ...columns.map((column) => stackText(level[at + column]))].forEach((text) => {
        const cell = element("td", text);
        cell.title = text;
        row.append(cell);
      });
      row.append(element("td"));
      rows.push(row);
    }
    if (to < matching.length) rows.push(space(matching.length - to));
    body.replaceChildren(...rows);
  }

  byId("filters").addEventListener("input", filter);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(filter));
  byId("rows").addEventListener("scroll", draw);
  window.addEventListener("resize", draw);
  filter();
}

// Shows the trace: the lanes, the current state, and the program beside it.
function showTrace() {
  const LANE = 62, ABOVE = 22, BELOW = 26, MARGIN = 14;
  const { states, steps, left_out: leftOut, source } = data.trace;
  const contexts = [];
  steps.forEach((step, i) => {
    if (contexts.length === 0 || contexts[contexts.length - 1].number !== step.context) {
      contexts.push({ number: step.context, thread: step.thread, start: i, end: i });
    }
    contexts[contexts.length - 1].end = i + 1;
  });
  // Steps that are part of the step before are skipped.
  const stops = [0];
  steps.forEach((step, i) => { if (!step.is_hidden || i + 1 === steps.length) stops.push(i + 1); });
  const initial = steps.length === 0 ? "the initial state is bad: no step" : "initial state";
  const start = leftOut > 0 ? "first state shown" : initial;
  const ofSteps = leftOut > 0 ? "of the last" : "of";
  let at = 0;

  function svg(name, attributes, text) {
    const created = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) created.setAttribute(key, attributes[key]);
    if (text !== undefined) created.textContent = text;
    return created;
  }

  // Returns the shared state; for a program, only its changes.
  function sharedText(i) {
    if (!source) return data.shared[states[i][0]];
    if (source.errors.includes(states[i][0])) return "error";
    if (i === 0) return "";
    const known = source.shared[states[i][0]];
    const old = new Map(source.shared[states[i - 1][0]]);
    const variables = known.filter(([name, value]) => old.get(name) !== value).map(([name, value]) => `${name} = ${valueText(value)}`);
    const [now, before] = [source.synchronised[i], source.synchronised[i - 1]];
    const taken = newOf(now.locks.map(([, text]) => text), before.locks.map(([, text]) => text));
    const freed = before.locks.filter(([name]) => !now.locks.some(([held]) => held === name)).map(([name]) => `${name} free`);
    return [...variables, ...taken, ...freed, ...newOf(now.waiting, before.waiting)].join(", ");
  }

  // Returns the items that occur more often in the first list than in the second one.
  function newOf(now, before) {
    const left = [...before];
    return now.filter((text) => {
      const known = left.indexOf(text);
      if (known >= 0) left.splice(known, 1);
      return known < 0;
    });
  }

  let gap, cursor, handle;
  const x = (i) => MARGIN + i * gap;

  function drawLanes() {
    byId("lane-names").replaceChildren(element("div", "context"), ...data.threads.map((name, thread) => {
      const label = element("div", name);
      label.title = name;
      label.style.lineHeight = `${LANE}px`;
      label.style.color = colour(thread);
      return label;
    }));
    byId("lane-names").append(element("div", "shared"));
    for (const [label, high] of [[byId("lane-names").firstChild, ABOVE], [byId("lane-names").lastChild, BELOW]]) {
      label.style.lineHeight = `${high}px`;
      label.className = "place";
    }
    const lanes = byId("lanes");
    const height = ABOVE + LANE * threadCount + BELOW;
    gap = Math.max(5, Math.min(46, (lanes.clientWidth - 2 * MARGIN) / Math.max(1, steps.length)));
    const width = 2 * MARGIN + gap * steps.length;
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const highest = states.reduce((most, state) => state.slice(1).reduce((high, stack) => Math.max(high, heightOf(stack)), most), 1);
    const y = (thread, high) => ABOVE + LANE * (thread + 1) - 8 - (high / highest) * (LANE - 18);
    let free = 0;
    for (const context of contexts) {
      const [start, end] = [x(context.start), x(context.end)];
      const top = ABOVE + LANE * context.thread;
      const band = svg("rect", { class: "context", x: start, y: top + 2, width: end - start, height: LANE - 4, rx: 4, fill: colour(context.thread), "fill-opacity": 0.17 });
      band.append(svg("title", {}, `context ${context.number + 1}: ${data.threads[context.thread]}`));
      picture.append(band);
      const middle = (start + end) / 2;
      if (middle - 8 >= free) {
        picture.append(svg("text", { x: middle, y: 15, "text-anchor": "middle" }, context.number + 1));
        free = middle + 14;
      }
    }
    data.threads.forEach((name, thread) => {
      const bottom = ABOVE + LANE * (thread + 1);
      picture.append(svg("line", { class: "border", x1: 0, x2: width, y1: bottom, y2: bottom }));
      const points = [];
      states.forEach((state, i) => {
        const high = y(thread, heightOf(state[thread + 1]));
        if (i > 0) points.push(`${x(i)},${y(thread, heightOf(states[i - 1][thread + 1]))}`);
        points.push(`${x(i)},${high}`);
      });
      picture.append(svg("polyline", { class: "height", points: points.join(" "), stroke: colour(thread) }));
      steps.forEach((step, i) => {
        if (step.thread !== thread || step.is_hidden || gap < 8) return;
        const dot = svg("circle", { cx: x(i + 1), cy: y(thread, heightOf(states[i + 1][thread + 1])), r: 3.2, fill: colour(thread) });
        dot.append(svg("title", {}, step.text + (step.changes ? ` · ${step.changes}` : "")));
        picture.append(dot);
      });
      // A bar at the bottom of the lane marks a held lock, a bar at its top marks an atomic section.
      const bar = (className, y, textAt) => {
        for (let i = 0, from = 0; source && i < states.length; i++) {
          const text = textAt(source.synchronised[i]);
          if (i === 0 || text !== textAt(source.synchronised[i - 1])) from = i;
          if (text === "" || (i + 1 < states.length && text === textAt(source.synchronised[i + 1]))) continue;
          const rect = svg("rect", { class: className, x: x(from), y, width: Math.max(2, x(Math.min(i + 1, states.length - 1)) - x(from)), height: 3, fill: colour(thread) });
          rect.append(svg("title", {}, text));
          picture.append(rect);
        }
      };
      bar("holds", bottom - 5, (now) => (now.holds[thread] || []).map((lock) => `${lock} held by ${name}`).join(", "));
      bar("atomic", bottom - LANE + 3, (now) => (now.atomic === thread ? `${name} in atomic` : ""));
    });
    // Marks below the lanes show the changes of the shared state, with their text if there is enough space.
    const isNew = (i) => (i === 0 ? !source : states[i][0] !== states[i - 1][0] && sharedText(i) !== "");
    const changes = states.flatMap((_, i) => (isNew(i) ? [i] : []));
    changes.forEach((i, number) => {
      const text = sharedText(i);
      const room = (number + 1 < changes.length ? x(changes[number + 1]) : width) - x(i);
      const tick = svg("rect", { class: "change", x: x(i) - 1, y: height - BELOW + 5, width: 2, height: 16 });
      tick.append(svg("title", {}, text));
      picture.append(tick);
      if (text.length * 6.5 + 8 < room) picture.append(svg("text", { x: x(i) + 5, y: height - 9 }, text));
    });
    cursor = svg("line", { class: "cursor", y1: ABOVE - 4, y2: height });
    handle = svg("path", { class: "handle" });
    picture.append(cursor, handle);
    lanes.replaceChildren(picture);
  }

  const valueText = (value) => (value === null ? "*" : value ? "1" : "0");

  // Returns variables with their values. New variables and changed values are marked.
  function variables(now, before) {
    const old = new Map(before || now);
    return now.map(([name, value]) => {
      const changed = old.get(name) !== value;
      return element("span", `${name} = ${valueText(value)}`, changed ? "variable changed" : "variable");
    });
  }

  // Returns the texts beside the variables. New texts are marked.
  const tags = (now, before) => {
    const left = newOf(now, before);
    return now.map((text) => {
      const known = left.indexOf(text);
      if (known >= 0) left.splice(known, 1);
      return element("span", text, known >= 0 ? "variable changed" : "variable");
    });
  };
  const synchronised = (now) => [...now.locks.map(([, text]) => text), ...now.waiting];
  const ofThread = (now, thread) => [...(now.atomic === thread ? ["in atomic"] : []), ...(now.holds[thread] || []).map((lock) => `holds ${lock}`)];

  function showState() {
    const state = states[at], before = at > 0 ? states[at - 1] : state;
    const now = source && source.synchronised[at], then = source && source.synchronised[Math.max(0, at - 1)];
    const rows = [];
    const row = (name, moved, ...content) => {
      const created = element("tr");
      const heading = element("th", name);
      heading.scope = "row";
      heading.title = name;
      const cell = element("td");
      cell.append(...content);
      if (moved) cell.className = "moved";
      created.append(heading, cell);
      rows.push(created);
      return heading;
    };
    if (!source) {
      row("shared", state[0] !== before[0], element("code", data.shared[state[0]]));
    } else if (source.errors.includes(state[0])) {
      // A failed statement changes no variable.
      row("shared", true, ...variables(source.shared[before[0]]), ...tags(synchronised(now), synchronised(then)));
    } else {
      row("shared", false, ...variables(source.shared[state[0]], source.shared[before[0]]), ...tags(synchronised(now), synchronised(then)));
    }
    data.threads.forEach((name, thread) => {
      const stack = state[thread + 1];
      const content = [];
      const list = element("div", undefined, "stack");
      if (source) {
        const frames = symbolsOf(stack).map((symbol) => source.symbols[symbol]);
        if (frames.length === 0) list.append(element("span", "not running"));
        frames.slice(0, 12).forEach((frame) => list.append(element("span", `${frame.function}:${frame.line}`), " "));
        if (frames.length > 12) list.append(`… ${frames.length} frames`);
        content.push(list);
        if (frames.length > 0) {
          const symbolsBefore = symbolsOf(before[thread + 1]);
          const same = symbolsBefore.length === frames.length;
          content.push(...variables(frames[0].variables, same ? source.symbols[symbolsBefore[0]].variables : frames[0].variables));
        }
        content.push(...tags(ofThread(now, thread), ofThread(then, thread)));
      } else {
        const symbols = symbolsOf(stack);
        if (symbols.length === 0) list.append(element("span", "ε"));
        symbols.slice(0, 40).forEach((symbol) => list.append(element("span", symbolName(symbol)), " "));
        if (symbols.length > 40) list.append(`… ${symbols.length} symbols`);
        content.push(list);
      }
      row(name, !source && stack !== before[thread + 1], ...content).style.color = colour(thread);
    });
    const table = element("table");
    table.append(...rows);
    byId("state").replaceChildren(table);
  }

  let lines = [], marked = [];
  function drawSource() {
    lines = source.text.split("\n").map((text, i) => {
      const line = element("div");
      line.append(element("span", i + 1, "number"), element("span", undefined, "marks"), element("code", text));
      return line;
    });
    byId("source").replaceChildren(...lines);
  }

  // Marks the line of the last step, and the current line of each thread.
  function markSource() {
    for (const line of marked) {
      line.className = "";
      line.children[1].replaceChildren();
    }
    marked = [];
    const markLine = (number) => {
      marked.push(lines[number - 1]);
      return lines[number - 1];
    };
    data.threads.forEach((name, thread) => {
      const top = topOf(states[at][thread + 1]);
      if (top < 0) return;
      const mark = element("span", `▸${name}`);
      mark.style.color = colour(thread);
      mark.title = `${name} is here`;
      markLine(source.symbols[top].line).children[1].append(mark);
    });
    const taken = at > 0 ? steps[at - 1].line : null;
    const first = taken || source.symbols[topOf(states[0].slice(1).find((stack) => stack > 0) || 0)]?.line || 1;
    if (taken) markLine(taken).className = "taken";
    const box = byId("source"), line = lines[first - 1];
    const low = line.offsetTop - box.scrollTop;
    if (low < 40 || low > box.clientHeight - 60) box.scrollTop = line.offsetTop - box.clientHeight / 2;
  }

  function show(position) {
    at = stops[position];
    byId("position").value = position;
    const step = at > 0 ? steps[at - 1] : null;
    byId("where").textContent = step
      ? `step ${position} ${ofSteps} ${stops.length - 1}, context ${step.context + 1}`
      : `${start}, before ${stops.length - 1} step${stops.length === 2 ? "" : "s"}`;
    byId("position").setAttribute("aria-valuetext", byId("where").textContent);
    const stepText = byId("step");
    stepText.replaceChildren();
    if (step) {
      const name = element("strong", data.threads[step.thread]);
      name.style.color = colour(step.thread);
      const origin = step.origin ? ` (${step.origin})` : "";
      stepText.append(name, step.line ? `, line ${step.line}${origin}: ` : ": ", element("code", step.text));
      if (step.changes) stepText.append(element("br"), element("span", step.changes, step.changes.startsWith("fails") ? "bad" : "place"));
      // The text of a failed assertion already says that the state is bad.
      if (position === stops.length - 1 && !step.changes.startsWith("fails")) stepText.append(element("br"), element("span", "a bad state", "bad"));
    } else if (steps.length === 0) {
      stepText.append(element("span", "The initial state is bad.", "bad"));
    } else {
      stepText.append(leftOut > 0 ? `The state after ${leftOut.toLocaleString("en")} steps, which are left out here.` : "The initial state.");
    }
    for (const [id, isEnd] of [["first", position === 0], ["previous", position === 0], ["next", position === stops.length - 1], ["last", position === stops.length - 1]]) byId(id).disabled = isEnd;
    const here = x(at);
    cursor.setAttribute("x1", here);
    cursor.setAttribute("x2", here);
    handle.setAttribute("d", `M${here - 5},${ABOVE - 8} h10 l-5,7 z`);
    const lanes = byId("lanes");
    if (here < lanes.scrollLeft + 40 || here > lanes.scrollLeft + lanes.clientWidth - 40) lanes.scrollLeft = here - lanes.clientWidth / 2;
    showState();
    if (source) markSource();
  }

  const position = () => Number(byId("position").value);
  const go = (to) => show(Math.max(0, Math.min(stops.length - 1, to)));
  // The positions at which contexts end.
  const ends = [0, ...contexts.map((context) => stops.findLastIndex((stop) => stop <= context.end))];
  const nextEnd = () => ends.find((end) => end > position()) ?? stops.length - 1;
  const previousEnd = () => ends.findLast((end) => end < position()) ?? 0;

  if (leftOut > 0) byId("first").title = "To the first state shown (Home)";
  byId("position").max = stops.length - 1;
  byId("position").addEventListener("input", () => go(position()));
  byId("first").addEventListener("click", () => go(0));
  byId("previous").addEventListener("click", () => go(position() - 1));
  byId("next").addEventListener("click", () => go(position() + 1));
  byId("last").addEventListener("click", () => go(stops.length - 1));
  byId("lanes").addEventListener("click", (event) => {
    const place = event.clientX - byId("lanes").getBoundingClientRect().left + byId("lanes").scrollLeft;
    const state = Math.round((place - MARGIN) / gap);
    go(stops.reduce((best, stop, i) => (Math.abs(stop - state) < Math.abs(stops[best] - state) ? i : best), 0));
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, #rows, #source")) return;
    const keys = {
      ArrowRight: () => go(event.shiftKey ? nextEnd() : position() + 1),
      ArrowLeft: () => go(event.shiftKey ? previousEnd() : position() - 1),
    };
    if (event.target.closest("#trace")) {
      keys.Home = () => go(0);
      keys.End = () => go(stops.length - 1);
    }
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  drawLanes();
  if (source) drawSource();
  window.addEventListener("resize", () => { drawLanes(); go(position()); });
  go(0);
}

showTable();
if (data.trace) showTrace();
