/** Layers other than the paper's: a causal mask, a value matrix V, and attention that goes to more than the furthest
 * token. `exactLayers` computes attended sets and positions in BigInt fractions, layer by layer, as `hm.simulate` does;
 * `floatLayers` follows the mouse, and computes softmax, with a bound on its error. Neither proves anything about limits.
 *
 * One layer is z_i' = (I + alpha V)^-1 (z_i + alpha V w_i), with w_i the mean of what token i attends to.
 *
 * @typedef {{kind: "topk" | "localmax" | "softmax", text: string, number: import("./exact.js").Ratio}} Attention
 * @typedef {{mask: "causal" | null, value: string[][] | null, attention: string | null}} Parts  what a layer has beside
 *     step and metric; attention is a text such as “topk:2”, “localmax:1/2” or “softmax:100”
 * @typedef {import("./exact.js").ExactOptions & Partial<Parts> & {layers?: number}} LayerOptions
 * @typedef {{points: import("./exact.js").ExactCloud, layers: {sets: number[][], floats: number[][], leads: boolean[]}[],
 *     reason: string}} ExactLayers  sets, positions and leaders of points, up to a layer; why not further
 * @typedef {import("./floats.js").Run & {errors: number[]}} FloatLayers  no coordinate of a layer is off by more */
import { ExactTimeout, exactAlong, exactCloud, exactDot, exactDynamics, exactFloat } from "./exact.js";
import { exactLeading, exactLimit, exactMeans, exactTable, readNumber } from "./exact.js";
import { floatAlong } from "./floats.js";
import { bigInverse } from "./integers.js";

export const MOST_LAYERS = 60; // of runs without a proved limit
export const FLOAT_ENOUGH = 1e-9; // a larger bound of the error: floats do not suffice
const FARTHEST = 1e9; // as for tokens: a layer further out is not shown
const UNIT = 2 ** -53; // relative error of one operation

/** The kind of attention that a text such as “topk:2” names; null for hardmax. @param {string | null} [text]
 * @returns {Attention | null} */
export function readAttention(text) {
    if (!text || text === "hardmax") return null;
    const [kind, ...rest] = text.split(":");
    const wish = `attention must be hardmax, topk:2, localmax:1/2 or softmax:100, not “${text.slice(0, 30)}”.`;
    if (kind !== "topk" && kind !== "localmax" && kind !== "softmax") throw new Error(wish);
    const number = readNumber(rest.join(":"), `the number of ${kind}`);
    const isFine = { topk: number.q === 1n && number.p > 0n, localmax: number.p >= 0n, softmax: number.p > 0n }[kind];
    if (!isFine || text.length > 60) throw new Error(wish);
    return { kind, text: rest.join(":").trim(), number };
}

/** What makes a layer another than the paper's, in words; nothing if it is the paper's.
 * @param {Partial<Parts>} parts @returns {string[]} */
export function otherParts({ mask, value, attention }) {
    const kind = readAttention(attention);
    const names = { topk: `top-${kind?.text} attention`, localmax: `localmax attention (slack ${kind?.text})`, softmax: "" };
    const isUsual = !kind || kind.kind === "softmax" || `${kind.number.p}` === (kind.kind === "topk" ? "1" : "0");
    const isIdentity = !value || value.every((row, r) => row.every((cell, c) => {
        const { p, q } = readNumber(cell);
        return q === 1n && p === (r === c ? 1n : 0n);
    }));
    return [mask ? "a causal mask" : "", isIdentity ? "" : "a value matrix", isUsual || !kind ? "" : names[kind.kind]]
        .filter(Boolean);
}

/** The limit, or, of layers other than the paper's, so many of these. @param {import("./exact.js").Numeric[][]} tokens
 * @param {LayerOptions} options */
export const exactRun = (tokens, options) => (otherParts(options).length ? exactLayers(tokens, options)
    : exactLimit(tokens, options));

