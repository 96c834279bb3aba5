/**
 * Layers in float64, fast enough to follow the mouse. Nothing in here is proved: scores tie if floats say that they are
 * equal, as in NumPy or PyTorch, and that is sometimes wrong. `exact.js` has the truth; `runOfLimit` makes a run of it,
 * so that both are drawn in the same way. Equal tokens are one point with a multiplicity.
 *
 * @typedef {object} Layer
 * @property {Float64Array} positions of the points, row by row
 * @property {number[][]} sets the points that each attends to
 * @property {Float64Array} targets the means of these
 *
 * @typedef {object} Run
 * @property {number} d
 * @property {number} count of points
 * @property {ArrayLike<number>} ofToken the point of each token
 * @property {number[]} first the first token of each point
 * @property {number[]} weights multiplicities of the points
 * @property {Layer[]} layers up to the one at which it settled
 * @property {number} keep the share of itself that a token keeps in a layer, 1 / (1 + alpha)
 * @property {Int32Array} since the layer from which on a point leads; -1 if it does not
 * @property {number | null} settledAt
 * @property {Float64Array | null} limits of the points
 */

const FLOAT_PATIENCE = 8; // layers after which a tie between leaders is taken to last
const FLOAT_FLAT = 1e-12; // share of the longest token by which a point may miss the hull and still count as on it

/**
 * Run layers until no choice changes any more.
 * @param {Float64Array} tokens row by row @param {number} n @param {number} d
 * @param {{alpha: number, metric: Float64Array | null}} dynamics @param {number} [most] layers
 * @returns {Run}
 */
export function floatRun(tokens, n, d, { alpha, metric }, most = 300) {
    const { positions: start, ...points } = floatMerge(tokens, n, d);
    const since = new Int32Array(points.count).fill(-1);
    /** @type {Run} */
    const run = { ...points, d, layers: [], keep: 1 / (1 + alpha), since, settledAt: null, limits: null };
    const all = points.first.map((_, i) => i);
    let [pending, positions, unchanged] = [all, start, 0];
    /** @type {number[][]} */
    let sets = all.map(() => []);
    for (let layer = 0; layer <= most; layer++) {
        // In the plane only the few points on the rim of the cloud can be furthest. To find them takes time, too.
        const rim = d === 2 && pending.length > 30 ? planeHull(positions, points.count, true) : all;
        const before = sets;
        sets = [...before];
        for (const i of pending) {
            sets[i] = floatFurthest(positions, floatAlong(positions, i, d, metric), rim, all);
            if (sets[i].length === 1 && sets[i][0] === i) since[i] = layer;
        }
        const targets = floatMeans(positions, d, sets, points.weights);
        run.layers.push({ positions, sets, targets });
        const still = all.map((i) => since[i] >= 0 || floatEqual(positions, targets, i * d, i * d, d, FLOAT_FLAT));
        const lasts = pending.every((i) => sets[i].every((j) => still[j]) && `${sets[i]}` === `${before[i]}`);
        unchanged = lasts ? unchanged + 1 : 0;
        // Who attends to one leader does so for ever.
        pending = pending.filter((i) => sets[i].length > 1 || since[sets[i][0]] < 0);
        if (!pending.length || unchanged === FLOAT_PATIENCE) {
            run.settledAt = pending.length ? layer - FLOAT_PATIENCE : layer;
            run.layers.length = run.settledAt + 1;
            run.limits = run.layers[run.settledAt].targets;
            break;
        }
        positions = floatMove(positions, targets, run.keep);
    }
    return run;
}

/**
 * The run whose choices exact arithmetic made: positions are rounded, choices are not.
 * @param {Float64Array} tokens @param {number} d @param {number} alpha
 * @param {import("./exact.js").ExactLimit} exact @param {number} [most] layers
 * @returns {Run}
 */
