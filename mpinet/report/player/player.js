// Plays a recording: `time` is how many steps are over, a fraction while messages are on their way.
// The step is kept in the address (#step=7), so that it can be sent.
const scene = JSON.parse(document.getElementById("scene").textContent);
const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
const COLOURS = ["#2f81f7", "#d1572a", "#2da44e", "#a475f9", "#c4990f", "#1fa3b8", "#d6449b", "#7d8590"];
const SHOWN_DOTS = 1500, SHOWN_TRAILS = 500, SHOWN_LINES = 3000, STEP_WIDTH = 22;

function unpack([kind, text]) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return new KINDS[kind](bytes.buffer);
}
const [x, y, links, from, to, first, channel, colour, queued, queue, callers, begins, ends, callSites] =
  ["x", "y", "links", "from", "to", "first", "channel", "colour", "queued", "queue", "callers",
   "begins", "ends", "callsites"].map(name => unpack(scene[name]));
const steps = scene.steps, shown = scene.shown;
const element = id => document.getElementById(id);
const net = element("net"), still = element("still"), diagram = element("time"), course = element("course");

// What has come to pass up to the step under way: kept, and moved forward or back step by step.
const load = new Uint32Array(from.length), waiting = new Int32Array(shown);
let counted = 0;
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
  for (let e = queued[step]; e < queued[step + 1]; e++)
    waiting[queue[e] >> 1] += queue[e] & 1 ? -sign : sign;
}
const moving = new Uint32Array(steps + 1), waitingAll = new Uint32Array(steps + 1);
for (let step = 1, now = 0; step <= steps; step++) {
  moving[step] = first[step + 1] - first[step];
  for (let e = queued[step]; e < queued[step + 1]; e++) now += queue[e] & 1 ? -1 : 1;
  waitingAll[step] = now;
}

let time = 0, playing = false, speed = 1.5, last = 0, view = null, ink = {};

function measureAll() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "paper", "soft", "line", "quiet", "accent", "hot", "wait"])
    ink[name] = style.getPropertyValue("--" + name).trim();
  for (const canvas of [net, still, diagram, course]) {
    const dense = Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * dense));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * dense));
    canvas.dense = dense;
  }
  const radius = Math.max(1.6, Math.min(9, Math.sqrt(net.width * net.height / shown) / 6)) * net.dense;
  const margin = radius + (shown <= 64 ? 20 : 6) * net.dense;
  const half = Math.min(net.width, net.height) / 2 - margin;
  const px = new Float32Array(shown), py = new Float32Array(shown);
  for (let i = 0; i < shown; i++) {
    px[i] = net.width / 2 + x[i] * half;
    py[i] = net.height / 2 - y[i] * half;
  }
  const dot = Math.max(2.2 * net.dense, radius * .55);
  view = { radius, px, py, dot, dots: [...COLOURS, ink.accent].map(one => sprite(dot, 1, one)),
           node: sprite(radius, 2, ink.paper, ink.quiet), wait: sprite(16, 0, ink.wait), step: -1 };
}

function mix(heat) { return `color-mix(in srgb, ${ink.hot} ${Math.round(100 * heat)}%, ${ink.line})`; }