/** Throws if there is no such layer. @param {{alpha: string} & Partial<Parts>} layer @param {number} d */
export function checkLayer({ alpha, mask, value, attention }, d) {
    readAttention(attention);
    if (mask && mask !== "causal") throw new Error(`mask must be causal, not “${String(mask).slice(0, 20)}”.`);
    if (value) exactMover(exactDynamics({ alpha }, d), value, d);
}

/** Layers in fractions, each rounded once at the end. @param {import("./exact.js").Numeric[][]} tokens
 * @param {LayerOptions} options @returns {ExactLayers} */
export function exactLayers(tokens, { mask = null, value = null, attention = null, layers = MOST_LAYERS, ...options }) {
    // Equal tokens stay equal for ever, unless a mask tells them apart.
    const points = exactCloud(tokens, options.multiplicities, !mask);
    const dynamics = exactDynamics(options, points.numerators[0].length);
    const kind = readAttention(attention);
    if (kind?.kind === "softmax") throw new Error("softmax is irrational: no fractions have its layers.");
    const move = exactMover(dynamics, value, points.numerators[0].length);
    const counts = points.multiplicities.map(BigInt);
    /** @type {ExactLayers} */
    const found = { points, layers: [], reason: "" };
    let [rows, denominator] = [points.numerators, points.denominator];
    try {
        for (let layer = 0; layer <= layers; layer++) {
            const floats = rows.map((row) => row.map((x) => exactFloat(x, denominator)));
            if (floats.some((row) => row.some((x) => !(Math.abs(x) <= FARTHEST))))
                return { ...found, reason: `after layer ${layer - 1} tokens are further out than a billion` };
            const sets = exactAttended(rows, denominator, { counts: points.multiplicities, dynamics, kind, mask });
            const leads = sets.map((several, i) => several.every((j) => rows[j].every((x, c) => x === rows[i][c])));
            found.layers.push({ sets, floats, leads });
            if (layer < layers) ({ rows, denominator } = move(exactMeans(rows, denominator, sets, counts)));
        }
    } catch (error) {
        if (!(error instanceof ExactTimeout)) throw error;
        found.reason = error.message;
    }
    return found;
}

/** One layer of positions, given their means. @param {import("./exact.js").ExactDynamics} dynamics
 * @param {import("./exact.js").Numeric[][] | null} value @param {number} d */
function exactMover({ alpha: { p, q }, tick }, value, d) {
    const axes = Array.from({ length: d }, (_, k) => k);
    const { integers, common } = value ? exactTable(value, "value")
        : { integers: axes.map((r) => axes.map((c) => (r === c ? 1n : 0n))), common: 1n };
    if (integers.length !== d || integers[0].length !== d) throw new Error(`value must be ${d} by ${d}.`);
    // With V = integers / common: z' = N^-1 (q common z + p integers w), where N = q common I + p integers.
    const own = q * common;
    const inverted = bigInverse(integers.map((row, r) => row.map((x, c) => p * x + (r === c ? own : 0n))));
    if (!inverted) throw new Error("value: I + alpha V has no inverse. Change V or alpha.");
    const { rows: inverse, determinant } = inverted;
    return (/** @type {{rows: bigint[][], targets: bigint[][], denominator: bigint}} */ { rows, targets, denominator }) => {
        const moved = rows.map((z, i) => {
            tick();
            const pushed = z.map((x, c) => own * x + p * exactDot(integers[c], targets[i]));
            return inverse.map((line) => exactDot(line, pushed));
        });
        return { rows: moved, denominator: denominator * determinant };
    };
}

/** For each point those that it attends to. Floats find candidates, as in `exactFurthest`, and integers decide.
 * @param {bigint[][]} points @param {bigint} denominator
 * @param {{counts: number[], dynamics: import("./exact.js").ExactDynamics, kind: Attention | null,
 *     mask: string | null}} layer */