export function runOfLimit(tokens, d, alpha, { points, attended, leaders, limits, settledAt, ofToken }, most = 300) {
    const weights = points.multiplicities;
    const [first, since] = [weights.map((_, i) => ofToken.indexOf(i)), new Int32Array(weights.length).fill(-1)];
    for (const [point, layer] of leaders) since[point] = layer;
    const run = { d, count: weights.length, ofToken, first, weights, keep: 1 / (1 + alpha), since, settledAt };
    let positions = Float64Array.from(first.flatMap((token) => Array.from(tokens.subarray(token * d, token * d + d))));
    /** @type {Layer[]} */
    const layers = [];
    for (let layer = 0, phase = 0; layer <= Math.min(most, settledAt ?? attended[attended.length - 1].from); layer++) {
        while (attended[phase + 1]?.from <= layer) phase++;
        const { sets } = attended[phase];
        const targets = floatMeans(positions, d, sets, weights);
        layers.push({ positions, sets, targets });
        positions = floatMove(positions, targets, run.keep);
    }
    return { ...run, layers, limits: limits && Float64Array.from(limits.flatMap((end) => end.floats)) };
}

/** The layer whose choices hold at this time. @param {Run} run @param {number} layer */
export function layerAt(run, layer) {
    return run.layers[Math.min(Math.floor(layer), run.layers.length - 1)];
}

/**
 * Where the points are: between two layers on the way, after the last one in closed form.
 * @param {Run} run @param {number} layer may be a fraction, or Infinity
 */
export function positionsAt(run, layer) {
    const last = run.layers.length - 1;
    const { positions, targets } = layerAt(run, layer);
    if (layer === Infinity && run.limits) return run.limits;
    // Where it has not settled, there is nothing to know after the last layer.
    if (layer > last && run.settledAt !== last) return positions;
    return floatMove(positions, targets, run.keep ** (layer - Math.min(Math.floor(layer), last)));
}

/** The tokens that a token attends to. @param {Run} run @param {number} token @param {number} layer */
export function attendedTokens(run, token, layer) {
    const set = layerAt(run, layer).sets[run.ofToken[token]];
    if (run.count === run.ofToken.length) return set;
    return Array.from(run.ofToken).flatMap((point, other) => (set.includes(point) ? [other] : []));
}

/**
 * The tokens that end elsewhere in floats than exactly, each with the first layer at which it attends to others.
 * @param {Run} exact @param {Run} floats
 * @returns {{token: number, layer: number | null, exactly: number[], floats: number[]}[]}
 */
export function compareRuns(exact, floats) {
    const { d, limits } = exact;
    const ends = positionsAt(floats, Infinity);
    const far = 1e-6 * floatLongest(ends);
    return Array.from(exact.ofToken).flatMap((point, token) => {
        const other = floats.ofToken[token];
        const place = limits?.subarray(point * d, point * d + d);
        if (!place || place.every((x, c) => Math.abs(x - ends[other * d + c]) <= far)) return [];
        const choices = Array.from({ length: Math.max(exact.layers.length, floats.layers.length) }, (_, layer) => {
            return { layer, exactly: attendedTokens(exact, token, layer), floats: attendedTokens(floats, token, layer) };
        });
        // It may do the same and end elsewhere, because those it follows do.
        const differs = choices.find((choice) => `${choice.exactly}` !== `${choice.floats}`);
        return [{ token, ...(differs ?? { layer: null, exactly: [], floats: [] }) }];
    });
}

/**
 * Equal tokens as one point, in the order in which they first appear.
 * @param {Float64Array} tokens @param {number} n @param {number} d
 */
function floatMerge(tokens, n, d) {
    const ofToken = new Int32Array(n);
    /** @type {number[][]} */
    const [first, weights] = [[], []];
    /** Points by their first coordinate. @type {Map<number, number[]>} */
    const alike = new Map();
    for (let token = 0; token < n; token++) {
        const others = alike.get(tokens[token * d]);
        let point = others?.find((other) => floatEqual(tokens, tokens, token * d, first[other] * d, d, 0));
        if (point === undefined) {
            point = first.push(token) - 1;
            if (others) others.push(point);
            else alike.set(tokens[token * d], [point]);
        }
        ofToken[token] = point;
        weights[point] = (weights[point] ?? 0) + 1;
    }
    const positions = new Float64Array(first.length * d);
    for (let k = 0; k < positions.length; k++) positions[k] = tokens[first[Math.floor(k / d)] * d + (k % d)];
    return { count: first.length, ofToken, first, weights, positions };
}

