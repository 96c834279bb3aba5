// The layers of a text classifier: each distinct vector of a text is a point, and every choice is proved. Floats with an
// error bound decide most of them; where they cannot, the integers of exact positions do.

/**
 * What a layer is, and how many there are. `metric` is scaled by a power of two and null for the identity; `integers` is
 * the same metric up to a positive factor. alpha = p / q.
 * @typedef {{d: number, p: bigint, q: bigint, metric: Float64Array | null, integers: bigint[][] | null,
 *     rounding: number, spread: number, layers: number}} LayerRules
 *
 * A run: attended sets and positions of the points at the layers 0 … last. If `settled`, no set changes after `last`.
 * `proved` says that floats alone decided everything, and every set was a single token.
 * @typedef {{sets: number[][][], positions: Float64Array[], since: Int32Array, last: number, settled: boolean,
 *     proved: boolean}} LayerRun
 */

const LAYERS_UNIT = 2 ** -53;
const LAYERS_SAFETY = 1 + 2 ** -10; // covers the rounding of the bounds themselves
const LAYERS_TINY = 2 ** -900; // more than underflow adds
const LAYERS_DEEPEST = 10000; // of infinitely many layers, a text that has not settled by then is taken as it is there
const LAYERS_LONGEST = 200000; // bits of an exact position

/**
 * The float nearest to a / b.
 * @param {bigint} a not negative
 * @param {bigint} b positive
 * @returns {number}
 */
export function ratioToNumber(a, b) {
    const shift = Math.max(0, 70 + b.toString(16).length * 4 - a.toString(16).length * 4);
    const scaled = a << BigInt(shift);
    const sticky = scaled % b ? 1n : 0n; // 66 bits or more, so that the last one only breaks ties
    const value = Number(((scaled / b) << 1n) | sticky);
    const half = Math.min(shift + 1, 1000);
    return (value * 2 ** -half) * 2 ** (half - shift - 1);
}

/**
 * The matrix and the error bounds of a dynamics. Scores are off by at most half of
 * `rounding |z_i| R + spread (errors)`, R the largest norm.
 * @param {number} d
 * @param {{p: bigint, q: bigint}} alpha
 * @param {Float64Array | null} metric symmetric positive definite, (d, d)
 * @param {number} layers may be Infinity
 * @returns {LayerRules}
 */
export function makeLayerRules(d, alpha, metric, layers) {
    const gamma = (d * LAYERS_UNIT) / (1 - d * LAYERS_UNIT);
    const rules = { d, ...alpha, metric, integers: /** @type {bigint[][] | null} */ (null), layers };
    if (!metric) return { ...rules, rounding: 2 * LAYERS_SAFETY * gamma, spread: 2 * LAYERS_SAFETY };
    const { numerators } = layersIntegers(metric);
    rules.integers = Array.from({ length: d }, (_, row) => numerators.slice(row * d, row * d + d));
    const largest = metric.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    const exponent = -Math.floor(Math.log2(largest));
    const half = Math.trunc(exponent / 2); // 2 ** exponent itself may overflow
    const scaled = metric.map((x) => x * 2 ** half * 2 ** (exponent - half));
    const isExact = scaled.every((x, i) => x * 2 ** -half * 2 ** (half - exponent) === metric[i]);
    const norm = Math.sqrt(scaled.reduce((sum, x) => sum + x * x, 0));
    const rounding = isExact ? 2 * LAYERS_SAFETY * (2 * gamma + gamma * gamma) * norm : Infinity;
    return { ...rules, metric: scaled, rounding, spread: 2 * LAYERS_SAFETY * norm };
}

/**
 * Floats as integers over one power of two.
 * @param {ArrayLike<number>} values finite
 * @returns {{numerators: bigint[], denominator: bigint}}
 */
export function layersIntegers(values) {
    const view = new DataView(new ArrayBuffer(8));
    const parts = Array.from(values, (value) => {
        view.setFloat64(0, value);
        const bits = view.getBigUint64(0);
        const exponent = Number((bits >> 52n) & 0x7ffn);
        const mantissa = (bits & 0xfffffffffffffn) | (exponent ? 1n << 52n : 0n);
        return { mantissa: value < 0 ? -mantissa : mantissa, exponent: mantissa ? Math.max(exponent, 1) : 2047 };
    });
    const least = Math.min(1075, ...new Set(parts.map((part) => part.exponent)));
    const numerators = parts.map((part) => part.mantissa && part.mantissa << BigInt(part.exponent - least));
    return { numerators, denominator: 1n << BigInt(1075 - least) };
}

