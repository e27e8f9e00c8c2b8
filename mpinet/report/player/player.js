// Plays a recording: `time` is how many steps are over, a fraction while messages are on their way.
// The step that is shown is kept in the address (#step=7), so that it can be sent.
const scene = JSON.parse(document.getElementById("scene").textContent);
const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
const COLOURS = ["#2f81f7", "#d1572a", "#2da44e", "#a475f9", "#c4990f", "#1fa3b8", "#d6449b", "#7d8590"];
const SHOWN_DOTS = 1500, SHOWN_TRAILS = 500, SHOWN_LINES = 3000, STEP_WIDTH = 11, LABELS = 400;
const FONT = '"DejaVu Sans", system-ui, sans-serif';  // of all pictures
const ADDRESS_EVERY = 300;  // milliseconds: browsers refuse more frequent changes of the address

function unpack([kind, text]) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return new KINDS[kind](bytes.buffer);
}
const [x, y, links, stubs, from, to, ways, first, channel, colour, queued, queue, callers, begins, ends,
       callSites, members, learnt, learntHost, learntBy] =
  ["x", "y", "links", "stubs", "from", "to", "ways", "first", "channel", "colour", "queued", "queue",
   "callers", "begins", "ends", "callsites", "members", "learnt", "learntHost", "learntBy"]
  .map(name => unpack(scene[name]));
const steps = scene.steps, shown = scene.shown;
const element = id => document.getElementById(id);
const net = element("net"), still = element("still"), diagram = element("time"), course = element("course");

// What has come to pass up to the step under way: kept, and moved forward or back step by step.
const load = new Uint32Array(from.length), waiting = new Int32Array(shown);
const informed = new Int32Array(shown);
let counted = 0, informedHosts = 0;
learn(0, scene.informs ? learntBy[0] : 0, 1);
function learn(begin, end, sign) {
  for (let k = begin; k < end; k++) {
    informed[learnt[k]] += sign;
    informedHosts += sign * learntHost[k];
  }
}
function countTo(step) {
  for (; counted < step; counted++) {
    for (let m = first[counted + 1]; m < first[counted + 2]; m++) load[channel[m]]++;
    shift(counted + 1, 1);
  }
  for (; counted > step; counted--) {
    for (let m = first[counted]; m < first[counted + 1]; m++) load[channel[m]]--;
    shift(counted, -1);
  }
}
function shift(step, sign) {
  if (scene.informs) learn(learntBy[step - 1], learntBy[step], sign);
  for (let e = queued[step]; e < queued[step + 1]; e++)
    waiting[queue[e] >> 1] += queue[e] & 1 ? -sign : sign;
}
const moving = new Uint32Array(steps + 1), waitingAll = new Uint32Array(steps + 1);
for (let step = 1, now = 0; step <= steps; step++) {
  moving[step] = first[step + 1] - first[step];
  for (let e = queued[step]; e < queued[step + 1]; e++) now += queue[e] & 1 ? -1 : 1;
  waitingAll[step] = now;
}

let time = 0, playing = false, speed = 1.5, last = 0, view = null, ink = {}, addressed = 0;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function measureAll() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "paper", "soft", "line", "quiet", "accent", "hot", "wait", "known"])
    ink[name] = style.getPropertyValue("--" + name).trim();
  for (const canvas of [net, still, diagram, course]) {
    const dense = Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * dense));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * dense));
    canvas.dense = dense;
  }
  const margin = 18 * net.dense, half = Math.min(net.width, net.height) / 2 - margin;
  const gap = shown > 1 ? scene.gap * half : 99;
  const part = shown > LABELS ? .17 : .32;  // among many nodes, messages have to be seen
  const radius = Math.max(1.2 * net.dense, Math.min(11 * net.dense, Math.max(part * gap, .1 * half / Math.sqrt(shown))));
  const px = new Float32Array(shown), py = new Float32Array(shown);
  for (let i = 0; i < shown; i++) {
    px[i] = net.width / 2 + x[i] * half;
    py[i] = net.height / 2 - y[i] * half;
  }
  const dot = Math.max(1.8 * net.dense, radius * (shown > LABELS ? .9 : .5));
  view = { radius, half, gap, px, py, dot, dots: [...COLOURS, ink.accent].map(one => sprite(dot, 1, one)),
           node: sprite(radius, 2, ink.paper, ink.quiet), known: sprite(radius, 2, ink.known, ink.quiet), wait: sprite(16, 0, ink.wait), step: -1 };
}