function exactAttended(points, denominator, { counts, dynamics, kind, mask }) {
    const d = points[0].length;
    const table = exactLeading(points.flat());
    const slack = 2 * (d * d + 4 * d) * 2 ** 53;
    return points.map((point, i) => {
        dynamics.tick();
        const direction = exactAlong(point, dynamics);
        const way = exactLeading(direction);
        const among = Array.from({ length: mask ? i + 1 : points.length }, (_, j) => j);
        const floats = among.map((j) => way.reduce((sum, x, c) => sum + x * table[j * d + c], 0));
        const wanted = kind?.kind === "topk" ? Number(kind.number.p) : 1;
        const least = kind?.kind === "localmax" ? -Infinity : levelOf(among, floats, counts, wanted) - slack;
        const near = among.filter((j) => floats[j] >= least);
        const scores = near.map((j) => exactDot(direction, points[j]));
        let level = levelOf([...near.keys()], scores, near.map((j) => counts[j]), wanted);
        let factor = 1n;
        if (kind?.kind === "localmax") {
            // Scores are integers over the square of the denominator, times that of the metric.
            factor = kind.number.q;
            level = level * factor - kind.number.p * denominator ** 2n * dynamics.scale;
        }
        return near.filter((_, k) => scores[k] * factor >= level);
    });
}

/** The score of the last of the first `wanted` tokens, if these come in order of their scores.
 * @template {number | bigint} Score @param {number[]} among @param {Score[]} scores @param {number[]} counts
 * @param {number} wanted @returns {Score} */
function levelOf(among, scores, counts, wanted) {
    if (wanted === 1) return scores.reduce((most, score) => (score > most ? score : most));
    const order = [...among].sort((i, j) => (scores[i] < scores[j] ? 1 : scores[i] > scores[j] ? -1 : 0));
    let missing = wanted;
    const last = order.find((j) => (missing -= counts[j]) <= 0) ?? order[order.length - 1];
    return scores[last];
}

/** What `exactLayers` found, to be drawn. @param {number} d @param {ExactLayers} exact @returns {FloatLayers} */
export function runOfLayers(d, { points, layers }) {
    const { multiplicities: weights, ofToken } = points;
    const first = weights.map((_, i) => ofToken.indexOf(i));
    const rows = layers.map(({ sets, floats, leads }) => ({ positions: Float64Array.from(floats.flat()), sets, leads }));
    return stepwise(d, { ofToken, first, weights }, rows, []);
}

/** A run of which nothing is known after its last layer. @param {number} d
 * @param {{ofToken: ArrayLike<number>, first: number[], weights: number[]}} points
 * @param {{positions: Float64Array, sets: number[][], leads: boolean[]}[]} rows @param {number[]} errors
 * @returns {FloatLayers} */
function stepwise(d, points, rows, errors) {
    const since = new Int32Array(points.first.length).fill(-1);
    rows.forEach(({ leads }, layer) => leads.forEach((lead, i) => {
        if (!lead) since[i] = -1; // leaders may be lost again
        else if (since[i] < 0) since[i] = layer;
    }));
    // Between two layers points are drawn on the straight line from one to the next.
    const layers = rows.map(({ positions, sets }, k) => ({ positions, sets, targets: (rows[k + 1] ?? rows[k]).positions }));
    return { d, ...points, layers, keep: 0, since, settledAt: null, limits: null, stepwise: true, errors };
}