/**
 * Walk the points of a text through the layers until all attended sets stay for ever, or the layers are over.
 * @param {Float64Array} start (n, d), all different
 * @param {number[]} weights how much each point counts, whole numbers
 * @param {number[]} copies how many tokens of the text each point is
 * @param {LayerRules} rules
 * @returns {LayerRun}
 */
export function walkLayers(start, weights, copies, rules) {
    const n = weights.length;
    const last = Number.isFinite(rules.layers) ? rules.layers : LAYERS_DEEPEST;
    const since = new Int32Array(n).fill(-1);
    const exact = new ExactPlaces(start, weights, rules);
    /** @type {LayerRun} */
    const run = { sets: exact.sets, positions: [start], since, last, settled: false, proved: true };
    const keep = ratioToNumber(rules.q, rules.p + rules.q);
    let pending = weights.map((_, i) => i);
    for (let layer = 0, error = 0; ; layer++) {
        const z = run.positions[layer];
        const norms = layersNorms(z, rules.d);
        const largest = norms.reduce((a, b) => Math.max(a, b), 0);
        const sets = layer ? run.sets[layer - 1].slice() : [];
        run.sets.push(sets);
        const isUnfit = layer === 0 && !(largest >= 2 ** -100 && largest <= 2 ** 100); // bounds hold between these
        for (const i of pending) {
            const off = norms[i] * error + largest * error + error * error;
            const slack = isUnfit ? Infinity : rules.rounding * norms[i] * largest + rules.spread * off + LAYERS_TINY;
            sets[i] = layersCandidates(i, z, slack, rules);
            if (sets[i].length > 1) {
                run.proved = false;
                sets[i] = exact.furthest(layersAlong(exact.place(i, layer), rules), layer, sets[i]);
            }
            if (copies[sets[i][0]] > 1) run.proved = false;
            if (sets[i][0] === i && sets[i].length === 1 && since[i] < 0) since[i] = layer;
        }
        const free = pending.filter((i) => sets[i].length > 1 || since[sets[i][0]] < 0);
        exact.close(layer, pending, free);
        pending = free;
        run.settled = !pending.length || exact.isSettled(layer, pending);
        if (run.settled || layer === last) return { ...run, last: layer };
        if (exact.isTooLong) {
            if (Number.isFinite(rules.layers)) throw new Error(`Ties that last for ${layer} layers: too deep to decide.`);
            return { ...run, last: layer };
        }
        run.positions.push(layersMove(z, sets, weights, keep, rules.d));
        const most = sets.reduce((many, set) => Math.max(many, set.length), 0);
        // A step rounds by less than 7 units of the largest norm, the mean of several points by one more for each.
        error += (7 + (most > 1 ? most + 2 : 0)) * LAYERS_UNIT * LAYERS_SAFETY * largest + LAYERS_TINY;
    }
}

/**
 * Where the points are at any layer of a run, or after infinitely many.
 * @param {LayerRun} run
 * @param {number[]} weights
 * @param {LayerRules} rules
 * @param {number} layer later ones than `run.last` only if it has settled; may be Infinity
 * @returns {Float64Array}
 */
export function layerPositions(run, weights, rules, layer) {
    if (layer <= run.last) return run.positions[layer];
    return layersMove(run.positions[run.last], run.sets[run.last], weights, layersPower(rules, layer - run.last), rules.d);
}

/**
 * What a token keeps of its way to a leader after so many layers.
 * @param {LayerRules} rules
 * @param {number} layers may be Infinity
 */
export function layersPower(rules, layers) {
    if (!Number.isFinite(layers)) return 0;
    return ratioToNumber(rules.q ** BigInt(layers), (rules.p + rules.q) ** BigInt(layers));
}

/**
 * Every point moves towards the mean of those it attends to; `share` is what it keeps of the way.
 * @param {Float64Array} z
 * @param {number[][]} sets
 * @param {number[]} weights
 * @param {number} share
 * @param {number} d
 */
function layersMove(z, sets, weights, share, d) {
    const moved = new Float64Array(z.length);
    sets.forEach((set, i) => {
        for (let axis = 0; axis < d; axis++) {
            let target = z[set[0] * d + axis];
            if (set.length > 1) {
                const sum = set.reduce((total, j) => total + weights[j] * z[j * d + axis], 0);
                target = sum / set.reduce((total, j) => total + weights[j], 0);
            }
            moved[i * d + axis] = target + share * (z[i * d + axis] - target);
        }
    });
    return moved;
}

