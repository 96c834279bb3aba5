/** Layers other than the paper's: a causal mask, a value matrix V, and attention to more than the furthest token.
 * `exactLayers` has attended sets and positions in BigInt fractions, as `hm.simulate` does; `floatLayers` follows the
 * mouse, and computes softmax, with a bound on its error. Neither proves anything about limits.
 *
 * One layer is z_i' = (I + alpha V)^-1 (z_i + alpha V w_i), with w_i the mean of what token i attends to.
 *
 * @typedef {import("./exact.js").ExactDynamics} ExactDynamics
 * @typedef {import("./exact.js").Numeric[][]} Numbers
 * @typedef {{kind: "topk" | "localmax" | "softmax", text: string, number: import("./exact.js").Ratio}} Attention
 * @typedef {{mask: "causal" | null, value: string[][] | null, attention: string | null}} Parts  what a layer has beside
 *     step and metric; attention is “topk:2”, “localmax:1/2” or “softmax:100”
 * @typedef {import("./exact.js").ExactOptions & Partial<Parts> & {layers?: number}} LayerOptions
 * @typedef {{sets: number[][], leads: boolean[]}} Chosen  the points that each attends to, and whether it leads
 * @typedef {{points: import("./exact.js").ExactCloud, layers: (Chosen & {floats: number[][]})[], reason: string}}
 *     ExactLayers  up to a layer; why not further
 * @typedef {import("./floats.js").Run & {errors: number[]}} FloatLayers  no coordinate of a layer is off by more; empty
 *     if nobody asked */
import { ExactTimeout, exactAlong, exactCloud, exactDot, exactDynamics, exactFloat, exactFurthest } from "./exact.js";
import { exactLevel, exactLimit, exactMeans, exactTable, readNumber } from "./exact.js";
import { floatAlong } from "./floats.js";
import { bigEliminated } from "./integers.js";

export const MOST_LAYERS = 60; // of runs without a proved limit
export const FLOAT_ENOUGH = 1e-9; // a larger bound of the error: floats do not suffice
const UNIT = 2 ** -53; // relative error of one operation

/** The kind of attention that a text names; null for hardmax. @param {string | null} [text]
 * @returns {Attention | null} */
export function readAttention(text) {
    if (!text) return null;
    const [, kind, number] = /^(topk|localmax|softmax):(.{1,50})$/.exec(text) ?? [];
    const { p, q } = kind ? readNumber(number, `the number of ${kind}`) : { p: -1n, q: 1n };
    if (p < 0n || (!p && kind !== "localmax") || (kind === "topk" && q > 1n))
        throw new Error(`attention must be topk:2, localmax:1/2 or softmax:100, not “${text.slice(0, 30)}”.`);
    return { kind: /** @type {Attention["kind"]} */ (kind), text: number.trim(), number: { p, q } };
}

/** What makes a layer another than the paper's, in words; softmax is beside it. @param {Partial<Parts>} parts */
export function otherParts({ mask, value, attention }) {
    const { kind, text, number } = readAttention(attention) ?? {};
    const isIdentity = !value || value.every((row, r) => row.every((cell, c) => {
        const { p, q } = readNumber(cell);
        return q === 1n && p === (r === c ? 1n : 0n);
    }));
    const names = [mask ? "a causal mask" : "", isIdentity ? "" : "a value matrix"];
    if (kind === "topk" && text !== "1") names.push(`top-${text} attention`);
    if (kind === "localmax" && number?.p) names.push(`localmax attention (slack ${text})`);
    return names.filter(Boolean);
}

/** The limit, or, of layers other than the paper's, some of these. @param {Numbers} tokens
 * @param {LayerOptions} options */
export const exactRun = (tokens, options) => (otherParts(options).length ? exactLayers(tokens, options)
    : exactLimit(tokens, options));

/** Throws if there is no such layer. @param {{alpha: string} & Partial<Parts>} layer @param {number} d */
export function checkLayer({ alpha, mask, value, attention }, d) {
    readAttention(attention);
    if (mask && mask !== "causal") throw new Error(`mask must be causal, not “${String(mask).slice(0, 20)}”.`);
    exactMover(exactDynamics({ alpha }, d), value ?? null, d);
}

/** Layers in fractions, each rounded once at the end.
 * @param {Numbers} tokens @param {LayerOptions} options @returns {ExactLayers} */
