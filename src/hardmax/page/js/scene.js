/**
 * The picture of a run, described once and drawn by a pen: on a canvas, or as SVG text.
 *
 * @typedef {{fill?: string, stroke?: string, width?: number, alpha?: number, dash?: number[]}} Style
 * @typedef {{moveTo(x: number, y: number): void, lineTo(x: number, y: number): void, closePath(): void,
 *     arc(x: number, y: number, radius: number, from: number, to: number): void}} Outline
 * @typedef {object} Pen
 * @property {(style: Style, build: (to: Outline) => void) => void} paint
 * @property {(x: number, y: number, words: string, style: {fill: string, size?: number, alpha?: number, anchor?: "start" | "middle"}) => void} text
 *
 * @typedef {object} Frame where the world is on the screen
 * @property {number} width @property {number} height
 * @property {number[]} right @property {number[]} up @property {number[] | null} towards  orthonormal directions of the world
 * @property {number} scale pixels of a unit
 * @property {number} x @property {number} y  along `right` and `up`, in the middle of the screen
 *
 * @typedef {object} Scene
 * @property {Frame} frame
 * @property {{ink: string, ground: string}} theme
 * @property {import("./floats.js").Run} run what is drawn
 * @property {number} layer
 * @property {import("./floats.js").Run | null} other the float run, where it differs
 * @property {number[]} differing tokens that end elsewhere in floats
 * @property {Map<number, number>} looks of the points that lead
 * @property {Float64Array | null} metric
 * @property {number} selected token, or -1
 * @property {Set<string>} show
 */
import { layerAt, planeHull, positionsAt } from "./floats.js";

// Okabe and Ito's colours, then darker and paler ones; with the shapes 126 pairs. The same as in the Python figures.
const LEADER_COLOURS = ["#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#0072B2", "#D55E00", "#005740", "#82376A", "#7E5700"]
    .concat(["#1F5F8B", "#003A5C", "#743300", "#73CBB2", "#E4B9D0", "#F1CB73", "#A4D7F3", "#6CABD1", "#E8A573"]);
const SCENE_SHAPES = ["circle", "square", "up", "plus", "down", "left", "right"];
const [SCENE_GREY, FLOAT_COLOUR, EXACT_COLOUR] = ["#8A8A8A", "#D55E00", "#0072B2"];

/** Corners of the shapes, for a radius of 1. @type {Record<string, number[][]>} */
const SCENE_CORNERS = {
    square: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
    up: [[0, -1.1], [1, 0.8], [-1, 0.8]],
    down: [[0, 1.1], [-1, -0.8], [1, -0.8]],
    left: [[-1.1, 0], [0.8, -1], [0.8, 1]],
    right: [[1.1, 0], [-0.8, 1], [-0.8, -1]],
    diamond: [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]],
    plus: [[-0.4, -1], [0.4, -1], [0.4, -0.4], [1, -0.4], [1, 0.4], [0.4, 0.4], [0.4, 1], [-0.4, 1], [-0.4, 0.4], [-1, 0.4], [-1, -0.4], [-0.4, -0.4]],
    cross: [[-1, -0.5], [-0.5, -1], [0, -0.5], [0.5, -1], [1, -0.5], [0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5], [-0.5, 1], [-1, 0.5], [-0.5, 0]],
    star: Array.from({ length: 10 }, (_, k) => {
        const [radius, angle] = [k % 2 ? 0.45 : 1.1, (k * Math.PI) / 5];
        return [radius * Math.sin(angle), -radius * Math.cos(angle)];
    }),
};

/** Colour and shape of a leader and its followers; grey circles where there is no single leader. @param {number | undefined} number */
export function lookOf(number) {
    if (number === undefined) return { colour: SCENE_GREY, shape: "circle" };
    return { colour: LEADER_COLOURS[number % LEADER_COLOURS.length], shape: SCENE_SHAPES[number % SCENE_SHAPES.length] };
}

