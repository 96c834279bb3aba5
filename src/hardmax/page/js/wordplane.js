// The words of a text in the plane, layer by layer. Vectors of two dimensions are drawn as they are; others are projected:
// along the first axis lies what decides between the two most probable classes, along the second the extra token, or the
// direction in which the tokens spread most.
import { el } from "./dom.js";
import { lookOfClass, shortName } from "./explanation.js";
import { EXTRA_TOKEN } from "./text.js";

/**
 * @typedef {import("./text.js").Model} Model
 * @typedef {import("./text.js").Classified} Classified
 *
 * Positions (layers + 1, tokens) and their mean; the score of class c at (x, y) is `scores[c]` · (x, y, 1). `low` and
 * `high` are corners of the window.
 * @typedef {{path: number[][][], mean: number[][], scores: number[][], remark: string, low: number[], high: number[]}} WordScene
 * @typedef {[left: number, top: number, right: number, bottom: number]} LabelBox
 */

const MOST_LABELS = 26;
const MS_PER_LAYER = 900; // and at most ten times as much for all of them
const LABEL_ROW = 18; // pixels

// ---------------------------------------------------------------- from d dimensions to two

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function planeDot(a, b) {
    let total = 0;
    for (let axis = 0; axis < a.length; axis++) total += a[axis] * b[axis];
    return total;
}

/** The part of a vector that is orthogonal to a unit vector. @param {number[]} vector @param {number[]} axis */
function planeBeside(vector, axis) {
    const along = planeDot(vector, axis);
    return vector.map((x, i) => x - along * axis[i]);
}

/** @param {number[]} vector @param {number} otherwise number of the axis that stands for zero */
function planeUnit(vector, otherwise) {
    const length = Math.hypot(...vector);
    return vector.map((x, i) => (length > 0 ? x / length : Number(i === otherwise)));
}

/** @param {Model} model @param {Classified} found @returns {{axes: number[][], remark: string}} */
function planeAxes(model, found) {
    const d = model.dimension;
    const row = (/** @type {Float64Array} */ of, /** @type {number} */ n) => [...of.subarray(n * d, n * d + d)];
    if (d <= 2) return { axes: [0, 1].map((n) => Array.from({ length: d }, (_, i) => Number(i === n))), remark: "" };
    const [first, second] = [...found.logits.keys()].sort((a, b) => found.logits[b] - found.logits[a]);
    const other = found.logits.length > 1 ? row(model.decoder, second) : [];
    const axis = planeUnit(row(model.decoder, first).map((x, i) => x - (other[i] ?? 0)), 0);
    let [upright, what] = [model.extra < 0 ? [] : planeBeside(row(model.table, model.extra), axis), "the extra token"];
    if (Math.hypot(...upright) <= 1e-9) {
        what = "the direction of largest spread";
        const starts = found.tokens.map((token) => planeBeside(token.start, axis));
        const mean = axis.map((_, i) => starts.reduce((sum, start) => sum + start[i], 0) / starts.length);
        const centred = starts.map((start) => start.map((x, i) => x - mean[i]));
        upright = centred.reduce((far, each) => (Math.hypot(...each) > Math.hypot(...far) ? each : far));
        for (let turn = 0; turn < 60; turn++) {
            const along = centred.map((each) => planeDot(each, upright));
            upright = planeUnit(axis.map((_, i) => planeDot(along, centred.map((each) => each[i]))), 1);
        }
    }
    const remark = `projected from ${d} dimensions; horizontal: what decides; vertical: ${what}`;
    return { axes: [axis, planeUnit(planeBeside(upright, axis), 1)], remark };
}