function mix(heat) { return `color-mix(in srgb, ${ink.hot} ${Math.round(100 * heat)}%, ${ink.quiet})`; }

function drawStill(step) {
  const pen = still.getContext("2d"), { px, py, radius } = view, dense = net.dense;
  pen.clearRect(0, 0, net.width, net.height);
  pen.strokeStyle = ink.line;
  pen.lineWidth = dense;
  pen.beginPath();
  for (let i = 0; i < links.length; i += 2) trace(pen, links[i], links[i + 1], stubs[i], stubs[i + 1]);
  pen.globalAlpha = Math.max(.12, Math.min(1, 10 * shown / links.length));
  pen.stroke();
  pen.globalAlpha = 1;
  let most = 0, least = Infinity, busiest = -1, longest = -1, total = 0;
  for (let c = 0; c < load.length; c++) {
    if (!load[c] || from[c] === to[c]) continue;
    least = Math.min(least, load[c]);
    if (load[c] > most) { most = load[c]; busiest = c; }
  }
  for (let i = 0; i < shown; i++) {
    total += waiting[i];
    if (waiting[i] > 0 && (longest < 0 || waiting[i] > waiting[longest])) longest = i;
  }
  const loads = element("loads").checked && most > 0;
  if (loads) drawLoads(pen, least, most);
  element("used").hidden = !loads;
  element("busy").hidden = !loads || least === most;
  const queues = element("queues").checked, high = longest < 0 ? 1 : waiting[longest];
  for (let i = 0; i < shown; i++) {
    const part = informed[i] / members[i], at = [px[i] - radius - 2, py[i] - radius - 2];
    if (part < 1) pen.drawImage(view.node, ...at);
    pen.globalAlpha = .25 + .75 * part;
    if (part > 0) pen.drawImage(view.known, ...at);
    pen.globalAlpha = 1;
  }
  if (queues) {
    for (let i = 0; i < shown; i++) {
      if (!waiting[i]) continue;
      const size = radius * (.35 + .65 * Math.sqrt(waiting[i] / high));
      pen.drawImage(view.wait, px[i] - size, py[i] - size, 2 * size, 2 * size);
    }
  }
  if (shown <= LABELS && view.gap >= 15 * dense) drawLabels(pen);
  tell(step, busiest, longest, total);
}
// A link, or of one that closes a ring a stub at each end.
function trace(pen, u, v, dx, dy) {
  const { px, py, half } = view, wide = dx * half, high = -dy * half;
  pen.moveTo(px[u], py[u]);
  if (wide || high) {
    pen.lineTo(px[u] + wide, py[u] + high);
    pen.moveTo(px[v] - wide, py[v] - high);
  }
  pen.lineTo(px[v], py[v]);
}
// Numbers within their nodes where they fit, else above them, on a halo.
function drawLabels(pen) {
  const { px, py, radius } = view, dense = net.dense, within = radius >= 7 * dense && shown <= 1000;
  pen.textAlign = "center";
  pen.textBaseline = within ? "middle" : "alphabetic";
  pen.font = `${Math.round((within ? Math.min(11, .85 * radius / dense) : 10) * dense)}px ${FONT}`;
  pen.lineWidth = 3 * dense;
  pen.strokeStyle = ink.soft;
  pen.fillStyle = ink.ink;
  for (let i = 0; i < shown; i++) {
    const high = within ? py[i] : py[i] - radius - 2 * dense;
    if (!within) pen.strokeText(i, px[i], high);
    pen.fillText(i, px[i], high);
  }
  pen.textBaseline = "alphabetic";
}
// Drawn once and copied: a canvas copies many small pictures sooner than it fills many circles.
function sprite(radius, margin, fill, rim) {
  const side = Math.ceil(2 * (radius + margin)), canvas = new OffscreenCanvas(side, side);
  const pen = canvas.getContext("2d");
  pen.fillStyle = fill;
  pen.beginPath();
  pen.arc(radius + margin, radius + margin, radius, 0, 7);
  pen.fill();
  if (rim) {
    pen.strokeStyle = rim;
    pen.lineWidth = Math.max(1, radius / 5);
    pen.stroke();
  }
  return canvas;
}
function drawLoads(pen, least, most) {
  const bands = 8, of = c => Math.ceil(bands * (load[c] - least) / (most - least || 1));
  for (let band = 0; band <= bands; band++) {
    pen.strokeStyle = mix(band / bands);
    pen.lineWidth = net.dense * (.8 + 2.4 * band / bands) * (shown > 200 ? .6 : 1);
    for (let c = 0; c < load.length; c++) {
      if (!load[c] || of(c) !== band) continue;
      pen.beginPath();
      trace(pen, from[c], to[c], ways[2 * c], ways[2 * c + 1]);
      pen.stroke();
    }
  }
}

