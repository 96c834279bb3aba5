// The words of a text in the plane, layer by layer. Vectors of two dimensions are drawn as they are; others are projected
// on what decides between the first classes, so that the borders between these are right for every vector.
import { el } from "./dom.js";
import { activeTokens, lookOfClass, shortName } from "./explanation.js";

/**
 * @typedef {import("./text.js").Model} Model
 * @typedef {import("./text.js").Classified} Classified
 *
 * Positions (layers + 1, tokens) and their mean; the score of class c at (x, y) is `scores[c]` · (x, y, 1). `low` and
 * `high` are corners of the window.
 * @typedef {{path: number[][][], mean: number[][], scores: number[][], remark: string, low: number[], high: number[]}} WordScene
 */

const MOST_LABELS = 26;
const MS_PER_LAYER = 700; // and at most ten times as much for all of them
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
    const [first, ...others] = [...found.logits.keys()].sort((a, b) => found.logits[b] - found.logits[a]);
    const best = row(model.decoder, first);
    const leads = others.slice(0, 2).map((c) => best.map((x, i) => x - model.decoder[c * d + i]));
    const axis = planeUnit(leads[0] ?? best, 0);
    const farthest = found.tokens.map((token) => planeBeside(token.start, axis)).reduce((a, b) => (Math.hypot(...a) < Math.hypot(...b) ? b : a));
    const choices = [{ way: leads[1], what: "what decides between the first and the third class" },
        { way: model.extra < 0 ? undefined : row(model.table, model.extra), what: "the extra token" }, { way: farthest, what: "the token farthest off" }];
    const { way = [], what } = choices.find((choice) => choice.way && Math.hypot(...planeBeside(choice.way, axis)) > 1e-9) ?? choices[2];
    return { axes: [axis, planeUnit(planeBeside(way, axis), 1)], remark: `projected from ${d} dimensions; horizontal: what decides; vertical: ${what}` };
}