/** @param {Model} model @param {Classified} found with at least one token @returns {WordScene} */
function sceneOf(model, found) {
    const d = model.dimension;
    const { axes, remark } = planeAxes(model, found);
    const flat = (/** @type {number[]} */ point) => axes.map((axis) => planeDot(axis, point));
    const counts = found.tokens.map(({ id, count }) => (id === model.extra ? model.neutralWeight : model.binary ? 1 : count));
    const shares = counts.map((count) => count / counts.reduce((a, b) => a + b, 0));
    const path = found.path;
    const means = path.map((points) => Array.from({ length: d }, (_, i) => planeDot(shares, points.map((point) => point[i]))));
    const mean = means.map(flat);
    const [[x, y], last] = [mean[mean.length - 1], means[means.length - 1]];
    const beside = last.map((value, i) => value - x * axes[0][i] - y * axes[1][i]); // the plane goes through the last mean
    const scores = Array.from(model.bias, (bias, c) => {
        const row = Array.from(model.decoder.subarray(c * d, c * d + d), (value) => value / model.temperature);
        return [...flat(row), planeDot(row, beside) + bias];
    });
    if (scores.length === 1) scores.unshift([0, 0, 0]);
    return { path: path.map((points) => points.map(flat)), mean, scores, remark, ...planeFrame(path.flat().map(flat), mean, scores) };
}

/**
 * A window round all places and the nearest border, if it is near, with room for labels.
 * @param {number[][]} path
 * @param {number[][]} mean
 * @param {number[][]} scores
 */
function planeFrame(path, mean, scores) {
    const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
    const include = (/** @type {number[]} */ place) => place.forEach((x, axis) => {
        [low[axis], high[axis]] = [Math.min(low[axis], x), Math.max(high[axis], x)];
    });
    for (const place of [...path, ...mean]) include(place);
    const reach = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
    const last = mean[mean.length - 1];
    const [first, second] = [...scores].sort((a, b) => planeDot(b, [...last, 1]) - planeDot(a, [...last, 1]));
    const lead = first.map((x, i) => x - second[i]);
    const step = planeDot(lead, [...last, 1]) / (lead[0] ** 2 + lead[1] ** 2);
    const foot = last.map((x, axis) => x - step * lead[axis]);
    if (foot.every((x, axis) => x >= low[axis] - reach / 2 && x <= high[axis] + reach / 2)) {
        include(foot.map((x, axis) => x + 0.2 * (x - last[axis])));
    }
    const room = low.map((x, axis) => (high[axis] > x ? high[axis] - x : 0.6 * reach));
    return { low: [low[0] - 0.12 * room[0], low[1] - 0.45 * room[1]], high: [high[0] + 0.12 * room[0], high[1] + 0.25 * room[1]] };
}

/** The part of the window where a class is ahead of all others: a convex polygon. @param {WordScene} scene @param {number} c */
function planeRegion({ low, high, scores }, c) {
    let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
    for (const score of scores) {
        const lead = corners.map((corner) => planeDot(scores[c].map((x, i) => x - score[i]), [...corner, 1]));
        corners = corners.flatMap((corner, n) => {
            const before = (n || corners.length) - 1;
            const part = lead[before] / (lead[before] - lead[n]);
            const crossing = lead[before] * lead[n] < 0 ? [corners[before].map((x, i) => x + (corner[i] - x) * part)] : [];
            return lead[n] >= 0 ? [...crossing, corner] : crossing;
        });
    }
    return corners;
}

// ---------------------------------------------------------------- drawing

/** Corners of marks; what is not here is a circle. @type {Record<string, number[][]>} */
const OUTLINES = {
    "■": [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
    "▲": [[0, -1.1], [1.1, 0.9], [-1.1, 0.9]],
    "▼": [[0, 1.1], [1.1, -0.9], [-1.1, -0.9]],
    "◀": [[-1.1, 0], [0.9, -1.1], [0.9, 1.1]],
    "▶": [[1.1, 0], [-0.9, -1.1], [-0.9, 1.1]],
    "✚": [1, -1].flatMap((s) => [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4]].map(([x, y]) => [s * x, s * y])),
    "★": Array.from({ length: 10 }, (_, n) => [Math.sin, (/** @type {number} */ a) => -Math.cos(a)].map((f) => f((n * Math.PI) / 5) * (n % 2 ? 0.8 : 1.8))),
};

/**
 * A plane with its player.
 * @param {HTMLElement} root
 * @param {boolean} calm whether nothing may move by itself
 */