function drawMoving(step, part) {
  const pen = net.getContext("2d"), { px, py, half } = view;
  pen.clearRect(0, 0, net.width, net.height);
  if (step < 1) return;
  const begin = first[step], end = first[step + 1];
  const stride = Math.max(1, Math.ceil((end - begin) / SHOWN_DOTS));
  const trails = (end - begin) / stride <= SHOWN_TRAILS;
  pen.lineWidth = view.dot * .5;
  for (let m = begin; m < end; m += stride) {
    const c = channel[m], u = from[c], v = to[c], out = [ways[2 * c] * half, -ways[2 * c + 1] * half];
    // Over a ring's end it goes out by one stub, and comes in again by the other.
    const cut = out[0] || out[1];
    // A message stays beside the circles of its ends, whose numbers it would hide.
    const long = cut ? 2 * Math.hypot(...out) : Math.hypot(px[v] - px[u], py[v] - py[u]);
    const edge = Math.min(.4, (view.radius + view.dot) / (long || 1));
    const at = edge + (1 - 2 * edge) * part, back = Math.max(0, at - .3), gone = cut && at < .5;
    const ax = cut && !gone ? px[v] - 2 * out[0] : px[u], ay = cut && !gone ? py[v] - 2 * out[1] : py[u];
    const wide = cut ? 2 * out[0] : px[v] - px[u], high = cut ? 2 * out[1] : py[v] - py[u];
    const least = cut && !gone ? .5 : 0;
    const which = Math.min(colour[m], COLOURS.length), cx = ax + wide * at, cy = ay + high * at;
    if (trails) {
      pen.strokeStyle = COLOURS[which] || ink.accent;
      pen.beginPath();
      pen.moveTo(ax + wide * Math.max(least, back), ay + high * Math.max(least, back));
      pen.lineTo(cx, cy);
      pen.stroke();
    }
    pen.drawImage(view.dots[which], cx - view.dot - 1, cy - view.dot - 1);
  }
  const said = stride > 1 ? [`1 in ${stride} messages shown`] : [];
  if (scene.omitted) said.push(`${scene.omitted} links are not`);
  element("about").textContent = said.join("; ");
}