/** Layers in floats. Of softmax each has a bound of its error, unless nobody asks for one.
 *
 * The bound: let e_j bound the error of z_j in each coordinate, t be the token with the largest score, and x_j =
 * beta <A z_i, z_j - z_t>, whose error is at most h_j: that of its factors and of rounding. The true weights are p_j
 * exp(h) / sum of p_k exp(h), each h of its own between -h_j and h_j; so they are off by at most p_j (M exp(h_j) - 1)
 * with M = sum of p_k exp(h_k) (Jensen). As p_j (z_j - w) add up to 0, the error of w is at most
 * sum of p_j [(M exp(h_j) - 1) |z_j - w| + M exp(h_j) e_j]: nothing grows where one weight is nearly 1.
 * @param {Float64Array} tokens @param {number} d
 * @param {{alpha: string, metric: Float64Array | null} & Parts} layer
 * @param {{layers?: number, budget?: number, bounded?: boolean}} [how] budget in milliseconds @returns {FloatLayers} */
export function floatLayers(tokens, d, { alpha, metric, mask, value, attention }, how = {}) {
    const { layers = MOST_LAYERS, budget = 1000, bounded = true } = how;
    const kind = readAttention(attention);
    const level = kind ? exactFloat(kind.number.p, kind.number.q) : 0;
    const n = tokens.length / d;
    const { keep, push } = floatMover(alpha, value, d);
    const all = Array.from({ length: n }, (_, i) => i);
    const rows = /** @type {{positions: Float64Array, sets: number[][], leads: boolean[]}[]} */ ([]);
    const errorsOf = /** @type {number[]} */ ([]);
    const end = performance.now() + budget;
    let positions = tokens;
    // Tokens stand for what was written, which floats store only nearly.
    let errors = tokens.map((x) => UNIT * Math.abs(x));
    for (let layer = 0; layer <= layers && (!layer || performance.now() < end); layer++) {
        if (positions.some((x) => !(Math.abs(x) <= FARTHEST))) break;
        const found = all.map((i) => {
            const among = { count: mask ? i + 1 : n, along: floatAlong(positions, i, d, metric) };
            if (kind?.kind !== "softmax") return floatChosen(positions, d, among, kind, level);
            return floatSoftmax(positions, d, i, { ...among, beta: level, metric }, bounded ? errors : null);
        });
        const same = (/** @type {number} */ i, /** @type {number} */ j) => {
            for (let c = 0; c < d; c++) if (positions[i * d + c] !== positions[j * d + c]) return false;
            return true;
        };
        const leads = found.map(({ set }, i) => kind?.kind !== "softmax" && set.every((j) => same(i, j)));
        rows.push({ positions, sets: found.map(({ set }) => set), leads });
        errorsOf.push(bounded ? errors.reduce((most, error) => Math.max(most, error), 0) : Infinity);
        if (bounded && !(errorsOf[layer] <= FLOAT_ENOUGH)) break;
        const [before, moved, off] = [positions, new Float64Array(n * d), new Float64Array(n * d)];
        found.forEach(({ mean, error }, i) => {
            for (let r = 0; r < d; r++) {
                let [sum, size, slip] = [0, 0, 0];
                for (let c = 0; c < d; c++) {
                    const [own, other] = [keep[r][c], push[r][c]];
                    sum += own * before[i * d + c] + other * mean[c];
                    size += Math.abs(own * before[i * d + c]) + Math.abs(other * mean[c]);
                    slip += Math.abs(own) * errors[i * d + c] + Math.abs(other) * error[c];
                }
                moved[i * d + r] = sum;
                off[i * d + r] = slip + (2 * d + 4) * UNIT * size;
            }
        });
        [positions, errors] = [moved, off];
    }
    return stepwise(d, { ofToken: all, first: all, weights: all.map(() => 1) }, rows, errorsOf);
}

/** (I + alpha V)^-1 and alpha times it times V, each entry rounded once.
 * @param {string} alpha @param {string[][] | null} value @param {number} d */
function floatMover(alpha, value, d) {
    const move = exactMover(exactDynamics({ alpha }, d), value, d);
    const axes = Array.from({ length: d }, (_, k) => Array.from({ length: d }, (__, c) => (c === k ? 1n : 0n)));
    const none = axes.map((row) => row.map(() => 0n));
    const columns = [move({ rows: axes, targets: none, denominator: 1n }), move({ rows: none, targets: axes, denominator: 1n })];
    const [keep, push] = columns.map(({ rows, denominator }) =>
        rows.map((_, r) => rows.map((column) => exactFloat(column[r], denominator))));
    return { keep, push };
}

