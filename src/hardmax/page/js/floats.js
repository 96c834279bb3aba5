/**
 * Layers in float64, fast enough to follow the mouse. Nothing in here is proved: two scores tie if floats say so, as in
 * NumPy or PyTorch, and that is sometimes wrong. `exact.js` has the truth; `runOfLimit` makes a run of it, so that both
 * are drawn in the same way.
 *
 * Equal tokens are one point with a multiplicity. In the plane the furthest point in a direction is found on the convex
 * hull, by the angles of its edges; elsewhere every score is computed.
 *
 * @typedef {object} FloatLayer
 * @property {Float64Array} positions of the points, row by row
 * @property {Float64Array} targets the mean of what each attends to
 * @property {Int32Array} one the point that each attends to; -1 if there are several
 * @property {Map<number, number[]>} several
 *
 * @typedef {object} Run
 * @property {number} d
 * @property {number} count of points
 * @property {Int32Array} ofToken the point of each token
 * @property {Int32Array} first the first token of each point
 * @property {Int32Array} weights multiplicities of the points
 * @property {FloatLayer[]} layers up to the one at which it settled
 * @property {number} keep the share of itself that a token keeps in a layer, 1 / (1 + alpha)
 * @property {Int32Array} since the layer from which on a point leads; -1 if it does not
 * @property {number | null} settledAt
 * @property {Float64Array | null} limits of the points
 * @property {number} margin the smallest lead of those attended to over the others, relative to the longest token
 */

/** A tie between leaders is taken to last if it has lasted so many layers. */
const FLOAT_PATIENCE = 8;
/** Distances below this share of the longest token are as good as zero when a hull is built. */
const FLOAT_FLAT = 1e-12;

/**
 * Run layers until no choice changes any more.
 * @param {Float64Array} tokens row by row
 * @param {number} n @param {number} d
 * @param {{alpha: number, metric: Float64Array | null, slack?: number}} dynamics `slack`: scores tie if they differ by
 *     no more than this share of the product of norms; 0 compares with ===
 * @param {number} [most] layers
 * @returns {Run}
 */
export function floatRun(tokens, n, d, { alpha, metric, slack = 0 }, most = 300) {
    const points = floatMerge(tokens, n, d);
    const { count, weights } = points;
    const since = new Int32Array(count).fill(-1);
    /** @type {FloatLayer[]} */
    const layers = [];
    let { positions } = points;
    let one = new Int32Array(count).fill(-1);
    let pending = Array.from(one, (_, i) => i);
    let [margin, unchanged] = [Infinity, 0];
    /** @type {number | null} */
    let settledAt = null;
    for (let layer = 0; ; layer++) {
        one = one.slice();
        /** @type {Map<number, number[]>} */
        const several = new Map();
        const along = floatDirections(positions, d, metric, pending);
        const attend = d === 2 ? planeAttend : denseAttend;
        margin = Math.min(margin, attend(positions, count, d, along, pending, slack, one, several));
        for (const i of pending) if (one[i] === i) since[i] = layer;
        layers.push({ positions, targets: floatMeans(positions, d, weights, one, several), one, several });
        // Who attends to one leader does so for ever.
        pending = pending.filter((i) => one[i] < 0 || since[one[i]] < 0);
        const before = layers[layer - 1]?.several;
        const lasts = pending.every((i) => several.get(i)?.every((j) => since[j] >= 0) && `${several.get(i)}` === `${before?.get(i)}`);
        unchanged = lasts ? unchanged + 1 : 0;
        if (!pending.length || unchanged === FLOAT_PATIENCE) {
            settledAt = pending.length ? layer - FLOAT_PATIENCE : layer;
            layers.length = settledAt + 1;
        }
        if (settledAt !== null || layer === most) break;
        positions = floatMove(positions, layers[layer].targets, 1 / (1 + alpha));
    }
    const limits = settledAt === null ? null : layers[settledAt].targets;
    return { ...points, d, layers, keep: 1 / (1 + alpha), since, settledAt, limits, margin };
}

/**
 * The run whose choices exact arithmetic made: positions are rounded, choices are not.
 * @param {Float64Array} tokens @param {number} d @param {number} alpha
 * @param {import("./exact.js").ExactLimit} exact
 * @param {number} [most] layers
 * @returns {Run}
 */
