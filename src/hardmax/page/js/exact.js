/** The dynamics in BigInt fractions: layers, infinite-depth limits and their certificates, as
 * `hm.limit(tokens, dynamics, arithmetic="exact")` gives them.
 *
 * Points are integers over one common denominator, so scores of one row are compared as integers. While the attended
 * sets stay as they are and their means w stand still, every point goes straight to its target:
 *
 *     z_i(k + m) = w_i + g^m (z_i(k) - w_i),      g = 1 / (1 + alpha).
 *
 * So the run is a list of phases from one change of attended sets to the next, and the last phase gives the limit.
 * docs/limits.md has the proofs.
 *
 * @typedef {{p: bigint, q: bigint}} Ratio  p / q in lowest terms, q > 0
 * @typedef {string | number} Numeric  a number stands for the binary fraction it is, a text for what it says
 * @typedef {{numerators: bigint[][], denominator: bigint, multiplicities: number[], ofToken: number[]}} ExactCloud
 *     the distinct points, in the order in which they first appear, and the point of each token
 * @typedef {{alpha: Numeric, metric?: Numeric[][] | null, maxLayers?: number, multiplicities?: number[],
 *     budget?: number}} ExactOptions  alpha as a number stands for the decimal it prints as; `maxLayers` is 10,000, or
 *     500 if the metric is not symmetric positive definite; `budget` is in milliseconds, 10,000 by default
 * @typedef {{alpha: Ratio, keep: Ratio, metric: bigint[][] | null, texts: string[][] | null,
 *     definite: boolean}} ExactDynamics  the metric is multiplied by its common denominator
 * @typedef {{layer: number, until: number | null, sets: number[][], leads: boolean[], rows: bigint[][],
 *     targets: bigint[][], denominator: bigint}} ExactPhase  layers from `layer` to before `until` (null: for ever)
 * @typedef {{kind: "vertex" | "face" | "point", vertex?: number, face?: number[], weights?: string[], point: string[],
 *     floats: number[]}} ExactEnd  the limit of a point; `vertex` and `face` are points that lead
 * @typedef {{settledAt: number | null, attended: {from: number, sets: number[][]}[], leaders: [number, number][],
 *     points: ExactCloud, limits: ExactEnd[] | null, ofToken: number[], reason: string}} ExactLimit
 *     sets, leaders (with the layer since which they lead) and limits are of points, not of tokens */
import { bigGcd, bigMultiple, bigSum, pythonJson, sha256 } from "./integers.js";

const EXACT_DIGITS = 100_000; // of an exact coordinate: longer numbers take too long to work with
const EXACT_TEXT = 4_300; // digits of a number in a text or a certificate, as in Python

/** @param {bigint} p @param {bigint} q not 0 @returns {Ratio} */
function exactRatio(p, q) {
    const common = bigGcd(p, q);
    return { p: p / common, q: q / common };
}

/** p / q as Python writes a Fraction. @param {bigint} p @param {bigint} q positive */
function exactText(p, q) {
    const { p: over, q: under } = exactRatio(p, q);
    return under === 1n ? `${over}` : `${over}/${under}`;
}

/** @param {bigint} x not negative */
const exactBits = (x) => x.toString(2).length;

/** p / q rounded once, to the nearest float64. @type {(p: bigint, q: bigint) => number} */
export function exactFloat(p, q) {
    if (p < 0n) return -exactFloat(-p, q);
    const size = exactBits(p) - exactBits(q); // p / q is between 2^(size - 1) and 2^(size + 1)
    if (size <= -1022) {
        // Maybe subnormal: a whole number of the smallest positive float.
        const [units, rest] = [(p << 1074n) / q, ((p << 1074n) % q) * 2n];
        return Number(units + (rest > q || (rest === q && units & 1n) ? 1n : 0n)) * 2 ** -1074;
    }
    const [over, under] = size < 64 ? [p << BigInt(64 - size), q] : [p, q << BigInt(size - 64)];
    // More bits than a float has, the last of which says whether anything is left: the conversion rounds correctly.
    return Number((over / under) | (over % under ? 1n : 0n)) * 2 ** -32 * 2 ** (size - 32);
}

