// The words of a text in the plane, layer by layer. Vectors of two dimensions are drawn as they are; others are
// projected on what decides between the first classes, so that the borders between these are right for every vector.
import { el } from "./dom.js";
import { activeTokens, lookOfClass, shortName } from "./explanation.js";
import { clipPolygon, floatDot } from "./floats.js";

/** @typedef {import("./text.js").Model} Model @typedef {import("./text.js").Classified} Classified
 * @typedef {{path: number[][][], mean: number[][], scores: number[][], low: number[], high: number[]}} WordScene
 *     positions (layers + 1, tokens) and their mean; the score of class c at (x, y) is `scores[c]` · (x, y, 1); `low`
 *     and `high` are corners of the window */

const MOST_LABELS = 26;
const MS_PER_LAYER = 700; // and at most ten times as much for all of them
const LABEL_ROW = 18; // pixels

/** The direction of a vector beside an axis; zero if there is none. @param {number[]} vector @param {number[]} axis */
function planeBeside(vector, axis) {
    const along = floatDot(vector, axis);
    const beside = vector.map((x, i) => x - along * axis[i]);
    const length = Math.hypot(...beside);
    return beside.map((x) => (length > 1e-9 ? x / length : 0));
}

/** Two axes: what decides between the first two classes; what decides between the first and the third, or else the
 * extra token, or else any token that lies beside the first axis. @param {Model} model @param {Classified} found */
function planeAxes(model, found) {
    const d = model.dimension;
    if (d <= 2) return [0, 1].map((n) => Array.from({ length: d }, (_, i) => Number(i === n)));
    const [first, ...others] = [...found.logits.keys()].sort((a, b) => found.logits[b] - found.logits[a]);
    const best = model.decoder[first];
    const leads = others.slice(0, 2).map((c) => best.map((x, i) => x - model.decoder[c][i]));
    const axis = planeBeside(leads[0] ?? best, best.map(() => 0));
    const extra = model.extra < 0 ? [] : [model.table[model.extra]];
    const choices = [...leads.slice(1), ...extra, ...found.tokens.map((token) => token.start)];
    const upright = choices.map((choice) => planeBeside(choice, axis)).find((way) => way.some(Boolean));
    return [axis, upright ?? axis.map(() => 0)];
}

function sceneOf(/** @type {Model} */ model, /** @type {Classified} */ found) {
    const { extra, neutralWeight, binary, decoder, temperature } = model;
    const axes = planeAxes(model, found);
    const flat = (/** @type {number[]} */ point) => axes.map((axis) => floatDot(axis, point));
    const counts = found.tokens.map(({ id, count }) => (id === extra ? neutralWeight : binary ? 1 : count));
    const total = counts.reduce((a, b) => a + b, 0);
    const meanOf = (/** @type {number[][]} */ points) =>
        points[0].map((_, i) => floatDot(counts, points.map((point) => point[i])) / total);
    const means = found.path.map(meanOf);
    const [mean, last] = [means.map(flat), means[means.length - 1]];
    const [x, y] = mean[mean.length - 1];
    // The plane goes through the last mean.
    const beside = last.map((value, i) => value - x * axes[0][i] - y * axes[1][i]);
    const scores = model.bias.map((bias, c) => {
        const row = decoder[c].map((value) => value / temperature);
        return [...flat(row), floatDot(row, beside) + bias];
    });
    if (scores.length === 1) scores.unshift([0, 0, 0]);
    const path = found.path.map((points) => points.map(flat));
    return { path, mean, scores, ...planeFrame([...path.flat(), ...mean], [x, y], scores) };
}

/** A window round all places and the border that is nearest to the mean, if it is near, with room for labels.
 * @param {number[][]} places @param {number[]} mean @param {number[][]} scores */
function planeFrame(places, mean, scores) {
    const value = (/** @type {number[]} */ score) => floatDot(score, [...mean, 1]);
    const [first, second] = [...scores].sort((a, b) => value(b) - value(a));
    const lead = first.map((x, i) => x - second[i]);
    const step = (1.2 * value(lead)) / (lead[0] ** 2 + lead[1] ** 2);
    const beyond = mean.map((x, axis) => x - step * lead[axis]);
    const rangeOf = (/** @type {number} */ axis) => places.reduce(([low, high], place) =>
        [Math.min(low, place[axis]), Math.max(high, place[axis])], [Infinity, -Infinity]);
    const reach = Math.max(...[0, 1].map((axis) => rangeOf(axis)[1] - rangeOf(axis)[0])) || 1;
    if (Math.hypot(beyond[0] - mean[0], beyond[1] - mean[1]) < reach) places = [...places, beyond];
    const [low, high] = [[0.12, 0.45], [-0.12, -0.25]].map((margins, side) => margins.map((margin, axis) => {
        // More above and below, where labels stand.
        const [least, most] = rangeOf(axis);
        return [least, most][side] - margin * (most - least || 0.6 * reach);
    }));
    return { low, high };
}