/** @param {Float64Array} values @returns {number} the largest, without its sign */
function floatLongest(values) {
    return values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
}

/**
 * A z, the direction in which point i looks.
 * @param {ArrayLike<number>} rows @param {number} i @param {number} d @param {Float64Array | null} metric
 */
export function floatAlong(rows, i, d, metric) {
    /** @type {number[]} */
    const along = [];
    for (let r = 0; r < d; r++) {
        let sum = metric ? 0 : rows[i * d + r];
        if (metric) for (let c = 0; c < d; c++) sum += metric[r * d + c] * rows[i * d + c];
        along.push(sum);
    }
    return along;
}

/**
 * Those of the candidates that lie furthest in a direction; without a direction, all.
 * @param {Float64Array} rows @param {number[]} along @param {number[]} candidates @param {number[]} all
 */
function floatFurthest(rows, along, candidates, all) {
    const d = along.length;
    let best = -Infinity;
    /** @type {number[]} */
    let found = [];
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
    for (let i = 0; i < sets.length; i++) {
        const set = sets[i];
        // Of one point without rounding: a leader stays where it is.
        if (set.length === 1) {
            for (let c = 0; c < d; c++) means[i * d + c] = rows[set[0] * d + c];
            continue;
        }
        const all = set.reduce((sum, j) => sum + weights[j], 0);
        for (let c = 0; c < d; c++) means[i * d + c] = set.reduce((sum, j) => sum + weights[j] * rows[j * d + c], 0) / all;
    }
    return means;
}

/**
 * Whether two rows are equal, up to a tolerance.
 * @param {Float64Array} x @param {Float64Array} y @param {number} i @param {number} j where they begin @param {number} d
 * @param {number} within
 */
function floatEqual(x, y, i, j, d, within) {
    for (let c = 0; c < d; c++) if (Math.abs(x[i + c] - y[j + c]) > within) return false;
    return true;
}

/** @param {Float64Array} from @param {Float64Array} to @param {number} left the share of the way that is left */
function floatMove(from, to, left) {
    // Written so that a point that is at its target stays there, to the last bit.
    return from.map((x, k) => to[k] + left * (x - to[k]));
}

/**
 * The vertices of the convex hull of points in the plane, counterclockwise. It is wrapped from vertex to vertex: there
 * are few, and so this is faster than sorting.
 * @param {Float64Array} z @param {number} count
 * @param {boolean} [thick] with all other points that lie on it or nearly so; simply all if there are many vertices
 * @returns {number[]}
 */
export function planeHull(z, count, thick = false) {
    let here = 0;
    for (let j = 1; j < count; j++) {
        if (z[2 * j] < z[2 * here] || (z[2 * j] === z[2 * here] && z[2 * j + 1] < z[2 * here + 1])) here = j;
    }
    const flat = thick ? FLOAT_FLAT * floatLongest(z) : 0;
    /** @type {number[]} */
    const vertices = [];
    /** @type {Set<number>} */
    const near = new Set();
    while (!vertices.includes(here) && count) {
        vertices.push(here);
        if (thick && vertices.length > 64) return Array.from({ length: count }, (_, i) => i);
        // The next vertex: no point is to the right of the way there. Of several the furthest.
        let next = here;
        let [x, y] = [0, 0];
        for (let j = 0; j < count; j++) {
            const [a, b] = [z[2 * j] - z[2 * here], z[2 * j + 1] - z[2 * here + 1]];
            const turn = x * b - y * a;
            if (turn < 0 || (turn === 0 && a * a + b * b > x * x + y * y)) [next, x, y] = [j, a, b];
        }
        const most = flat * Math.hypot(x, y);
        for (let j = 0; j < count && thick; j++) {
            if (x * (z[2 * j + 1] - z[2 * here + 1]) - y * (z[2 * j] - z[2 * here]) <= most) near.add(j);
        }
        here = next;
    }
    return thick ? [...new Set([...vertices, ...near])] : vertices;
}