/** The rational that a value such as 0.1, "0.1", "1/3" or "2e-3" is, exactly.
 * @param {Numeric} value @param {string} [name] for errors @returns {Ratio} */
export function readNumber(value, name = "a number") {
    if (typeof value === "number" && Number.isFinite(value)) {
        let under = 1n;
        for (; !Number.isInteger(value); value *= 2 ** 30) under <<= 30n;
        return exactRatio(BigInt(value), under);
    }
    const text = typeof value === "string" ? value.trim() : "";
    const found = /^([+-]?\d+)\/(\d+)$|^([+-]?(?=\.?\d)\d*)\.?(\d*)(?:e([+-]?\d{1,9}))?$/i.exec(text);
    if (found && text.length <= EXACT_TEXT) {
        const [, over, under = "1", whole = "", decimals = "", exponent = "0"] = found;
        const [p, q, power] = [BigInt(over ?? whole + decimals), BigInt(under), Number(exponent) - decimals.length];
        if (!p && q) return { p: 0n, q: 1n };
        // The integer that a few letters such as 1e999999999 stand for has a billion digits.
        if (q && (over || Math.abs(power + `${p}`.replace("-", "").length - 1) <= 400)) {
            const ten = 10n ** BigInt(Math.abs(power));
            const number = power < 0 ? exactRatio(p, ten) : exactRatio(p * ten, q);
            if (Number.isFinite(exactFloat(number.p, number.q))) return number;
        }
    }
    const came = String(value).slice(0, 40);
    throw new Error(`${name} must be a finite number, such as 0.5, "1/2" or "2e-3", not ${came}.`);
}

/** A table of numbers, and the same as integers over the smallest common denominator.
 * @param {Numeric[][]} table @param {string} name */
function exactTable(table, name) {
    if (!table.length || !table[0].length) throw new Error(`${name} must not be empty: give rows of numbers.`);
    let common = 1n;
    const ratios = table.map((row, i) => {
        const [length, first] = [row.length, table[0].length];
        if (length !== first) throw new Error(`${name}: row ${i} has ${length} numbers, row 0 ${first}: no table.`);
        return row.map((value, j) => {
            const number = readNumber(value, `${name}, row ${i}, column ${j},`);
            common = bigMultiple(common, number.q);
            return number;
        });
    });
    return { ratios, integers: ratios.map((row) => row.map(({ p, q }) => p * (common / q))), common };
}

/** The distinct points of a cloud; a token that is given several times is one point with a multiplicity.
 * @param {Numeric[][]} tokens @param {number[]} [multiplicities] of the tokens @returns {ExactCloud} */
export function exactCloud(tokens, multiplicities = tokens.map(() => 1)) {
    const { integers, common } = exactTable(tokens, "tokens");
    const counts = multiplicities.filter((count) => Number.isSafeInteger(count) && count > 0).length;
    if (counts !== tokens.length || multiplicities.length !== counts)
        throw new Error("multiplicities must be positive whole numbers, one for each token.");
    const points = [...new Map(integers.map((row) => [row.join(), row]))];
    const places = new Map(points.map(([key], point) => [key, point]));
    const ofToken = integers.map((row) => /** @type {number} */ (places.get(row.join())));
    const weights = points.map(() => 0);
    ofToken.forEach((point, token) => (weights[point] += multiplicities[token]));
    return { numerators: points.map(([, row]) => row), denominator: common, multiplicities: weights, ofToken };
}