export function runOfLimit(tokens, d, alpha, { points, attended, leaders, limits, settledAt, ofToken }, most = 300) {
    const count = points.multiplicities.length;
    const [first, weights, since] = [new Int32Array(count), Int32Array.from(points.multiplicities), new Int32Array(count).fill(-1)];
    for (let token = ofToken.length - 1; token >= 0; token--) first[ofToken[token]] = token;
    for (const [point, layer] of leaders) since[point] = layer;
    let positions = Float64Array.from({ length: count * d }, (_, k) => tokens[first[Math.floor(k / d)] * d + (k % d)]);
    /** @type {FloatLayer[]} */
    const layers = [];
    const last = Math.min(most, settledAt ?? attended.at(-1)?.from ?? 0);
    for (let layer = 0, phase = -1; layer <= last; layer++) {
        if (attended[phase + 1]?.from === layer) phase++;
        const { sets } = attended[phase];
        const one = Int32Array.from(sets, (set) => (set.length === 1 ? set[0] : -1));
        const several = new Map(sets.flatMap((set, i) => (set.length > 1 ? [/** @type {[number, number[]]} */ ([i, set])] : [])));
        const targets = floatMeans(positions, d, weights, one, several);
        layers.push({ positions, targets, one, several });
        positions = floatMove(positions, targets, 1 / (1 + alpha));
    }
    const ends = limits && Float64Array.from(limits.flatMap((end) => end.floats));
    const run = { d, count, ofToken: Int32Array.from(ofToken), first, weights, layers, keep: 1 / (1 + alpha), since };
    return { ...run, settledAt, limits: ends, margin: 0 };
}

/**
 * Where the points are at a layer: between two layers on the way, after the last one in closed form.
 * @param {Run} run @param {number} layer may be a fraction, or Infinity
 */
export function positionsAt(run, layer) {
    if (layer === Infinity) return run.limits ?? run.layers[run.layers.length - 1].positions;
    const whole = layerAt(run, layer);
    const { positions, targets } = run.layers[whole];
    // Where it has not settled, there is nothing to know after the last layer.
    if (layer >= run.layers.length && !run.limits) return positions;
    return layer === whole ? positions : floatMove(positions, targets, run.keep ** (layer - whole));
}

/** The layer whose choices hold at this time. @param {Run} run @param {number} layer */
export function layerAt(run, layer) {
    return Math.min(Math.floor(layer), run.layers.length - 1);
}

/** The tokens that a token attends to. @param {Run} run @param {number} token @param {number} layer */
export function attendedTokens(run, token, layer) {
    const { one, several } = run.layers[layerAt(run, layer)];
    const point = run.ofToken[token];
    const set = one[point] >= 0 ? [one[point]] : several.get(point) ?? [];
    if (run.count === run.ofToken.length) return set.map((j) => run.first[j]);
    const chosen = new Set(set);
    return Array.from(run.ofToken.keys()).filter((other) => chosen.has(run.ofToken[other]));
}

/**
 * Equal tokens as one point, in the order in which they first appear.
 * @param {Float64Array} tokens @param {number} n @param {number} d
 */
function floatMerge(tokens, n, d) {
    const order = floatOrder(tokens, n, d);
    const same = new Int32Array(n);
    let start = 0;
    order.forEach((token, rank) => {
        for (let c = 0; c < d; c++) if (tokens[token * d + c] !== tokens[order[start] * d + c]) start = rank;
        same[token] = order[start];
    });
    const ofToken = new Int32Array(n);
    /** @type {number[]} */
    const first = [];
    for (let token = 0; token < n; token++) ofToken[token] = same[token] === token ? first.push(token) - 1 : ofToken[same[token]];
    const weights = new Int32Array(first.length);
    for (const point of ofToken) weights[point]++;
    const positions = new Float64Array(first.length * d);
    first.forEach((token, point) => positions.set(tokens.subarray(token * d, token * d + d), point * d));
    return { count: first.length, ofToken, first: Int32Array.from(first), weights, positions };
}

/** Rows in lexicographic order, equal ones by their number. @param {Float64Array} rows @param {number} n @param {number} d */
function floatOrder(rows, n, d) {
    const order = new Int32Array(n);
    for (let i = 0; i < n; i++) order[i] = i;
    return order.sort((i, j) => {
        for (let c = 0; c < d; c++) if (rows[i * d + c] !== rows[j * d + c]) return rows[i * d + c] - rows[j * d + c];
        return i - j;
    });
}

/** A z for each pending point. @param {Float64Array} z @param {number} d @param {Float64Array | null} metric @param {number[]} pending */
function floatDirections(z, d, metric, pending) {
    const along = new Float64Array(pending.length * d);
    pending.forEach((i, k) => {
        for (let r = 0; r < d; r++) {
            let sum = metric ? 0 : z[i * d + r];
            if (metric) for (let c = 0; c < d; c++) sum += metric[r * d + c] * z[i * d + c];
            along[k * d + r] = sum;
        }
    });
    return along;
}

