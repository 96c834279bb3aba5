/** Layers in float64, fast enough to follow the mouse. Nothing here is proved: scores tie if floats say that they are
 * equal, as in NumPy or PyTorch, and that is sometimes wrong. `exact.js` has the truth; `runOfLimit` makes a run of it,
 * so that both are drawn in the same way. Equal tokens are one point with a multiplicity.
 *
 * @typedef {{positions: Float64Array, sets: number[][], targets: Float64Array}} Layer  where the points are, by rows,
 *     the points that each attends to, and the means of these
 * @typedef {{d: number, ofToken: ArrayLike<number>, first: number[], weights: number[], layers: Layer[], keep: number,
 *     since: Int32Array, settledAt: number | null, limits: Float64Array | null, stepwise?: boolean}} Run  of `layers.js`,
 *     if it is stepwise: targets are then the next positions; the point of each token; first
 *     token, multiplicity and limit of each point, and the layer from which on it leads (-1: it does not); layers up to
 *     the one at which it settled; the share of itself that a token keeps in a layer, 1 / (1 + alpha) */

const FLOAT_PATIENCE = 8; // layers after which a tie between points that stay is taken to last
const FLOAT_FLAT = 1e-12; // share of the largest coordinate that is as good as nothing

/** Run layers until no choice changes any more. @param {Float64Array} tokens row by row @param {number} d
 * @param {{alpha: number, metric: Float64Array | null}} dynamics @param {number} [most] layers @returns {Run} */
export function floatRun(tokens, d, { alpha, metric }, most = 300) {
    const { ofToken, first, weights } = floatMerge(tokens, d);
    const since = new Int32Array(first.length).fill(-1);
    /** @type {Run} */
    const run = { d, ofToken, first, weights, layers: [], keep: 1 / (1 + alpha), since, settledAt: null, limits: null };
    const all = first.map((_, i) => i);
    let [pending, positions, unchanged] = [all, floatRows(tokens, d, first), 0];
    let sets = all.map(() => /** @type {number[]} */ ([]));
    for (let layer = 0; layer <= most && run.settledAt === null; layer++) {
        // In the plane only the few points on the rim of the cloud can be furthest. To find them takes time, too.
        const rim = d === 2 && pending.length > 30 ? planeHull(positions, true) : all;
        const before = sets;
        sets = [...before];
        for (const i of pending) {
            sets[i] = floatFurthest(positions, floatAlong(positions, i, d, metric), rim, all);
            if (sets[i].length === 1 && sets[i][0] === i) since[i] = layer;
        }
        const targets = floatMeans(positions, d, sets, weights);
        run.layers.push({ positions, sets, targets });
        const stays = (/** @type {number} */ i) => since[i] >= 0 || floatFar(positions, i, targets, i, d) <= FLOAT_FLAT;
        const lasts = pending.every((i) => sets[i].every(stays) && `${sets[i]}` === `${before[i]}`);
        unchanged = lasts ? unchanged + 1 : 0;
        pending = pending.filter((i) => sets[i].length > 1 || since[sets[i][0]] < 0);
        if (!pending.length || unchanged === FLOAT_PATIENCE) {
            run.settledAt = pending.length ? layer - FLOAT_PATIENCE : layer;
            run.layers.length = run.settledAt + 1;
            run.limits = run.layers[run.settledAt].targets;
        }
        positions = floatMove(positions, targets, run.keep);
    }
    return run;
}

/** The run whose choices exact arithmetic made: positions are rounded, choices are not.
 * @param {Float64Array} tokens @param {number} d @param {number} alpha
 * @param {import("./exact.js").ExactLimit} exact @param {number} [most] layers @returns {Run} */
export function runOfLimit(tokens, d, alpha, { points, attended, leaders, limits, settledAt, ofToken }, most = 300) {
    const weights = points.multiplicities;
    const [first, since] = [weights.map((_, i) => ofToken.indexOf(i)), new Int32Array(weights.length).fill(-1)];
    for (const [point, layer] of leaders) since[point] = layer;
    const ends = limits && Float64Array.from(limits.flatMap((end) => end.floats));
    /** @type {Run} */
    const run = { d, ofToken, first, weights, layers: [], keep: 1 / (1 + alpha), since, settledAt, limits: ends };
    let positions = floatRows(tokens, d, first);
    for (let layer = 0, phase = 0; layer <= Math.min(most, settledAt ?? most); layer++) {
        while (attended[phase + 1]?.from <= layer) phase++;
        const { sets } = attended[phase];
        const targets = floatMeans(positions, d, sets, weights);
        run.layers.push({ positions, sets, targets });
        positions = floatMove(positions, targets, run.keep);
    }
    return run;
}