/** @param {ExactOptions} options @param {number} dimension @returns {ExactDynamics} */
export function exactDynamics({ alpha, metric = null }, dimension) {
    const step = readNumber(typeof alpha === "number" ? String(alpha) : alpha, "alpha");
    if (step.p <= 0n) throw new Error(`alpha must be positive, not ${alpha}. Try 0.5 or "1/2".`);
    const keep = { p: step.q, q: step.p + step.q };
    if (!metric) return { alpha: step, keep, metric: null, texts: null, definite: true };
    const { ratios, integers } = exactTable(metric, "metric");
    if (integers.length !== dimension || integers[0].length !== dimension)
        throw new Error(`metric must be ${dimension} by ${dimension}, as the tokens have ${dimension} coordinates.`);
    const texts = ratios.map((row) => row.map(({ p, q }) => exactText(p, q)));
    const symmetric = integers.every((row, i) => row.every((value, j) => value === integers[j][i]));
    return { alpha: step, keep, metric: integers, texts, definite: symmetric && exactEliminated(integers) !== null };
}

/** Rows after elimination without fractions (Bareiss, Gauss-Jordan), in which the k-th pivot is the k-th leading minor;
 * null if one of them is not positive. @param {bigint[][]} rows */
function exactEliminated(rows) {
    let before = 1n;
    for (let k = 0; k < rows.length; k++) {
        const lead = rows[k];
        if (lead[k] <= 0n) return null;
        const reduced = rows.map((row) => row.map((value, j) => (lead[k] * value - row[k] * lead[j]) / before));
        rows = reduced.map((row, i) => (i === k ? lead : row));
        before = lead[k];
    }
    return rows;
}

/** @param {bigint[]} x @param {bigint[]} y */
function exactDot(x, y) {
    let sum = 0n;
    for (let c = 0; c < x.length; c++) sum += x[c] * y[c];
    return sum;
}

/** A z, up to a positive factor. @param {bigint[]} row @param {ExactDynamics} dynamics */
const exactAlong = (row, { metric }) => (metric ? metric.map((line) => exactDot(line, row)) : row);

class ExactTimeout extends Error {}

/** To be called often: throws once the time is up. @param {number} [budget] milliseconds */
function exactClock(budget = 10_000) {
    const end = performance.now() + budget;
    return () => {
        if (performance.now() > end) throw new ExactTimeout(`the time of ${budget.toLocaleString("en")} ms is up`);
    };
}

/** The leading bits of values: value / 2^s, rounded down to |integers| <= 2^53. @param {bigint[]} values */
function exactLeading(values) {
    let largest = 0n;
    for (const value of values) if (value > largest || -value > largest) largest = value < 0n ? -value : value;
    const shift = BigInt(Math.max(0, exactBits(largest) - 53));
    return values.map((value) => Number(value >> shift));
}

/** For each direction the points furthest along it. Floats find the candidates, integers decide among them.
 *
 * With g = D - h and f = z - e for the leading bits of direction and point, 0 <= h, e < 1 and |g|, |f| <= 2^53, a
 * coordinate adds at most |g e + h f + h e| < 2^54 + 1 to the error of a score, rounding its product 2^53, and each sum
 * d 2^53: less than (d^2 + 4 d) 2^53 in all. So the furthest points are within twice that of the largest float.
 * @param {bigint[][]} directions @param {bigint[][]} points @param {() => void} tick */
function exactFurthest(directions, points, tick) {
    const [n, d] = [points.length, points[0].length];
    const table = Float64Array.from(exactLeading(points.flat()));
    const slack = 2 * (d * d + 4 * d) * 2 ** 53;
    const floats = new Float64Array(n);
    return directions.map((direction) => {
        tick();
        const way = exactLeading(direction);
        let highest = -Infinity;
        for (let j = 0; j < n; j++) {
            floats[j] = 0;
            for (let c = 0; c < d; c++) floats[j] += way[c] * table[j * d + c];
            if (floats[j] > highest) highest = floats[j];
        }
        /** @type {[number[], bigint]} */
        let [furthest, best] = [[], 0n];
        for (let j = 0; j < n; j++) {
            if (floats[j] < highest - slack) continue;
            const score = exactDot(direction, points[j]);
            if (!furthest.length || score > best) [furthest, best] = [[j], score];
            else if (score === best) furthest.push(j);
        }
        return furthest;
    });
}

