// The layers of a text classifier, every choice proved: by floats with an error bound, which is enough for most texts,
// and else by exact.js.

import { exactCloud, exactFloat, exactPhases } from "./exact.js";

/**
 * @typedef {{d: number, layers: number, dynamics: import("./exact.js").ExactDynamics}} LayerRules  `layers` may be
 *     Infinity
 * @typedef {{start: Float64Array, weights: number[], of: number[]}} TextCloud  the distinct points of a text,
 *     (points, d), how much each weighs, and the point of each token
 * @typedef {{last: number, settled: boolean, since: number[], sets: (layer: number) => number[][],
 *     at: (layer: number) => Float64Array}} LayerRun  attended sets and positions of points up to the layer `last`; if
 *     it has settled no set changes later, and `at` knows any layer, Infinity included; `since` is -1 for no leader
 */

const LAYERS_UNIT = 2 ** -53;
const LAYERS_SAFETY = 1 + 2 ** -10; // covers the rounding of the bounds themselves
const LAYERS_TINY = 2 ** -900; // more than underflow adds
const LAYERS_DEEPEST = 10_000; // of infinitely many; a text that has not settled by then is taken as it is there
const LAYERS_IN_FLOATS = 64; // a text that takes more until it settles is left to exact numbers
const LAYERS_BUDGET = 20_000; // milliseconds

/** @param {LayerRules} rules @param {number} layers @returns {number} what these leave of the way to a target */
export function layersKeep({ dynamics: { keep } }, layers) {
    return Number.isFinite(layers) ? exactFloat(keep.p ** BigInt(layers), keep.q ** BigInt(layers)) : 0;
}

/** @param {TextCloud} cloud @param {LayerRules} rules @returns {LayerRun} */
export function walkLayers(cloud, rules) {
    return layersInFloats(cloud, rules) ?? layersExactly(cloud, rules);
}

/**
 * A run in which every point attends to one, proved by floats, or null. With R the largest norm, u the unit of rounding
 * and e the error of positions, a score along z is off by at most d u |z| R + |z| e + R e + e^2, and a layer adds less
 * than 7 u R to e. Training gives no model a metric: one that has it is left to exact numbers.
 * @param {TextCloud} cloud @param {LayerRules} rules @returns {LayerRun | null}
 */
function layersInFloats({ start, weights }, rules) {
    const { d } = rules;
    const since = weights.map(() => -1);
    const alone = weights.map((_, i) => [i]);
    const positions = [start];
    /** @type {number[][][]} */
    const sets = [];
    let pending = weights.map((_, i) => i);
    for (let layer = 0, error = 0; ; layer++) {
        const z = positions[layer];
        const here = layer ? [...sets[layer - 1]] : [];
        sets.push(here);
        const norms = weights.map((_, i) => Math.hypot(...z.subarray(i * d, i * d + d)) * LAYERS_SAFETY);
        const largest = norms.reduce((a, b) => Math.max(a, b), 0);
        const isUsual = largest >= 2 ** -100 && largest <= 2 ** 100; // where the bounds hold; later layers lie inside
        if (pending.length && ((!layer && !isUsual) || rules.dynamics.metric)) return null;
        for (const i of pending) {
            const off = d * LAYERS_UNIT * norms[i] * largest + norms[i] * error + largest * error + error * error;
            const winner = layersWinner(i, z, d, 2 * LAYERS_SAFETY * off + LAYERS_TINY);
            if (winner < 0) return null;
            here[i] = alone[winner];
            if (winner === i && since[i] < 0) since[i] = layer;
        }
        pending = pending.filter((i) => since[here[i][0]] < 0);
        const settled = !pending.length;
        if (settled || layer === rules.layers) {
            const last = layer;
            const later = (/** @type {number} */ k) => layersMoved(z, here, layersKeep(rules, k - last), d);
            return { last, settled, since, sets: (k) => sets[Math.min(k, last)], at: (k) => positions[k] ?? later(k) };
        }
        if (layer === LAYERS_IN_FLOATS) return null;
        positions.push(layersMoved(z, here, layersKeep(rules, 1), d));
        error += 7 * LAYERS_UNIT * LAYERS_SAFETY * largest + LAYERS_TINY;
    }
}

/**
 * The one point whose score along z_i leads by more than the slack, or -1.
 * @param {number} i @param {Float64Array} z @param {number} d @param {number} slack
 */
function layersWinner(i, z, d, slack) {
    let [best, second, winner] = [-Infinity, -Infinity, -1];
    for (let j = 0, at = 0; at < z.length; j++) {
        let score = 0;
        for (let c = 0; c < d; c++) score += z[i * d + c] * z[at++];
        if (score > best) [second, best, winner] = [best, score, j];
        else if (score > second) second = score;
    }
    return second >= best - slack ? -1 : winner;
}

/** @param {Float64Array} z @param {number[][]} sets @param {number} share @param {number} d */
function layersMoved(z, sets, share, d) {
    return z.map((x, at) => {
        const target = z[sets[Math.floor(at / d)][0] * d + (at % d)];
        return target + share * (x - target);
    });
}

/** @param {TextCloud} cloud @param {LayerRules} rules @returns {LayerRun} */
function layersExactly({ start, weights }, { d, layers, dynamics }) {
    const points = exactCloud(weights.map((_, i) => [...start.subarray(i * d, i * d + d)]), weights);
    const end = performance.now() + LAYERS_BUDGET;
    const tick = () => {
        if (performance.now() > end) throw new Error("Ties in this text take too long to decide: shorten the text.");
    };
    const most = Math.min(layers, LAYERS_DEEPEST);
    const phases = [...exactPhases(points, dynamics, most, tick)];
    const since = weights.map((_, i) => phases.find((phase) => phase.leads[i])?.layer ?? -1);
    const final = phases[phases.length - 1];
    const settled = final.until === null;
    const phaseAt = (/** @type {number} */ layer) => phases.find(({ until }) => until && layer < until) ?? final;
    const at = (/** @type {number} */ layer) => {
        const { rows, targets, denominator, ...phase } = phaseAt(layer);
        const isLimit = !Number.isFinite(layer);
        const passed = BigInt(isLimit ? 0 : layer - phase.layer);
        const [far, all] = [isLimit ? 0n : dynamics.keep.p ** passed, dynamics.keep.q ** passed];
        const mixed = rows.flatMap((z, i) => z.map((x, c) => far * x + (all - far) * targets[i][c]));
        return Float64Array.from(mixed, (x) => exactFloat(x, all * denominator));
    };
    return { last: settled ? final.layer : most, settled, since, sets: (layer) => phaseAt(layer).sets, at };
}
