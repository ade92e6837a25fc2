"use strict";
// The graph is a tree of items: boxes, and groups of them, which are folded or not. Each group is
// laid out by itself, of few kids, so that it's quick; what isn't in the window isn't drawn.

const MOST = 50; // kids of a group: more are folded by ranks
const AT_FIRST = 250, UNFOLDED = 1500; // boxes that are shown at first, and by the button
const LINE = 16, LETTER = 7.3, PAD = 10, READABLE = 0.6;
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const canvas = $("graph"), pen = canvas.getContext("2d");
const view = {x: 0, y: 0, zoom: 1};
let root, items, boxes, selected = null; // the boxes of the stage that is shown
let hottest; // what the box takes that takes most, of those that are shown
data.stages.forEach((stage, i) => { stage.boxes ||= data.stages[i - 1].boxes; });

// The tree --------------------------------------------------------------------------------------

function item(title, parent = null, box = null, order = 0) {
    return {title, parent, box, order, kids: [], edges: new Map(), open: false, stale: true, count: 0};
}

function isGroup(x) {
    return x.kids.length > 0;
}

function pathOf(box, by) {
    const [file, , name] = data.places[box.source];
    const parts = by === "scope" ? (box.scope ? box.scope.split("/") : [])
        : by === "function" ? [`${name}, ${file.split(/[\\/]/).pop()}`] : [];
    if (!box.is_gradient || !$("apart").checked) return parts;
    return ["gradients", ...parts.filter(part => part !== "gradients")]; // TensorFlow's own scope
}

function fill(group, boxes, by) {
    const groups = new Map([["", group]]), ranks = ranksOf(boxes);
    const leaves = boxes.map((box, at) => {
        const order = ranks[at];
        let parent = group, path = "";
        for (const part of by === null ? [] : pathOf(box, by)) {
            path += `/${part}`;
            if (!groups.has(path)) {
                const made = item(part, parent);
                groups.set(path, made);
                parent.kids.push(made);
            }
            parent = groups.get(path);
            parent.order = Math.max(parent.order, order);
        }
        const leaf = item(box.title, parent, box, order);
        parent.kids.push(leaf);
        items.set(box.key, leaf);
        for (const [name, inner] of Object.entries(box.bodies || {})) {
            const body = item(name, leaf);
            leaf.kids.push(body);
            fill(body, inner, null);
        }
        return leaf;
    });
    groups.forEach(chunk);
    boxes.forEach((box, to) => (box.operands || []).forEach(
        at => join(leaves[at], leaves[to], boxes[at].type.endsWith("[]"))));
}

function ranksOf(boxes) { // how many boxes are before one; what needs nothing is beside what needs it
    const ranks = [], first = new Map();
    boxes.forEach((box, to) => {
        const operands = box.operands || [];
        ranks.push(1 + Math.max(-1, ...operands.map(at => ranks[at])));
        operands.forEach(at => { if (!first.has(at)) first.set(at, to); });
    });
    return ranks.map((rank, at) => rank || ranks[first.get(at) ?? at] - 0.5);
}

function chunk(group) { // groups are where their last box is: layer behind layer
    group.kids.sort((a, b) => a.order - b.order);
    while (group.kids.length > MOST) {
        const kids = group.kids, parts = Math.ceil(kids.length / MOST);
        group.kids = Array.from({length: parts}, (_, i) => {
            const own = kids.slice(i * kids.length / parts, (i + 1) * kids.length / parts);
            const made = item(`${own[0].title} … ${own[own.length - 1].title}`, group);
            made.kids = own;
            own.forEach(kid => { kid.parent = made; });
            return made;
        });
    }
}

function above(x) {
    const found = [];
    for (; x; x = x.parent) found.push(x);
    return found;
}

function join(from, to, isNumber) { // an edge between those that hold them, in what holds both
    const mine = above(from), others = new Set(above(to));
    const at = mine.findIndex(x => others.has(x));
    const common = mine[at], theirs = above(to);
    const a = mine[at - 1], b = theirs[theirs.indexOf(common) - 1];
    if (!a || !b) return;
    const known = common.edges.get(a) || new Map(); // by its ends, whether only numbers go there
    common.edges.set(a, known.set(b, isNumber && known.get(b) !== false));
}

function counted(x) {
    x.count = (x.box ? 1 : 0) + x.kids.reduce((sum, kid) => sum + counted(kid), 0);
    const own = x.box && isLast() ? data.profile[x.box.key] : null;
    for (const what of ["seconds", "bytes"]) {
        x[what] = x.kids.reduce((sum, kid) => sum + kid[what], (own || {})[what] || 0);
    }
    return x.count;
}