/** The phases from layer 0 on. Ends after one that lasts for ever, or that lasts beyond the layer `last`.
 * @param {ExactCloud} cloud @param {ExactDynamics} dynamics @param {number} last @param {() => void} tick
 * @returns {Generator<ExactPhase>} */
export function* exactPhases(cloud, dynamics, last, tick) {
    const { p, q } = dynamics.keep;
    const counts = cloud.multiplicities.map(BigInt);
    let [rows, denominator, layer] = [cloud.numerators, cloud.denominator, 0];
    /** @type {number[][]} */
    let sets = [];
    let pending = rows.map((_, i) => i);
    while (true) {
        sets = [...sets];
        const found = exactFurthest(pending.map((i) => exactAlong(rows[i], dynamics)), rows, tick);
        pending.forEach((i, k) => (sets[i] = found[k]));
        const phase = { layer, sets, ...exactMeans(rows, denominator, sets, counts, tick) };
        const lasting = exactLasting(phase, counts, dynamics, last - layer, tick);
        // With a metric that is not positive definite distinct points can meet; those that have met are one.
        const leads = sets.map((several, i) => several.every((j) => rows[j].every((x, c) => x === rows[i][c])));
        const until = lasting === null ? null : layer + lasting;
        yield { ...phase, until, leads };
        if (until === null || until > last) return;
        // Who attends to one point that attends to itself alone does so for ever, for any metric.
        pending = pending.filter((i) => sets[i].length > 1 || `${sets[sets[i][0]]}` !== `${sets[i]}`);
        const [far, all] = [p ** BigInt(until - layer), q ** BigInt(until - layer)];
        rows = phase.rows.map((z, i) => (tick(), z.map((x, c) => far * x + (all - far) * phase.targets[i][c])));
        denominator = phase.denominator * all;
        let common = denominator;
        for (const x of rows.flat()) if (common !== 1n) common = bigGcd(x, common);
        if (common !== 1n) rows = rows.map((row) => row.map((x) => x / common));
        [denominator, layer] = [denominator / common, until];
    }
}

/** Where points are at a layer of a phase, or, at Infinity, in the limit: rounded once.
 * @param {ExactPhase} phase @param {ExactDynamics} dynamics @param {number} layer */
export function exactAt({ rows, targets, denominator, ...phase }, { keep: { p, q } }, layer) {
    const passed = BigInt(layer === Infinity ? 0 : layer - phase.layer);
    const [far, all] = [layer === Infinity ? 0n : p ** passed, q ** passed];
    return rows.map((z, i) => z.map((x, c) => exactFloat(far * x + (all - far) * targets[i][c], all * denominator)));
}

/** The points and the means of their attended sets, all over one denominator. @param {bigint[][]} rows
 * @param {bigint} denominator @param {number[][]} sets @param {bigint[]} counts @param {() => void} tick */
function exactMeans(rows, denominator, sets, counts, tick) {
    const sizes = sets.map((several) => (several.length > 1 ? several.reduce((sum, j) => sum + counts[j], 0n) : 1n));
    const factor = sizes.reduce(bigMultiple);
    const targets = sets.map((several, i) => {
        if (several.length === 1) return rows[several[0]].map((x) => x * factor);
        tick();
        return bigSum(several.map((j) => counts[j] * (factor / sizes[i])), several.map((j) => rows[j]));
    });
    return { rows: rows.map((row) => row.map((x) => x * factor)), targets, denominator: denominator * factor };
}

/** How many layers the closed form holds before attended sets may differ: at least 1, any number above `most` if they
 * are more than that, null if it holds for ever. @param {{rows: bigint[][], targets: bigint[][], sets: number[][]}} phase
 * @param {bigint[]} counts @param {ExactDynamics} dynamics @param {number} most @param {() => void} tick */