/** Hardmax, localmax or top-k of one token. @param {Float64Array} rows @param {number} d
 * @param {{count: number, along: number[]}} among @param {Attention | null} kind @param {number} level */
function floatChosen(rows, d, { count, along }, kind, level) {
    const scores = Array.from({ length: count }, (_, j) => along.reduce((sum, x, c) => sum + x * rows[j * d + c], 0));
    const wanted = kind?.kind === "topk" ? level : 1;
    const most = levelOf([...scores.keys()], scores, scores.map(() => 1), wanted);
    const least = kind?.kind === "localmax" ? most - level : most;
    const set = scores.flatMap((score, j) => (score >= least ? [j] : []));
    const mean = along.map((_, c) => set.reduce((sum, j) => sum + rows[j * d + c], 0) / set.length);
    return { set, mean: set.length === 1 ? [...rows.subarray(set[0] * d, set[0] * d + d)] : mean, error: along.map(() => 0) };
}

/** Softmax of one token: those with a tenth of the weight or more, the mean, and what bounds its error.
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
    const [powers, slips] = [new Float64Array(count), new Float64Array(count)];
    // What the direction A z is off by.
    const turned = along.map((x, r) => {
        if (!errors) return 0;
        if (!metric) return errors[i * d + r];
        let slip = 0;
        for (let c = 0; c < d; c++) {
            slip += Math.abs(metric[r * d + c]) * (errors[i * d + c] + (d + 2) * UNIT * Math.abs(z[i * d + c]));
        }
        return slip;
    });
    let total = 0;
    for (let j = 0; j < count; j++) {
        let [score, size, slip] = [0, 0, 0];
        for (let c = 0; c < d; c++) {
            const gap = z[j * d + c] - z[top * d + c];
            score += along[c] * gap;
            if (!errors || j === top) continue;
            const far = errors[j * d + c] + errors[top * d + c];
            size += Math.abs(along[c] * gap);
            slip += turned[c] * (Math.abs(gap) + far) + Math.abs(along[c]) * far;
        }
        powers[j] = Math.exp(beta * score);
        // The last term is for the exponential itself.
        slips[j] = j === top ? 0 : beta * (slip + (d + 4) * UNIT * size) + 8 * UNIT;
        total += powers[j];
    }
    const [mean, error] = [along.map((_, c) => z[top * d + c]), along.map(() => 0)];
    for (let j = 0; j < count; j++) {
        if (j === top) continue;
        for (let c = 0; c < d; c++) mean[c] += (powers[j] / total) * (z[j * d + c] - z[top * d + c]);
    }
    if (errors) {
        // M - 1, M as above: small numbers, which 1 + … would lose.
        let more = 0;
        for (let j = 0; j < count; j++) more += (powers[j] / total) * Math.expm1(slips[j]);
        for (let j = 0; j < count; j++) {
            const grown = Math.expm1(slips[j]) * (1 + more) + more;
            for (let c = 0; c < d; c++) {
                const [gap, away] = [z[j * d + c] - z[top * d + c], Math.abs(z[j * d + c] - mean[c])];
                error[c] += (powers[j] / total) * (grown * away + (1 + grown) * errors[j * d + c]
                    + (count + 8) * UNIT * Math.abs(gap));
            }
        }
        // A thousandth for what the bound itself loses by rounding.
        for (let c = 0; c < d; c++) error[c] = 1.001 * (error[c] + 2 * UNIT * Math.abs(mean[c])) + 1e-300;
    }
    const set = Array.from(powers.keys()).filter((j) => powers[j] >= 0.1 * total);
    return { set: set.length ? set : [top], mean, error };
}