/**
 * Norms, none too small even where squares underflow.
 * @param {Float64Array} z
 * @param {number} d
 */
function layersNorms(z, d) {
    const norms = new Float64Array(z.length / d);
    for (let i = 0; i < norms.length; i++) {
        let square = 0;
        for (let axis = 0; axis < d; axis++) square += z[i * d + axis] * z[i * d + axis];
        norms[i] = Math.sqrt(square) + 2 ** -500;
    }
    return norms;
}

/**
 * The points that may be furthest for point i: those within the slack of the best score.
 * @param {number} i
 * @param {Float64Array} z
 * @param {number} slack
 * @param {LayerRules} rules
 */
function layersCandidates(i, z, slack, { d, metric }) {
    const along = z.subarray(i * d, i * d + d);
    const direction = metric ? along.map((_, row) => along.reduce((s, x, axis) => s + metric[row * d + axis] * x, 0)) : along;
    const n = z.length / d;
    const scores = new Float64Array(n);
    let best = -Infinity;
    for (let j = 0; j < n; j++) {
        let score = 0;
        for (let axis = 0; axis < d; axis++) score += direction[axis] * z[j * d + axis];
        scores[j] = score;
        if (score > best) best = score;
    }
    const found = [];
    for (let j = 0; j < n; j++) if (!(scores[j] < best - slack)) found.push(j);
    return found;
}

/**
 * A z, up to a positive factor.
 * @param {bigint[]} z
 * @param {LayerRules} rules
 */
function layersAlong(z, { integers }) {
    return integers ? integers.map((row) => layersDot(row, z)) : z;
}

/**
 * @param {bigint[]} x
 * @param {bigint[]} y
 */
function layersDot(x, y) {
    return x.reduce((sum, value, axis) => sum + value * y[axis], 0n);
}

/**
 * @param {bigint} a
 * @param {bigint} b
 * @returns {bigint}
 */
function layersGcd(a, b) {
    while (b) [a, b] = [b, a % b];
    return a;
}

/**
 * Exact positions of the points, computed where floats do not decide. At layer k all of them are integers over one
 * denominator, which a layer multiplies by (p + q) L, where L is a multiple of the weight of every attended set.
 */
class ExactPlaces {
    /**
     * @param {Float64Array} start
     * @param {number[]} weights
     * @param {LayerRules} rules
     */
    constructor(start, weights, rules) {
        this.start = start;
        this.weights = weights.map(BigInt);
        this.rules = rules;
        /** @type {number[][][]} */
        this.sets = [];
        /** @type {bigint[]} of each layer L */
        this.multiples = [];
        /** @type {number[]} the layer since which a point follows a leader */
        this.final = weights.map(() => Infinity);
        /** @type {Map<number, bigint[]>[]} */
        this.known = [];
    }

    /** Whether numbers would be too long to be worked with. */
    get isTooLong() {
        const perLayer = (this.rules.p + this.rules.q).toString(2).length;
        return this.known.length > 1 && perLayer * this.sets.length > LAYERS_LONGEST;
    }

    /**
     * The sets of a layer are complete: those that had to choose, and those of them that follow no leader.
     * @param {number} layer
     * @param {number[]} decided
     * @param {number[]} free
     */
    close(layer, decided, free) {
        for (const i of decided) this.final[i] = layer;
        for (const i of free) this.final[i] = Infinity;
        let multiple = 1n;
        for (const i of free) {
            const weight = this._weight(this.sets[layer][i]);
            multiple *= weight / layersGcd(multiple, weight);
        }
        this.multiples.push(multiple);
    }

    /** @param {number[]} set */
    _weight(set) {
        return set.length > 1 ? set.reduce((sum, j) => sum + this.weights[j], 0n) : 1n;
    }