/** @param {CanvasRenderingContext2D} canvas @returns {Pen} */
export function canvasPen(canvas) {
    return {
        paint({ fill, stroke, width = 1, alpha = 1, dash = [] }, build) {
            canvas.globalAlpha = alpha;
            canvas.beginPath();
            build(canvas);
            if (fill) {
                canvas.fillStyle = fill;
                canvas.fill();
            }
            if (!stroke) return;
            canvas.strokeStyle = stroke;
            canvas.lineWidth = width;
            canvas.setLineDash(dash);
            canvas.stroke();
        },
        text(x, y, words, { fill, size = 12, alpha = 1, anchor = "start" }) {
            canvas.globalAlpha = alpha;
            canvas.fillStyle = fill;
            canvas.textAlign = anchor === "middle" ? "center" : "start";
            canvas.font = `${size}px system-ui, sans-serif`;
            canvas.fillText(words, x, y);
        },
    };
}

/** @param {number} width @param {number} height @param {string} ground @returns {{pen: Pen, text: () => string}} */
export function svgPen(width, height, ground) {
    const parts = [`<rect width="100%" height="100%" fill="${ground}"/>`];
    const short = (/** @type {number} */ x) => String(Number(x.toFixed(2)));
    const escape = (/** @type {string} */ text) => text.replace(/[<>&"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
    return {
        pen: {
            paint({ fill = "none", stroke = "none", width: wide = 1, alpha = 1, dash = [] }, build) {
                /** @type {string[]} */
                const steps = [];
                build({
                    moveTo: (x, y) => steps.push(`M${short(x)} ${short(y)}`),
                    lineTo: (x, y) => steps.push(`L${short(x)} ${short(y)}`),
                    closePath: () => steps.push("Z"),
                    // Only whole circles are drawn.
                    arc: (x, y, r) => steps.push(`M${short(x - r)} ${short(y)}a${short(r)} ${short(r)} 0 1 0 ${short(2 * r)} 0a${short(r)} ${short(r)} 0 1 0 ${short(-2 * r)} 0Z`),
                });
                if (!steps.length) return;
                const dashes = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
                parts.push(`<path d="${steps.join("")}" fill="${fill}" stroke="${stroke}" stroke-width="${wide}" opacity="${alpha}"${dashes}/>`);
            },
            text(x, y, words, { fill, size = 12, alpha = 1, anchor = "start" }) {
                parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${fill}" font-size="${size}" opacity="${alpha}" text-anchor="${anchor}">${escape(words)}</text>`);
            },
        },
        text: () => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif">\n${parts.join("\n")}\n</svg>\n`,
    };
}

/**
 * A frame in which the cloud and the origin fit. In three dimensions it is seen from an angle, in more than three along
 * its two principal axes.
 * @param {Float64Array} tokens @param {number} d @param {number} width @param {number} height
 * @param {{yaw: number, pitch: number}} angles
 * @returns {Frame}
 */
export function fitFrame(tokens, d, width, height, { yaw, pitch }) {
    const frame = { width, height, scale: 1, x: 0, y: 0, ...directionsOf(tokens, d, yaw, pitch) };
    let [left, right, bottom, top] = [0, 0, 0, 0];
    for (let i = 0; i < tokens.length; i += d) {
        const [x, y] = [sceneAlong(frame.right, tokens, i), sceneAlong(frame.up, tokens, i)];
        // A rotating cloud needs the same room from all sides.
        const reach = d === 3 ? Math.hypot(tokens[i], tokens[i + 1], tokens[i + 2]) : 0;
        [left, right] = [Math.min(left, x, -reach), Math.max(right, x, reach)];
        [bottom, top] = [Math.min(bottom, y, -reach), Math.max(top, y, reach)];
    }
    const margin = Math.min(48, width / 9);
    const scale = Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (top - bottom || 1));
    return { ...frame, scale: Math.min(scale, 1e9), x: (left + right) / 2, y: (bottom + top) / 2 };
}

/** @param {Float64Array} tokens @param {number} d @param {number} yaw @param {number} pitch */
export function directionsOf(tokens, d, yaw, pitch) {
    if (d === 1) return { right: [1], up: [0], towards: null };
    if (d === 2) return { right: [1, 0], up: [0, 1], towards: null };
    if (d === 3) {
        const [c, s, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
        return { right: [c, s, 0], up: [s * sp, -c * sp, cp], towards: [s * cp, -c * cp, -sp].map((x) => -x) };
    }
    // Principal axes about the origin, by repeated multiplication with the moments.
    const moments = Array.from({ length: d }, (_, a) => Array.from({ length: d }, (_, b) => {
        let sum = 0;
        for (let i = 0; i < tokens.length; i += d) sum += tokens[i + a] * tokens[i + b];
        return sum;
    }));
    /** @type {number[][]} */
    const axes = [];
    for (let axis = 0; axis < 2; axis++) {
        let found = moments.map((_, c) => 1 / (c + 1 + axis));
        for (let round = 0; round < 200; round++) {
            let next = moments.map((row) => row.reduce((sum, x, c) => sum + x * found[c], 0));
            for (const other of axes) {
                const share = other.reduce((sum, x, c) => sum + x * next[c], 0);
                next = next.map((x, c) => x - share * other[c]);
            }
            const length = Math.hypot(...next);
            // A cloud on a line has no second axis: any unit vector that is orthogonal will do, and so does none.
            found = length > 1e-12 ? next.map((x) => x / length) : found.map(() => 0);
        }
        axes.push(found);
    }
    return { right: axes[0], up: axes[1], towards: null };
}

/** @param {number[]} direction @param {ArrayLike<number>} rows @param {number} start */
function sceneAlong(direction, rows, start) {
    let sum = 0;
    for (let c = 0; c < direction.length; c++) sum += direction[c] * rows[start + c];
    return sum;
}

/** Where a row is on the screen. @param {Frame} frame @param {ArrayLike<number>} rows @param {number} [row] @returns {[number, number]} */
export function toScreen(frame, rows, row = 0) {
    const start = row * frame.right.length;
    const { width, height, right, up, scale, x, y } = frame;
    return [width / 2 + scale * (sceneAlong(right, rows, start) - x), height / 2 - scale * (sceneAlong(up, rows, start) - y)];
}

/** The point of the world on the screen's plane through the origin. @param {Frame} frame @param {number} px @param {number} py */
export function toWorld({ width, height, right, up, scale, x, y }, px, py) {
    const [a, b] = [(px - width / 2) / scale + x, (height / 2 - py) / scale + y];
    return right.map((value, c) => a * value + b * up[c]);
}

/** @param {Outline} to @param {string} shape @param {number} x @param {number} y @param {number} r */
function sceneOutline(to, shape, x, y, r) {
    const corners = SCENE_CORNERS[shape];
    if (!corners) {
        to.moveTo(x + r, y);
        to.arc(x, y, r, 0, 2 * Math.PI);
        return;
    }
    corners.forEach(([a, b], k) => (k ? to.lineTo(x + r * a, y + r * b) : to.moveTo(x + r * a, y + r * b)));
    to.closePath();
}

/** @param {Outline} to @param {number[][]} corners on the screen */
function scenePolyline(to, corners, closed = false) {
    corners.forEach(([x, y], k) => (k ? to.lineTo(x, y) : to.moveTo(x, y)));
    if (closed && corners.length) to.closePath();
}

/** The part of a convex polygon with a x + b y >= c. @param {number[][]} corners @param {number} a @param {number} b @param {number} c */
function sceneClip(corners, a, b, c) {
    return corners.flatMap((here, k) => {
        const there = corners[(k + corners.length - 1) % corners.length];
        const [h, t] = [a * here[0] + b * here[1] - c, a * there[0] + b * there[1] - c];
        const crossing = h * t < 0 ? [there.map((x, i) => x + (here[i] - x) * (t / (t - h)))] : [];
        return h >= 0 ? [...crossing, here] : crossing;
    });
}

/** Corners of the screen in the world. @param {Frame} frame */
function windowOf(frame) {
    return [[0, frame.height], [frame.width, frame.height], [frame.width, 0], [0, 0]].map(([x, y]) => toWorld(frame, x, y));
}

/** @param {number} n tokens @returns {number} the radius of a mark */
export function markSize(n) {
    return Math.max(2.2, Math.min(6.5, 6.5 * (50 / n) ** 0.3));
}

/** The leader that each point ends at, or -1. @param {import("./floats.js").Run} run */
export function followed(run) {
    const { one } = run.layers[run.layers.length - 1];
    const settled = run.settledAt !== null && run.settledAt < run.layers.length;
    return one.map((target) => (settled && target >= 0 && run.since[target] >= 0 ? target : -1));
}

/** @param {Pen} pen @param {Scene} scene */
export function drawScene(pen, scene) {
    const { frame, theme, run, layer, looks, show, selected } = scene;
    const { d } = frame.right.length ? { d: frame.right.length } : { d: 0 };
    if (!run.count) return;
    const here = positionsAt(run, layer);
    const place = (/** @type {ArrayLike<number>} */ rows, /** @type {number} */ i) => toScreen(frame, rows, i);
    const ends = followed(run);
    const lookOfPoint = (/** @type {number} */ i) => lookOf(looks.get(ends[i]));
    const leaders = Array.from(run.since.keys()).filter((i) => run.since[i] >= 0);
    const final = run.limits ?? run.layers[run.layers.length - 1].positions;
    if (d === 2 && show.has("cells")) drawCells(pen, scene, leaders, final);
    if (show.has("polytope")) drawPolytope(pen, scene, leaders, final);
    drawAxes(pen, scene);
    if (d === 2 && show.has("ellipse")) drawEllipse(pen, scene);
    if (selected >= 0) drawSelection(pen, scene, here);

    /** Points with the same look. @type {Map<string, number[]>} */
    const groups = new Map();
    for (let i = 0; i < run.count; i++) {
        const { colour, shape } = lookOfPoint(i);
        const key = `${colour} ${shape}`;
        const group = groups.get(key);
        if (group) group.push(i);
        else groups.set(key, [i]);
    }
    const size = markSize(run.ofToken.length);
    const starts = run.layers[0].positions;
    const { one, several } = run.layers[layerAt(run, layer)];
    for (const [key, members] of groups) {
        const colour = key.split(" ")[0];
        if (show.has("paths")) {
            pen.paint({ stroke: colour, width: run.count > 200 ? 0.7 : 1.2, alpha: run.count > 200 ? 0.35 : 0.55 }, (to) => {
                for (const i of members) {
                    if (run.since[i] === 0) continue;
                    to.moveTo(...place(starts, i));
                    for (let k = 1; k < run.layers.length; k++) to.lineTo(...place(run.layers[k].positions, i));
                    if (run.limits) to.lineTo(...place(run.limits, i));
                }
            });
        }
        if (show.has("follow")) {
            pen.paint({ stroke: theme.ink, width: 0.8, alpha: 0.45, dash: [2, 3] }, (to) => {
                for (const i of members) {
                    for (const j of one[i] >= 0 ? [one[i]] : several.get(i) ?? []) {
                        if (j !== i) scenePolyline(to, [place(here, i), place(here, j)]);
                    }
                }
            });
        }
    }
    for (const [key, members] of groups) {
        const [colour, shape] = key.split(" ");
        const nearer = (/** @type {ArrayLike<number>} */ rows, /** @type {number} */ i) => size * (frame.towards ? 1 + 0.3 * Math.tanh(sceneAlong(frame.towards, rows, i * d)) : 1);
        if (layer > 0) {
            pen.paint({ fill: theme.ground, stroke: colour, width: 1.2, alpha: 0.8 }, (to) => {
                for (const i of members) if (run.since[i] !== 0) sceneOutline(to, shape, ...place(starts, i), 0.75 * nearer(starts, i));
            });
        }
        pen.paint({ fill: colour, stroke: theme.ground, width: 0.8 }, (to) => {
            for (const i of members) if (!(run.since[i] >= 0 && run.since[i] <= layer)) sceneOutline(to, shape, ...place(here, i), nearer(here, i));
        });
    }
    if (scene.other) drawDifference(pen, scene, scene.other);
    const leading = leaders.filter((i) => run.since[i] <= layer);
    for (const i of leading) {
        const [x, y] = place(here, i);
        pen.paint({ fill: lookOfPoint(i).colour, stroke: theme.ink, width: 1 }, (to) => sceneOutline(to, "star", x, y, Math.max(6, 1.65 * size)));
        if (leading.length <= 24) pen.text(x + 11, y - 9, `since ${run.since[i]}`, { fill: theme.ink, size: 11, alpha: 0.75 });
    }
    for (let i = 0; i < run.count; i++) {
        const [x, y] = place(here, i);
        const times = run.weights[i] > 1 ? ` ×${run.weights[i]}` : "";
        if (show.has("numbers") && run.count <= 200) pen.text(x + 8, y + 15, `${run.first[i]}${times}`, { fill: theme.ink, size: 11 });
        else if (times && run.count <= 200) pen.text(x + 8, y + 15, times, { fill: theme.ink, size: 11 });
    }
    if (selected >= 0) {
        const [x, y] = place(here, run.ofToken[selected]);
        pen.paint({ stroke: theme.ink, width: 2 }, (to) => sceneOutline(to, "circle", x, y, size + 6));
        if (!show.has("numbers")) pen.text(x + 8, y + 19, `token ${selected}`, { fill: theme.ink, size: 12 });
    }
}

/** @param {Pen} pen @param {Scene} scene */
function drawAxes(pen, { frame, theme }) {
    const d = frame.right.length;
    const origin = new Float64Array(d);
    const [x, y] = toScreen(frame, origin);
    pen.paint({ stroke: theme.ink, width: 1, alpha: 0.16 }, (to) => {
        if (d === 3) {
            const reach = Math.min(frame.width, frame.height) / 2 / frame.scale;
            for (let c = 0; c < 3; c++) {
                const end = [0, 0, 0];
                end[c] = reach;
                scenePolyline(to, [toScreen(frame, end.map((value) => -value)), toScreen(frame, end)]);
            }
        } else {
            scenePolyline(to, [[0, y], [frame.width, y]]);
            if (d > 1) scenePolyline(to, [[x, 0], [x, frame.height]]);
        }
    });
    if (d === 3) {
        const reach = 0.94 * Math.min(frame.width, frame.height) / 2 / frame.scale;
        ["x", "y", "z"].forEach((name, c) => pen.text(...toScreen(frame, [0, 1, 2].map((k) => (k === c ? reach : 0))), name, { fill: theme.ink, alpha: 0.6 }));
    }
}

/** Where a token would have to be to follow each leader, if all of them led. @param {Pen} pen @param {Scene} scene @param {number[]} leaders @param {Float64Array} ends */
function drawCells(pen, { frame, metric, looks, theme }, leaders, ends) {
    const a = metric ?? [1, 0, 0, 1];
    // <A z, l> = <z, A^T l>: with these in place of the leaders, cells are the normal cones of a polygon.
    const rows = Float64Array.from(leaders.flatMap((i) => {
        const [x, y] = [ends[2 * i], ends[2 * i + 1]];
        return [a[0] * x + a[2] * y, a[1] * x + a[3] * y];
    }));
    const { vertices } = planeHull(rows, leaders.length);
    if (vertices.length < 2) return;
    vertices.forEach((v, k) => {
        let cell = windowOf(frame);
        for (const w of new Set([vertices[(k + 1) % vertices.length], vertices[(k + vertices.length - 1) % vertices.length]])) {
            cell = sceneClip(cell, rows[2 * v] - rows[2 * w], rows[2 * v + 1] - rows[2 * w + 1], 0);
        }
        const { colour } = lookOf(looks.get(leaders[v]));
        const corners = cell.map((corner) => toScreen(frame, corner));
        pen.paint({ fill: colour, alpha: 0.1 }, (to) => scenePolyline(to, corners, true));
        pen.paint({ stroke: theme.ink, width: 0.8, alpha: 0.22, dash: [5, 5] }, (to) => scenePolyline(to, corners, true));
    });
}

/** @param {Pen} pen @param {Scene} scene @param {number[]} leaders @param {Float64Array} ends */
function drawPolytope(pen, { frame, theme, run }, leaders, ends) {
    const { d } = run;
    const rows = Float64Array.from(leaders.flatMap((i) => Array.from(ends.subarray(i * d, i * d + d))));
    const faces = d === 2 ? [planeHull(rows, leaders.length).vertices] : d === 3 ? facesOf(rows, leaders.length) : [];
    const style = { fill: theme.ink, stroke: theme.ink, width: 1 };
    for (const face of faces) {
        const corners = face.map((v) => toScreen(frame, rows, v));
        pen.paint({ ...style, stroke: undefined, alpha: d === 2 ? 0.05 : 0.025 }, (to) => scenePolyline(to, corners, true));
        pen.paint({ ...style, fill: undefined, alpha: 0.35 }, (to) => scenePolyline(to, corners, true));
    }
}

/** Faces of a polytope in space, corners in order. @param {Float64Array} rows @param {number} count @returns {number[][]} */
function facesOf(rows, count) {
    if (count < 3 || count > 40) return [];
    /** @type {Map<string, number[]>} */
    const faces = new Map();
    const minus = (/** @type {number} */ a, /** @type {number} */ b) => [0, 1, 2].map((c) => rows[3 * a + c] - rows[3 * b + c]);
    const cross = (/** @type {number[]} */ [a, b, c], /** @type {number[]} */ [x, y, z]) => [b * z - c * y, c * x - a * z, a * y - b * x];
    const flat = 1e-9 * Math.max(...rows.map(Math.abs));
    for (let a = 0; a < count; a++) for (let b = a + 1; b < count; b++) for (let c = b + 1; c < count; c++) {
        const normal = cross(minus(b, a), minus(c, a));
        const length = Math.hypot(...normal);
        if (length <= flat * flat) continue;
        /** @type {number[]} */
        const on = [];
        let [above, below] = [false, false];
        for (let j = 0; j < count && !(above && below); j++) {
            const height = sceneAlong(normal, minus(j, a), 0) / length;
            if (Math.abs(height) <= flat) on.push(j);
            else if (height > 0) above = true;
            else below = true;
        }
        if ((above && below) || faces.has(`${on}`)) continue;
        // In order around their middle.
        const middle = [0, 1, 2].map((x) => on.reduce((sum, j) => sum + rows[3 * j + x], 0) / on.length);
        const first = middle.map((x, k) => rows[3 * on[0] + k] - x);
        const second = cross(normal, first).map((x) => x / length);
        const angle = (/** @type {number} */ j) => {
            const way = middle.map((x, k) => rows[3 * j + k] - x);
            return Math.atan2(sceneAlong(second, way, 0), sceneAlong(first, way, 0));
        };
        faces.set(`${on}`, on.sort((i, j) => angle(i) - angle(j)));
    }
    return [...faces.values()];
}

/** Half axes of the metric's ellipse in the world: unit vectors and lengths; null if it is no ellipse. @param {Frame} frame @param {Float64Array | null} metric */
export function ellipseAxes(frame, metric) {
    const [a, b, c, e] = metric ?? [1, 0, 0, 1];
    const determinant = a * e - b * b;
    if (b !== c || a <= 0 || determinant <= 0) return null;
    const radius = (0.3 * Math.min(frame.width, frame.height)) / frame.scale;
    const angle = 0.5 * Math.atan2(2 * b, a - e);
    const [middle, spread] = [(a + e) / 2, Math.hypot((a - e) / 2, b)];
    // Its size does not matter: a multiple of the metric has the same dynamics.
    return [middle + spread, middle - spread].map((value, k) => {
        const turn = angle + (k * Math.PI) / 2;
        return { x: Math.cos(turn), y: Math.sin(turn), length: radius * Math.sqrt(Math.sqrt(determinant) / value), radius };
    });
}

/** @param {Pen} pen @param {Scene} scene */
function drawEllipse(pen, { frame, metric, theme }) {
    const axes = ellipseAxes(frame, metric);
    if (!axes) return;
    const [long, short] = axes.map(({ x, y, length }) => [x * length, y * length]);
    const rim = Array.from({ length: 73 }, (_, k) => {
        const [c, s] = [Math.cos((k * Math.PI) / 36), Math.sin((k * Math.PI) / 36)];
        return toScreen(frame, [c * long[0] + s * short[0], c * long[1] + s * short[1]]);
    });
    pen.paint({ stroke: EXACT_COLOUR, width: 1.5, fill: EXACT_COLOUR, alpha: 0.12 }, (to) => scenePolyline(to, rim, true));
    pen.paint({ stroke: EXACT_COLOUR, width: 1.5 }, (to) => scenePolyline(to, rim, true));
    for (const end of [long, short]) {
        const [x, y] = toScreen(frame, end);
        pen.paint({ fill: theme.ground, stroke: EXACT_COLOUR, width: 2 }, (to) => sceneOutline(to, "square", x, y, 6));
    }
}

/** Half-space, direction and targets of the selected token. @param {Pen} pen @param {Scene} scene @param {Float64Array} here */
function drawSelection(pen, { frame, theme, run, layer, metric, selected, show }, here) {
    const { d } = run;
    const point = run.ofToken[selected];
    const z = here.subarray(point * d, point * d + d);
    const direction = Array.from(z, (value, r) => (metric ? sceneAlong(Array.from(metric.subarray(r * d, r * d + d)), z, 0) : value));
    if (d === 2 && show.has("halfspace") && Math.hypot(...direction)) {
        const corners = sceneClip(windowOf(frame), direction[0], direction[1], sceneAlong(direction, z, 0)).map((corner) => toScreen(frame, corner));
        pen.paint({ fill: theme.ink, alpha: 0.07 }, (to) => scenePolyline(to, corners, true));
        pen.paint({ stroke: theme.ink, width: 1, alpha: 0.3 }, (to) => scenePolyline(to, corners, true));
    }
    const length = Math.hypot(...direction);
    const [from, to] = [toScreen(frame, new Float64Array(d)), toScreen(frame, direction.map((x) => (x * 60) / frame.scale / (length || 1)))];
    const [x, y] = [to[0] - from[0], to[1] - from[1]];
    pen.paint({ stroke: theme.ink, width: 1.5, alpha: 0.7 }, (path) => {
        scenePolyline(path, [from, to]);
        scenePolyline(path, [[to[0] - 0.13 * x + 0.08 * y, to[1] - 0.13 * y - 0.08 * x], to, [to[0] - 0.13 * x - 0.08 * y, to[1] - 0.13 * y + 0.08 * x]]);
    });
    const { one, several } = run.layers[layerAt(run, layer)];
    pen.paint({ stroke: theme.ink, width: 1.6, alpha: 0.8, dash: [4, 3] }, (path) => {
        for (const j of one[point] >= 0 ? [one[point]] : several.get(point) ?? []) scenePolyline(path, [toScreen(frame, here, point), toScreen(frame, here, j)]);
    });
}

/** Both ends of the tokens that floats send elsewhere. @param {Pen} pen @param {Scene} scene @param {import("./floats.js").Run} other */
function drawDifference(pen, { frame, theme, run, differing }, other) {
    const shown = differing.slice(0, 60);
    pen.paint({ stroke: FLOAT_COLOUR, width: 1.8, dash: [6, 4] }, (to) => {
        for (const token of shown) {
            const i = other.ofToken[token];
            scenePolyline(to, [...other.layers.map(({ positions }) => positions), ...(other.limits ? [other.limits] : [])].map((rows) => toScreen(frame, rows, i)));
        }
    });
    for (const token of shown) {
        const [truth, wrong] = [run.limits, other.limits ?? other.layers[other.layers.length - 1].positions];
        const [x, y] = toScreen(frame, wrong, other.ofToken[token]);
        pen.paint({ fill: FLOAT_COLOUR, stroke: theme.ground, width: 1 }, (to) => sceneOutline(to, "cross", x, y, 8));
        if (shown.length <= 6) pen.text(x + 13, y + 14, `floats: ${token}`, { fill: FLOAT_COLOUR, size: 12 });
        if (!truth) continue;
        const [a, b] = toScreen(frame, truth, run.ofToken[token]);
        pen.paint({ stroke: EXACT_COLOUR, width: 2.2 }, (to) => sceneOutline(to, "circle", a, b, 11));
        if (shown.length <= 6) pen.text(a + 15, b + 4, `exactly: ${token}`, { fill: EXACT_COLOUR, size: 12 });
    }
}