export function exactLayers(tokens, { mask, value = null, attention, layers = MOST_LAYERS, ...options }) {
    // Equal tokens stay equal for ever, unless a mask tells them apart.
    const points = exactCloud(tokens, options.multiplicities, !mask);
    const [dynamics, kind] = [exactDynamics(options, tokens[0].length), readAttention(attention)];
    if (kind?.kind === "softmax") throw new Error("softmax is irrational: no fractions have its layers.");
    const move = exactMover(dynamics, value, tokens[0].length);
    const [local, counts] = [kind?.kind === "localmax" ? kind.number : null, points.multiplicities];
    const found = /** @type {ExactLayers} */ ({ points, layers: [], reason: "" });
    let [rows, denominator] = [points.numerators, points.denominator];
    try {
        for (let layer = 0; layer <= layers; layer++) {
            const floats = rows.map((row) => row.map((x) => exactFloat(x, denominator)));
            if (!floats.flat().every(Number.isFinite)) return { ...found, reason: "later ones are too far out for floats" };
            // Scores are integers over the square of the denominator, times the metric's.
            const slack = local && { p: local.p * denominator ** 2n * dynamics.scale, q: local.q };
            const who = { counts, wanted: kind && !local ? Number(kind.number.p) : 1, slack, causal: !!mask };
            const sets = exactFurthest(rows.map((row) => exactAlong(row, dynamics)), rows, dynamics, who);
            const leads = sets.map((several, i) => several.every((j) => `${rows[j]}` === `${rows[i]}`));
            found.layers.push({ sets, floats, leads });
            ({ rows, denominator } = move(exactMeans(rows, denominator, sets, counts.map(BigInt))));
        }
    } catch (error) {
        if (!(error instanceof ExactTimeout)) throw error;
        found.reason = error.message;
    }
    return found;
}

/** One layer: where the tokens are after it. @param {Numbers} tokens @param {LayerOptions} options */
export function exactLayer(tokens, options) {
    const { points, layers } = exactLayers(tokens, { ...options, layers: 1 });
    return points.ofToken.map((point) => layers[1].floats[point]);
}

/** One layer of positions, given their means. With V = integers / common it is z' = N^-1 (q common z + p integers w),
 * N = q common I + p integers. @param {ExactDynamics} dynamics @param {Numbers | null} value @param {number} d */
function exactMover({ alpha: { p, q }, tick }, value, d) {
    const identity = Array.from({ length: d }, (_, r) => Array.from({ length: d }, (__, c) => Number(r === c)));
    const { integers, common } = exactTable(value ?? identity, "value");
    if (integers.length !== d || integers[0].length !== d) throw new Error(`value must be ${d} by ${d}.`);
    const own = q * common;
    // N and, beside it, the identity; once eliminated, a multiple of the identity and N^-1 times that.
    const beside = integers.map((row, r) => [...row.map((x, c) => p * x + (r === c ? own : 0n)), ...identity[r].map(BigInt)]);
    const inverse = bigEliminated(beside, true);
    if (!inverse) throw new Error("value: I + alpha V has no inverse. Change V or alpha.");
    const sign = inverse[0][0] < 0n ? -1n : 1n;
    return (/** @type {{rows: bigint[][], targets: bigint[][], denominator: bigint}} */ { rows, targets, denominator }) => ({
        rows: rows.map((z, i) => {
            tick();
            const pushed = z.map((x, c) => own * x + p * exactDot(integers[c], targets[i]));
            return inverse.map((line) => sign * exactDot(line.slice(d), pushed));
        }),
        denominator: denominator * sign * inverse[0][0],
    });
}

/** What `exactLayers` found, to be drawn. @param {number} d @param {ExactLayers} exact */
export function runOfLayers(d, { points: { multiplicities: weights, ofToken }, layers }) {
    const first = weights.map((_, i) => ofToken.indexOf(i));
    const rows = layers.map(({ floats, ...chosen }) => ({ positions: Float64Array.from(floats.flat()), ...chosen }));
    return stepwise({ d, ofToken, first, weights, errors: [] }, rows);
}

/** A run of which nothing is known after its last layer. Targets are the next positions.
 * @param {Pick<FloatLayers, "d" | "ofToken" | "first" | "weights" | "errors">} points
 * @param {(Chosen & {positions: Float64Array})[]} rows @returns {FloatLayers} */