/** @param {Model} model @param {Classified} found with at least one token @returns {WordScene} */
function sceneOf(model, found) {
    const d = model.dimension;
    const { axes, remark } = planeAxes(model, found);
    const flat = (/** @type {number[]} */ point) => axes.map((axis) => planeDot(axis, point));
    const counts = found.tokens.map(({ id, count }) => (id === model.extra ? model.neutralWeight : model.binary ? 1 : count));
    const total = counts.reduce((a, b) => a + b, 0);
    const shares = counts.map((count) => count / total);
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

/** A part of a drawing. @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] */
function planePart(tag, attributes, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.textContent = text;
    return /** @type {SVGGraphicsElement} */ (made);
}

/**
 * A plane with its player.
 * @param {HTMLElement} root
 * @param {boolean} calm whether nothing may move by itself
 */
export function mountPlane(root, calm) {
    const plane = planePart("svg", { class: "hm-plane", role: "img", "aria-label": "The words in the plane; the tables have the numbers" });
    const play = el("button", { class: "hm-play", click: toggle });
    const slider = el("input", { type: "range", min: 0, "aria-label": "Layer", input: () => goTo(Number(slider.value)) });
    const layerShown = el("output");
    const player = el("div", { class: "hm-player" }, play, el("button", { click: () => step(-1), "aria-label": "One layer back" }, "−"),
        slider, el("button", { click: () => step(1), "aria-label": "One layer on" }, "+"), layerShown);
    const remark = el("p", { class: "hardmax-note" });
    const ruler = /** @type {CanvasRenderingContext2D} */ (el("canvas").getContext("2d")); // asking a label for its size would lay out the page
    root.append(plane, player, remark);
    /** @type {{model: Model, found: Classified, scene: WordScene, active: number[], last: number} | null} */
    let shown = null;
    let [at, frame] = [0, 0]; // the layer, perhaps between two; the animation
    /** The place of each label: one that moves with its token is easier to follow. @type {Map<number, number>} */
    let kept = new Map();
    new ResizeObserver(draw).observe(plane);
    return { show, toggle, step, stop };

    /** @param {Model} model @param {Classified} found @param {boolean} fresh whether to play from the first layer */
    function show(model, found, fresh) {
        stop();
        const wasAtEnd = !shown || at >= shown.last;
        shown = null;
        root.hidden = !found.known;
        if (!found.known) return;
        const scene = sceneOf(model, found);
        const last = scene.path.length - 1;
        const active = activeTokens(found, true).map((token) => found.tokens.indexOf(token));
        [shown, kept, slider.max, player.hidden] = [{ model, found, scene, active, last }, new Map(), String(last), !last];
        remark.textContent = [`▲ mean of all tokens: decides the label${last ? "; ★ leader" : ""}`,
            ...(found.known > active.length ? ["grey: inactive tokens"] : []),
            ...(model.extra >= 0 ? [`☆ ${model.hasNeutral ? "neutral leader" : "extra token"}`] : []),
            ...(last ? [] : ["this model has no layers: tokens stay where they are"]),
            scene.remark || (model.dimension > 1 ? "axes are not to the same scale" : "one dimension")].join("; ") + ".";
        at = fresh && !calm ? 0 : fresh || wasAtEnd ? last : Math.min(at, last);
        draw();
        if (fresh && !calm && last) toggle();
    }

    function stop() {
        cancelAnimationFrame(frame);
        frame = 0;
        play.textContent = "Play";
    }

    function toggle() {
        if (frame || !shown?.last) return stop();
        const { last } = shown;
        if (at >= last) at = 0;
        let before = performance.now();
        play.textContent = "Pause";
        frame = requestAnimationFrame(function tick(/** @type {number} */ now) {
            at = Math.min(last, at + Math.max(0, now - before) / MS_PER_LAYER / Math.min(1, 10 / last));
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

    function draw() {
        const [width, height] = [plane.clientWidth, plane.clientHeight];
        if (!shown || !width) return;
        const { model, found: { tokens }, scene, active, last } = shown;
        const { path, mean, scores, low, high } = scene;
        slider.value = String(Math.round(at));
        layerShown.textContent = model.layers !== Infinity ? `layer ${Math.floor(at)} of ${last}` : at < last ? `layer ${Math.floor(at)}` : "the limit";
        const { fontFamily } = getComputedStyle(plane);
        const classes = [...scores.keys()].map((c) => lookOfClass(model, c));
        const pixel = (/** @type {number[]} */ [x, y]) => [((x - low[0]) / (high[0] - low[0])) * width, ((high[1] - y) / (high[1] - low[1])) * height];
        // Between two layers, with a gentle start and stop.
        const part = calm ? 0 : at % 1;
        const between = (/** @type {number[]} */ a, /** @type {number[]} */ b) => pixel(a.map((x, i) => x + (b[i] - x) * part * part * (3 - 2 * part)));
        const [before, after] = [Math.floor(at), Math.ceil(at)];
        const places = path[before].map((point, t) => between(point, path[after][t]));
        const isStar = (/** @type {number} */ t) => last > 0 && tokens[t].leads && at >= tokens[t].leaderSince;
        const extra = tokens.findIndex((token) => token.id === model.extra);
        // Many inactive tokens lie in one place.
        const blur = new Set(places.flatMap((place, t) => (tokens[t].active || t === extra ? [] : [place.map(Math.round).join(" ")])));
        const sign = (/** @type {string} */ text, /** @type {number[]} */ [x, y], css = "") => planePart("text", { x, y, class: `hm-sign ${css}` }, text);
        const middle = between(mean[before], mean[after]);
        const regions = classes.map((_, c) => planeRegion(scene, c).map(pixel));
        plane.replaceChildren(
            ...regions.map((corners, c) => planePart("polygon", { points: corners.join(" "), class: `hm-region ${classes[c].css}` })),
            ...[...blur].map((place) => planePart("circle", { r: 7, cx: place.split(" ")[0], cy: place.split(" ")[1], class: "hm-blur" })),
            ...active.map((t) => planePart("polyline", { points: [...path.slice(0, before + 1).map((points) => pixel(points[t])), places[t]].join(" "), class: `hm-trail ${classes[tokens[t].side].css}` })),
            ...active.map((t) => sign(isStar(t) ? "★" : classes[tokens[t].side].sign, places[t], `${classes[tokens[t].side].css}${isStar(t) ? " hm-star" : ""}`)).reverse(),
            ...(extra < 0 ? [] : [sign("☆", places[extra], "hm-star")]),
            sign("▲", middle, "hm-mean"));
        const taken = [middle, ...(extra < 0 ? [] : [places[extra]]), ...active.map((t) => places[t])].map(([x, y]) => [x - 6, y - 6, x + 6, y + 6]);
        // The name of a class stands in a corner of its region, if there is room.
        for (const [c, corners] of regions.entries()) {
            const isInside = (/** @type {number[]} */ [x, y]) => corners.every(([x0, y0], n) => {
                const [x1, y1] = corners[(n + 1) % corners.length];
                return (x1 - x0) * (y - y0) <= (y1 - y0) * (x - x0);
            });
            write(`${classes[c].sign} ${shortName(model.classes[c], 20)}`, "hm-name", () => [...corners].sort((a, b) => a[1] - b[1]),
                ([left, top, right, bottom]) => [[left, top], [right, top], [left, bottom], [right, bottom]].every(isInside));
        }
        // The name of a token stands where it was, else near the mark, else above or below it in rows.
        for (const t of active.slice(0, MOST_LABELS)) {
            const [x, y] = places[t];
            const written = write(shortName(tokens[t].word, 26), isStar(t) ? "hm-name" : "", (wide) => {
                const near = [[0, -1], [0, 1], [0.5 + 10 / wide, 0], [-0.5 - 10 / wide, 0]];
                for (let row = 2; row < 9; row++) for (const shift of [0, 0.35, -0.35]) near.push([shift, -row], [shift, row]);
                return [near[kept.get(t) ?? 0], ...near].map(([right, down]) => [x + right * wide, y + down * LABEL_ROW]);
            });
            if (written && written.choice) kept.set(t, written.choice - 1);
            if ((kept.get(t) ?? 0) < 4 || !written) continue;
            const [left, top, right, bottom] = written.box;
            plane.append(planePart("line", { x1: x, y1: y, x2: Math.max(left, Math.min(right, x)), y2: top > y ? top + 2 : bottom - 2, class: "hm-foot" }));
        }

        /**
         * Write a text at the first of some places where it is free.
         * @param {string} text
         * @param {string} css
         * @param {(wide: number) => number[][]} placesFor
         * @param {(box: number[]) => boolean} fits
         */
        function write(text, css, placesFor, fits = () => true) {
            ruler.font = `${css ? "bold" : ""} 13px ${fontFamily}`;
            const wide = ruler.measureText(text).width + 4;
            for (const [choice, [x, y]] of placesFor(wide).entries()) {
                const left = Math.max(3, Math.min(width - wide - 3, x - wide / 2));
                const top = Math.max(3, Math.min(height - 19, y - 8));
                const box = [left, top, left + wide, top + 16];
                if (!fits(box) || taken.some((other) => box[2] > other[0] && other[2] > box[0] && box[3] > other[1] && other[3] > box[1])) continue;
                taken.push(box);
                plane.append(planePart("text", { x: left + 2, y: top + 8, class: css }, text));
                return { choice, box };
            }
            return null;
        }
    }
}