/** A part of a drawing. @param {string} tag @param {Record<string, string | number>} attributes */
function planePart(tag, attributes, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.textContent = text;
    return made;
}

/** A plane with its player. @param {HTMLElement} root @param {boolean} calm whether nothing may move by itself */
export function mountPlane(root, calm) {
    const plane = planePart("svg", { class: "hm-plane", role: "img", "aria-label": "The words of the text" });
    // Asking a label for its size would lay out the page.
    const ruler = /** @type {CanvasRenderingContext2D} */ (el("canvas").getContext("2d"));
    const play = el("button", { class: "hm-play", click: toggle });
    const back = el("button", { click: () => step(-1), "aria-label": "One layer back" }, "−");
    const on = el("button", { click: () => step(1), "aria-label": "One layer on" }, "+");
    const slider = el("input", { type: "range", min: 0, "aria-label": "Layer", input: () => goTo(+slider.value) });
    const layerShown = el("output");
    const player = el("div", { class: "hm-player" }, play, back, slider, on, layerShown);
    const remark = el("p", { class: "hardmax-note" });
    root.append(plane, player, remark);
    /** @type {{model: Model, found: Classified, scene: WordScene, active: number[], last: number} | null} */
    let shown = null;
    let [at, frame] = [0, 0]; // the layer, perhaps between two; the animation
    const step = (/** @type {number} */ by) => goTo(by > 0 ? Math.floor(at) + 1 : Math.ceil(at) - 1);
    new ResizeObserver(draw).observe(plane);
    return { show, toggle, step, stop };

    function show(/** @type {Model} */ model, /** @type {Classified} */ found, /** @type {boolean} */ fresh) {
        stop();
        const wasAtEnd = !shown || at >= shown.last;
        root.hidden = !found.known;
        if (root.hidden) return void (shown = null);
        const active = activeTokens(found, true).map((token) => found.tokens.indexOf(token));
        const scene = sceneOf(model, found);
        const last = scene.path.length - 1;
        shown = { model, found, scene, active, last };
        [slider.max, player.hidden] = [String(last), !last];
        const { dimension: d, extra, hasNeutral } = model;
        remark.textContent = [
            "▲ mean of all tokens: decides the label", last ? "★ leader" : "no layers: nothing moves",
            found.known > active.length ? "grey: inactive tokens" : "",
            extra >= 0 ? `☆ ${hasNeutral ? "neutral leader" : "extra token"}` : "",
            d > 2 ? `projected from ${d} dimensions; horizontal: what decides` : "axes are not to the same scale",
        ].filter(Boolean).join("; ");
        const isPlayed = fresh && !calm && last > 0;
        at = isPlayed ? 0 : fresh || wasAtEnd ? last : Math.min(at, last);
        if (isPlayed) toggle();
        draw();
    }

    function stop() {
        cancelAnimationFrame(frame);
        frame = 0;
        play.textContent = "Play";
    }

    function toggle() {
        if (frame || !shown?.last) return stop();
        const { last } = shown;
        const pace = MS_PER_LAYER * Math.min(1, 10 / last);
        if (at >= last) at = 0;
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

    function goTo(/** @type {number} */ layer) {
        stop();
        at = Math.max(0, Math.min(shown?.last ?? 0, layer));
        draw();
    }

    function draw() {
        const { clientWidth: width, clientHeight: height } = plane;
        if (!shown || !width) return;
        const { model, found: { tokens }, scene, active, last } = shown;
        const { path, mean, scores, low, high } = scene;
        const [before, after] = [Math.floor(at), Math.ceil(at)];
        slider.value = String(Math.round(at));
        const layers = model.layers === Infinity ? "" : ` of ${last}`;
        layerShown.textContent = at === last && !layers ? "the limit" : `layer ${before}${layers}`;
        const pixel = (/** @type {number[]} */ [x, y]) =>
            [((x - low[0]) / (high[0] - low[0])) * width, ((high[1] - y) / (high[1] - low[1])) * height];
        // Between two layers, with a gentle start and stop.
        const part = calm ? 0 : at - before;
        const between = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
            pixel(a.map((x, i) => x + (b[i] - x) * part * part * (3 - 2 * part)));
        const places = path[before].map((point, t) => between(point, path[after][t]));
        const isStar = (/** @type {number} */ t) => last > 0 && tokens[t].leads && at >= tokens[t].leaderSince;
        const looks = model.classes.map((_, c) => lookOfClass(model, c));
        const marks = active.map((t) => {
            const { css, sign } = looks[tokens[t].side];
            return { place: places[t], sign: isStar(t) ? "★" : sign, css: isStar(t) ? `${css} hm-star` : css };
        }).reverse();
        const extra = tokens.findIndex((token) => token.id === model.extra);
        if (extra >= 0) marks.push({ place: places[extra], sign: "☆", css: "hm-star" });
        marks.push({ place: between(mean[before], mean[after]), sign: "▲", css: "hm-mean" });
        // Many inactive tokens lie in one place.
        const inactive = places.filter((_, t) => !tokens[t].active && t !== extra);
        const blur = new Map(inactive.map((place) => [place.map(Math.round).join(), place]));
        // A class is ahead of all others in a convex polygon.
        const regions = scores.map((score) => {
            const leads = scores.map((other) => score.map((x, i) => x - other[i]));
            return clipPolygon([low, [high[0], low[1]], high, [low[0], high[1]]], leads).map(pixel);
        });
        const trails = active.map((t) => [...path.slice(0, before + 1).map((points) => pixel(points[t])), places[t]]);
        const line = (/** @type {string} */ tag, /** @type {number[][]} */ points, /** @type {number} */ side) =>
            planePart(tag, { points: points.join(" "), class: looks[side].css });
        plane.replaceChildren(
            ...regions.map((corners, c) => line("polygon", corners, c)),
            ...[...blur.values()].map(([cx, cy]) => planePart("circle", { cx, cy, r: 7 })),
            ...trails.map((points, n) => line("polyline", points, tokens[active[n]].side)),
            ...marks.map(({ place: [x, y], sign, css }) => planePart("text", { x, y, class: `hm-sign ${css}` }, sign)));
        const taken = marks.map(({ place: [x, y] }) => [x - 6, y - 6, x + 6, y + 6]);
        const { fontFamily } = getComputedStyle(plane);
        regions.forEach(nameClass);
        active.slice(0, MOST_LABELS).forEach(nameToken);

        /** In a corner of the region, or further inside, if there is room. @param {number[][]} corners @param {number} c */
        function nameClass(corners, c) {
            const isInside = (/** @type {number[]} */ [x, y]) => corners.every(([x0, y0], n) => {
                const [x1, y1] = corners[(n + 1) % corners.length];
                return (x1 - x0) * (y - y0) <= (y1 - y0) * (x - x0);
            });
            const middle = [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / corners.length);
            const places = [0, 0.3, 0.6, 1].flatMap((part) =>
                [...corners].sort((a, b) => a[1] - b[1]).map((corner) => corner.map((x, i) => x + part * (middle[i] - x))));
            write(`${looks[c].sign} ${shortName(model.classes[c], 20)}`, "hm-name", () => places, ([left, top, right, bottom]) =>
                [[left, top], [right, top], [left, bottom], [right, bottom]].every(isInside));
        }

        /** Near the mark, else above or below it in rows, with a line to it. @param {number} t */
        function nameToken(t) {
            const [x, y] = places[t];
            const box = write(shortName(tokens[t].word, 26), isStar(t) ? "hm-name" : "", (wide) => {
                const near = [[0, -1], [0, 1], [0.5 + 10 / wide, 0], [-0.5 - 10 / wide, 0]];
                for (let row = 2; row < 9; row++) {
                    for (const shift of [0, 0.35, -0.35]) near.push([shift, -row], [shift, row]);
                }
                return near.map(([right, down]) => [x + right * wide, y + down * LABEL_ROW]);
            });
            if (!box || Math.abs((box[1] + box[3]) / 2 - y) < 1.5 * LABEL_ROW) return;
            const [left, top, right, bottom] = box;
            const foot = { x1: x, y1: y, x2: Math.max(left, Math.min(right, x)), y2: top > y ? top + 2 : bottom - 2 };
            plane.append(planePart("line", foot));
        }

        /** Write a text at the first of some places where it is free. @param {string} text @param {string} css
         * @param {(wide: number) => number[][]} placesFor @param {(box: number[]) => boolean} fits */
        function write(text, css, placesFor, fits = () => true) {
            ruler.font = `${css ? "bold" : ""} 13px ${fontFamily}`;
            const wide = ruler.measureText(text).width + 4;
            const boxes = placesFor(wide).map(([x, y]) => {
                const left = Math.max(3, Math.min(width - wide - 3, x - wide / 2));
                const top = Math.max(3, Math.min(height - 19, y - 8));
                return [left, top, left + wide, top + 16];
            });
            const box = boxes.find((each) => fits(each) && !taken.some(([left, top, right, bottom]) =>
                each[2] > left && right > each[0] && each[3] > top && bottom > each[1]));
            if (!box) return;
            taken.push(box);
            plane.append(planePart("text", { x: box[0] + 2, y: box[1] + 8, class: css }, text));
            return box;
        }
    }
}