function drawStill(step) {
  const pen = still.getContext("2d"), { px, py, radius } = view, dense = net.dense;
  pen.clearRect(0, 0, net.width, net.height);
  pen.strokeStyle = ink.line;
  pen.lineWidth = dense;
  pen.beginPath();
  for (let i = 0; i < links.length; i += 2) {
    pen.moveTo(px[links[i]], py[links[i]]);
    pen.lineTo(px[links[i + 1]], py[links[i + 1]]);
  }
  pen.stroke();
  let most = 0, busiest = -1, longest = -1, total = 0;
  for (let c = 0; c < load.length; c++) if (load[c] > most && from[c] !== to[c]) { most = load[c]; busiest = c; }
  for (let i = 0; i < shown; i++) {
    total += waiting[i];
    if (waiting[i] > 0 && (longest < 0 || waiting[i] > waiting[longest])) longest = i;
  }
  if (element("loads").checked && most) drawLoads(pen, most);
  const queues = element("queues").checked, high = longest < 0 ? 1 : waiting[longest];
  for (let i = 0; i < shown; i++) pen.drawImage(view.node, px[i] - radius - 2, py[i] - radius - 2);
  if (queues) {
    for (let i = 0; i < shown; i++) {
      if (!waiting[i]) continue;
      const size = radius * (.35 + .65 * Math.sqrt(waiting[i] / high));
      pen.drawImage(view.wait, px[i] - size, py[i] - size, 2 * size, 2 * size);
    }
  }
  if (shown <= 64) {
    pen.fillStyle = ink.ink;
    pen.font = `${Math.round(11 * dense)}px system-ui, sans-serif`;
    pen.textAlign = "left";
    for (let i = 0; i < shown; i++) pen.fillText(i, px[i] + radius + 1, py[i] - radius);
  }
  tell(step, busiest, longest, total);
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
function drawLoads(pen, most) {
  const { px, py } = view, bands = 8;
  for (let band = 1; band <= bands; band++) {
    pen.strokeStyle = mix(band / bands);
    pen.lineWidth = net.dense * (.8 + 2.4 * band / bands) * (shown > 200 ? .6 : 1);
    for (let c = 0; c < load.length; c++) {
      if (!load[c] || Math.ceil(bands * load[c] / most) !== band) continue;
      pen.beginPath();
      pen.moveTo(px[from[c]], py[from[c]]);
      pen.lineTo(px[to[c]], py[to[c]]);
      pen.stroke();
    }
  }
}

function drawMoving(step, part) {
  const pen = net.getContext("2d"), { px, py, radius } = view;
  pen.clearRect(0, 0, net.width, net.height);
  if (step < 1) return;
  const begin = first[step], end = first[step + 1];
  const stride = Math.max(1, Math.ceil((end - begin) / SHOWN_DOTS));
  const at = .08 + .84 * part, back = Math.max(0, at - .3);
  const trails = (end - begin) / stride <= SHOWN_TRAILS;
  pen.lineWidth = view.dot * .5;
  for (let m = begin; m < end; m += stride) {
    const a = from[channel[m]], b = to[channel[m]], wide = px[b] - px[a], high = py[b] - py[a];
    const which = Math.min(colour[m], COLOURS.length), cx = px[a] + wide * at, cy = py[a] + high * at;
    if (trails) {
      pen.strokeStyle = COLOURS[which] || ink.accent;
      pen.beginPath();
      pen.moveTo(px[a] + wide * back, py[a] + high * back);
      pen.lineTo(cx, cy);
      pen.stroke();
    }
    pen.drawImage(view.dots[which], cx - view.dot - 1, cy - view.dot - 1);
  }
  element("about").textContent = stride > 1 ? `1 in ${stride} messages shown` : "";
}

// The space-time diagram: a row a node (or cluster), time to the right, a line a movement.
function stretch(step) {
  const columns = Math.max(4, Math.min(steps, Math.floor(diagram.clientWidth / STEP_WIDTH)));
  const begin = Math.max(0, Math.min(steps - columns, step - Math.ceil(columns / 2)));
  return [begin, begin + columns];
}
function drawLines(step) {
  const pen = diagram.getContext("2d"), dense = diagram.dense;
  const [begin, end] = stretch(step), left = 34 * dense, top = 8 * dense;
  const wide = (diagram.width - left - 8 * dense) / (end - begin), high = diagram.height - 26 * dense - top;
  const row = i => top + (shown > 1 ? i / (shown - 1) * high : high / 2), at = t => left + (t - begin) * wide;
  pen.clearRect(0, 0, diagram.width, diagram.height);
  pen.font = `${Math.round(10 * dense)}px system-ui, sans-serif`;
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
    `${shown < scene.nodes ? "clusters" : "nodes"} (downwards) by step` +
    (stride > 1 ? `; 1 in ${stride} movements shown` : "") + (callers.length ? "; bars are calls" : "");
  view.at = at;
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
  element("head").style.transform = `translateX(${view.at(time) / diagram.dense}px)`;
}

function drawCourse() {
  const pen = course.getContext("2d"), width = course.width, height = course.height - 4;
  pen.clearRect(0, 0, width, course.height);
  const bars = Math.min(steps, width);
  for (const [numbers, name] of [[waitingAll, "wait"], [moving, "accent"]]) {
    const tops = new Float32Array(bars);
    for (let step = 1; step <= steps; step++) {
      const bar = Math.floor((step - 1) * bars / steps);
      tops[bar] = Math.max(tops[bar], numbers[step]);
    }
    let most = 1;
    for (const top of tops) most = Math.max(most, top);
    view.most = Math.max(view.most || 1, most);
    pen.fillStyle = ink[name];
    pen.globalAlpha = .75;
    for (let bar = 0; bar < bars; bar++) {
      const tall = tops[bar] / view.most * height, half = width / bars / 2;
      pen.fillRect(bar * width / bars + (name === "accent" ? half : 0), height + 4 - tall, Math.max(1, half * .9), tall);
    }
  }
  pen.globalAlpha = 1;
  pen.fillStyle = ink.hot;
  pen.fillRect(Math.max(0, time / Math.max(1, steps) * width - 1), 0, 2 * course.dense, course.height);
}

function tell(step, busiest, longest, total) {
  const name = shown < scene.nodes ? "cluster " : "";
  const rows = [["moving in this step", step ? moving[step] : 0],
                ["moved so far", first[step + 1]],
                ["busiest link so far", busiest < 0 ? "none" : `${name}${from[busiest]} → ${to[busiest]}: ${load[busiest]}`]];
  if (scene.numbered)
    rows.push(["waiting in this step", total],
              ["longest queue", longest < 0 ? "none" : `${name}${longest}: ${waiting[longest]}`]);
  element("figures").innerHTML = rows.map(([what, value]) => `<dt>${what}</dt><dd>${value}</dd>`).join("");
  element("step").textContent = `step ${step} of ${steps}`;
}

function frame(when) {
  time = Math.max(0, Math.min(steps, when));
  const step = Math.ceil(time);
  if (view.step !== step) {
    countTo(step);
    view.step = step;
    drawStill(step);
    drawLines(step);
    drawCourse();
    element("slider").value = step;
  }
  drawMoving(step, time - step + 1);
  moveHead();
}
function go(step, keep) {
  if (!keep) pause();
  frame(step);
  history.replaceState(null, "", `#step=${Math.ceil(time)}`);
}
function tick(now) {
  if (!playing) return;
  const passed = Math.min(100, now - last);
  last = now;
  frame(time + passed / 1000 * speed);
  if (time >= steps) return go(steps);
  requestAnimationFrame(tick);
}
function play() {
  playing = true;
  element("play").textContent = "❚❚";
  if (time >= steps) frame(0);
  last = performance.now();
  requestAnimationFrame(tick);
}
function pause() {
  playing = false;
  element("play").textContent = "▶";
}
function redraw() {
  measureAll();
  frame(time);
}
function fromAddress() {
  const found = /step=(\d+)/.exec(location.hash);
  frame(found ? Number(found[1]) : 0);
}

const KEYS = {
  " ": () => playing ? go(Math.ceil(time)) : play(),
  ArrowLeft: () => go(Math.ceil(time) - 1), ArrowRight: () => go(Math.floor(time) + 1),
  Home: () => go(0), End: () => go(steps),
  "+": () => { speed *= 1.5; }, "=": () => { speed *= 1.5; }, "-": () => { speed /= 1.5; },
  l: () => element("loads").click(), q: () => element("queues").click(),
};
addEventListener("keydown", event => {
  const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});
element("play").onclick = KEYS[" "];
element("back").onclick = KEYS.ArrowLeft;
element("on").onclick = KEYS.ArrowRight;
element("slider").oninput = event => go(Number(event.target.value));
element("loads").onchange = element("queues").onchange = redraw;
course.onclick = event => go(Math.ceil(event.offsetX / course.clientWidth * steps));
addEventListener("resize", redraw);
addEventListener("hashchange", fromAddress);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
measureAll();
fromAddress();