function exactLasting({ rows, targets, sets }, counts, dynamics, most, tick) {
    const ways = rows.map((z, i) => z.map((x, c) => x - targets[i][c]));
    const moving = ways.map((way) => way.some(Boolean));
    // The means stand still if the ways of those that they average cancel.
    for (const several of sets) {
        const on = several.filter((j) => moving[j]);
        if (on.length && bigSum(on.map((j) => counts[j]), on.map((j) => ways[j])).some(Boolean)) return 1;
    }
    // Only a moving point with a tie can change its set, and only if along its target others lie further out.
    const ties = sets.flatMap((several, i) => (several.length > 1 && moving[i] ? [i] : []));
    const furthest = exactFurthest(ties.map((i) => exactAlong(targets[i], dynamics)), rows, tick);
    /** @type {number | null} */
    let soonest = null;
    for (const [k, i] of ties.entries()) {
        const [far, tied] = [new Set(furthest[k]), new Set(sets[i])];
        if (sets[i].every((j) => far.has(j))) continue;
        const [ahead, aside] = [exactAlong(targets[i], dynamics), exactAlong(ways[i], dynamics)];
        // The score of j on the way is a quadratic in t = g^m.
        const curves = rows.map((_, j) => {
            const [w, u] = [targets[j], ways[j]];
            return [exactDot(ahead, w), exactDot(aside, w) + exactDot(ahead, u), exactDot(aside, u)];
        });
        for (const [j, curve] of curves.entries()) {
            tick();
            const lead = curve.map((value, power) => value - curves[sets[i][0]][power]);
            let event = tied.has(j) && lead.some(Boolean) ? 1 : null;
            if (!tied.has(j)) event = exactNegative(lead, dynamics.keep, Math.min(most, soonest ?? most));
            if (event !== null && (soonest === null || event < soonest)) soonest = event;
        }
    }
    return soonest;
}

/** For how many layers m = 0, 1, … the value a0 + a1 t + a2 t^2 at t = keep^m is sure to be negative, as at t = 1; null
 * if it is for all t in (0, 1]; `most` + 1 if for more than `most`. If no layer hits where it is positive, the answer is
 * the first layer past that place: from there on it is negative for ever.
 * @param {bigint[]} curve @param {Ratio} keep @param {number} most */
function exactNegative(curve, keep, most) {
    const [a0, a1, a2] = curve;
    // Negative at 1, positive near 0: it changes sign once, and stays.
    if (a0 > 0n || (a0 === 0n && a1 > 0n)) return exactReached(curve, keep, most);
    if (a0 === 0n || a2 >= 0n || a1 <= 0n || a1 >= -2n * a2 || a1 * a1 < 4n * a0 * a2) return null;
    // Negative at both ends, with a hump at t = -a1 / (2 a2): up to there the values grow with m, then they fall.
    const past = exactReached([a1, 2n * a2, 0n], keep, most);
    return past > 1 ? Math.min(past, exactReached(curve, keep, past - 1)) : past;
}

/** The first layer m >= 1 at which a curve that stays so is not negative; `most` + 1 if there is none up to `most`.
 * @param {bigint[]} curve @param {Ratio} keep @param {number} most */
function exactReached([a0, a1, a2], { p, q }, most) {
    let [before, step] = [0, 1];
    for (let doubling = true; step; ) {
        const m = before + step;
        const [x, y] = m <= most ? [p ** BigInt(m), q ** BigInt(m)] : [0n, 1n];
        if (m > most || a0 * y * y + a1 * x * y + a2 * x * x >= 0n) doubling = false;
        else before = m;
        step = doubling ? 2 * step : Math.floor(step / 2);
    }
    return before + 1;
}

/** The infinite-depth limit. Where there is none, `settledAt` and `limits` are null and `reason` says why.
 * @param {Numeric[][]} tokens @param {ExactOptions} options @returns {ExactLimit} */
