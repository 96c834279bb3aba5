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
        // In the plane only points on the rim of the cloud are furthest in any direction, and these are few.
        const rim = d === 2 ? planeHull(positions, points.count, true) : all;
        const before = sets;
        sets = [...before];
        for (const i of pending) {
            const along = floatAlong(positions, i, d, metric);
            sets[i] = floatFurthest(positions, along, along.some(Boolean) ? rim : all);
            if (sets[i].length === 1 && sets[i][0] === i) since[i] = layer;
        }
        const targets = floatMeans(positions, d, sets, points.weights);
        run.layers.push({ positions, sets, targets });
        // Who attends to one leader does so for ever.
        pending = pending.filter((i) => sets[i].length > 1 || since[sets[i][0]] < 0);
        const lasts = pending.every((i) => sets[i].every((j) => since[j] >= 0) && `${sets[i]}` === `${before[i]}`);
        unchanged = lasts ? unchanged + 1 : 0;
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
    const order = floatOrder(tokens, n, d);
    const [leads, ofToken] = [new Int32Array(n), new Int32Array(n)];
    let start = 0; // rank of the first of equal tokens
    order.forEach((token, rank) => {
        for (let c = 0; c < d; c++) if (tokens[token * d + c] !== tokens[order[start] * d + c]) start = rank;
        leads[token] = order[start];
    });
    /** @type {number[][]} */
    const [first, weights] = [[], []];
    for (let token = 0; token < n; token++) {
        ofToken[token] = leads[token] === token ? first.push(token) - 1 : ofToken[leads[token]];
        weights[ofToken[token]] = (weights[ofToken[token]] ?? 0) + 1;
    }
    const positions = new Float64Array(first.length * d);
    first.forEach((token, point) => positions.set(tokens.subarray(token * d, token * d + d), point * d));
    return { count: first.length, ofToken, first, weights, positions };
}

/** Rows in lexicographic order, equal ones by number. @param {Float64Array} rows @param {number} n @param {number} d */
function floatOrder(rows, n, d) {
    return Int32Array.from({ length: n }, (_, i) => i).sort((i, j) => {
        for (let c = 0; c < d; c++) if (rows[i * d + c] !== rows[j * d + c]) return rows[i * d + c] - rows[j * d + c];
        return i - j;
    });
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
    const along = new Float64Array(d);
    for (let r = 0; r < d; r++) {
        if (metric) for (let c = 0; c < d; c++) along[r] += metric[r * d + c] * rows[i * d + c];
        else along[r] = rows[i * d + r];
    }
    return along;
}

/**
 * Those of the candidates that lie furthest in a direction.
 * @param {Float64Array} rows @param {Float64Array} along @param {number[]} candidates
 */
function floatFurthest(rows, along, candidates) {
    const d = along.length;
    let best = -Infinity;
    /** @type {number[]} */
    let found = [];
    for (const j of candidates) {
        let score = 0;
        for (let c = 0; c < d; c++) score += along[c] * rows[j * d + c];
        if (score > best) [best, found] = [score, [j]];
        else if (score === best) found.push(j);
    }
    return found.length > 1 ? found.sort((i, j) => i - j) : found;
}

/** @param {Float64Array} rows @param {number} d @param {number[][]} sets @param {number[]} weights */
function floatMeans(rows, d, sets, weights) {
    const means = new Float64Array(rows.length);
    sets.forEach((set, i) => {
        let all = 0;
        for (const j of set) all += weights[j];
        for (const j of set) for (let c = 0; c < d; c++) means[i * d + c] += weights[j] * rows[j * d + c];
        for (let c = 0; c < d; c++) means[i * d + c] /= all;
    });
    return means;
}

/** @param {Float64Array} from @param {Float64Array} to @param {number} left the share of the way that is left */
function floatMove(from, to, left) {
    // Written so that a point that is at its target stays there, to the last bit.
    return from.map((x, k) => to[k] + left * (x - to[k]));
}

/**
 * The vertices of the convex hull of points in the plane, counterclockwise.
 * @param {Float64Array} z @param {number} count @param {boolean} [thick] with all points that lie on it or nearly so
 * @returns {number[]}
 */
export function planeHull(z, count, thick = false) {
    const order = floatOrder(z, count, 2);
    const flat = (thick ? FLOAT_FLAT : -FLOAT_FLAT) * floatLongest(z);
    /** How far b is to the left of the way from a to c. @param {number} a @param {number} b @param {number} c */
    const left = (a, b, c) => {
        const [x, y] = [z[2 * c] - z[2 * a], z[2 * c + 1] - z[2 * a + 1]];
        return (x * (z[2 * b + 1] - z[2 * a + 1]) - y * (z[2 * b] - z[2 * a])) / (Math.sqrt(x * x + y * y) || 1);
    };
    /** The chain below, or with sign -1 the one above, from left to right. @param {number} sign */
    const chain = (sign) => {
        /** @type {number[]} */
        const found = [];
        for (const i of order) {
            while (found.length > 1 && sign * left(found[found.length - 2], found[found.length - 1], i) > flat)
                found.pop();
            found.push(i);
        }
        return found;
    };
    return [...new Set([...chain(1), ...chain(-1).reverse()])];
}