/**
 * @param {Float64Array} z @param {number} d @param {Int32Array} weights @param {Int32Array} one
 * @param {Map<number, number[]>} several
 */
function floatMeans(z, d, weights, one, several) {
    const means = new Float64Array(z.length);
    for (let i = 0; i < one.length; i++) {
        if (one[i] >= 0) for (let c = 0; c < d; c++) means[i * d + c] = z[one[i] * d + c];
    }
    for (const [i, set] of several) {
        let all = 0;
        for (const j of set) {
            all += weights[j];
            for (let c = 0; c < d; c++) means[i * d + c] += weights[j] * z[j * d + c];
        }
        for (let c = 0; c < d; c++) means[i * d + c] /= all;
    }
    return means;
}

/** @param {Float64Array} from @param {Float64Array} to @param {number} kept the share of the way that is left */
function floatMove(from, to, kept) {
    const moved = new Float64Array(from.length);
    // Written so that a point that is at its target stays there, to the last bit.
    for (let k = 0; k < moved.length; k++) moved[k] = to[k] + kept * (from[k] - to[k]);
    return moved;
}

/**
 * Who is furthest along each direction: fills `one` and `several` for the pending points.
 * @param {Float64Array} z @param {number} count @param {number} d @param {Float64Array} along @param {number[]} pending
 * @param {number} slack @param {Int32Array} one @param {Map<number, number[]>} several
 * @returns {number} the smallest lead
 */
function denseAttend(z, count, d, along, pending, slack, one, several) {
    const all = Array.from({ length: count }, (_, j) => j);
    const longest = floatLongest(z, d);
    let margin = Infinity;
    pending.forEach((i, k) => {
        margin = Math.min(margin, floatFurthest(z, d, along.subarray(k * d, k * d + d), all, slack, longest, i, one, several));
    });
    return margin;
}

/** @param {Float64Array} z @param {number} d */
function floatLongest(z, d) {
    let longest = 0;
    for (let i = 0; i < z.length; i += d) {
        let square = 0;
        for (let c = 0; c < d; c++) square += z[i + c] ** 2;
        longest = Math.max(longest, square);
    }
    return Math.sqrt(longest);
}

/**
 * The candidates with the largest score of all.
 * @param {Float64Array} z @param {number} d @param {Float64Array} direction @param {number[]} candidates
 * @param {number} slack @param {number} longest @param {number} i whose choice it is
 * @param {Int32Array} one @param {Map<number, number[]>} several
 * @returns {number} the lead over the others
 */
function floatFurthest(z, d, direction, candidates, slack, longest, i, one, several) {
    const scores = new Float64Array(candidates.length);
    let [best, square] = [-Infinity, 0];
    for (let c = 0; c < d; c++) square += direction[c] ** 2;
    const scale = Math.sqrt(square) * longest;
    for (let k = 0; k < candidates.length; k++) {
        let score = 0;
        for (let c = 0; c < d; c++) score += direction[c] * z[candidates[k] * d + c];
        scores[k] = score;
        if (score > best) best = score;
    }
    const enough = best - slack * scale;
    let [chosen, number, next] = [-1, 0, -Infinity];
    for (let k = 0; k < candidates.length; k++) {
        if (scores[k] >= enough) {
            number++;
            chosen = candidates[k];
        } else if (scores[k] > next) next = scores[k];
    }
    one[i] = number === 1 ? chosen : -1;
    if (number > 1) several.set(i, candidates.filter((_, k) => scores[k] >= enough).sort((a, b) => a - b));
    return scale ? (best - next) / scale : Infinity;
}

/**
 * The same in the plane, where the furthest point is a vertex of the hull and lies between the normals of its edges.
 * @type {typeof denseAttend}
 */