function isLast() {
    return boxes === data.stages[data.stages.length - 1].boxes;
}

function build() {
    items = new Map();
    root = item("");
    boxes = data.stages[$("stage").value].boxes;
    fill(root, boxes, $("by").value);
    counted(root);
    root.open = true;
    unfold(AT_FIRST);
    choose(null);
}

function unfold(most) { // outer groups before inner ones, until they'd be too many
    let shown = root.kids.length;
    for (const queue = [root]; queue.length;) {
        const x = queue.shift();
        if (!x.open && shown + x.kids.length > most) break;
        if (!x.open) shown += x.kids.length;
        x.open = true;
        queue.push(...x.kids.filter(isGroup));
    }
    stale(root, true);
    arranged();
    fit(READABLE);
}

function stale(x, below) {
    x.stale = true;
    if (below) x.kids.forEach(kid => stale(kid, true));
}

// Where things are ------------------------------------------------------------------------------

function nodes(count) {
    return `${count.toLocaleString()} node${count === 1 ? "" : "s"}`;
}

function linesOf(x) {
    return x.box ? x.box.lines : [x.title, nodes(x.count)];
}

function measure(x) {
    if (!x.stale) return;
    x.stale = false;
    x.lines = linesOf(x).map(line => line.length > 36 ? `…${line.slice(-35)}` : line);
    x.w = Math.max(60, ...x.lines.map(line => line.length * LETTER + 2 * PAD));
    x.h = x.lines.length * LINE + PAD;
    x.paths = [];
    if (!x.open) return;
    x.kids.forEach(measure);
    x.top = x.h;
    const joined = new Set([...x.edges].flatMap(([a, others]) => [a, ...others.keys()])), others = x.kids.filter(kid => !joined.has(kid));
    const [width, height] = layered(x, x.kids.filter(kid => joined.has(kid)));
    const [across, down] = inRows(others, x.top + height + (height && others.length ? 30 : 0));
    x.w = Math.max(x.w, Math.max(width, across) + 2 * PAD);
    x.h = Math.max(x.top + height, down) + PAD;
}

function layered(x, kids) {
    if (!kids.length) return [0, 0];
    const graph = new dagre.graphlib.Graph(), number = new Map(kids.map((kid, i) => [kid, `${i}`]));
    graph.setGraph({ranksep: 30, nodesep: 16, edgesep: 8, ranker: "tight-tree"});
    kids.forEach((kid, i) => graph.setNode(`${i}`, {width: kid.w, height: kid.h}));
    x.edges.forEach((others, a) => others.forEach((isNumber, b) => {
        graph.setEdge(number.get(a), number.get(b), {isNumber, weight: isNumber ? 0 : 4});
    }));
    dagre.layout(graph);
    kids.forEach((kid, i) => {
        const at = graph.node(`${i}`);
        [kid.x, kid.y] = [at.x - kid.w / 2 + PAD, at.y - kid.h / 2 + x.top];
    });
    x.paths = graph.edges().map(e => graph.edge(e)).map(({points, isNumber}) => (
        {isNumber, points: points.map(p => [p.x + PAD, p.y + x.top])}));
    return [graph.graph().width, graph.graph().height];
}

function inRows(kids, top) { // what no edge joins: about as wide as high
    const wanted = Math.max(...kids.map(kid => kid.w),
        1.5 * Math.sqrt(kids.reduce((sum, kid) => sum + kid.w * kid.h, 0)));
    let x = 0, y = top, below = top, width = 0;
    for (const kid of kids) {
        if (x && x + kid.w > wanted) [x, y] = [0, below + 16];
        [kid.x, kid.y] = [x + PAD, y];
        x += kid.w + 16;
        [width, below] = [Math.max(width, x - 16), Math.max(below, y + kid.h)];
    }
    return [width, below];
}

function arranged() {
    measure(root);
    let shown = 0;
    hottest = 0;
    const place = (x, left, top) => {
        [x.left, x.top0] = [left, top];
        if (x.open) x.kids.forEach(kid => place(kid, left + kid.x, top + kid.y));
        else [shown, hottest] = [shown + 1, Math.max(hottest, x[$("heat").value])];
    };
    place(root, 0, 0);
    $("count").textContent = `${nodes(root.count)}, ${shown.toLocaleString()} boxes`;
    redraw();
}