// The space-time diagram: a row per node (or group), time to the right, a line per movement. The bars
// below have the same axis.
function setAxis(step) {
  const columns = Math.max(4, Math.min(steps, Math.floor(diagram.clientWidth / STEP_WIDTH)));
  const begin = Math.max(0, Math.min(steps - columns, step - Math.ceil(columns / 2)));
  const left = 40 * diagram.dense, wide = (diagram.width - left - 8 * diagram.dense) / columns;
  view.axis = { begin, end: begin + columns, at: t => left + (t - begin) * wide };
}
function drawLines(step) {
  const pen = diagram.getContext("2d"), dense = diagram.dense;
  const { begin, end, at } = view.axis, top = 8 * dense, left = at(begin), wide = at(1) - at(0);
  const high = diagram.height - 26 * dense - top;
  const row = i => top + (shown > 1 ? i / (shown - 1) * high : high / 2);
  pen.clearRect(0, 0, diagram.width, diagram.height);
  pen.font = `${Math.round(10 * dense)}px ${FONT}`;
  pen.fillStyle = ink.quiet;
  pen.strokeStyle = ink.line;
  pen.lineWidth = dense * .6;
  pen.beginPath();
  const rows = Math.max(1, Math.ceil(shown / Math.max(1, high / (14 * dense))));
  pen.textAlign = "right";
  for (let i = 0; i < shown; i += rows) {
    pen.moveTo(left, row(i));
    pen.lineTo(diagram.width, row(i));
    pen.fillText(i, left - 5 * dense, row(i) + 3 * dense);
  }
  pen.stroke();
  pen.textAlign = "center";
  const every = Math.max(1, Math.ceil(30 * dense / wide));
  for (let t = Math.ceil(begin / every) * every; t <= end && t <= steps; t += every)
    pen.fillText(t, at(t), diagram.height - 10 * dense);
  if (scene.informs) drawKnown(pen, begin, end, step, at, row, Math.min(10 * dense, high / shown * .8));
  drawCalls(pen, begin, end, at, row, Math.max(2 * dense, Math.min(8 * dense, high / shown * .6)));
  const a = first[begin + 1], b = first[Math.min(end, steps) + 1];
  const stride = Math.max(1, Math.ceil((b - a) / SHOWN_LINES));
  pen.lineWidth = dense * (shown > 100 ? .7 : 1.3);
  let when = begin + 1;
  const paths = new Map();
  for (let m = a; m < b; m += stride) {
    while (first[when + 1] <= m) when++;
    if (!paths.has(colour[m])) paths.set(colour[m], new Path2D());
    const path = paths.get(colour[m]);
    path.moveTo(at(when - 1), row(from[channel[m]]));
    path.lineTo(at(when), row(to[channel[m]]));
  }
  for (const [which, path] of paths) {
    pen.strokeStyle = which === 255 ? ink.accent : COLOURS[which];
    pen.stroke(path);
  }
  element("timecaption").textContent =
    `${shown < scene.nodes ? "groups" : "nodes"} (downwards) by step` +
    (stride > 1 ? `; 1 in ${stride} movements shown` : "") + (callers.length ? "; bars are calls" : "");
}
// Who is informed by the step that is shown, from when on.
function drawKnown(pen, begin, end, step, at, row, thick) {
  pen.fillStyle = ink.known;
  pen.globalAlpha = .55;
  const until = at(Math.min(step, end));
  for (let when = 0; when <= Math.min(step, end); when++) {
    for (let k = when ? learntBy[when - 1] : 0; k < learntBy[when]; k++) {
      const left = at(Math.max(when, begin));
      pen.fillRect(left, row(learnt[k]) - thick / 2, Math.max(until - left, 1), thick);
    }
  }
  pen.globalAlpha = 1;
}
function drawCalls(pen, begin, end, at, row, thick) {
  pen.globalAlpha = .35;
  for (let k = 0; k < callers.length; k++) {
    if (ends[k] < begin || begins[k] > end) continue;
    pen.fillStyle = COLOURS[callSites[k] % COLOURS.length];
    const left = at(Math.max(begins[k], begin)), right = at(Math.min(ends[k], end));
    pen.fillRect(left, row(callers[k]) - thick / 2, Math.max(right - left, 2), thick);
  }
  pen.globalAlpha = 1;
}
function moveHead() {
  element("head").style.transform = `translateX(${view.axis.at(time) / diagram.dense}px)`;
}

function drawCourse() {
  const pen = course.getContext("2d"), { begin, end, at } = view.axis, height = course.height - 4;
  pen.clearRect(0, 0, course.width, course.height);
  const most = Math.max(1, highest(moving), highest(waitingAll)), half = (at(1) - at(0)) / 2;
  for (const [numbers, name, aside] of [[waitingAll, "wait", 0], [moving, "accent", half]]) {
    pen.fillStyle = ink[name];
    pen.globalAlpha = .75;
    for (let step = begin + 1; step <= Math.min(end, steps); step++) {
      const tall = numbers[step] / most * (height - 12 * course.dense);
      pen.fillRect(at(step - 1) + aside, height + 4 - tall, Math.max(1, half * .9), tall);
    }
  }
  pen.globalAlpha = 1;
  pen.fillStyle = ink.quiet;
  pen.textAlign = "right";
  pen.font = `${Math.round(10 * course.dense)}px ${FONT}`;
  pen.fillText(most, at(begin) - 5 * course.dense, 12 * course.dense);
  pen.fillText(0, at(begin) - 5 * course.dense, height);
  pen.fillStyle = ink.hot;
  for (const step of scene.pauses)
    if (begin <= step && step <= end) pen.fillRect(at(step) - 2, 0, 4, 6 * course.dense);
}
function highest(numbers) {
  let most = 0;
  for (const number of numbers) most = Math.max(most, number);
  return most;
}

