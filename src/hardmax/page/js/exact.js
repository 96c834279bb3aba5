/** The dynamics in BigInt fractions: layers, infinite-depth limits and their certificates, as
 * `hm.limit(tokens, dynamics, arithmetic="exact")` gives them.
 *
 * Points are integers over one common denominator, so scores of one row are compared as integers. Once the attended
 * sets stay as they are and their means w stand still, every point goes straight to its target, which is its limit:
 * z_i(k + m) = w_i + g^m (z_i(k) - w_i) with g = 1 / (1 + alpha). docs/limits.md has the proofs.
 *
 * @typedef {{p: bigint, q: bigint}} Ratio  p / q in lowest terms, q > 0
 * @typedef {string | number} Numeric  a number stands for the binary fraction it is, a text for what it says
 * @typedef {{numerators: bigint[][], denominator: bigint, multiplicities: number[], ofToken: number[]}} ExactCloud
 *     the distinct points, in the order in which they first appear, and the point of each token
 * @typedef {{alpha: Numeric, metric?: Numeric[][] | null, maxLayers?: number, multiplicities?: number[],
 *     budget?: number}} ExactOptions  alpha as a number stands for the decimal it prints as; `maxLayers` is 10,000, or
 *     500 if the metric is not symmetric positive definite; `budget` is in milliseconds, 10,000 by default
 * @typedef {{alpha: Ratio, keep: Ratio, metric: bigint[][] | null, texts: string[][] | null, definite: boolean,
 *     scale: bigint, tick: () => void}} ExactDynamics  the metric times its common denominator, which is `scale`; `tick`
 *     throws once the time is up
 * @typedef {{layer: number, lasts: boolean, sets: number[][], leads: boolean[], rows: bigint[][],
 *     targets: bigint[][], denominator: bigint}} ExactStep  a layer, and whether its sets are those of all later ones
 * @typedef {{kind: "vertex" | "face" | "point", vertex?: number, face?: number[], weights?: string[], point: string[],
 *     floats: number[]}} ExactEnd  the limit of a point; `vertex` and `face` are points that lead
 * @typedef {{settledAt: number | null, attended: {from: number, sets: number[][]}[], leaders: [number, number][],
 *     points: ExactCloud, limits: ExactEnd[] | null, ofToken: number[], reason: string, moves?: boolean}} ExactLimit
 *     sets, leaders (with the layer since which they lead) and limits are of points, not of tokens */
import { bigEliminated, bigGcd, bigMultiple, bigSum, canonicalJson, sha256 } from "./integers.js";

const EXACT_DIGITS = 100_000; // of an exact coordinate: longer numbers take too long to work with
const EXACT_TEXT = 4_300; // digits of a number in a text or a certificate, as in Python

function exactRatio(/** @type {bigint} */ p, /** @type {bigint} */ q) {
    const common = bigGcd(p, q);
    return { p: p / common, q: q / common };
}

/** p / q as Python writes a Fraction. @param {bigint} p @param {bigint} q positive */
export function exactText(p, q) {
    const { p: over, q: under } = exactRatio(p, q);
    return under === 1n ? `${over}` : `${over}/${under}`;
}