    /**
     * The numerators of a point at a layer.
     * @param {number} point
     * @param {number} layer
     * @returns {bigint[]}
     */
    place(point, layer) {
        const { d, p, q } = this.rules;
        if (!this.known.length) {
            const { numerators } = layersIntegers(this.start);
            this.known.push(new Map(this.weights.map((_, i) => [i, numerators.slice(i * d, i * d + d)])));
        }
        while (this.known.length <= layer) this.known.push(new Map());
        // A stack of our own: chains are as long as the run.
        const stack = [[point, layer]];
        while (stack.length) {
            const [i, k] = stack[stack.length - 1];
            const origin = Math.min(this.final[i], k - 1);
            if (this.known[k].has(i)) {
                stack.pop();
                continue;
            }
            const set = this.sets[origin][i];
            const missing = [i, ...set].filter((j) => !this.known[origin].has(j));
            if (missing.length) {
                stack.push(...missing.map((j) => [j, origin]));
                continue;
            }
            const multiple = this.multiples.slice(origin, k).reduce((product, factor) => product * factor, 1n);
            const stay = multiple * q ** BigInt(k - origin);
            const go = multiple * (p + q) ** BigInt(k - origin) - stay;
            const mean = this._sum(set, origin);
            const here = /** @type {bigint[]} */ (this.known[origin].get(i));
            const weight = this._weight(set);
            this.known[k].set(i, here.map((z, axis) => stay * z + (go * mean[axis]) / weight));
            stack.pop();
        }
        return /** @type {bigint[]} */ (this.known[layer].get(point));
    }

    /**
     * The sum of some points, counted by weights unless it is one alone: `_weight` times their mean.
     * @param {number[]} set
     * @param {number} layer
     */
    _sum(set, layer) {
        if (set.length === 1) return this.place(set[0], layer);
        const places = set.map((j) => this.place(j, layer).map((x) => this.weights[j] * x));
        return places.reduce((sum, place) => sum.map((x, axis) => x + place[axis]));
    }

    /**
     * Those of some points that lie furthest along a direction.
     * @param {bigint[]} along
     * @param {number} layer
     * @param {number[]} points
     */
    furthest(along, layer, points) {
        const scores = points.map((j) => layersDot(along, this.place(j, layer)));
        const best = scores.reduce((a, b) => (b > a ? b : a));
        return points.filter((_, place) => scores[place] === best);
    }

    /**
     * Whether no attended set changes any more, although some points follow no single leader. With u = z - w the way that
     * a point has still to go, it must hold that the mean of every attended set stands still (its ways cancel), and that
     * ties of moving points last: along A w nobody lies further out than they, or nobody ever gets there on the way.
     * @param {number} layer
     * @param {number[]} pending
     */
    isSettled(layer, pending) {
        const sets = this.sets[layer];
        if (pending.every((i) => sets[i].length === 1)) return false; // then somebody follows one who moves
        const everybody = sets.map((_, i) => i);
        // Everything over the denominator of this layer times L, so that means are integers, too.
        const scale = this.multiples[layer];
        /** @type {Map<number, bigint[]>} */
        const targets = new Map();
        const target = (/** @type {number} */ i) => {
            const found = targets.get(i);
            if (found) return found;
            const weight = this._weight(sets[i]);
            const mean = this._sum(sets[i], layer).map((x) => (x * scale) / weight);
            targets.set(i, mean);
            return mean;
        };
        const way = (/** @type {number} */ i) => {
            const there = target(i);
            return this.place(i, layer).map((x, axis) => x * scale - there[axis]);
        };
        for (const i of pending) {
            const ways = sets[i].map((j) => way(j).map((x) => this.weights[j] * x));
            if (ways.reduce((sum, u) => sum.map((x, axis) => x + u[axis])).some((x) => x)) return false;
        }
        for (const i of pending) {
            const u = way(i);
            if (sets[i].length === 1 || u.every((x) => !x)) continue;
            const along = layersAlong(target(i), this.rules);
            const far = new Set(this.furthest(along, layer, everybody));
            if (sets[i].every((j) => far.has(j))) continue;
            const alongWay = layersAlong(u, this.rules);
            const curves = everybody.map((j) => {
                const w = target(j);
                const v = way(j);
                return [layersDot(along, w), layersDot(alongWay, w) + layersDot(along, v), layersDot(alongWay, v)];
            });
            const own = curves[sets[i][0]];
            const leads = curves.map((curve) => curve.map((a, power) => a - own[power]));
            if (sets[i].some((j) => leads[j].some((a) => a))) return false;
            if (everybody.some((j) => !sets[i].includes(j) && !layersStaysNegative(leads[j]))) return false;
        }
        return true;
    }
}

/**
 * Whether a0 + a1 t + a2 t², negative at t = 1, is negative for all t in (0, 1].
 * @param {bigint[]} curve
 */
function layersStaysNegative([a0, a1, a2]) {
    if (a0 > 0n || (a0 === 0n && a1 > 0n)) return false;
    return a0 === 0n || a2 >= 0n || !(a1 > 0n && a1 < -2n * a2) || a1 * a1 < 4n * a0 * a2;
}