/** The same positions, but nobody leads or attends to anything: what an exercise shows. @param {Run} run @returns {Run} */
export function untold(run) {
    const layers = run.layers.map((layer) => ({ ...layer, sets: layer.sets.map(() => []) }));
    return { ...run, layers, since: run.since.map(() => -1) };
}

/** The layer whose choices hold at this time. @param {Run} run @param {number} layer */
export const layerAt = (run, layer) => run.layers[Math.min(Math.floor(layer), run.layers.length - 1)];

/** Where the points are: between two layers on the way, after the last one in closed form.
 * @param {Run} run @param {number} layer may be a fraction, or Infinity */
export function positionsAt(run, layer) {
    const last = run.layers.length - 1;
    const { positions, targets } = layerAt(run, layer);
    if (layer === Infinity && run.limits) return run.limits;
    // Where it has not settled, there is nothing to know after the last layer.
    if (layer > last && run.settledAt !== last) return positions;
    if (run.stepwise) return floatMove(positions, targets, 1 - (layer - Math.floor(layer)));
    return floatMove(positions, targets, run.keep ** (layer - Math.min(Math.floor(layer), last)));
}

/** The tokens that a token attends to. @param {Run} run @param {number} token @param {number} layer */
export function attendedTokens(run, token, layer) {
    const set = layerAt(run, layer).sets[run.ofToken[token]];
    if (run.first.length === run.ofToken.length) return set;
    return Array.from(run.ofToken).flatMap((point, other) => (set.includes(point) ? [other] : []));
}

/** The tokens that end elsewhere in floats than exactly, each with the first layer at which it attends to others: -1 if
 * it does not, but those that it follows do. @param {Run} exact @param {Run} floats
 * @returns {{token: number, layer: number, exactly: number[], floats: number[]}[]} */
export function compareRuns(exact, floats) {
    const [truth, ends] = [exact, floats].map((run) => positionsAt(run, Infinity));
    const most = Math.max(exact.layers.length, floats.layers.length);
    return Array.from(exact.ofToken).flatMap((point, token) => {
        if (floatFar(truth, point, ends, floats.ofToken[token], exact.d) <= 1e-6) return [];
        for (let layer = 0; layer < most; layer++) {
            const [truly, roughly] = [exact, floats].map((run) => attendedTokens(run, token, layer));
            if (`${truly}` !== `${roughly}`) return [{ token, layer, exactly: truly, floats: roughly }];
        }
        return [{ token, layer: -1, exactly: [], floats: [] }];
    });
}

/** Equal tokens as one point, in order of appearance. @param {Float64Array} tokens @param {number} d */
function floatMerge(tokens, d) {
    const keys = Array.from({ length: tokens.length / d }, (_, i) => tokens.subarray(i * d, i * d + d).join());
    const points = new Map([...new Set(keys)].map((key, point) => [key, point]));
    const ofToken = keys.map((key) => /** @type {number} */ (points.get(key)));
    const [first, weights] = [new Array(points.size).fill(-1), new Array(points.size).fill(0)];
    ofToken.forEach((point, token) => (weights[point]++ ? 0 : (first[point] = token)));
    return { ofToken, first, weights };
}

function floatRows(/** @type {Float64Array} */ rows, /** @type {number} */ d, /** @type {number[]} */ which) {
    return new Float64Array(which.length * d).map((_, k) => rows[which[Math.floor(k / d)] * d + (k % d)]);
}

/** The largest difference of the coordinates of two points, as a share of the largest coordinate.
 * @param {Float64Array} x @param {number} i @param {Float64Array} y @param {number} j @param {number} d */
function floatFar(x, i, y, j, d) {
    let most = 0;
    for (let c = 0; c < d; c++) most = Math.max(most, Math.abs(x[i * d + c] - y[j * d + c]));
    return most && most / floatLargest(x);
}

const floatLargest = (/** @type {Float64Array} */ values) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

export function floatDot(/** @type {ArrayLike<number>} */ x, /** @type {ArrayLike<number>} */ y) {
    let sum = 0;
    for (let c = 0; c < x.length; c++) sum += x[c] * y[c];
    return sum;
}