function stepwise(points, rows) {
    const since = new Int32Array(points.first.length).fill(-1);
    rows.forEach(({ leads }, layer) => leads.forEach((lead, i) => {
        if (!lead) since[i] = -1; // leaders may be lost again
        else if (since[i] < 0) since[i] = layer;
    }));
    const layers = rows.map(({ positions, sets }, k) => ({ positions, sets, targets: (rows[k + 1] ?? rows[k]).positions }));
    return { ...points, layers, keep: 0, since, settledAt: null, limits: null, stepwise: true };
}

/** Layers in floats. Of softmax each has a bound of its error, if that is asked for, and the last one is the first for
 * which floats do not suffice.
 *
 * The bound: let e_j bound the error of z_j in each coordinate, t be the token with the largest score, and x_j =
 * beta <A z_i, z_j - z_t>, whose error is at most h_j: that of its factors and of rounding. The true weights are p_j
 * exp(h) / sum of p_k exp(h), each h of its own between -h_j and h_j; so they are off by at most p_j (M exp(h_j) - 1)
 * with M = sum of p_k exp(h_k) (Jensen). As p_j (z_j - w) add up to 0, the error of w is at most
 * sum of p_j [(M exp(h_j) - 1) |z_j - w| + M exp(h_j) e_j]: nothing grows where one weight is nearly 1. The
 * token's own share p_i e_i is left out of it: z_i' depends on z_i by (I + alpha V)^-1 (I + p_i alpha V).
 * @param {Float64Array} tokens @param {number} d @param {{alpha: string, metric: Float64Array | null} & Parts} layer
 * @param {{layers?: number, budget?: number, bounded?: boolean}} [how] budget in milliseconds */
export function floatLayers(tokens, d, { alpha, metric, mask, value, attention }, how = {}) {
    const { layers = MOST_LAYERS, budget = 1000, bounded = true } = how;
    const kind = readAttention(attention);
    const level = kind ? exactFloat(kind.number.p, kind.number.q) : 0;
    const all = Array.from({ length: tokens.length / d }, (_, i) => i);
    const { keep, push } = floatMover(alpha, value, d);
    const [rows, bounds] = [/** @type {(Chosen & {positions: Float64Array})[]} */ ([]), /** @type {number[]} */ ([])];
    const end = performance.now() + budget;
    let positions = tokens;
    // Tokens stand for what was written, which floats store only nearly.
    let errors = tokens.map((x) => UNIT * Math.abs(x));
    for (let layer = 0; layer <= layers && (!layer || performance.now() < end); layer++) {
        if (!positions.every(Number.isFinite)) break;
        const found = all.map((i) => {
            const among = { count: mask ? i + 1 : all.length, along: floatAlong(positions, i, d, metric) };
            if (kind?.kind !== "softmax") return floatChosen(positions, d, among, kind?.kind, level);
            return floatSoftmax(positions, d, i, { ...among, beta: level, metric }, bounded ? errors : null);
        });
        const leads = found.map(({ set }, i) => kind?.kind !== "softmax" && `${set}` === `${i}`);
        rows.push({ positions, sets: found.map(({ set }) => set), leads });
        if (bounded) bounds.push(errors.reduce((most, error) => Math.max(most, error), 0));
        if (bounded && !(bounds[layer] <= FLOAT_ENOUGH)) break;
        const [before, moved, off] = [positions, new Float64Array(tokens.length), new Float64Array(tokens.length)];
        found.forEach(({ mean, error, self }, i) => keep.forEach((line, r) => line.forEach((own, c) => {
            const [z, other] = [before[i * d + c], push[r][c]];
            const size = Math.abs(own * z) + Math.abs(other * mean[c]);
            moved[i * d + r] += own * z + other * mean[c];
            off[i * d + r] += Math.abs(own + self * other) * errors[i * d + c] + Math.abs(other) * error[c];
            off[i * d + r] += (2 * d + 4) * UNIT * size;
        })));
        [positions, errors] = [moved, off];
    }
    return stepwise({ d, ofToken: all, first: all, weights: all.map(() => 1), errors: bounds }, rows);
}

/** (I + alpha V)^-1, and this times alpha V, each entry rounded once.
 * @param {string} alpha @param {string[][] | null} value @param {number} d */
