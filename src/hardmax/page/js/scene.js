/** The picture of a run, described once and drawn by a pen: on a canvas, or as SVG text.
 *
 * @typedef {{fill?: string, stroke?: string, width?: number, alpha?: number, dash?: number[], closed?: boolean}} Style
 * @typedef {{paint: (style: Style, lines: number[][][]) => void,
 *     text: (at: number[], words: string, colour: string, alpha?: number) => void}} Pen  what is filled is closed
 * @typedef {{width: number, height: number, right: number[], up: number[], scale: number, x: number, y: number}} Frame
 *     where the world is on the screen: `right` and `up` are orthonormal directions, `scale` is in pixels for a unit,
 *     and `x` and `y`, along these directions, are in the middle of the screen
 * @typedef {{ink: string, ground: string, dark: boolean, grey?: boolean}} Theme  grey: without colours
 * @typedef {import("./dynamics.js").DynamicsRoom} Room */
import { clipPolygon, floatAlong, floatDot, layerAt, planeHull, positionsAt } from "./floats.js";

const MANY_POINTS = 200; // more are drawn without opacity and strokes, which take most of the time
/** The colours of what is printed or saved. */
export const PAPER = { ink: "#1b1b1b", ground: "#ffffff", dark: false };
// Okabe and Ito's colours, then darker and paler ones; with the shapes 126 pairs. The same as in the Python figures.
const LEADER_COLOURS = (
    "#009E73 #CC79A7 #E69F00 #56B4E9 #0072B2 #D55E00 #4F9A3A #9B5BA5 #A87B2D #5B7FC7 #3A8C99 #B0504A " +
    "#73CBB2 #E4B9D0 #F1CB73 #A4D7F3 #6CABD1 #E8A573"
).split(" ");
const LEADER_SHAPES = ["circle", "square", "up", "plus", "down", "left", "right"];
const [BETWEEN_COLOUR, FLOAT_COLOUR, EXACT_COLOUR] = ["#8A8A8A", "#D55E00", "#0072B2"];
/** Corners of the shapes, for a radius of 100. @type {Record<string, number[][]>} */
const SHAPE_CORNERS = Object.fromEntries(Object.entries({
    square: "-85,-85 85,-85 85,85 -85,85",
    up: "0,-110 100,80 -100,80", down: "0,110 -100,-80 100,-80",
    left: "-110,0 80,-100 80,100", right: "110,0 -80,100 -80,-100",
    plus: "-40,-100 40,-100 40,-40 100,-40 100,40 40,40 40,100 -40,100 -40,40 -100,40 -100,-40 -40,-40",
    cross: "-100,-50 -50,-100 0,-50 50,-100 100,-50 50,0 100,50 50,100 0,50 -50,100 -100,50 -50,0",
    star: "0,-110 26,-36 105,-34 43,14 65,89 0,45 -65,89 -43,14 -105,-34 -26,-36",
    circle: Array.from({ length: 16 }, (_, k) => [Math.cos, Math.sin].map((f) => 100 * f(k * 0.392699))).join(" "),
}).map(([name, corners]) => [name, corners.split(" ").map((corner) => corner.split(",").map(Number))]));

/** @param {CanvasRenderingContext2D} canvas @returns {Pen} */
const canvasPen = (canvas) => ({
    paint({ fill, stroke, width = 1, alpha = 1, dash = [], closed = !!fill }, lines) {
        Object.assign(canvas, { globalAlpha: alpha, fillStyle: fill, strokeStyle: stroke, lineWidth: width });
        canvas.setLineDash(dash);
        canvas.beginPath();
        for (const line of lines) {
            line.forEach(([x, y], k) => (k ? canvas.lineTo(x, y) : canvas.moveTo(x, y)));
            if (closed && stroke) canvas.closePath(); // what is filled is closed anyhow, and this takes time
        }
        if (fill) canvas.fill();
        if (stroke) canvas.stroke();
    },
    text([x, y], words, colour, alpha = 1) {
        Object.assign(canvas, { globalAlpha: alpha, fillStyle: colour, font: "12px system-ui, sans-serif" });
        // Next to the place, on the side where there is room.
        const left = x + 12 + canvas.measureText(words).width > canvas.canvas.clientWidth;
        canvas.textAlign = left ? "end" : "start";
        canvas.fillText(words, left ? x - 12 : x + 12, y - 8);
    },
});