const exactBits = (/** @type {bigint} */ x) => x.toString(2).length;

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
export function exactTable(table, name) {
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
 * @param {Numeric[][]} tokens @param {number[]} [multiplicities] of the tokens @param {boolean} [merged] if not, each
 * token is a point of its own @returns {ExactCloud} */
export function exactCloud(tokens, multiplicities = tokens.map(() => 1), merged = true) {
    const { integers, common } = exactTable(tokens, "tokens");
    const counts = multiplicities.filter((count) => Number.isSafeInteger(count) && count > 0).length;
    if (counts !== tokens.length || multiplicities.length !== counts)
        throw new Error("multiplicities must be positive whole numbers, one for each token.");
    if (!merged) return { numerators: integers, denominator: common, multiplicities, ofToken: integers.map((_, i) => i) };
    const points = [...new Map(integers.map((row) => [row.join(), row]))];
    const places = new Map(points.map(([key], point) => [key, point]));
    const ofToken = integers.map((row) => /** @type {number} */ (places.get(row.join())));
    const weights = points.map(() => 0);
    ofToken.forEach((point, token) => (weights[point] += multiplicities[token]));
    return { numerators: points.map(([, row]) => row), denominator: common, multiplicities: weights, ofToken };
}

export class ExactTimeout extends Error {}

/** @param {ExactOptions} options @param {number} dimension @returns {ExactDynamics} */
export function exactDynamics({ alpha, metric = null, budget = 10_000 }, dimension) {
    const step = readNumber(typeof alpha === "number" ? String(alpha) : alpha, "alpha");
    if (step.p <= 0n) throw new Error(`alpha must be positive, not ${alpha}. Try 0.5 or "1/2".`);
    const end = performance.now() + budget;
    const tick = () => {
        if (performance.now() > end) throw new ExactTimeout(`the time of ${budget.toLocaleString("en")} ms is up`);
    };
    const keep = { p: step.q, q: step.p + step.q };
    if (!metric) return { alpha: step, keep, metric: null, texts: null, definite: true, scale: 1n, tick };
    const { ratios, integers, common: scale } = exactTable(metric, "metric");
    if (integers.length !== dimension || integers[0].length !== dimension)
        throw new Error(`metric must be ${dimension} by ${dimension}, as the tokens have ${dimension} coordinates.`);
    const texts = ratios.map((row) => row.map(({ p, q }) => exactText(p, q)));
    const symmetric = integers.every((row, i) => row.every((value, j) => value === integers[j][i]));
    const definite = symmetric && bigEliminated(integers) !== null;
    return { alpha: step, keep, metric: integers, texts, definite, scale, tick };
}

export function exactDot(/** @type {bigint[]} */ x, /** @type {bigint[]} */ y) {
    let sum = 0n;
    for (let c = 0; c < x.length; c++) sum += x[c] * y[c];
    return sum;
}

/** A z, up to a positive factor. @param {bigint[]} row @param {ExactDynamics} dynamics */
export const exactAlong = (row, { metric }) => (metric ? metric.map((line) => exactDot(line, row)) : row);

/** The leading bits of values: value / 2^s, rounded down to |integers| <= `most` <= 2^53; `cut` is 0 if these are all
 * bits, else 1. @param {bigint[]} values */
function exactLeading(values) {
    let largest = 0n;
    for (const value of values) if (value > largest || -value > largest) largest = value < 0n ? -value : value;
    const shift = BigInt(Math.max(0, exactBits(largest) - 53));
    const leading = Float64Array.from(values, (value) => Number(value >> shift));
    return { leading, most: Number(largest >> shift) + 1, cut: shift ? 1 : 0 };
}

/** For each direction the points furthest along it, or more of them. Floats find candidates, integers decide.
 *
 * With g = D - h and f = z - e for the leading bits of direction and point, 0 <= h, e < 1 (0 if none are cut), a
 * coordinate adds at most |g e + h f + h e| to the error of a score, rounding its product |g f| 2^-53, and each sum d
 * times that. So whoever scores as high as the k-th best is within twice the error of the k-th largest float. @param {bigint[][]} directions @param {bigint[][]} points @param {ExactDynamics} dynamics
 * @param {{counts?: number[], wanted?: number, slack?: Ratio | null, causal?: boolean}} [who] the `wanted` furthest,
 *     counted with multiplicity; or all whose scores are within a slack; of a cause only those up to itself */
export function exactFurthest(directions, points, { tick }, { counts = [], wanted = 1, slack = null, causal } = {}) {
    const d = points[0].length;
    const { leading: table, most: far, cut } = exactLeading(points.flat());
    return directions.map((direction, i) => {
        tick();
        const { leading: way, most: long, cut: bent } = exactLeading(direction);
        const error = 2 * (d * (long * cut + far * bent + 1) + (d * d + 2 * d) * long * far * 2 ** -53);
        const floats = new Float64Array(causal ? i + 1 : points.length);
        for (let j = 0; j < floats.length; j++) {
            for (let c = 0; c < d; c++) floats[j] += way[c] * table[j * d + c];
        }
        const least = slack ? -Infinity : exactLevel(floats, counts, wanted) - error;
        const near = /** @type {number[]} */ ([]);
        for (let j = 0; j < floats.length; j++) if (floats[j] >= least) near.push(j);
        if (near.length === 1) return near;
        const scores = near.map((j) => exactDot(direction, points[j]) * (slack?.q ?? 1n));
        const level = exactLevel(scores, near.map((j) => counts[j]), wanted) - (slack?.p ?? 0n);
        return near.filter((_, k) => scores[k] >= level);
    });
}

/** The score of the last of the first `wanted` points, in order of their scores.
 * @template {number | bigint} Score @param {ArrayLike<Score>} scores @param {number[]} counts @param {number} wanted */
export function exactLevel(scores, counts, wanted) {
    let best = scores[0];
    for (let j = 1; j < scores.length; j++) if (scores[j] > best) best = scores[j];
    if (wanted === 1) return best;
    const order = Array.from(scores, (_, j) => j).sort((i, j) => (scores[i] < scores[j] ? 1 : -1));
    return scores[order.find((j) => (wanted -= counts[j]) <= 0) ?? order[order.length - 1]];
}

/** The layers from 0 on, up to the first whose attended sets last for ever.
 * @param {ExactCloud} cloud @param {ExactDynamics} dynamics @returns {Generator<ExactStep>} */
export function* exactWalk(cloud, dynamics) {
    const counts = cloud.multiplicities.map(BigInt);
    let [rows, denominator] = [cloud.numerators, cloud.denominator];
    let sets = /** @type {number[][]} */ ([]);
    let pending = rows.map((_, i) => i);
    for (let [layer, lasts] = [0, false]; !lasts; layer++) {
        sets = [...sets];
        const found = exactFurthest(pending.map((i) => exactAlong(rows[i], dynamics)), rows, dynamics);
        pending.forEach((i, k) => (sets[i] = found[k]));
        // With a metric that is not positive definite distinct points can meet; those that have met are one.
        const leads = sets.map((several, i) => several.every((j) => rows[j].every((x, c) => x === rows[i][c])));
        const step = { layer, sets, leads, ...exactMeans(rows, denominator, sets, counts) };
        lasts = exactLasts(step, counts, dynamics);
        yield { ...step, lasts };
        // Who attends to one point that attends to itself alone does so for ever, for any metric.
        pending = pending.filter((i) => sets[i].length > 1 || `${sets[sets[i][0]]}` !== `${sets[i]}`);
        ({ rows, denominator } = exactMoved(step, dynamics));
    }
}

/** The points one layer later. @param {{rows: bigint[][], targets: bigint[][], denominator: bigint}} step
 * @param {ExactDynamics} dynamics */
function exactMoved({ rows, targets, denominator }, { keep: { p, q }, tick }) {
    const moved = rows.map((z, i) => (tick(), z.map((x, c) => p * x + (q - p) * targets[i][c])));
    return { rows: moved, denominator: denominator * q };
}

/** Where the points are, layer by layer. @param {ExactLimit} limit @param {ExactDynamics} dynamics
 * @returns {Generator<{rows: bigint[][], denominator: bigint}>} */
export function* exactPositions({ points, attended }, dynamics) {
    const counts = points.multiplicities.map(BigInt);
    let now = { rows: points.numerators, denominator: points.denominator };
    for (let [layer, phase] = [0, 0]; ; layer++) {
        yield now;
        if (attended[phase + 1]?.from <= layer) phase++;
        now = exactMoved(exactMeans(now.rows, now.denominator, attended[phase].sets, counts), dynamics);
    }
}

/** The points and the means of their attended sets, all over one denominator.
 * @param {bigint[][]} rows @param {bigint} denominator @param {number[][]} sets @param {bigint[]} counts */
export function exactMeans(rows, denominator, sets, counts) {
    const sizes = sets.map((several) => (several.length > 1 ? several.reduce((sum, j) => sum + counts[j], 0n) : 1n));
    const factor = sizes.reduce(bigMultiple);
    const targets = sets.map((several, i) => (several.length === 1 ? rows[several[0]].map((x) => x * factor)
        : bigSum(several.map((j) => counts[j] * (factor / sizes[i])), several.map((j) => rows[j]))));
    return { rows: rows.map((row) => row.map((x) => x * factor)), targets, denominator: denominator * factor };
}

/** Whether the attended sets stay as they are for ever.
 * @param {Omit<ExactStep, "lasts">} step @param {bigint[]} counts @param {ExactDynamics} dynamics */
function exactLasts({ rows, targets, sets }, counts, dynamics) {
    const { p, q } = dynamics.keep;
    const ways = rows.map((z, i) => z.map((x, c) => x - targets[i][c]));
    const moving = ways.map((way) => way.some(Boolean));
    // The means stand still if the ways of those that they average cancel.
    const still = sets.every((several) => {
        const on = several.filter((j) => moving[j]);
        return !on.length || !bigSum(on.map((j) => counts[j]), on.map((j) => ways[j])).some(Boolean);
    });
    if (!still) return false;
    // Only a moving point with a tie can change its set, and only if along its target others lie further out.
    const ties = sets.flatMap((several, i) => (several.length > 1 && moving[i] ? [i] : []));
    const furthest = exactFurthest(ties.map((i) => exactAlong(targets[i], dynamics)), rows, dynamics);
    return ties.every((i, k) => {
        const [far, tied] = [new Set(furthest[k]), new Set(sets[i])];
        if (sets[i].every((j) => far.has(j))) return true;
        const [ahead, aside] = [exactAlong(targets[i], dynamics), exactAlong(ways[i], dynamics)];
        // The score of j on the way, at w + t (z - w), is a quadratic in t: it must stay behind, as it is at t = 1.
        const curves = rows.map((_, j) => {
            const [w, u] = [targets[j], ways[j]];
            return [exactDot(ahead, w), exactDot(aside, w) + exactDot(ahead, u), exactDot(aside, u)];
        });
        return curves.every((curve, j) => {
            dynamics.tick();
            const [a0, a1, a2] = curve.map((value, power) => value - curves[sets[i][0]][power]);
            if (tied.has(j)) return !a0 && !a1 && !a2;
            if (a0 > 0n || (a0 === 0n && a1 > 0n)) return false;
            if (a0 === 0n || a2 >= 0n || a1 <= 0n || a1 >= -2n * a2 || a1 * a1 < 4n * a0 * a2) return true;
            // Negative at both ends, with a hump at t = -a1 / (2 a2), which counts if a layer hits it: t = p^m / q^m.
            for (let [x, y] = [p, q]; ; [x, y] = [x * p, y * q]) {
                dynamics.tick();
                if (a0 * y * y + a1 * x * y + a2 * x * x >= 0n) return false;
                if (a1 * y + 2n * a2 * x >= 0n) return true;
            }
        });
    });
}

/** The infinite-depth limit. Where there is none, `settledAt` and `limits` are null and `reason` says why.
 * @param {Numeric[][]} tokens @param {ExactOptions} options @returns {ExactLimit} */
export function exactLimit(tokens, options) {
    const points = exactCloud(tokens, options.multiplicities);
    const dynamics = exactDynamics(options, points.numerators[0].length);
    const most = options.maxLayers ?? (dynamics.definite ? 10_000 : 500);
    const [{ ofToken }, { q }] = [points, dynamics.keep];
    const last = Math.min(most, Math.floor(EXACT_DIGITS / Math.min(Math.log10(Number(q)), `${q}`.length)));
    /** @type {ExactLimit} */
    const found = { points, ofToken, settledAt: null, attended: [], leaders: [], limits: null, reason: "" };
    const gaveUp = (/** @type {string} */ why, at = last) => `gave up at layer ${at.toLocaleString("en")}: ${why}`;
    const since = new Map();
    let reached = 0;
    try {
        for (const step of exactWalk(points, dynamics)) {
            reached = step.layer;
            const before = found.attended.at(-1)?.sets;
            if (!before || step.sets.some((several, i) => several !== before[i] && `${several}` !== `${before[i]}`))
                found.attended.push({ from: reached, sets: step.sets });
            for (const [i, leads] of step.leads.entries()) if (leads && !since.has(i)) since.set(i, reached);
            found.leaders = [...since].sort(([i], [j]) => i - j);
            if (step.lasts) {
                found.limits = exactEnds(step, found.leaders.map(([point]) => point), dynamics);
                const moves = step.rows.some((row, i) => `${row}` !== `${step.targets[i]}`);
                return { ...found, settledAt: reached, moves };
            }
            if (reached === last) break;
        }
        const why = last === most ? "not settled yet" : "exact positions would have more than 100,000 digits";
        return { ...found, reason: gaveUp(why) };
    } catch (error) {
        if (!(error instanceof ExactTimeout)) throw error;
        return { ...found, reason: gaveUp(error.message, reached) };
    }
}

/** Where the points of the last step end, and what kinds of limits these are.
 * @param {ExactStep} step @param {number[]} leaders @param {ExactDynamics} dynamics */
function exactEnds({ rows, targets, denominator }, leaders, dynamics) {
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
            const [face] = exactFurthest([exactAlong(target, dynamics)], corners, dynamics);
            const places = face.map((v) => corners[v]);
            const { shares, whole } = exactNearest(places, dynamics);
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
 * @param {bigint[][]} corners @param {ExactDynamics} dynamics */
function exactNearest(corners, dynamics) {
    const directions = corners.map((corner) => exactAlong(corner, dynamics));
    const least = (/** @type {bigint[]} */ values) => values.reduce((at, value, j) => (value < values[at] ? j : at), 0);
    let used = [least(corners.map((corner, j) => exactDot(directions[j], corner)))];
    let [shares, whole] = [[1n], 1n]; // of those in use
    while (true) {
        dynamics.tick();
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
            const goals = (bigEliminated(gram) ?? []).map((row) => row[row.length - 1]);
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

/** What Python's `lim.certificate` is: plain data, for JSON.stringify or a checker.
 * @param {ExactLimit} limit @param {ExactOptions} options those of the limit @returns {Record<string, any>} */
export function makeCertificate(limit, options) {
    if (!limit.limits) throw new Error(`there is no proof to write down (${limit.reason}).`);
    const { alpha, texts } = exactDynamics(options, limit.points.numerators[0].length);
    const { denominator, numerators, multiplicities } = limit.points;
    const kinds = new Map([...new Set(limit.limits)].map((end, k) => [end, k])); // equal limits are one object
    const single = (/** @type {number[]} */ set) => (set.length > 1 ? set : set[0]);
    const attended = limit.attended.map(({ from, sets }, k) => {
        if (!k) return { from, head: 0, to: sets.map(single) };
        const before = limit.attended[k - 1].sets;
        const points = [...sets.keys()].filter((i) => `${sets[i]}` !== `${before[i]}`);
        return { from, head: 0, points, to: points.map((i) => single(sets[i])) };
    });
    const document = {
        format: "hardmax-limit-certificate", version: 2,
        layer: {
            alpha: [exactText(alpha.p, alpha.q)], metric: texts,
            value: null, inverse: null, mask: null, attention: null, heads: null,
        },
        cloud: {
            denominator: `${denominator}`, points: numerators.map((row) => row.map(String)),
            multiplicities: multiplicities.some((count) => count > 1) ? multiplicities : null,
        },
        attended, jumps: [[limit.settledAt, null, limit.moves ? 1 : 0]],
        settled_at: attended[attended.length - 1].from, leaders: limit.leaders,
        limits: [...kinds.keys()].map(({ kind, vertex, face, weights, point }) =>
            kind === "vertex" ? { vertex } : kind === "face" ? { face, weights, point } : { point }),
        limit_of: limit.limits.map((end) => kinds.get(end)),
    };
    const canonical = canonicalJson(document);
    if ((canonical.match(/[0-9]+/g) ?? []).some((digits) => digits.length > EXACT_TEXT))
        throw new Error("the numbers of this certificate are too long to be written down: over 4,300 digits.");
    return { ...document, sha256: sha256(canonical) };
}