/** A z, the direction in which point i looks.
 * @param {Float64Array} rows @param {number} i @param {number} d @param {Float64Array | null} metric */
export function floatAlong(rows, i, d, metric) {
    const along = [];
    for (let r = 0; r < d; r++) {
        along[r] = metric ? 0 : rows[i * d + r];
        for (let c = 0; metric && c < d; c++) along[r] += metric[r * d + c] * rows[i * d + c];
    }
    return along;
}

/** Those of the candidates that lie furthest in a direction; without a direction, all.
 * @param {Float64Array} rows @param {number[]} along @param {number[]} candidates @param {number[]} all */
function floatFurthest(rows, along, candidates, all) {
    const d = along.length;
    let best = -Infinity;
    let found = /** @type {number[]} */ ([]);
    for (const j of candidates) {
        let score = 0;
        for (let c = 0; c < d; c++) score += along[c] * rows[j * d + c];
        if (score < best) continue;
        if (score > best) found = [];
        best = score;
        found.push(j);
    }
    if (found.length === 1) return found;
    return along.some(Boolean) ? found.sort((i, j) => i - j) : all;
}

/** @param {Float64Array} rows @param {number} d @param {number[][]} sets @param {number[]} weights */
function floatMeans(rows, d, sets, weights) {
    const means = new Float64Array(rows.length);
    sets.forEach((set, i) => {
        const all = set.reduce((sum, j) => sum + weights[j], 0);
        for (let c = 0; c < d; c++) {
            // Of one point nothing is rounded: a leader stays where it is.
            means[i * d + c] = set.length === 1 ? rows[set[0] * d + c]
                : set.reduce((part, j) => part + weights[j] * rows[j * d + c], 0) / all;
        }
    });
    return means;
}

/** @param {Float64Array} from @param {Float64Array} to @param {number} left the share of the way that is left */
function floatMove(from, to, left) {
    // Written so that a point that is at its target stays there, to the last bit.
    return from.map((x, k) => to[k] + left * (x - to[k]));
}

/** The vertices of the convex hull of points in the plane, counterclockwise; a thick hull has all other points that lie
 * on it or nearly so, too, and simply all if there are many vertices. It is wrapped from one to the next: they are few,
 * and so this is faster than sorting. @param {Float64Array} z @returns {number[]} */
export function planeHull(z, thick = false) {
    const [vertices, near, count, flat] = [new Set(), new Set(), z.length / 2, FLOAT_FLAT * floatLargest(z)];
    let here = 0;
    for (let j = 1; j < count; j++) if ((z[2 * j] - z[2 * here] || z[2 * j + 1] - z[2 * here + 1]) < 0) here = j;
    while (count && !vertices.has(here)) {
        vertices.add(here);
        if (thick && vertices.size > 64) return Array.from({ length: count }, (_, i) => i);
        let [next, x, y] = [here, 0, 0];
        for (let j = 0; j < count; j++) {
            const [a, b] = [z[2 * j] - z[2 * here], z[2 * j + 1] - z[2 * here + 1]];
            const turn = x * b - y * a;
            // Nothing is to the right of the way to the next vertex. Of several on this way it is the furthest.
            if (turn < 0 || (turn === 0 && a * a + b * b > x * x + y * y)) [next, x, y] = [j, a, b];
        }
        const most = flat * Math.hypot(x, y);
        for (let j = 0; j < count && thick; j++) {
            if (x * (z[2 * j + 1] - z[2 * here + 1]) - y * (z[2 * j] - z[2 * here]) <= most) near.add(j);
        }
        here = next;
    }
    return [...new Set([...vertices, ...near])];
}

/** The part of a convex polygon where a x + b y + c >= 0, for each (a, b, c).
 * @param {number[][]} corners @param {number[][]} sides */
export function clipPolygon(corners, sides) {
    for (const [a, b, c] of sides) {
        const heights = corners.map(([x, y]) => a * x + b * y + c);
        const whole = corners;
        corners = whole.flatMap((corner, k) => {
            const before = (k || whole.length) - 1;
            const part = heights[before] / (heights[before] - heights[k]);
            const crossing = whole[before].map((x, i) => x + (corner[i] - x) * part);
            return [...(heights[before] * heights[k] < 0 ? [crossing] : []), ...(heights[k] >= 0 ? [corner] : [])];
        });
    }
    return corners;
}