function toggle(x, point) { // what was under the pointer stays there
    x.open = !x.open;
    above(x).forEach(each => stale(each, false));
    const before = [x.left, x.top0];
    arranged();
    if (point) {
        view.x += (before[0] - x.left) * view.zoom;
        view.y += (before[1] - x.top0) * view.zoom;
    }
}

function shownFor(x) { // the item itself, or the folded one that holds it
    return above(x).reverse().find(each => !each.open) || x;
}

function fit(least = 0) { // all of it; or the upper end, so that words can be read
    const {width, height} = canvas.getBoundingClientRect();
    view.zoom = Math.min(1.2, Math.max(least, Math.min(width / root.w, height / root.h)));
    view.x = (width - root.w * view.zoom) / 2;
    view.y = Math.max(0, (height - root.h * view.zoom) / 2);
    redraw();
}

function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const next = Math.min(4, Math.max(0.005, view.zoom * factor));
    view.x = x - (x - view.x) * next / view.zoom;
    view.y = y - (y - view.y) * next / view.zoom;
    view.zoom = next;
    redraw();
}

// Drawing ---------------------------------------------------------------------------------------

let waiting = false;
function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
}

let seen; // the part of the graph that is in the window
function draw() {
    const scale = window.devicePixelRatio || 1;
    const {clientWidth: width, clientHeight: height} = canvas;
    if (canvas.width !== width * scale || canvas.height !== height * scale) {
        [canvas.width, canvas.height] = [width * scale, height * scale];
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(scale * view.zoom, 0, 0, scale * view.zoom, scale * view.x, scale * view.y);
    pen.font = "12px ui-monospace, Menlo, Consolas, monospace";
    const [left, top] = [-view.x / view.zoom, -view.y / view.zoom];
    seen = [left, top, left + width / view.zoom, top + height / view.zoom];
    paint(root);
    if (selected) paintNeighbours(shownFor(selected));
}

function isSeen(left, top, right, bottom) {
    return right >= seen[0] && bottom >= seen[1] && left <= seen[2] && top <= seen[3];
}

function paint(x) {
    const [left, top] = [x.left, x.top0];
    if (!isSeen(left, top, left + x.w, top + x.h)) return;
    if (x !== root) outline(x, left, top);
    if (x.w * view.zoom < 8) return;
    if (x !== root && view.zoom > 0.3) words(x, left, top);
    if (!x.open) return;
    pen.lineWidth = Math.max(1, 0.7 / view.zoom);
    pen.setLineDash([]);
    for (const isNumber of [true, false]) { // what arrays go along stands out
        pen.strokeStyle = isNumber ? "#80879040" : "#808790";
        pen.beginPath();
        x.paths.filter(path => path.isNumber === isNumber).forEach(path => line(path.points, left, top));
        pen.stroke();
    }
    x.kids.forEach(paint);
}

function line(path, left, top) {
    const [first, last] = [path[0], path[path.length - 1]];
    const xs = path.map(p => p[0]);
    const [low, high] = [left + Math.min(...xs), left + Math.max(...xs)];
    if (!isSeen(low, top + first[1], high, top + last[1])) return;
    pen.moveTo(left + first[0], top + first[1]);
    for (let i = 1; i < path.length - 1; i += 1) {
        const [a, b] = [path[i], path[i + 1]];
        const end = i === path.length - 2 ? b : [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
        pen.quadraticCurveTo(left + a[0], top + a[1], left + end[0], top + end[1]);
    }
    if (view.zoom > 0.3) {
        pen.moveTo(left + last[0] - 3, top + last[1] - 5);
        pen.lineTo(left + last[0], top + last[1]);
        pen.lineTo(left + last[0] + 3, top + last[1] - 5);
    }
}

const FORMS = { // by a look's form, its corners; the others are rectangles
    slanted: (w, h, c) => [[c, 0], [w, 0], [w - c, h], [0, h]],
    cut: (w, h, c) => [[c, 0], [w - c, 0], [w, c], [w, h - c], [w - c, h], [c, h], [0, h - c], [0, c]],
};

function outline(x, left, top) {
    const look = x.box ? data.looks[x.box.kind] : null;
    const gradient = x.box && x.box.is_gradient ? data.looks.gradient : look;
    const share = hottest ? Math.sqrt(x[$("heat").value] / hottest) : 0;
    pen.beginPath();
    if (look && FORMS[look.form]) {
        FORMS[look.form](x.w, x.h, 8).forEach(([a, b]) => pen.lineTo(left + a, top + b));
        pen.closePath();
    } else {
        pen.roundRect(left, top, x.w, x.h, look && look.form === "round" ? x.h / 2 : 3);
    }
    pen.fillStyle = look ? gradient.paper : x.open ? "#8080801c" : "#dfe3e8";
    pen.fill();
    if (share && !x.open) {
        pen.fillStyle = `rgb(220 40 40 / ${0.75 * share})`;
        pen.fill();
    }
    pen.strokeStyle = look ? gradient.edge : "#808790";
    pen.lineWidth = x === selected ? Math.max(4, 3 / view.zoom) : Math.max(1, 0.7 / view.zoom);
    pen.setLineDash(x.box && x.box.is_gradient ? [5, 3] : []);
    pen.stroke();
    if (look && look.form === "double") pen.strokeRect(left + 3, top + 3, x.w - 6, x.h - 6);
    if (look && look.form === "barred") pen.strokeRect(left + 5, top, x.w - 10, x.h);
}

function words(x, left, top) {
    const onPaper = x.box || !x.open;
    pen.fillStyle = onPaper ? "#1b1f24" : "#808790";
    pen.textAlign = "center";
    x.lines.forEach((text, i) => pen.fillText(text, left + x.w / 2, top + 16 + i * LINE));
}

function paintNeighbours(x) {
    const {operands, takers} = around(selected);
    pen.strokeStyle = "#d1242f";
    pen.lineWidth = Math.max(2, 1.5 / view.zoom);
    pen.setLineDash([]);
    pen.beginPath();
    for (const [a, b] of [...operands.map(o => [o, selected]), ...takers.map(t => [selected, t])]) {
        const [from, to] = [shownFor(a), shownFor(b)];
        if (from === to) continue;
        pen.moveTo(from.left + from.w / 2, from.top0 + from.h);
        pen.lineTo(to.left + to.w / 2, to.top0);
    }
    pen.stroke();
    pen.strokeRect(x.left - 2, x.top0 - 2, x.w + 4, x.h + 4);
}

// What one asks ---------------------------------------------------------------------------------

function sheetOf(x) { // the boxes among which a box's operands are
    const loop = above(x).slice(1).find(each => each.box);
    if (!loop) return boxes;
    return loop.box.bodies[x.box.key.slice(loop.box.key.length + 1).split(".")[0]];
}

function around(x) {
    if (!x.box) return {operands: [], takers: []};
    const others = sheetOf(x), at = others.indexOf(x.box);
    return {
        operands: (x.box.operands || []).map(i => items.get(others[i].key)),
        takers: others.filter(b => (b.operands || []).includes(at)).map(b => items.get(b.key)),
    };
}

function make(tag, text, ...kids) {
    const made = document.createElement(tag);
    made.textContent = text;
    made.append(...kids);
    return made;
}

function linkTo(x) {
    const made = make("button", `${x.box.key} ${x.box.title} ${x.box.name || ""}`);
    made.onclick = () => reveal(x);
    return made;
}

function lineOf(box) {
    const [file, number, name, text] = data.places[box.source];
    return `${text ? `${text}\n` : ""}${file}, line ${number}, in ${name}`;
}

function choose(x) {
    selected = x;
    redraw();
    if (!x) return;
    const {operands, takers} = around(x), b = x.box || {};
    const rows = x.box
        ? {Node: b.key, Title: b.title, Name: b.name, Scope: b.scope, Type: b.type, Kind: data.looks[b.kind].title,
            Gradient: b.is_gradient && "made by a gradient", Attributes: b.attributes,
            Becomes: (b.notes || []).join(", "), "Your line": lineOf(b)}
        : {Group: x.title, Nodes: x.count};
    Object.assign(rows, {
        Milliseconds: x.seconds && inUnits(1e3 * x.seconds), Megabytes: x.bytes && inUnits(x.bytes / 1e6)});
    const list = make("dl", "");
    for (const [name, value] of Object.entries(rows)) {
        if (value) list.append(make("dt", name), make("dd", value));
    }
    const made = x.box && isLast() && data.made[b.key];
    if (made) list.append(make("dt", data.engine), make("dd", "", make("pre", made)));
    for (const [name, found] of [["Operands", operands], ["Taken by", takers]]) {
        if (found.length) list.append(make("dt", name), make("dd", "", ...found.slice(0, 30).map(linkTo)));
    }
    $("node").replaceChildren(list);
}

function reveal(x) {
    above(x.parent).forEach(each => { each.open = true; stale(each, false); });
    arranged();
    choose(x);
    view.zoom = Math.max(view.zoom, 0.8);
    view.x = canvas.clientWidth / 2 - (x.left + x.w / 2) * view.zoom;
    view.y = canvas.clientHeight / 2 - (x.top0 + Math.min(x.h, 200) / 2) * view.zoom;
    redraw();
}

function search() {
    const wanted = $("search").value.trim().toLowerCase(), found = [];
    for (const x of wanted ? items.values() : []) {
        const {key, title, name, scope, type} = x.box;
        const all = `${key} ${title} ${name || ""} ${scope || ""} ${type} ${lineOf(x.box)}`.toLowerCase();
        if (all.includes(wanted)) found.push(x);
    }
    const links = found.slice(0, 100).map(linkTo);
    const words = wanted ? `${found.length.toLocaleString()} found` : "";
    $("found").replaceChildren(make("div", words), ...links);
}

function inUnits(number) {
    return number >= 100 ? number.toFixed() : number.toPrecision(2);
}

function profile() { // what lines of the user's take, the most first
    const sums = new Map();
    const add = box => {
        const own = data.profile[box.key];
        if (own) {
            const [seconds, bytes] = sums.get(box.source) || [0, 0];
            sums.set(box.source, [seconds + (own.seconds || 0), bytes + (own.bytes || 0)]);
        }
        Object.values(box.bodies || {}).flat().forEach(add);
    };
    data.stages[data.stages.length - 1].boxes.forEach(add);
    if (!sums.size) return;
    const rows = [...sums].sort((a, b) => b[1][0] - a[1][0]).map(([source, [seconds, bytes]]) => {
        const [file, number, , text] = data.places[source];
        const cells = [inUnits(1e3 * seconds), inUnits(bytes / 1e6), `${file.split(/[\\/]/).pop()}:${number} ${text}`];
        return make("tr", "", ...cells.map(cell => make("td", cell)));
    });
    const head = make("tr", "", ...["ms", "MB", "your line"].map(cell => make("th", cell)));
    $("profile").append(make("h2", "What your lines take"), make("table", "", head, ...rows));
}

function hit(event) {
    const {left, top} = canvas.getBoundingClientRect();
    const px = (event.clientX - left - view.x) / view.zoom, py = (event.clientY - top - view.y) / view.zoom;
    const within = x => px >= x.left && py >= x.top0 && px <= x.left + x.w && py <= x.top0 + x.h;
    let found = root;
    for (let next = found; next; next = found.open && found.kids.find(within)) found = next;
    return found === root ? null : found;
}

let held = null;
canvas.onpointerdown = event => { held = [event.clientX, event.clientY, view.x, view.y]; canvas.setPointerCapture(event.pointerId); };
canvas.onpointermove = event => {
    if (!held) {
        const x = hit(event);
        canvas.title = x ? [...linesOf(x), x.box ? lineOf(x.box) : ""].join("\n") : "";
        return;
    }
    [view.x, view.y] = [held[2] + event.clientX - held[0], held[3] + event.clientY - held[1]];
    redraw();
};
canvas.onpointerup = event => {
    const still = held && Math.hypot(event.clientX - held[0], event.clientY - held[1]) < 4;
    held = null;
    if (still) choose(hit(event));
};
canvas.ondblclick = event => { const x = hit(event); if (x && isGroup(x)) toggle(x, true); };
canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const {left, top} = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 500), event.clientX - left, event.clientY - top);
}, {passive: false});
const KEYS = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]};
canvas.onkeydown = event => {
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8);
    if (event.key === "Enter" && selected && isGroup(selected)) toggle(selected);
    if (!KEYS[event.key]) return;
    [view.x, view.y] = [view.x + KEYS[event.key][0], view.y + KEYS[event.key][1]];
    redraw();
};

data.stages.forEach((stage, i) => $("stage").append(new Option(stage.title, i)));
$("stage").value = Object.keys(data.profile).length ? data.stages.length - 1 : 0;
$("code").textContent = data.code;
$("heat").parentElement.hidden = !Object.keys(data.profile).length;
["stage", "by", "apart", "heat"].forEach(id => { $(id).onchange = () => { build(); search(); }; });
$("search").oninput = search;
$("open").onclick = () => unfold(UNFOLDED);
$("close").onclick = build;
$("fit").onclick = () => fit();
window.onresize = redraw;
profile();
build();