export function exactLimit(tokens, options) {
    const points = exactCloud(tokens, options.multiplicities);
    const dynamics = exactDynamics(options, points.numerators[0].length);
    const most = options.maxLayers ?? (dynamics.definite ? 10_000 : 500);
    const { q } = dynamics.keep;
    const last = Math.min(most, Math.floor(EXACT_DIGITS / Math.min(Math.log10(Number(q)), `${q}`.length)));
    const tick = exactClock(options.budget);
    /** @type {ExactLimit} */
    const found = { settledAt: null, attended: [], leaders: [], points, limits: null, ofToken: points.ofToken, reason: "" };
    const gaveUp = (/** @type {number} */ at, /** @type {string} */ why) => `gave up at layer ${at.toLocaleString("en")}: ${why}`;
    const since = new Map();
    let reached = 0;
    try {
        for (const phase of exactPhases(points, dynamics, last, tick)) {
            reached = phase.layer;
            const before = found.attended.at(-1)?.sets;
            if (!before || phase.sets.some((several, i) => several !== before[i] && `${several}` !== `${before[i]}`))
                found.attended.push({ from: reached, sets: phase.sets });
            for (const [i, leads] of phase.leads.entries()) if (leads && !since.has(i)) since.set(i, reached);
            found.leaders = [...since].sort(([i], [j]) => i - j);
            if (phase.until !== null) continue;
            found.limits = exactEnds(phase, found.leaders.map(([point]) => point), dynamics, tick);
            found.settledAt = reached;
            return found;
        }
        const why = last === most ? "not settled yet" : "exact positions would have more than 100,000 digits";
        return { ...found, reason: gaveUp(last, why) };
    } catch (error) {
        if (!(error instanceof ExactTimeout)) throw error;
        return { ...found, reason: gaveUp(reached, error.message) };
    }
}

/** Where the points of a settled phase end, and what kinds of limits these are. @param {ExactPhase} phase
 * @param {number[]} leaders @param {ExactDynamics} dynamics @param {() => void} tick */
function exactEnds({ rows, targets, denominator }, leaders, dynamics, tick) {
    /** @type {(row: bigint[]) => ExactEnd} */
    const ending = (row) => ({
        kind: "point",
        point: row.map((x) => exactText(x, denominator)),
        floats: row.map((x) => exactFloat(x, denominator)),
    });
    /** By place; of leaders that have met the first counts. @type {Map<string, ExactEnd>} */
    const ends = new Map();
    const leading = leaders.filter((vertex) => {
        const key = `${rows[vertex]}`;
        return !ends.has(key) && ends.set(key, { ...ending(rows[vertex]), kind: "vertex", vertex });
    });
    const corners = leading.map((i) => rows[i]);
    return targets.map((target) => {
        let end = ends.get(`${target}`);
        if (end) return end;
        end = ending(target);
        if (corners.length && dynamics.definite) {
            // The only face that the limit can lie on is that of the leaders furthest along A w.
            const [face] = exactFurthest([exactAlong(target, dynamics)], corners, tick);
            const places = face.map((v) => corners[v]);
            const { shares, whole } = exactNearest(places, dynamics, tick);
            if (bigSum(shares, places).every((x, c) => x === whole * target[c])) {
                const weights = shares.map((share) => exactText(share, whole));
                end = { ...end, kind: "face", face: face.map((v) => leading[v]), weights };
            }
        }
        ends.set(`${target}`, end);
        return end;
    });
}

/** The weights, shares / whole, of the point of a convex hull nearest to the origin in the metric's norm, by Wolfe's
 * algorithm. Ties are broken as in Python, so that weights are the same where they are not unique.
 * @param {bigint[][]} corners @param {ExactDynamics} dynamics @param {() => void} tick */