function planeAttend(z, count, d, along, pending, slack, one, several) {
    const { vertices, near } = planeHull(z, count);
    const m = vertices.length;
    // Of a flat or small cloud all scores are computed sooner.
    if (m < 3 || pending.length * count < 400) return denseAttend(z, count, d, along, pending, slack, one, several);
    // Angles of the outward normals of the edges, ascending; vertex k is furthest between those of edges k - 1 and k.
    const angles = new Float64Array(m);
    for (let k = 0; k < m; k++) {
        const [a, b] = [vertices[k], vertices[(k + 1) % m]];
        angles[k] = Math.atan2(z[2 * a] - z[2 * b], z[2 * b + 1] - z[2 * a + 1]);
        if (k && angles[k] < angles[k - 1]) angles[k] += 2 * Math.PI;
    }
    const longest = floatLongest(z, 2);
    const taken = new Int32Array(count).fill(-1); // the row that last had this candidate
    let margin = Infinity;
    pending.forEach((i, row) => {
        const direction = along.subarray(2 * row, 2 * row + 2);
        if (!direction[0] && !direction[1]) {
            several.set(i, Array.from({ length: count }, (_, j) => j));
            one[i] = -1;
            return;
        }
        let angle = Math.atan2(direction[1], direction[0]);
        while (angle <= angles[0]) angle += 2 * Math.PI;
        while (angle > angles[0] + 2 * Math.PI) angle -= 2 * Math.PI;
        let [low, high] = [0, m]; // the first edge whose normal is not before this direction; m is edge 0 again
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (angles[middle] < angle) low = middle;
            else high = middle;
        }
        const [previous, vertex, next] = [high - 1, high % m, (high + 1) % m];
        const candidates = [vertices[vertex], vertices[next], vertices[previous]];
        for (const edge of [previous, vertex]) {
            for (const j of near[edge] ?? []) if (taken[j] !== row) candidates.push(j), (taken[j] = row);
        }
        margin = Math.min(margin, floatFurthest(z, 2, direction, candidates, slack, longest, i, one, several));
    });
    return margin;
}

/**
 * Vertices of the convex hull, counterclockwise, and the other points that lie on each edge (k, k + 1), nearly or
 * really: `near` has an entry where there are any.
 * @param {Float64Array} z @param {number} count
 * @returns {{vertices: number[], near: number[][]}}
 */
export function planeHull(z, count) {
    const order = floatOrder(z, count, 2);
    const flat = FLOAT_FLAT * floatLongest(z, 2);
    /** How far point b is left of the way from a to c. @type {(a: number, b: number, c: number) => number} */
    const left = (a, b, c) => {
        const [x, y] = [z[2 * c] - z[2 * a], z[2 * c + 1] - z[2 * a + 1]];
        const length = Math.sqrt(x * x + y * y);
        return length ? (x * (z[2 * b + 1] - z[2 * a + 1]) - y * (z[2 * b] - z[2 * a])) / length : 0;
    };
    /** Ranks of the chain below (side 1) or above (side -1). @param {number} side */
    const chainOf = (side) => {
        /** @type {number[]} */
        const chain = [];
        for (let rank = 0; rank < count; rank++) {
            while (chain.length > 1 && side * left(order[chain[chain.length - 2]], order[chain[chain.length - 1]], order[rank]) >= -flat) chain.pop();
            chain.push(rank);
        }
        return chain;
    };
    const [lower, upper] = [chainOf(1), chainOf(-1)];
    const vertices = [...lower, ...upper.slice(1, -1).reverse()].map((rank) => order[rank]);
    /** @type {number[][]} */
    const near = [];
    const corners = new Set(vertices);
    for (const chain of [lower, upper]) {
        let edge = 0;
        for (let rank = 0; rank < count; rank++) {
            while (edge < chain.length - 2 && chain[edge + 1] <= rank) edge++;
            if (corners.has(order[rank])) continue;
            // Rounding can put a point of a vertical edge before or after it.
            for (let e = Math.max(0, edge - 1); e <= Math.min(chain.length - 2, edge + 1); e++) {
                if (Math.abs(left(order[chain[e]], order[rank], order[chain[e + 1]])) > 4 * flat) continue;
                const k = chain === lower ? e : lower.length + upper.length - 3 - e;
                (near[k] ??= []).push(order[rank]);
            }
        }
    }
    return { vertices, near };
}

/**
 * The tokens that end elsewhere in floats than exactly, each with the first layer at which it attends to others.
 * @param {Run} exact @param {Run} floats
 * @returns {{token: number, layer: number | null, exactly: number[], floats: number[]}[]}
 */
export function compareRuns(exact, floats) {
    const { d, limits } = exact;
    if (!limits) return [];
    const ends = positionsAt(floats, Infinity);
    const far = 1e-6 * floatLongest(exact.layers[0].positions, d);
    return Array.from(exact.ofToken.keys()).filter((token) => {
        const [i, j] = [exact.ofToken[token] * d, floats.ofToken[token] * d];
        for (let c = 0; c < d; c++) if (Math.abs(limits[i + c] - ends[j + c]) > far) return true;
        return false;
    }).map((token) => {
        for (let layer = 0; layer < Math.max(exact.layers.length, floats.layers.length); layer++) {
            const [truly, roughly] = [attendedTokens(exact, token, layer), attendedTokens(floats, token, layer)];
            if (`${truly}` !== `${roughly}`) return { token, layer, exactly: truly, floats: roughly };
        }
        return { token, layer: null, exactly: [], floats: [] };
    });
}