export function svgPen(/** @type {number} */ width, /** @type {number} */ height, /** @type {string} */ ground) {
    const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
    const font = 'font-family="system-ui, sans-serif" font-size="12"';
    const parts = [
        `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>`,
        `<rect width="100%" height="100%" fill="${ground}"/>`,
    ];
    /** @type {Pen} */
    const pen = {
        paint({ fill = "none", stroke = "none", width: wide = 1, alpha = 1, dash = [], closed }, lines) {
            const end = closed || fill !== "none" ? "Z" : "";
            const rows = lines.map((line) => line.map((at) => at.map((x) => Number(x.toFixed(2))).join(" ")).join("L"));
            const path = rows.map((line) => `M${line}${end}`).join("");
            const look = `fill="${fill}" stroke="${stroke}" stroke-width="${wide}" opacity="${alpha}"`;
            if (path) parts.push(`<path d="${path}" ${look} stroke-dasharray="${dash.join(" ") || "none"}"/>`);
        },
        text([x, y], words, colour, alpha = 1) {
            const safe = words.replace(/[<>&"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
            const [at, anchor] = x + 12 + 7 * words.length > width ? [x - 12, "end"] : [x + 12, "start"];
            const place = `x="${at.toFixed(2)}" y="${(y - 8).toFixed(2)}" text-anchor="${anchor}"`;
            parts.push(`<text ${place} fill="${colour}" opacity="${alpha}">${safe}</text>`);
        },
    };
    return { pen, text: () => [...parts, "</svg>", ""].join("\n") };
}

/** A frame in which the cloud and the origin fit. @param {Float64Array} tokens @param {number} d @param {number} width
 * @param {number} height @param {{yaw: number, pitch: number}} angles @returns {Frame} */
export function fitFrame(tokens, d, width, height, angles) {
    const frame = { width, height, scale: 1, x: 0, y: 0, ...directionsOf(d, angles) };
    let [left, right, bottom, top] = [0, 0, 0, 0];
    for (let i = 0; i < tokens.length; i += d) {
        const row = tokens.subarray(i, i + d);
        // A cloud that is rotated needs the same room from all sides.
        const [x, y, reach] = [floatDot(frame.right, row), floatDot(frame.up, row), d > 2 ? Math.hypot(...row) : 0];
        [left, right] = [Math.min(left, x, -reach), Math.max(right, x, reach)];
        [bottom, top] = [Math.min(bottom, y, -reach), Math.max(top, y, reach)];
    }
    const margin = Math.min(48, width / 9);
    const scale = Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (top - bottom || 1));
    return { ...frame, scale: Math.min(scale, 1e9), x: (left + right) / 2, y: (bottom + top) / 2 };
}

/** Directions to the right and up on the screen. In three dimensions the cloud is seen from an angle, and of more
 * dimensions the first three are. @param {number} d @param {{yaw: number, pitch: number}} angles */
export function directionsOf(d, { yaw, pitch }) {
    if (d < 3) return { right: [1, 0].slice(0, d), up: [0, 1].slice(0, d) };
    const [c, s, rest] = [Math.cos(yaw), Math.sin(yaw), new Array(d - 3).fill(0)];
    return { right: [c, s, 0, ...rest], up: [-s * Math.sin(pitch), c * Math.sin(pitch), Math.cos(pitch), ...rest] };
}

/** Where a row is on the screen.
 * @param {Frame} frame @param {ArrayLike<number>} rows @param {number} [row] @returns {[number, number]} */
export function toScreen({ width, height, right, up, scale, x, y }, rows, row = 0) {
    const d = right.length;
    let [a, b] = [-x, -y];
    for (let c = 0; c < d; c++) {
        a += right[c] * rows[row * d + c];
        b += up[c] * rows[row * d + c];
    }
    return [width / 2 + scale * a, height / 2 - scale * b];
}

/** The point of the plane through the origin at this place of the screen. @param {Frame} frame @param {number[]} at */
export function toWorld({ width, height, right, up, scale, x, y }, [px, py]) {
    const [a, b] = [(px - width / 2) / scale + x, (height / 2 - py) / scale + y];
    return right.map((value, c) => a * value + b * up[c]);
}

/** Corners of a shape round a place. @param {string} shape @param {number[]} at @param {number} r */
const shapeAt = (shape, [x, y], r) => SHAPE_CORNERS[shape].map(([a, b]) => [x + (r * a) / 100, y + (r * b) / 100]);

/** Corners of the part of the screen where a x + b y + c >= 0 in the world.
 * @param {Frame} frame @param {number[][]} sides rows (a, b, c) */
function clippedScreen(frame, sides) {
    const { width, height } = frame;
    const corners = [[0, height], [width, height], [width, 0], [0, 0]].map((corner) => toWorld(frame, corner));
    return clipPolygon(corners, sides).map((corner) => toScreen(frame, corner));
}

/** Draw on a canvas as large as the room's frame. @param {HTMLCanvasElement} canvas @param {Room} room @param {Theme} theme */
export function paintScene(canvas, room, theme) {
    const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const { width, height } = room.frame;
    const dense = canvas.width / width;
    brush.setTransform(dense, 0, 0, dense, 0, 0);
    Object.assign(brush, { globalAlpha: 1, fillStyle: theme.ground });
    brush.fillRect(0, 0, width, height);
    drawScene(canvasPen(brush), room, theme);
}

export function drawScene(/** @type {Pen} */ pen, /** @type {Room} */ room, /** @type {Theme} */ theme) {
    const { frame, run, layer, show, selected } = room;
    if (!run.first.length) return;
    if (theme.grey) pen = greyPen(pen);
    const [here, starts, { sets }] = [positionsAt(run, layer), run.layers[0].positions, layerAt(run, layer)];
    const size = Math.max(2.2, Math.min(6.5, 6.5 * (50 / run.first.length) ** 0.3)); // the radius of marks
    const many = run.first.length > MANY_POINTS;
    const points = [...run.first.keys()];
    const leading = points.filter((i) => run.since[i] >= 0 && run.since[i] <= layer);
    const numbers = numbersOf(run, room.led);
    drawGround(pen, room, theme);
    if (selected >= 0) drawSelected(pen, room, theme, here);

    // Softmax has no leaders: its tokens look as they do beside it.
    const { beside } = room;
    const among = endsOf(beside ?? run, room.led);
    const ends = beside ? run.first.map((token) => among[beside.ofToken[token]]) : among;
    const groups = [...new Set(ends)].map((end) => ({
        end, members: points.filter((i) => ends[i] === end), ...lookOf(end, theme),
    }));
    for (const { members, colour } of show.has("paths") ? groups : []) {
        const faint = { stroke: blended(colour, theme.ground, 0.45), width: 0.7 };
        const paths = members.filter((point) => run.since[point] !== 0).map((i) => {
            // On the way to one leader it goes straight on.
            const bends = run.layers.filter((_, k) => {
                const set = run.layers[k - 1]?.sets[i];
                return run.stepwise || set?.length !== 1 || run.since[set[0]] < 0 || run.since[set[0]] > k - 1;
            });
            const rows = [...bends.map(({ positions }) => positions), ...(run.limits ? [run.limits] : [])];
            return rows.map((row) => toScreen(frame, row, i));
        });
        pen.paint(many ? faint : { stroke: colour, width: 1.2, alpha: 0.6 }, paths);
    }
    if (show.has("follow")) pen.paint({ stroke: theme.ink, width: 0.8, alpha: 0.45, dash: [2, 3] },
        sets.flatMap((set, i) => set.map((j) => [i, j].map((k) => toScreen(frame, here, k)))));
    for (const { end, members, colour, shape } of groups) {
        // Where a token started: hollow, or, if there are many, paler.
        const hollow = { fill: theme.ground, stroke: colour, width: 1.2, alpha: 0.8 };
        const old = members.filter((i) => layer > 0 && run.since[i] && !room.asking); // it would tell who moved
        pen.paint(many ? { fill: blended(colour, theme.ground, 0.6) } : hollow, old.map((i) =>
            shapeAt(shape, toScreen(frame, starts, i), 0.75 * size)));
        // At the limit followers lie under the star of their leader.
        const shown = layer === Infinity && end >= 0 ? [] : members.filter((i) => !leading.includes(i));
        pen.paint({ fill: colour, stroke: many ? undefined : theme.ground, width: 0.8 }, shown.map((i) =>
            shapeAt(shape, toScreen(frame, here, i), size)));
    }
    for (const i of leading) {
        const at = toScreen(frame, here, i);
        const style = { fill: lookOf(numbers[i], theme).colour, stroke: theme.ink };
        pen.paint(style, [shapeAt("star", at, Math.max(6, 1.65 * size))]);
        if (run.since[i] && leading.length <= 24 && !room.marked.ray) pen.text(at, `since ${run.since[i]}`, theme.ink, 0.75);
    }
    drawDifference(pen, room, theme);
    if (!many) run.first.forEach((token, i) => {
        const words = (show.has("numbers") ? room.nameOf(token) : "") + (run.weights[i] > 1 ? ` ×${run.weights[i]}` : "");
        // Where they started no two are in one place.
        const [x, y] = toScreen(frame, room.asking ? here : starts, i);
        if (words) pen.text([x + 4, y + 26], words, theme.ink);
    });
    drawMarked(pen, room, theme, here, size);
    if (selected < 0) return;
    const at = toScreen(frame, here, run.ofToken[selected]);
    pen.paint({ stroke: theme.ink, width: 2, closed: true }, [shapeAt("circle", at, size + 6)]);
    if (!show.has("numbers")) pen.text([at[0], at[1] + 24], room.called(selected), theme.ink);
}

/** The number by which each point looks if it leads, or else -1: the place of its token among those that have led, to
 * which new leaders are added; of a small cloud each token has its own. So no colour changes while tokens are moved.
 * @param {import("./floats.js").Run} run @param {number[]} led */
function numbersOf(run, led) {
    if (!led.length && run.ofToken.length <= LEADER_COLOURS.length) led.push(...Array.from(run.ofToken, (_, token) => token));
    const places = new Map(led.map((token, place) => [token, place]));
    return run.first.map((token, i) => (run.since[i] < 0 ? -1 : places.get(token) ?? led.push(token) - 1));
}

/** The number of the leader that each point ends at; -1 if it is between some.
 * @param {import("./floats.js").Run} run @param {number[]} led */
function endsOf(run, led) {
    const numbers = numbersOf(run, led);
    const isKnown = run.limits || run.stepwise;
    return layerAt(run, Infinity).sets.map((set) => (isKnown && set.length === 1 ? numbers[set[0]] : -1));
}

/** Colour and shape of a leader, by its number, and its followers; -1: those between leaders.
 * @param {number} number @param {Theme} theme */
function lookOf(number, { dark }) {
    if (number < 0) return { colour: BETWEEN_COLOUR, shape: "circle" };
    const place = number % LEADER_COLOURS.length;
    // On a dark ground the pale colours come before the dark ones.
    const colour = LEADER_COLOURS[place < 6 || !dark ? place : place < 12 ? place + 6 : place - 6];
    return { colour, shape: LEADER_SHAPES[number % LEADER_SHAPES.length] };
}

/** @param {Pen} pen @returns {Pen} */
function greyPen(pen) {
    const grey = (/** @type {string} */ colour) => {
        const [r, g, b] = channelsOf(colour);
        const level = Math.round(0.3 * r + 0.59 * g + 0.11 * b);
        return `rgb(${level}, ${level}, ${level})`;
    };
    return {
        paint: ({ fill, stroke, ...style }, lines) =>
            pen.paint({ ...style, fill: fill && grey(fill), stroke: stroke && grey(stroke) }, lines),
        text: (at, words, colour, alpha) => pen.text(at, words, grey(colour), alpha),
    };
}

/** Red, green and blue. @param {string} colour “#a0b1c2” or “rgb(1, 2, 3)” */
function channelsOf(colour) {
    const [digits, base] = colour.startsWith("#") ? [/[0-9a-f]{2}/gi, 16] : [/\d+/g, 10];
    return (colour.match(digits) ?? []).map((part) => parseInt(part, base));
}

/** What a colour looks like on a ground: to paint this is much faster than to paint with an opacity.
 * @param {string} colour @param {string} ground @param {number} alpha */
function blended(colour, ground, alpha) {
    const [over, under] = [colour, ground].map(channelsOf);
    return `rgb(${over.map((x, c) => Math.round(alpha * x + (1 - alpha) * under[c])).join(", ")})`;
}

/** Cells, polytope, axes. @param {Pen} pen @param {Room} room @param {Theme} theme */
function drawGround(pen, { frame, run: shown, beside, metric, show, led }, theme) {
    const run = beside ?? shown;
    const { d } = run;
    const leaders = [...run.first.keys()].filter((i) => run.since[i] >= 0);
    const [ends, numbers] = [positionsAt(run, Infinity), numbersOf(run, led)];
    const far = (frame.width + frame.height) / frame.scale;
    // With a mask or another kind of attention tokens of one cell may go to different leaders.
    if (d === 2 && show.has("cells") && !run.stepwise) {
        // <A z, l> = <z, A^T l>: with these in place of the leaders, cells are the normal cones of a polygon.
        const turned = metric && Float64Array.of(metric[0], metric[2], metric[1], metric[3]);
        const rows = Float64Array.from(leaders.flatMap((i) => floatAlong(ends, i, 2, turned)));
        const hull = planeHull(rows);
        if (hull.length > 1) hull.forEach((v, k) => {
            const sides = [hull[(k + 1) % hull.length], hull[(k + hull.length - 1) % hull.length]].map((w) =>
                [rows[2 * v] - rows[2 * w], rows[2 * v + 1] - rows[2 * w + 1], 0]);
            const fill = blended(lookOf(numbers[leaders[v]], theme).colour, theme.ground, 0.12);
            pen.paint({ fill, stroke: theme.ground }, [clippedScreen(frame, sides)]);
        });
    }
    if (show.has("polytope")) {
        const places = leaders.map((i) => toScreen(frame, ends, i));
        const points = leaders.map((i) => ends.subarray(i * d, i * d + d));
        const faces = d === 3 ? facesOf(points) : [[...points.keys()]];
        const hullOf = (/** @type {number[]} */ face) => planeHull(Float64Array.from(face.flatMap((v) => places[v])));
        const outlines = faces.map((face) => hullOf(face).map((k) => places[face[k]]));
        pen.paint({ stroke: theme.ink, alpha: 0.35, closed: true }, outlines);
    }
    const reach = d === 3 ? (0.47 * Math.min(frame.width, frame.height)) / frame.scale : far;
    for (let c = 0; c < (d > 3 ? 0 : d); c++) {
        const axis = [-reach, reach].map((x) => toScreen(frame, frame.right.map((_, k) => (k === c ? x : 0))));
        pen.paint({ stroke: theme.ink, alpha: 0.16 }, [axis]);
        if (d === 3) pen.text([axis[1][0] - 8, axis[1][1] + 8], "xyz"[c], theme.ink, 0.6);
    }
    const end = d === 2 && show.has("ellipse") ? ellipseEnd(frame, metric) : null;
    if (!end) return;
    const ratio = (ellipseRadius(frame) / Math.hypot(...end)) ** 2;
    const rim = Array.from({ length: 72 }, (_, k) => {
        const [c, s] = [Math.cos((k * Math.PI) / 36), ratio * Math.sin((k * Math.PI) / 36)];
        return toScreen(frame, [c * end[0] - s * end[1], c * end[1] + s * end[0]]);
    });
    pen.paint({ stroke: EXACT_COLOUR, width: 1.5, closed: true }, [rim]);
    pen.paint({ fill: theme.ground, stroke: EXACT_COLOUR, width: 2 }, [shapeAt("square", toScreen(frame, end), 6)]);
}

/** The points on each face of a polytope in space. @param {Float64Array[]} points @returns {number[][]} */
function facesOf(points) {
    const faces = /** @type {Map<string, number[]>} */ (new Map());
    const all = points.slice(0, 40).map((_, i) => i);
    for (const a of all) for (const b of all.slice(a + 1)) for (const c of all.slice(b + 1)) {
        const [[p, q, r], [x, y, z]] = [b, c].map((i) => Array.from(points[i], (value, k) => value - points[a][k]));
        const normal = [q * z - r * y, r * x - p * z, p * y - q * x];
        const heights = points.map((point) => floatDot(normal, point) - floatDot(normal, points[a]));
        const flat = 1e-9 * Math.max(...heights.map(Math.abs));
        // A face has all points on one side.
        if (!flat || (heights.some((h) => h > flat) && heights.some((h) => h < -flat))) continue;
        const on = all.filter((i) => Math.abs(heights[i]) <= flat);
        faces.set(`${on}`, on);
    }
    return [...faces.values()];
}

/** The end of the long half axis of the metric's ellipse, in the world; null if it is none. The other half axis is such
 * that the area is always the same: a multiple of a metric has the same dynamics.
 * @param {Frame} frame @param {Float64Array | null} metric */
export function ellipseEnd(frame, metric) {
    const [a, b, c, e] = metric ?? [1, 0, 0, 1];
    const determinant = a * e - b * c;
    if (b !== c || a <= 0 || determinant <= 0) return null;
    const angle = 0.5 * Math.atan2(-2 * b, e - a);
    const least = (a + e) / 2 - Math.hypot((a - e) / 2, b);
    const length = ellipseRadius(frame) * Math.sqrt(Math.sqrt(determinant) / least);
    return [length * Math.cos(angle), length * Math.sin(angle)];
}

const ellipseRadius = (/** @type {Frame} */ frame) => (0.25 * Math.min(frame.width, frame.height)) / frame.scale;

/** The metric whose ellipse has this half axis. @param {Frame} frame @param {number[]} end */
export function metricOfEllipse(frame, [x, y]) {
    const square = Math.hypot(x, y) ** 2 || 1;
    const ratio = Math.max(0.1, Math.min(10, ellipseRadius(frame) ** 2 / square));
    // Along the half axis the metric is `ratio`, across it 1 / `ratio`.
    const entries = [ratio * x * x + (y * y) / ratio, (ratio - 1 / ratio) * x * y, ratio * y * y + (x * x) / ratio];
    const [first, mixed, last] = entries.map((value) => String(Number((value / square).toFixed(2)) + 0));
    return [[first, mixed], [mixed, last]];
}

/** What the selected token sees and follows.
 * @param {Pen} pen @param {Room} room @param {Theme} theme @param {Float64Array} here */
function drawSelected(pen, { frame, run, layer, metric, selected, show, marked }, theme, here) {
    const { d } = run;
    const point = run.ofToken[selected];
    const along = floatAlong(here, point, d, metric);
    if (d === 2 && along.some(Boolean) && show.has("halfspace")) {
        const corners = clippedScreen(frame, [[...along, -floatDot(along, here.subarray(2 * point, 2 * point + 2))]]);
        pen.paint({ fill: theme.ink, alpha: 0.07 }, [corners]);
        pen.paint({ stroke: theme.ink, alpha: 0.3, closed: true }, [corners]);
    }
    if (marked.ray && !marked.rings.length) return; // it only looks
    const follows = layerAt(run, layer).sets[point].map((j) => [point, j].map((i) => toScreen(frame, here, i)));
    pen.paint({ stroke: theme.ink, width: 1.6, alpha: 0.8, dash: [4, 3] }, follows);
}

/** What a step of the tour speaks of: the direction of the selected token, and rings round others.
 * @param {Pen} pen @param {Room} room @param {Theme} theme @param {Float64Array} here @param {number} size */
function drawMarked(pen, { frame, run, metric, selected, marked }, theme, here, size) {
    const colour = theme.dark ? "#F1CB73" : "#B34700";
    if (marked.spot.length) pen.paint({ fill: colour, stroke: theme.ground }, [shapeAt("cross", toScreen(frame, marked.spot), 8)]);
    const rings = marked.rings.filter((token) => token < run.ofToken.length);
    const places = rings.map((token) => toScreen(frame, here, run.ofToken[token]));
    pen.paint({ stroke: colour, width: 3, closed: true }, places.map((at) => shapeAt("circle", at, size + 11)));
    if (!marked.ray || selected < 0) return;
    const along = floatAlong(here, run.ofToken[selected], run.d, metric);
    const [[x, y], [a, b]] = [along.map(() => 0), along].map((row) => toScreen(frame, row));
    const long = Math.hypot(a - x, b - y);
    if (!long) return;
    // From the origin through the token, across most of the picture.
    const [c, s, reach] = [(a - x) / long, (b - y) / long, 0.42 * Math.min(frame.width, frame.height)];
    const tip = [x + reach * c, y + reach * s];
    // How far the furthest tokens lie along it, with their scores.
    const scores = run.first.map((_, i) => floatDot(along, here.subarray(i * run.d, (i + 1) * run.d)));
    const others = [...scores.keys()].filter((i) => i !== run.ofToken[selected]).sort((i, j) => scores[j] - scores[i]);
    for (const i of rings.length && run.d === 2 ? others.slice(0, 3) : []) {
        const [px, py] = toScreen(frame, here, i);
        const far = (px - x) * c + (py - y) * s;
        const isBest = rings.includes(run.first[i]);
        const look = isBest ? { stroke: colour, width: 1.5 } : { stroke: theme.ink };
        pen.paint({ ...look, dash: [3, 4] }, [[[px, py], [x + far * c, y + far * s]]]);
        pen.text([px + 4, py - 4], String(Number(scores[i].toPrecision(3))), look.stroke);
    }
    const barbs = [1, -1].map((side) => [tip[0] - 13 * c + side * 7 * s, tip[1] - 13 * s - side * 7 * c]);
    pen.paint({ stroke: colour, width: 3 }, [[[x, y], tip], [barbs[0], tip, barbs[1]]]);
}

/** Both ends of the tokens that floats send elsewhere. @param {Pen} pen @param {Room} room @param {Theme} theme */
function drawDifference(pen, { frame, run, floatRun: floats, differences }, theme) {
    const [truth, wrong] = [positionsAt(run, Infinity), positionsAt(floats, Infinity)];
    for (const { token } of differences.slice(0, 60)) {
        const rows = [...floats.layers.map(({ positions }) => positions), wrong];
        const path = rows.map((each) => toScreen(frame, each, floats.ofToken[token]));
        const [end, exactly] = [path[path.length - 1], toScreen(frame, truth, run.ofToken[token])];
        pen.paint({ stroke: FLOAT_COLOUR, width: 1.8, dash: [6, 4] }, [path]);
        pen.paint({ fill: FLOAT_COLOUR, stroke: theme.ground }, [shapeAt("cross", end, 6)]);
        pen.paint({ stroke: EXACT_COLOUR, width: 2.2, closed: true }, [shapeAt("circle", exactly, 11)]);
        if (differences.length > 6) continue;
        pen.text([end[0], end[1] + 26], `floats: ${token}`, theme.ink);
        pen.text([exactly[0] + 4, exactly[1] + 12], `exactly: ${token}`, theme.ink);
    }
}