export function mountPlane(root, calm) {
    const canvas = el("canvas", { class: "hm-plane", role: "img" });
    const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const play = el("button", { class: "hm-play", click: toggle });
    const slider = el("input", { type: "range", min: 0, "aria-label": "Layer", input: () => goTo(Number(slider.value)) });
    const layerShown = el("output");
    const player = el("div", { class: "hm-player" }, play, el("button", { click: () => step(-1), "aria-label": "One layer back" }, "−"),
        slider, el("button", { click: () => step(1), "aria-label": "One layer on" }, "+"), layerShown);
    const [legend, remark] = [el("ul", { class: "hm-legend" }), el("p", { class: "hardmax-note" })];
    root.append(canvas, player, legend, remark);
    /** @type {{model: Model, found: Classified, scene: WordScene, named: number[], last: number} | null} */
    let shown = null;
    let [at, frame, pointed] = [0, 0, -1]; // the layer, perhaps between two; the animation; the token under the pointer
    /** The place of each label: one that moves with its token is easier to follow. @type {Map<number, number>} */
    let kept = new Map();
    new ResizeObserver(draw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
        const far = positions().map(([x, y]) => Math.hypot(x - offsetX, y - offsetY));
        const least = far.reduce((a, b) => Math.min(a, b), 15);
        point(far.indexOf(least));
    });
    canvas.addEventListener("pointerleave", () => point(-1));
    return { show, toggle, step, point, stop };

    /** @param {Model} model @param {Classified} found @param {boolean} fresh whether to play from the first layer */
    function show(model, found, fresh) {
        stop();
        root.hidden = !found.known;
        if (!found.known) return void (shown = null);
        const wasAtEnd = !shown || at >= shown.last;
        const { tokens } = found;
        const named = [...tokens.keys()].filter((t) => tokens[t].active).sort((a, b) =>
            Number(tokens[b].leads) - Number(tokens[a].leads) || Math.abs(tokens[b].vote) - Math.abs(tokens[a].vote));
        const scene = sceneOf(model, found);
        const last = scene.path.length - 1;
        [shown, kept, slider.max] = [{ model, found, scene, named, last }, new Map(), String(last)];
        at = fresh && !calm ? 0 : fresh || wasAtEnd ? last : Math.min(at, last);
        player.hidden = !last;
        canvas.setAttribute("aria-label", `The words in the plane: ${named.slice(0, 6).map((t) => tokens[t].word).join(", ")}; the ledgers have the numbers`);
        remark.textContent = (last ? "" : "this model has no layers: words stay where they are; ")
            + (scene.remark || (model.dimension > 1 ? "axes are not to the same scale" : "one dimension: only the horizontal place counts"));
        showLegend(model, found);
        draw();
        if (fresh && !calm && last) toggle();
    }

    /** @param {Model} model @param {Classified} found */
    function showLegend(model, found) {
        /** @type {{sign: string, color: string, name: string}[]} */
        const items = [];
        const sides = new Set(found.tokens.flatMap((token) => (token.active ? [token.side] : [])));
        for (const c of [...sides].sort((a, b) => a - b).slice(0, 7)) items.push({ ...lookOfClass(c, model.classes.length), name: shortName(model.classes[c], 30) });
        if (model.layers) items.push({ sign: "★", color: "", name: "leader" });
        items.push({ sign: "▲", color: "", name: "mean: decides the label" });
        if (found.tokens.some((token) => !token.active && token.id !== model.extra)) items.push({ sign: "●", color: "#9A9A9A", name: "inactive" });
        if (model.extra >= 0) items.push({ sign: "☆", color: "", name: model.hasNeutral ? "neutral leader" : "extra token" });
        legend.replaceChildren(...items.map(({ sign, color, name }) => {
            const mark = el("i", { "aria-hidden": "true" }, sign);
            mark.style.color = color;
            return el("li", {}, mark, el("bdi", {}, name));
        }));
    }

    function stop() {
        cancelAnimationFrame(frame);
        frame = 0;
        play.textContent = "Play";
    }

    function toggle() {
        if (frame || !shown) return void (stop(), draw());
        const { last } = shown;
        if (at >= last) at = 0;
        const pace = MS_PER_LAYER * Math.min(1, 10 / last);
        let before = performance.now();
        play.textContent = "Pause";
        frame = requestAnimationFrame(function tick(/** @type {number} */ now) {
            at = Math.min(last, at + Math.max(0, now - before) / pace);
            before = now;
            frame = requestAnimationFrame(tick);
            if (at >= last) stop();
            draw();
        });
    }

    /** @param {number} by */
    function step(by) {
        goTo(by > 0 ? Math.floor(at) + 1 : Math.ceil(at) - 1);
    }

    /** @param {number} layer */
    function goTo(layer) {
        stop();
        at = Math.max(0, Math.min(shown?.last ?? 0, layer));
        draw();
    }

    /** Name a token in any case; -1: none. @param {number} token */
    function point(token) {
        if (token !== pointed) [pointed] = [token, draw()];
        pointed = token;
    }

    /** @param {number[]} point @returns {[number, number]} */
    function pixel([x, y]) {
        const { low, high } = /** @type {{scene: WordScene}} */ (shown).scene;
        return [((x - low[0]) / (high[0] - low[0])) * canvas.clientWidth, ((high[1] - y) / (high[1] - low[1])) * canvas.clientHeight];
    }

    /** Between two layers, with a gentle start and stop. @param {number[][][]} path */
    function positionsOf(path) {
        const part = calm ? 0 : at % 1;
        const [before, after] = [path[Math.floor(at)], path[Math.ceil(at)]];
        return before.map((point, t) => pixel(point.map((x, i) => x + (after[t][i] - x) * part * part * (3 - 2 * part))));
    }

    function positions() {
        return shown ? positionsOf(shown.scene.path) : [];
    }

    function draw() {
        const [width, height, scale] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1];
        if (!shown || !width) return;
        const { model, found: { tokens }, scene, named, last } = shown;
        const { color: ink, backgroundColor: ground, fontFamily } = getComputedStyle(canvas);
        [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)]; // clears it, too
        ctx.scale(scale, scale);
        slider.value = String(Math.round(at));
        layerShown.textContent = model.layers !== Infinity ? `layer ${Math.floor(at)} of ${last}` : at < last ? `layer ${Math.floor(at)}` : "the limit";
        drawRegions();
        const places = positions();
        const mean = positionsOf(scene.mean.map((point) => [point]))[0];
        const extra = tokens.findIndex((token) => token.id === model.extra);
        ctx.globalAlpha = 0.16;
        // Many inactive tokens lie in one place.
        const blur = new Set(places.flatMap(([x, y], t) => (tokens[t].active || t === extra ? [] : [`${Math.round(x)} ${Math.round(y)}`])));
        for (const place of blur) mark("●", /** @type {[number, number]} */ (place.split(" ").map(Number)), 7, ink, "transparent");
        ctx.globalAlpha = 0.5;
        for (const t of named) {
            ctx.strokeStyle = lookOfClass(tokens[t].side, model.classes.length).color;
            line([...scene.path.slice(0, Math.floor(at) + 1).map((points) => pixel(points[t])), places[t]]);
        }
        ctx.globalAlpha = 1;
        const isStar = (/** @type {number} */ t) => last > 0 && tokens[t].leads && at >= tokens[t].leaderSince;
        for (const t of [...named].reverse()) {
            const { color, sign } = lookOfClass(tokens[t].side, model.classes.length);
            mark(isStar(t) ? "★" : sign, places[t], isStar(t) ? 6 : 4.5, color, ground);
        }
        if (extra >= 0) mark("★", places[extra], 5.5, ground, ink);
        mark("▲", mean, 8, ink, ground);
        drawLabels();

        /** @param {string} sign @param {[number, number]} place @param {number} size @param {string} fill @param {string} edge */
        function mark(sign, [x, y], size, fill, edge) {
            [ctx.fillStyle, ctx.strokeStyle, ctx.lineWidth] = [fill, edge, 1];
            ctx.beginPath();
            if (!OUTLINES[sign]) ctx.arc(x, y, size, 0, 7);
            for (const [dx, dy] of OUTLINES[sign] ?? []) ctx.lineTo(x + size * dx, y + size * dy);
            ctx.closePath();
            ctx.fill();
            ctx.stroke();
        }

        /** @param {[number, number][]} points */
        function line(points) {
            ctx.beginPath();
            for (const each of points) ctx.lineTo(...each);
            ctx.stroke();
        }

        /** @param {string} text @param {number} x @param {number} y @param {string} weight */
        function write(text, x, y, weight) {
            [ctx.font, ctx.textBaseline, ctx.strokeStyle, ctx.fillStyle, ctx.lineWidth] = [`${weight} 13px ${fontFamily}`, "middle", ground, ink, 3];
            ctx.strokeText(text, x, y);
            ctx.fillText(text, x, y);
        }

        function drawRegions() {
            for (const c of scene.scores.keys()) {
                const corners = planeRegion(scene, c).map(pixel);
                if (corners.length < 3) continue;
                [ctx.fillStyle, ctx.strokeStyle, ctx.globalAlpha] = [lookOfClass(c, model.classes.length).color, ink, 0.1];
                line([...corners, corners[0]]);
                ctx.fill();
                ctx.globalAlpha = 0.7;
                ctx.stroke();
                // Its name stands where the region reaches farthest from the middle.
                const centre = [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / corners.length);
                const off = (/** @type {number[]} */ [x, y]) => Math.hypot(x - width / 2, y - height * 0.55);
                const far = corners.reduce((a, b) => (off(b) > off(a) ? b : a));
                ctx.textAlign = far[0] < width / 2 ? "left" : "right";
                const [x, y] = far.map((value, axis) => value + 0.05 * (centre[axis] - value));
                write(shortName(String(model.classes[c]), 20), Math.max(8, Math.min(width - 8, x)), Math.max(13, Math.min(height - 13, y)), "600");
            }
        }

        function drawLabels() {
            const around = (/** @type {[number, number]} */ [x, y]) => /** @type {LabelBox} */ ([x - 6, y - 6, x + 6, y + 6]);
            const taken = [mean, ...(extra < 0 ? [] : [places[extra]]), ...named.map((t) => places[t])].map(around);
            ctx.textAlign = "left";
            for (const t of new Set([...(tokens[pointed] ? [pointed] : []), ...named.slice(0, MOST_LABELS)])) {
                const name = tokens[t].word === EXTRA_TOKEN ? "extra token" : shortName(tokens[t].word, 26);
                const weight = tokens[t].leads || t === pointed ? "700" : "400";
                ctx.font = `${weight} 13px ${fontFamily}`;
                const placed = placeLabel(places[t], ctx.measureText(name).width + 6, taken, kept.get(t) ?? 0);
                if (!placed) continue;
                const [left, top, right, bottom] = placed.box;
                kept.set(t, placed.choice);
                taken.push(placed.box);
                const [x, y] = places[t];
                [ctx.strokeStyle, ctx.lineWidth, ctx.globalAlpha] = [ink, 0.7, 0.45];
                if (placed.choice > 3) line([[x, y], [Math.max(left, Math.min(right, x)), y < top ? top + 2 : bottom - 2]]);
                ctx.globalAlpha = 1;
                write(name, left + 3, (top + bottom) / 2, weight);
            }
        }

        /**
         * The first free place: where it was, else near the mark, else above or below it in rows.
         * @param {[number, number]} place
         * @param {number} wide
         * @param {LabelBox[]} taken
         * @param {number} before
         */
        function placeLabel([x, y], wide, taken, before) {
            const offsets = [[0, -1], [0, 1], [0.5 + 10 / wide, 0], [-0.5 - 10 / wide, 0]];
            for (let row = 2; row < 9; row++) for (const shift of [0, 0.35, -0.35]) offsets.push([shift, -row], [shift, row]);
            for (const choice of [before, ...offsets.keys()]) {
                const left = Math.max(3, Math.min(width - wide - 3, x + (offsets[choice][0] - 0.5) * wide));
                const top = y + offsets[choice][1] * LABEL_ROW - 8;
                const box = /** @type {LabelBox} */ ([left, top, left + wide, top + 16]);
                const isFree = taken.every((other) => box[2] < other[0] || other[2] < box[0] || box[3] < other[1] || other[3] < box[1]);
                if (isFree && top > 2 && top < height - 18) return { choice, box };
            }
            return null;
        }
    }
}