function tell(step, busiest, longest, total) {
  const name = shown < scene.nodes ? "group " : "";
  const rows = [["moving in this step", step ? moving[step] : 0],
                ["moved so far", first[step + 1]],
                ["busiest link so far", busiest < 0 ? "none" : `${name}${from[busiest]} → ${to[busiest]}: ${load[busiest]}`]];
  if (scene.numbered)
    rows.push(["waiting in this step", total],
              ["longest queue", longest < 0 ? "none" : `${name}${longest}: ${waiting[longest]}`]);
  element("figures").innerHTML = rows.map(([what, value]) => `<dt>${what}</dt><dd>${value}</dd>`).join("");
  element("step").textContent = `step ${step} of ${steps}`;
  const known = scene.informs ? [`${informedHosts} of ${scene.hosts} informed`] : [];
  element("known").textContent = known.join();
  view.said = [`step ${step} of ${steps}`, ...known, ...rows.map(([what, value]) => `${what}: ${value}`)].join(", ");
}
// Told to who cannot see it, once it stands still.
function say() {
  if (!playing && element("said").textContent !== view.said) element("said").textContent = view.said;
}

function frame(when) {
  time = Math.max(0, Math.min(steps, when));
  const step = Math.ceil(time);
  if (view.step !== step) {
    countTo(step);
    view.step = step;
    setAxis(step);
    drawStill(step);
    drawLines(step);
    drawCourse();
    element("slider").value = step;
    if (!playing || performance.now() - addressed > ADDRESS_EVERY) address();
  }
  drawMoving(step, calm.matches ? .5 : time - step + 1);
  moveHead();
  say();
}
function address() {
  addressed = performance.now();
  history.replaceState(null, "", `#step=${Math.ceil(time)}`);
}
function go(step) {
  pause();
  frame(step);
  address();
}
function tick(now) {
  if (!playing) return;
  const on = time + Math.min(100, now - last) / 1000 * speed;
  last = now;
  const stop = scene.pauses.find(step => time < step && step <= on);
  if (stop !== undefined || on >= steps) return go(stop ?? steps);
  frame(on);
  requestAnimationFrame(tick);
}
function play() {
  playing = true;
  element("play").textContent = "❚❚";
  element("play").setAttribute("aria-label", "pause");
  if (time >= steps) frame(0);
  last = performance.now();
  requestAnimationFrame(tick);
}
function pause() {
  playing = false;
  element("play").textContent = "▶";
  element("play").setAttribute("aria-label", "play");
}
function redraw() {
  measureAll();
  frame(time);
}
function fromAddress() {
  const found = /step=(\d+)/.exec(location.hash);
  pause();
  frame(found ? Number(found[1]) : 0);
}

const KEYS = {
  " ": () => playing ? go(Math.ceil(time)) : play(),
  ArrowLeft: () => go(Math.ceil(time) - 1), ArrowRight: () => go(Math.floor(time) + 1),
  Home: () => go(0), End: () => go(steps),
  "+": () => { speed *= 1.5; }, "=": () => { speed *= 1.5; }, "-": () => { speed /= 1.5; },
  l: () => element("loads").click(), q: () => element("queues").click(),
};
// A button keeps the keys that press it, the slider those that move it.
function isTaken(key, target) {
  if (target.matches("input[type=range]")) return ["ArrowLeft", "ArrowRight", "Home", "End"].includes(key);
  return key === " " && target.matches("button, input, a");
}
addEventListener("keydown", event => {
  const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
  if (!act || event.ctrlKey || event.metaKey || event.altKey || isTaken(event.key, event.target)) return;
  event.preventDefault();
  act();
});
element("play").onclick = KEYS[" "];
element("back").onclick = KEYS.ArrowLeft;
element("on").onclick = KEYS.ArrowRight;
element("slider").oninput = event => go(Number(event.target.value));
element("loads").onchange = element("queues").onchange = redraw;
course.onclick = diagram.onclick = event => {
  const { begin, end, at } = view.axis, one = at(1) - at(0);
  go(Math.max(begin, Math.min(end, Math.ceil(begin + (event.offsetX * course.dense - at(begin)) / one))));
};
addEventListener("resize", redraw);
addEventListener("hashchange", fromAddress);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
calm.addEventListener("change", redraw);
const used = [...new Set(colour)].sort((a, b) => a - b);
element("colours").innerHTML = used.map(one => `<i style="background:${COLOURS[one] || "var(--accent)"}"></i>`).join("");
measureAll();
fromAddress();