function floatMover(alpha, value, d) {
    const move = exactMover(exactDynamics({ alpha }, d), value, d);
    const axes = Array.from({ length: d }, (_, k) => Array.from({ length: d }, (__, c) => (c === k ? 1n : 0n)));
    const none = axes.map((row) => row.map(() => 0n));
    const [keep, push] = [[axes, none], [none, axes]].map(([rows, targets]) => {
        const { rows: columns, denominator } = move({ rows, targets, denominator: 1n });
        return columns.map((_, r) => columns.map((column) => exactFloat(column[r], denominator)));
    });
    return { keep, push };
}

/** Hardmax, localmax or top-k of one token. @param {Float64Array} rows @param {number} d
 * @param {{count: number, along: number[]}} among @param {string | undefined} kind @param {number} level */
function floatChosen(rows, d, { count, along }, kind, level) {
    const scores = Array.from({ length: count }, (_, j) => along.reduce((sum, x, c) => sum + x * rows[j * d + c], 0));
    const least = exactLevel(scores, scores.map(() => 1), kind === "topk" ? level : 1) - (kind === "localmax" ? level : 0);
    const set = [...scores.keys()].filter((j) => scores[j] >= least);
    const mean = along.map((_, c) => set.reduce((sum, j) => sum + rows[j * d + c], 0) / set.length);
    return { set, mean, error: along.map(() => Infinity), self: 0 };
}

/** Softmax of one token: those with a tenth of the weight or more, the mean, what bounds its error but for its own
 * share of it, and its own weight.
 * @param {Float64Array} z @param {number} d @param {number} i
 * @param {{count: number, along: number[], beta: number, metric: Float64Array | null}} among
 * @param {Float64Array | null} errors of the coordinates; null if nobody asks */
function floatSoftmax(z, d, i, { count, along, beta, metric }, errors) {
    let [top, highest] = [0, -Infinity];
    for (let j = 0; j < count; j++) {
        let score = 0;
        for (let c = 0; c < d; c++) score += along[c] * z[j * d + c];
        if (score > highest) [top, highest] = [j, score];
    }
    // What the direction A z is off by.
    const turned = along.map((_, r) => {
        if (!errors || !metric) return errors?.[i * d + r] ?? 0;
        let slip = 0;
        for (let c = 0; c < d; c++) {
            slip += Math.abs(metric[r * d + c]) * (errors[i * d + c] + (d + 2) * UNIT * Math.abs(z[i * d + c]));
        }
        return slip;
    });
    const [weights, slips] = [new Float64Array(count), new Float64Array(count)];
    let total = 0;
    for (let j = 0; j < count; j++) {
        let [score, slip] = [0, 0];
        for (let c = 0; c < d; c++) {
            const gap = z[j * d + c] - z[top * d + c];
            score += along[c] * gap;
            if (!errors) continue;
            const far = errors[j * d + c] + errors[top * d + c];
            slip += turned[c] * (Math.abs(gap) + far) + Math.abs(along[c]) * (far + (d + 4) * UNIT * Math.abs(gap));
        }
        weights[j] = Math.exp(beta * score);
        slips[j] = j === top ? 0 : beta * slip + 8 * UNIT; // the last term is for the exponential itself
        total += weights[j];
    }
    const [mean, error] = [along.map((_, c) => z[top * d + c]), along.map(() => 0)];
    let more = 0; // M - 1, M as above: small numbers, which 1 + … would lose
    for (let j = 0; j < count; j++) {
        weights[j] /= total;
        more += weights[j] * Math.expm1(slips[j]);
        for (let c = 0; c < d && j !== top; c++) mean[c] += weights[j] * (z[j * d + c] - z[top * d + c]);
    }
    for (let j = 0; j < count && errors; j++) {
        const grown = Math.expm1(slips[j]) * (1 + more) + more;
        for (let c = 0; c < d; c++) {
            const [gap, away] = [z[j * d + c] - z[top * d + c], z[j * d + c] - mean[c]].map(Math.abs);
            const carried = (j === i ? grown : 1 + grown) * errors[j * d + c];
            error[c] += weights[j] * (grown * away + carried + (count + 8) * UNIT * gap);
        }
    }
    // A thousandth for what the bound itself loses by rounding.
    const bound = error.map((each, c) => 1.001 * (each + 2 * UNIT * Math.abs(mean[c])) + 1e-300);
    return { set: [...weights.keys()].filter((j) => weights[j] >= 0.1), mean, error: bound, self: weights[i] };
}