function exactNearest(corners, dynamics, tick) {
    const directions = corners.map((corner) => exactAlong(corner, dynamics));
    /** @param {bigint[]} values */
    const least = (values) => values.reduce((at, value, j) => (value < values[at] ? j : at), 0);
    let used = [least(corners.map((corner, j) => exactDot(directions[j], corner)))];
    let [shares, whole] = [[1n], 1n]; // of those in use
    while (true) {
        tick();
        const way = bigSum(shares, used.map((j) => directions[j]));
        const scores = corners.map((corner) => exactDot(way, corner));
        const newcomer = least(scores);
        const all = corners.map((_, j) => shares[used.indexOf(j)] ?? 0n);
        if (scores[newcomer] >= scores[used[0]]) return { shares: all, whole };
        [used, shares] = [[...used, newcomer], [...shares, 0n]];
        for (let falling = [{ p: 0n, q: 1n }]; falling.length; ) {
            // The weights of the nearest point of the affine hull are goals / total, multiples of u with
            // (G + 1 1^T) u = 1, G the Gram matrix. On to it, or to where the first weight is 0.
            const gram = used.map((i) => [...used.map((j) => exactDot(directions[i], corners[j]) + 1n), 1n]);
            const goals = (exactEliminated(gram) ?? []).map((row) => row[row.length - 1]);
            const total = goals.reduce((sum, goal) => sum + goal);
            const [here, there] = [shares.map((share) => share * total), goals.map((goal) => goal * whole)];
            falling = here.flatMap((x, k) => (there[k] > 0n ? [] : [{ p: x, q: x - there[k] }]));
            let part = { p: 1n, q: 1n };
            for (const each of falling) if (each.p * part.q < part.p * each.q) part = each;
            const moved = here.map((x, k) => x * part.q + part.p * (there[k] - x));
            const common = moved.reduce((found, x) => bigGcd(x, found), whole * total * part.q);
            whole = (whole * total * part.q) / common;
            used = used.filter((_, k) => moved[k]);
            shares = moved.filter(Boolean).map((x) => x / common);
        }
    }
}

/** Layers 0 to `layers`: tokens rounded once, and for each token those that it attends to, as `hm.attended` gives them.
 * @param {Numeric[][]} tokens @param {ExactOptions} options @param {number} layers */
export function exactLayers(tokens, options, layers) {
    const cloud = exactCloud(tokens, options.multiplicities);
    const dynamics = exactDynamics(options, cloud.numerators[0].length);
    const tick = exactClock(options.budget);
    const { ofToken } = cloud;
    /** @type {{positions: number[][][], sets: number[][][]}} */
    const found = { positions: [], sets: [] };
    for (const phase of exactPhases(cloud, dynamics, layers, tick)) {
        const attended = phase.sets.map((several) => {
            return ofToken.flatMap((point, token) => (several.includes(point) ? [token] : []));
        });
        for (let layer = phase.layer; layer <= layers && layer !== phase.until; layer++) {
            tick();
            const places = exactAt(phase, dynamics, layer);
            found.positions.push(ofToken.map((point) => places[point]));
            found.sets.push(ofToken.map((point) => attended[point]));
        }
    }
    return found;
}

/** What Python's `lim.certificate` is: plain data, for `certificateText`, JSON.stringify or a checker.
 * @param {ExactLimit} limit @param {ExactOptions} options those of the limit @returns {Record<string, any>} */
export function makeCertificate(limit, options) {
    if (!limit.limits) throw new Error(`there is no proof to write down (${limit.reason}).`);
    const { alpha, texts } = exactDynamics(options, limit.points.numerators[0].length);
    const document = {
        format: "hardmax-limit-certificate",
        version: 1,
        alpha: exactText(alpha.p, alpha.q),
        metric: texts,
        denominator: `${limit.points.denominator}`,
        points: limit.points.numerators.map((row) => row.map(String)),
        multiplicities: limit.points.multiplicities,
        attended: limit.attended,
        settled_at: limit.settledAt,
        leaders: limit.leaders,
        limits: limit.limits.map(({ kind, vertex, face, weights, point }) =>
            kind === "vertex" ? { vertex } : kind === "face" ? { face, weights, point } : { point },
        ),
    };
    const canonical = pythonJson(document, true);
    if ((canonical.match(/[0-9]+/g) ?? []).some((digits) => digits.length > EXACT_TEXT))
        throw new Error("the numbers of this certificate are too long to be written down: over 4,300 digits.");
    return { ...document, sha256: sha256(canonical) };
}

/** The file that Python's `certificate.save` writes. @param {Record<string, any>} certificate */
export function certificateText(certificate) {
    const lines = Object.entries(certificate).map(([key, value]) => `"${key}": ${pythonJson(value)}`);
    return `{\n${lines.join(",\n")}\n}\n`;
}
