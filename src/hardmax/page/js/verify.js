/** Check a certificate of an infinite-depth limit: exactly, alone, and in bounded time. With the module that makes
 * certificates it shares integers and SHA-256, and no step of a proof: an error there does not hide here.
 *
 * Points z_i with multiplicities m_i go from layer to layer by self-attention: z_i ↦ w_i + R (z_i - w_i), where w_i is
 * the mean of the points that i attends to, counted with multiplicity. docs/certificate.md says what a layer and a
 * certificate are, numbers the statements, and proves what is asked here.
 *
 * @typedef {{accepted: boolean, decided: boolean, reason: string, proved: string[]}} Verdict  the reason names the first
 *     false statement; `decided` is false if the check was given up for its cost: then nothing is proved or refuted;
 *     `proved` says in sentences what was
 * @typedef {{rows: bigint[][], over: bigint}} VerifyMatrix
 * @typedef {{metric: VerifyMatrix | null, weight: bigint}} VerifyHead
 *
 * A number: an integer or, after a long jump, a sum of c g^e by e, g = 1 / (1 + alpha), of which no long power is ever
 * written out. Places are rows of them, over a scale.
 * @typedef {bigint | Map<bigint, bigint>} VerifyNumber
 * @typedef {VerifyNumber[]} VerifyRow
 * Where points are m layers later: the sum of g^(r m) C(m, k) times the rows.
 * @typedef {{r: number, k: number, rows: VerifyRow[]}[]} VerifyForm
 * The same of one number.
 * @typedef {{r: number, k: number, x: VerifyNumber}[]} VerifyLead */
import { bigGcd, bigMultiple, canonicalJson, sha256 } from "./integers.js";

const VERIFY_LENGTH = 2 ** 24; // of a text
const VERIFY_ROOM = 2 ** 31; // bits of all the numbers that are held at once
const VERIFY_DIGITS = 8600; // of a number; Python reads 4,300 on either side of the stroke

/** Why a check ends: a statement is false, or the rest would cost too much (`budget: …`). */
class VerifyStop extends Error {}

function verifyRequire(/** @type {unknown} */ holds, /** @type {string} */ reason) {
    if (!holds) throw new VerifyStop(reason.slice(0, 300));
}

/** Check a certificate: its text, the bytes of its file, or what `JSON.parse` gives. `budget` is in milliseconds;
 * `progress` is told now and then what is being done. @param {unknown} certificate
 * @param {{budget?: number, progress?: (words: string) => void}} [options]
 * @returns {Verdict} */
export function verify(certificate, { budget = 10_000, progress = () => {} } = {}) {
    const end = performance.now() + budget;
    let [before, next, stride, left] = [end - budget, end - budget + 200, 1, 1];
    const tick = (/** @type {(() => string)} */ part = () => "") => {
        if (--left) return; // clocks are slow: one is read about every millisecond
        const now = performance.now();
        stride = Math.max(1, Math.min(1024, now - before < 1 ? 2 * stride : stride >> 1));
        [before, left] = [now, stride];
        verifyRequire(now < end, `budget: the time of ${budget.toLocaleString("en")} ms is up`);
        if (now < next || !part()) return;
        next = now + 200;
        progress(part());
    };
    try {
        progress("reading");
        const c = verifyText(certificate);
        verifyShape(c);
        const [outcome, ...proved] = verifyWalk(c, verifyProblem(c, tick), tick);
        const reason = `${outcome}, settled at layer ${c.settled_at.slice(1)}`;
        return { accepted: true, decided: true, reason, proved };
    } catch (error) {
        // Whatever broke the check off, nothing is proved.
        const reason = error instanceof VerifyStop ? error.message : `shape: not as documented, ${error}`.slice(0, 300);
        return { accepted: false, decided: !reason.startsWith("budget:"), reason, proved: [] };
    }
}

/** What a text says, with its numbers as texts such as "#12": none is rounded, and 1.0 is no count.
 * @param {unknown} certificate @returns {any} */
function verifyText(certificate) {
    const bytes = certificate instanceof Uint8Array;
    const given = bytes ? new TextDecoder("utf-8", { fatal: true }).decode(certificate) : certificate;
    const text = (typeof given === "string" ? given : JSON.stringify(given)).replace(/^\ufeff/, "");
    verifyRequire(text.length <= VERIFY_LENGTH, "unreadable: longer than 16 MB");
    verifyRequire(!/(?:\[|\{"[^"]{0,9}":){9}/.test(text), "shape: lists in lists in lists");
    JSON.parse(text);
    const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[ \t\n\r]+|-?[0-9][0-9.eE+-]*/g, (part) => {
        if (part[0] !== '"') return part.trim() && `"#${part}"`;
        const word = part.includes("\\") ? JSON.stringify(JSON.parse(part)) : part;
        verifyRequire(word[1] !== "#", "shape: a word begins with #");
        return word;
    });
    const parsed = JSON.parse(marked);
    // Written again it must be the same text: no key came twice.
    verifyRequire(JSON.stringify(parsed) === marked, "unreadable: a key appears twice");
    return parsed;
}

const verifyShown = (/** @type {number | bigint} */ count) => count.toLocaleString("en");
/** @type {(count: number | bigint, noun: string) => string} */
const verifyCounted = (count, noun) => `${verifyShown(count)} ${noun}${`${count}` === "1" ? "" : "s"}`;
/** A count as an index; one beyond 2^53 is rounded, and so beyond all lists. @param {string} text */
const verifyIndex = (text) => Number(text.slice(1));
const verifyRises = (/** @type {number[]} */ values) => values.every((value, k) => !k || value > values[k - 1]);

/** What is expected of a value: null or a pattern of its text; `[a]`: a list of one or more a; `{key: a}`: an object with
 * just these keys; `[a, b, …]`: one of these; or a test. @param {any} kind @param {any} value @returns {boolean} */
function verifyIs(kind, value) {
    if (kind === null) return value === null;
    if (typeof kind === "function") return kind(value);
    if (kind instanceof RegExp) return typeof value === "string" && kind.test(value);
    if (Array.isArray(kind)) {
        if (kind.length > 1) return kind.some((one) => verifyIs(one, value));
        return Array.isArray(value) && value.length > 0 && value.every((item) => verifyIs(kind[0], item));
    }
    const keys = Object.keys(kind);
    return `${value}` === "[object Object]" && `${Object.keys(value).sort()}` === `${keys}`
        && keys.every((key) => verifyIs(kind[key], value[key]));
}

/** Statement 1, as far as it is about single values. Nothing is computed yet. @param {any} c */
function verifyShape(c) {
    const header = c?.format === "hardmax-limit-certificate" && c.version === "#2";
    verifyRequire(header, "version: unknown here, or not a certificate");
    const [count, positive, integer] = [/^#(0|[1-9][0-9]*)$/, /^#[1-9][0-9]*$/, /^(0|-?[1-9][0-9]*)$/];
    const number = /^(0|-?[1-9][0-9]*)(\/([2-9]|[1-9][0-9]+))?$/;
    const above = /^[1-9][0-9]*(\/([2-9]|[1-9][0-9]+))?$/;
    const [size, counts, numbers, multiplicities] = [[/^0$/, above], [count], [number], [null, [positive]]];
    const matrix = [null, [numbers]];
    /** Lists of `length` counts or nulls. @type {(value: any, length: number) => boolean} */
    const several = (value, length) => Array.isArray(value) && value.length === length;
    const entry = { from: count, head: count, to: [[count, (/** @type {any} */ set) => !several(set, 1) && verifyIs(counts, set)]] };
    const schema = {
        attended: [[entry, { from: count, head: count, points: counts, to: entry.to }]],
        cloud: { denominator: /^[1-9][0-9]*$/, multiplicities, points: [[integer]] },
        format: /^/,
        jumps: [(/** @type {any} */ jump) =>
            several(jump, 3) && verifyIs([[null, count]], jump) && jump[0] !== null && jump[2] !== null],
        layer: {
            alpha: [above],
            attention: [null, { localmax: size }, { topk: positive }],
            heads: [null, [{ metric: matrix, weight: above }]],
            inverse: [null, [[numbers]]],
            mask: [null, /^causal$/, [/^0*1[01]*$/]],
            metric: matrix,
            value: matrix,
        },
        leaders: (/** @type {any} */ all) =>
            several(all, 0) || verifyIs([(/** @type {any} */ pair) => several(pair, 2) && verifyIs(counts, pair)], all),
        limit_of: counts,
        limits: [[{ vertex: count }, { moves: numbers }, { point: numbers }, { face: counts, point: numbers, weights: [size] }]],
        ...("radius" in c ? { radius: size } : {}),
        settled_at: count,
        sha256: /^[0-9a-f]{64}$/,
        version: /^#2$/,
    };
    const isComplete = `${Object.keys(c).sort()}` === `${Object.keys(schema)}`;
    verifyRequire(isComplete, "shape: other keys than documented");
    for (const [key, kind] of Object.entries(schema)) verifyRequire(verifyIs(kind, c[key]), `shape: ${key} is not as documented`);
    const { sha256: digest, ...rest } = c;
    verifyRequire(digest === sha256(verifyJson(rest)), "sha256: not the digest of the rest");
}

/** JSON for a digest, with numbers again. @param {any} value */
const verifyJson = (value) => canonicalJson(value).replace(/"#(\d+)"/g, "$1");

/** An integer. @param {string} text */
function verifyInteger(text) {
    verifyRequire(text.length <= VERIFY_DIGITS, `budget: a number of over ${VERIFY_DIGITS} digits`);
    return BigInt(text.replace("#", ""));
}

/** Numerator and denominator; equal numbers must be equal texts. @param {string} text */
function verifyNumber(text) {
    const [p, q = 1n] = text.split("/").map(verifyInteger);
    verifyRequire(q === 1n || bigGcd(p, q) === 1n, `shape: ${text} is not in lowest terms`);
    return [p, q];
}

/** Numbers over one denominator. @param {string[]} texts @param {() => void} tick */
function verifyNumbers(texts, tick) {
    const ratios = texts.map((text) => (tick(), verifyNumber(text)));
    const common = verifyMultiple(ratios.map(([, below]) => below), tick);
    return { over: ratios.map(([above, below]) => above * (common / below)), common };
}

/** The least common multiple. @param {bigint[]} numbers @param {() => void} tick */
const verifyMultiple = (numbers, tick) =>
    [...new Set(numbers)].reduce((common, number) => (tick(), bigMultiple(common, number)), 1n);

/** @param {VerifyNumber} x @returns {[bigint, bigint][]} */
const verifyTerms = (x) => (typeof x === "bigint" ? [[0n, x]] : [...x]);

/** The sum of c g^e over pairs (e, c): an integer, if it is one as it stands. @param {[bigint, bigint][]} terms
 * @returns {VerifyNumber} */
function verifyTotal(terms) {
    const sum = new Map();
    for (const [e, c] of terms) sum.set(e, (sum.get(e) ?? 0n) + c);
    for (const [e, c] of sum) if (!c) sum.delete(e);
    return [...sum.keys()].some(Boolean) ? sum : sum.get(0n) ?? 0n;
}

/** @type {(x: VerifyNumber, y: VerifyNumber) => VerifyNumber} */
const verifyPlus = (x, y) => (typeof x === "bigint" && typeof y === "bigint" ? x + y
    : verifyTotal([...verifyTerms(x), ...verifyTerms(y)]));
/** @type {(x: VerifyNumber, y: VerifyNumber) => VerifyNumber} */
const verifyTimes = (x, y) => (typeof x === "bigint" && typeof y === "bigint" ? x * y
    : verifyTotal(verifyTerms(x).flatMap(([e, c]) => verifyTerms(y).map(([f, b]) => /** @type {[bigint, bigint]} */ ([e + f, c * b])))));
/** @type {(x: VerifyNumber, y: VerifyNumber) => VerifyNumber} */
const verifyMinus = (x, y) => verifyPlus(x, verifyTimes(-1n, y));

function verifyDot(/** @type {VerifyRow} */ x, /** @type {VerifyRow} */ y) {
    let sum = verifyTimes(x[0], y[0]);
    for (let c = 1; c < x.length; c++) sum = verifyPlus(sum, verifyTimes(x[c], y[c]));
    return sum;
}

/** A matrix of the right size. @param {string[][]} texts @param {number} d @param {() => void} tick */
function verifyMatrix(texts, d, tick) {
    verifyRequire(texts.length === d && texts.every((row) => row.length === d), "shape: a matrix is not d by d");
    const { over, common } = verifyNumbers(texts.flat(), tick);
    return { rows: texts.map((_, i) => over.slice(i * d, (i + 1) * d)), over: common };
}

/** The product of two square tables. @param {bigint[][]} a @param {bigint[][]} b */
const verifyProduct = (a, b) => a.map((row) => b[0].map((_, k) => /** @type {bigint} */ (verifyDot(row, b.map((other) => other[k])))));

/** @typedef {ReturnType<typeof verifyProblem>} VerifyProblem */

/** The rest of statement 1: the problem that a certificate is about, and what is said of its points and layers.
 * @param {any} c @param {() => void} tick */
function verifyProblem(c, tick) {
    const { layer, cloud } = c;
    const rows = /** @type {bigint[][]} */ (cloud.points.map((/** @type {string[]} */ row) => row.map(verifyInteger)));
    const d = rows[0].length;
    verifyRequire(rows.every((row) => row.length === d), "shape: rows of unequal length");
    const over = verifyInteger(cloud.denominator);
    let scale = over;
    for (const row of rows) for (const x of row) scale = scale === 1n ? 1n : bigGcd(scale, x);
    const times = cloud.multiplicities?.map(verifyInteger) ?? rows.map(() => 1n);
    verifyRequire(times.length === rows.length, "shape: multiplicities are not those of all rows");
    const [points, counts] = [/** @type {bigint[][]} */ ([]), /** @type {bigint[]} */ ([])];
    const places = /** @type {Map<string, number>} */ (new Map());
    rows.forEach((row, k) => {
        const reduced = scale === 1n ? row : row.map((x) => x / scale);
        const key = layer.mask ? `${k}` : reduced.join();
        const known = places.get(key);
        if (known !== undefined) return void (counts[known] += times[k]);
        places.set(key, points.push(reduced) - 1);
        counts.push(times[k]);
    });
    scale = over / scale;

    const alphas = /** @type {bigint[][]} */ (layer.alpha.map(verifyNumber));
    const last = layer.alpha.slice(-2);
    verifyRequire(last[0] !== last[1], "shape: the last two steps are equal");
    const matrix = (/** @type {string[][] | null} */ texts) => texts && verifyMatrix(texts, d, tick);
    verifyRequire(!layer.metric || !layer.heads, "shape: a metric beside heads");
    const given = layer.heads ?? [{ metric: layer.metric, weight: "1" }];
    const { over: weights } = verifyNumbers(given.map((/** @type {any} */ { weight }) => weight), tick);
    const heads = /** @type {VerifyHead[]} */ (given.map((/** @type {any} */ head, /** @type {number} */ h) =>
        ({ metric: matrix(head.metric), weight: weights[h] })));
    const value = matrix(layer.value);
    const inverse = /** @type {VerifyMatrix[] | null} */ (layer.inverse?.map(matrix) ?? null);
    verifyRequire(Boolean(value) === Boolean(inverse), "shape: no inverse of a value matrix, or of none");
    if (value && inverse) {
        verifyRequire(inverse.length === alphas.length, "shape: not one inverse for each step");
        inverse.forEach(({ rows, over }, k) => {
            const [p, q] = alphas[k]; // (q Vd I + p V) R = q Vd Rd I
            const left = value.rows.map((row, i) => row.map((x, j) => p * x + (i === j ? q * value.over : 0n)));
            const isInverse = verifyProduct(left, rows).every((row, i) =>
                row.every((x, j) => x === (i === j ? q * value.over * over : 0n)));
            verifyRequire(isInverse, "inverse: it is not the one of I + alpha V");
        });
    }
    const n = points.length;
    const { mask, attention } = layer;
    const fits = !Array.isArray(mask) || (mask.length === n && mask.every((row) => row.length === n));
    verifyRequire(fits, "shape: the mask is not n by n");

    const point = (/** @type {string} */ text) => {
        verifyRequire(verifyIndex(text) < n, "shape: no such point");
        return verifyIndex(text);
    };
    const rising = (/** @type {string[]} */ texts) => {
        const indices = texts.map(point);
        verifyRequire(verifyRises(indices), "shape: points are not listed in order");
        return indices;
    };
    let before = [-1n, 0n];
    const entries = /** @type {any[]} */ (c.attended).map(({ from, head, points: some, to }, k) => {
        const [at, h] = [verifyInteger(from), verifyInteger(head)];
        const isInOrder = k < heads.length ? !some && !at && h === BigInt(k)
            : some && h < heads.length && (at > before[0] || (at === before[0] && h > before[1])) && at > 0n;
        verifyRequire(isInOrder, "attended: not listed at layer 0 and whenever they change");
        before = [at, h];
        verifyRequire(to.length === (some?.length ?? n), "shape: lists of unequal length");
        const sets = to.map((/** @type {any} */ set) => (Array.isArray(set) ? rising(set) : [point(set)]));
        return { from: at, head: Number(h), points: some && rising(some), sets: /** @type {number[][]} */ (sets) };
    });
    verifyRequire(entries.length >= heads.length, "attended: not those of all heads");
    verifyRequire(verifyInteger(c.settled_at) === before[0], "settled_at: not the layer of the last change");
    const jumps = /** @type {any[]} */ (c.jumps).map(([from, to, steps]) =>
        ({ from: verifyInteger(from), to: to && verifyInteger(to), steps: verifyInteger(steps) }));
    jumps.forEach(({ from, to, steps }, k) => {
        const after = jumps[k + 1];
        const isInOrder = after ? to !== null && from < to && to <= after.from : to === null;
        verifyRequire(isInOrder && steps <= n, "jumps: not in order, or with more steps than points");
        const isInside = entries.some((entry) => entry.from > from && (to === null || entry.from < to));
        verifyRequire(!isInside, "jumps: sets change inside of one");
        verifyRequire(!steps || from >= alphas.length - 1, "jumps: one begins before the last step size");
    });
    for (const { vertex = "#0", face = [vertex], point: place, moves } of c.limits) {
        face.forEach(point);
        verifyRequire((place ?? moves ?? points[0]).length === d, "shape: lists of unequal length");
    }
    const limitOf = /** @type {number[]} */ (c.limit_of.map(verifyIndex));
    verifyRequire(limitOf.length === n && limitOf.every((k) => k < c.limits.length), "shape: limit_of is not as documented");
    const leaders = c.leaders.map((/** @type {string[]} */ pair) => [point(pair[0]), verifyInteger(pair[1])]);
    verifyRequire(verifyRises(leaders.map((/** @type {any} */ [i]) => i)), "leaders: not in order");
    const radius = verifyNumber(c.radius ?? "0");
    const slack = attention?.localmax ? verifyNumber(attention.localmax) : [0n, 1n];
    const most = attention?.topk ? verifyInteger(attention.topk) : 0n;
    const isPaper = !value && !mask && !attention && !layer.heads;
    return {
        n, d, points, counts, scale, alphas, heads, value, inverse, mask, attention, slack, most, isPaper, entries, jumps,
        limitOf, leaders, radius,
    };
}

/** The length of a vector times 2^64, rounded up. @param {bigint[]} vector */
function verifyLength(vector) {
    const square = vector.reduce((sum, x) => sum + x * x, 0n) << 128n;
    if (!square) return 1n;
    let root = 1n << (verifyBits(square) / 2n + 1n);
    for (let next = root; ; root = next) {
        next = (root + square / root) / 2n; // Newton's steps go down to the root, rounded down
        if (next >= root) return root + 1n;
    }
}

/** At least the bits of a number. */
const verifyBits = (/** @type {bigint} */ x) => BigInt(4 * x.toString(16).length);

/** The binomial coefficient C(m, k). @param {bigint} m @param {number} k */
function verifyChoose(m, k) {
    let value = 1n;
    for (let i = 0n; i < k; i++) value = (value * (m - i)) / (i + 1n);
    return value;
}

/** Signs of sums of powers of g = p / q. @param {bigint} p @param {bigint} q @param {() => void} tick */
export function verifySigns(p, q, tick) {
    /** g^exponent times 2^bits, rounded down and up. @param {bigint} exponent @param {bigint} bits */
    const power = (exponent, bits) => {
        let [low, high] = [1n << bits, 1n << bits];
        for (const digit of exponent ? exponent.toString(2) : "") {
            tick();
            [low, high] = [(low * low) >> bits, -((-high * high) >> bits)];
            if (digit === "1") [low, high] = [(low * p) / q, (high * p + q - 1n) / q];
        }
        return [low, high];
    };

    /** First the terms with the smallest e are put aside if their sum is 0: the others decide then, however small they
     * are. A sum is 0 only if q^(e-f) divides c, (e, c) and (f, …) being its last two terms; then both are made one.
     * What is left is enclosed ever more closely, until 0 is outside. @param {VerifyNumber} x */
    function sign(x) {
        if (typeof x === "bigint") return x < 0n ? -1 : Number(x > 0n);
        let left = [...x].filter(([, c]) => c).sort(([e], [f]) => (e < f ? -1 : 1));
        for (let count = left.length; count; count--) {
            let [[e, c], k] = [left[count - 1], count - 2];
            for (; k >= 0; k--) {
                tick();
                const gap = e - left[k][0];
                if (c && (gap > verifyBits(c) || c % q ** gap)) break;
                [e, c] = [left[k][0], left[k][1] + (c && (c / q ** gap) * p ** gap)];
            }
            if (k >= 0 || c) continue;
            left = left.slice(count);
            break;
        }
        for (let bits = 64n; left.length; bits *= 2n) {
            let [low, high] = [0n, 0n];
            for (const [e, c] of left) {
                const [below, above] = power(e - left[0][0], bits);
                [low, high] = [low + c * (c > 0n ? below : above), high + c * (c > 0n ? above : below)];
            }
            if (low > 0n || high < 0n) return low > 0n ? 1 : -1;
        }
        return 0;
    }
    const compare = (/** @type {VerifyNumber} */ x, /** @type {VerifyNumber} */ y) => sign(verifyMinus(x, y));

    /** Whether a lead is negative at m = 1 to layers, or for ever, as it is at 0. Ever smaller ranges are looked at. From
     * `first` to `last` C(m, k) is put at the end at which the term is larger: what is left is a polynomial in g^m, whose
     * coefficients in Bernstein's form must be negative. From `first` on, no positive term may gain on the one that is
     * the largest in the end. @param {VerifyLead} terms @param {bigint | null} layers */
    function isNegative(terms, layers) {
        const all = terms.filter(({ x }) => sign(x));
        const positive = all.filter(({ x }) => sign(x) > 0);
        const main = all.reduce((a, b) => (a.r < b.r || (a.r === b.r && a.k > b.k) ? a : b));
        if (!positive.length || (layers === null && positive.includes(main))) return !positive.length;
        if (all.every(({ k }) => !k)) {
            // Points that go straight are seldom that close: b0 (1-t)^2 + b1 t (1-t) + b2 t^2 is negative if b1^2 < 4 b0 b2.
            const [b0, a1, a2] = [0, 1, 2].map((r) => all.find((term) => term.r === r)?.x ?? 0n);
            const [b1, b2] = [verifyPlus(a1, verifyTimes(2n, b0)), verifyPlus(b0, verifyPlus(a1, a2))];
            if (compare(verifyTimes(b1, b1), verifyTimes(4n, verifyTimes(b0, b2))) < 0) return true;
        }
        /** Whether the sum is negative if C(m, k) is at such an m, and g^(r m) the sum of g to these powers.
         * @type {(some: VerifyLead, at: (term: VerifyLead[0]) => bigint, powers: bigint[][]) => boolean} */
        const isBelow = (some, at, powers) => sign(verifyTotal(some.flatMap((term) => {
            const size = verifyChoose(at(term), term.k);
            return verifyTerms(term.x).flatMap(([e, c]) =>
                powers[term.r].map((power) => /** @type {[bigint, bigint]} */ ([e + power, c * size])));
        }))) < 0;
        const ranges = /** @type {[bigint, bigint | null][]} */ ([[1n, layers]]);
        for (let range = ranges.pop(); range; range = ranges.pop()) {
            tick();
            const [first, last] = range;
            if (last === null) {
                const gains = positive.some(({ r, k }) => {
                    const [s, ahead] = [BigInt(r - main.r), first + 1n];
                    return p ** s * (ahead - BigInt(main.k)) > q ** s * (ahead - BigInt(k));
                });
                if (!gains && isBelow([main, ...positive], () => first, [[0n], [first], [2n * first]])) continue;
            } else {
                const at = (/** @type {VerifyLead[0]} */ term) => (positive.includes(term) ? last : first);
                const pairs = [[first, first], [last, last], [first, last]];
                if (pairs.every(([m, n]) => isBelow(all, at, [[0n, 0n], [m, n], [m + n, m + n]]))) continue;
                if (first === last) return false;
            }
            const half = last === null || first + last > 4n * first ? 2n * first : (first + last) / 2n;
            ranges.push([half + 1n, last], [first, half]);
        }
        return true;
    }
    return { sign, compare, isNegative, power };
}

/** What kind of value matrix V is: V = a P with P^2 = P and a > 0 (also without V), V^2 = 0, or another. `turn` / `under`
 * is P or V, and g is `keep`. @param {VerifyMatrix | null} value @param {bigint[]} alpha the last step */
function verifyKind(value, [above, below]) {
    if (!value) return { name: "multiple", turn: null, under: 1n, beta: [above, below], keep: [below, above + below] };
    const { rows, over } = value;
    const other = { turn: rows, under: over, beta: [above, below], keep: [1n, 1n] };
    const [flat, squares] = [rows.flat(), verifyProduct(rows, rows).flat()];
    if (!squares.some(Boolean)) return { name: "nilpotent", ...other };
    const at = flat.findIndex(Boolean);
    const isMultiple = squares.every((x, k) => x * flat[at] === squares[at] * flat[k]) && squares[at] * flat[at] > 0n;
    if (!isMultiple) return { name: "other", ...other };
    const unit = flat[at] < 0n ? -1n : 1n;
    const [p, q] = [unit * squares[at], unit * flat[at] * over]; // a
    const common = bigGcd(above * p, below * q);
    const beta = [(above * p) / common, (below * q) / common];
    const turn = rows.map((row) => row.map((x) => x * q));
    return { name: "multiple", turn, under: over * p, beta, keep: [beta[1], beta[0] + beta[1]] };
}

/** Statements 2 to 6, from one layer or jump to the next; returns what was proved.
 * @param {any} c @param {VerifyProblem} problem @param {(part?: () => string) => void} tick */
function verifyWalk(c, problem, tick) {
    const { n, d, counts, alphas, heads, value, inverse, mask, attention, slack, most, isPaper } = problem;
    const kind = verifyKind(value, alphas[alphas.length - 1]);
    const [p, q] = kind.keep;
    const { sign, compare, isNegative } = verifySigns(p, q, tick);
    const everybody = [...problem.points.keys()];
    const axes = [...problem.points[0].keys()];
    const weight = heads.reduce((sum, head) => sum + head.weight, 0n);
    let [scale, isFar] = [problem.scale, false];
    let z = /** @type {VerifyRow[]} */ (problem.points);
    let sets = /** @type {number[][][]} */ ([]); // of each head, of each point
    let pending = everybody; // all, but in the paper's layer those that have followed a leader
    const since = /** @type {Map<number, bigint>} */ (new Map()); // the layer from which on a point has led

    const allows = (/** @type {number} */ i, /** @type {number} */ j) =>
        !mask || (mask === "causal" ? j <= i : mask[i][j] === "1");
    const isIn = (/** @type {number[]} */ set, /** @type {number} */ j) => set.length === 1 ? set[0] === j : set.includes(j);
    const size = (/** @type {number[]} */ some) => some.reduce((sum, j) => sum + counts[j], 0n);
    /** A z, times the denominator of A. @param {VerifyHead} head @param {VerifyRow} row */
    const along = ({ metric }, row) => (metric ? metric.rows.map((line) => verifyDot(line, row)) : row);
    /** The sum of rows, each times a factor. @type {(...parts: [VerifyNumber, VerifyRow[]][]) => VerifyRow[]} */
    const mixed = (...parts) => everybody.map((i) => {
        tick();
        const [[factor, rows], ...more] = parts;
        if (factor === 1n && !more.length) return rows[i];
        return rows[i].map((x, k) =>
            more.reduce((sum, [times, others]) => verifyPlus(sum, verifyTimes(times, others[i][k])), verifyTimes(factor, x)));
    });
    /** A matrix times each row. @type {(matrix: bigint[][], rows: VerifyRow[]) => VerifyRow[]} */
    const turned = (matrix, rows) => rows.map((row) => (tick(), matrix.map((line) => verifyDot(line, row))));
    /** Whether all are 0. @param {VerifyRow[]} rows */
    const vanish = (rows) => rows.every((row) => (tick(), row.every((x) => !sign(x))));
    /** Whether two points sit at the same place. @param {VerifyRow[]} rows @param {number} i @param {number} j */
    const coincide = (rows, i, j) => i === j || rows[i].every((x, k) => x === rows[j][k] || !compare(x, rows[j][k]));
    /** Whether a point leads. @param {VerifyRow[]} rows @param {number[][][]} all @param {number} i */
    const leads = (rows, all, i) => all.every((some) => some[i].every((j) => coincide(rows, i, j)));
    /** The direction of a point, so that slacks are integers. @param {VerifyHead} head @param {VerifyRow} row */
    const look = (head, row) => along(head, row).map((x) => verifyTimes(slack[1], x));
    /** By how much a score may be less than the largest. @param {VerifyHead} head @param {bigint} over */
    const room = (head, over) => slack[0] * (head.metric?.over ?? 1n) * over * over;

    /** Points by their distance from a point in the middle, the furthest first; distances are rounded alike.
     * @param {bigint[][]} rows */
    function shells(rows) {
        const middle = axes.map((k) => rows.reduce((sum, row) => sum + row[k], 0n) / BigInt(n));
        const squares = rows.map((row) => row.reduce((sum, x, k) => (tick(), sum + (x - middle[k]) ** 2n), 0n));
        const bits = squares.reduce((x, y) => (x > y ? x : y)).toString(2).length;
        const rounded = (/** @type {bigint} */ x) => Number(x >> BigInt(Math.max(0, bits - 512)));
        const keys = squares.map(rounded);
        return { middle, rounded, keys, order: [...everybody].sort((i, j) => keys[j] - keys[i]) };
    }

    /** Statement 2: these are the attended sets of some points, by their definition. @param {bigint} layer */
    function checkAttended(layer) {
        const shell = !isFar && n > 9 && pending.length ? shells(/** @type {bigint[][]} */ (z)) : null;
        heads.forEach((head, h) => pending.forEach((i, at) => {
            tick(() => `layer ${layer}: ${verifyShown(at)} of ${verifyShown(pending.length)} points`);
            const [set, way] = [sets[h][i], look(head, z[i])];
            const score = (/** @type {number} */ j) => verifyDot(way, z[j]);
            const wrong = (/** @type {string} */ why) =>
                verifyRequire(false, `layer ${layer}: point ${i} does not attend to [${set}]: ${why}`);
            const scores = set.map((j) => allows(i, j) ? score(j) : wrong(`the mask keeps ${j} from it`) ?? 0n);
            const low = scores.reduce((x, y) => (compare(y, x) < 0 ? y : x));
            let level = low;
            if (most) {
                const able = mask ? everybody.filter((j) => allows(i, j)) : everybody;
                if (size(able) <= most) return set.length === able.length || wrong("it attends to all");
                const above = set.filter((_, k) => compare(scores[k], low) > 0);
                if (size(set) < most || size(above) >= most) wrong(`these are not the first ${most}`);
            } else {
                level = verifyMinus(scores.reduce((x, y) => (compare(y, x) > 0 ? y : x)), room(head, scale));
                if (compare(low, level) < 0) wrong("their scores differ");
            }
            let [order, least] = [everybody, -1];
            if (shell) {
                const gap = /** @type {bigint} */ (verifyMinus(level, verifyDot(way, shell.middle)));
                const length = /** @type {bigint} */ (verifyDot(way, way));
                if (gap > 0n) [order, least] = [shell.order, shell.rounded((gap * gap) / length)];
            }
            for (const j of order) {
                if (shell && shell.keys[j] < least) break;
                if (allows(i, j) && compare(score(j), level) >= 0 && !isIn(set, j)) wrong(`point ${j} scores as much`);
            }
        }));
    }

    /** A factor, and that factor times the means over the sets. @param {VerifyRow[]} rows */
    function means(rows) {
        const sizes = sets.map((all) => all.map((set) => (set.length > 1 ? size(set) : 1n)));
        const common = verifyMultiple(sizes.flat(), tick);
        const w = everybody.map((i) => {
            tick();
            const [shares, some] = [/** @type {bigint[]} */ ([]), /** @type {VerifyRow[]} */ ([])];
            sets.forEach((all, h) => all[i].forEach((j) => {
                shares.push(heads[h].weight * (common / sizes[h][i]) * (all[i].length > 1 ? counts[j] : 1n));
                some.push(rows[j]);
            }));
            if (shares.length === 1 && shares[0] === 1n) return some[0];
            return axes.map((k) => verifyDot(shares, some.map((row) => row[k])));
        });
        return { common: common * weight, w };
    }

    /** One layer further. @param {bigint} layer */
    function step(layer) {
        const at = layer < alphas.length ? Number(layer) : alphas.length - 1;
        const [[above, below], { common, w }] = [alphas[at], means(z)];
        if (inverse) {
            const { rows: matrix, over } = inverse[at]; // w + R (z - w)
            z = mixed([over, w], [1n, turned(matrix, mixed([common, z], [-1n, w]))]);
            scale *= over * common;
        } else {
            z = mixed([below * common, z], [above, w]);
            scale *= (above + below) * common;
        }
        checkRoom(z);
    }

    function checkRoom(/** @type {VerifyRow[]} */ rows) {
        let bits = 0;
        for (const row of rows) for (const x of row) for (const [, y] of verifyTerms(x)) bits += 64 + Number(verifyBits(y));
        verifyRequire(bits <= VERIFY_ROOM, "budget: the numbers need too much memory");
    }

    /** Where points are m layers later while the sets stay, and over what. With M for the mean over the attended sets,
     * V = a P, y = P z, beta = alpha a and w = M^L y, where M w = w, this is
     * z - y + w + g^m (the sum of C(m, k) beta^k (M^k y - w) over k < L). @param {bigint} steps which is L */
    function closedForm(steps) {
        const { turn, under, beta: [above, below] } = kind;
        const ahead = (/** @type {VerifyRow[]} */ rows) => (turn ? turned(turn, rows) : rows);
        const still = (/** @type {VerifyRow[]} */ rows) => ({ r: 0, k: 0, rows });
        if (!steps || kind.name === "nilpotent") {
            const { common, w } = means(z);
            const ways = ahead(mixed([1n, w], [-common, z])); // V (M z - z)
            verifyRequire(steps ? steps === 1n : vanish(ways), "jumps: a point moves, or V² is 0 and L is above 1");
            if (!steps) return { form: [still(z)], over: scale };
            const far = below * under * common;
            return { form: [still(mixed([far, z])), { r: 0, k: 1, rows: mixed([above, ways]) }], over: scale * far };
        }
        verifyRequire(kind.name === "multiple", "jumps: V is not a multiple of a projection, so L is 0");
        const powers = [ahead(z)]; // P z, M P z, …, each times a power of `common`
        let common = 1n;
        for (let k = 0n; k <= steps; k++) {
            const next = means(powers[powers.length - 1]);
            common = next.common;
            powers.push(next.w);
            checkRoom(next.w);
            verifyRequire(powers.length * n * d * 64 <= VERIFY_ROOM, "budget: the form of a jump needs too much memory");
        }
        const after = /** @type {VerifyRow[]} */ (powers.pop());
        const ends = /** @type {VerifyRow[]} */ (powers.pop());
        verifyRequire(vanish(mixed([1n, after], [-common, ends])), `jumps: after ${steps} steps the targets still move`);
        const [top, whole] = [below ** (steps - 1n), common ** steps];
        const rest = /** @type {[bigint, VerifyRow[]][]} */ (turn ? [[under * whole * top, z], [-whole * top, powers[0]]] : []);
        const form = [still(mixed([top, ends], ...rest)), ...powers.map((power, k) => {
            const factor = above ** BigInt(k) * below ** (steps - 1n - BigInt(k));
            return { r: 1, k, rows: mixed([factor * common ** (steps - BigInt(k)), power], [-factor, ends]) };
        })];
        return { form, over: scale * under * whole * top };
    }

    /** Where a form is after m layers. @param {ReturnType<typeof closedForm>} closed @param {bigint} m */
    function formAt({ form, over }, m) {
        const moves = form.some(({ r }) => r);
        const close = moves && m * verifyBits(q) <= 4096n;
        const rows = mixed(...form.map(({ r, k, rows: some }) => {
            const power = close ? (r ? p : q) ** m : verifyTotal([[r ? m : 0n, 1n]]);
            return /** @type {[VerifyNumber, VerifyRow[]]} */ ([verifyTimes(verifyChoose(m, k), power), some]);
        }));
        checkRoom(rows);
        return { rows, over: over * (close ? q ** m : 1n), isFar: moves && !close };
    }

    /** The scores of all along A z_i in a form, by r and k. @param {VerifyForm} form @param {VerifyHead} head
     * @param {number} i */
    function scored(form, head, i) {
        const found = /** @type {Map<string, {r: number, k: number, row: VerifyRow}>} */ (new Map());
        for (const x of form) {
            const way = look(head, x.rows[i]);
            for (const y of form) {
                const [row, r] = [y.rows.map((other) => verifyDot(way, other)), x.r + y.r];
                tick();
                // C(m, a) C(m, b) is the sum of C(k, a) C(a, k - b) C(m, k) over k.
                for (let k = Math.max(x.k, y.k); k <= x.k + y.k; k++) {
                    const factor = verifyChoose(BigInt(k), x.k) * verifyChoose(BigInt(x.k), k - y.k);
                    const old = found.get(`${r},${k}`)?.row;
                    const sum = row.map((score, j) => verifyPlus(verifyTimes(factor, score), old?.[j] ?? 0n));
                    found.set(`${r},${k}`, { r, k, row: sum });
                }
            }
        }
        return [...found.values()];
    }

    /** Statement 4: the attended sets are the same for a number of layers, or for ever (null). The lead of j over c is to be
     * negative, and of those in the set it may vanish. @param {VerifyForm} form @param {bigint} over
     * @param {bigint | null} layers @param {bigint} layer */
    function checkStay(form, over, layers, layer) {
        if (layers === 0n || form.every(({ r, k }) => !r && !k)) return;
        heads.forEach((head, h) => pending.forEach((i, at) => {
            tick(() => `layers from ${layer} on: ${verifyShown(at)} of ${verifyShown(pending.length)} points`);
            const set = sets[h][i];
            if (most && size(everybody.filter((j) => allows(i, j))) <= most) return;
            const scores = scored(form, head, i);
            /** @type {(j: number, c: number, plus?: bigint) => VerifyLead} */
            const lead = (j, c, plus = 0n) => scores.map(({ r, k, row }) =>
                ({ r, k, x: verifyPlus(verifyMinus(row[j], row[c]), r || k ? 0n : plus) }));
            const now = (/** @type {VerifyLead} */ terms) =>
                sign(terms.reduce((sum, { k, x }) => (k ? sum : verifyPlus(sum, x)), /** @type {VerifyNumber} */ (0n)));
            const isBelow = (/** @type {VerifyLead} */ terms) => now(terms) < 0 && isNegative(terms, layers);
            const isKept = (/** @type {VerifyLead} */ terms) => terms.every(({ x }) => !sign(x)) || isBelow(terms);
            // Of those in the set the last with top-k, else the first; with hardmax all are level.
            const first = set.reduce((c, j) => (now(most ? lead(c, j) : lead(j, c)) > 0 ? j : c));
            const slackened = room(head, over);
            const away = everybody.find((j) => j !== first && allows(i, j) && !(isIn(set, j)
                ? isKept(lead(first, j, -slackened)) && (most || isKept(lead(j, first)))
                : isBelow(lead(j, first, slackened))));
            const span = layers === null ? "for ever" : `for ${layers} layers`;
            verifyRequire(away === undefined, `jumps: that point ${i} attends to the same ${span} after layer ${layer} `
                + `is not proved, because of point ${away}`);
        }));
    }

    /** Statement 6: moving every token by at most p/q changes no attended set. @param {bigint} layer */
    function checkRadius(layer) {
        const [[above, below], rows, { metric }] = [problem.radius, /** @type {bigint[][]} */ (z), heads[0]];
        const matrix = metric?.rows ?? [];
        const isSymmetric = matrix.every((row, i) => row.every((x, j) => x === matrix[j][i]));
        verifyRequire(isPaper && alphas.length === 1 && isSymmetric, "radius: not for such a layer");
        const largest = matrix.flat().reduce((x, y) => (x > y ? x : y > -y ? (y > x ? y : x) : -y > x ? -y : x), metric ? 0n : 1n);
        const ways = rows.map((row) => /** @type {bigint[]} */ (along(heads[0], row)));
        const dot = (/** @type {bigint[]} */ x, /** @type {bigint[]} */ y) => /** @type {bigint} */ (verifyDot(x, y));
        const isOnce = counts.every((count) => count === 1n);
        const squared = 2n * BigInt(d) * largest * (above * scale) ** 2n;
        for (const i of pending) {
            const [set, direction] = [sets[0][i], ways[i]];
            const [c] = set;
            verifyRequire(set.length === 1 && counts[c] === 1n, `radius: point ${i} attends to several tokens, so it is 0`);
            const [length, best] = [verifyLength(direction), dot(direction, rows[c])];
            for (const j of everybody) {
                if (j === c) continue;
                tick(() => `radius at layer ${layer}: point ${verifyShown(i)}`);
                const twice = i === c ? 1n : j === i && isOnce ? -1n : 0n;
                const gap = verifyLength(direction.map((x, k) => ways[c][k] - ways[j][k] + twice * x));
                const bound = above * below * scale * (gap + (twice ? 1n : 2n) * length);
                const lead = ((best - dot(direction, rows[j])) * below * below - squared) << 64n;
                verifyRequire(lead > bound, `radius: not proved at layer ${layer}, of point ${i} over ${j}`);
            }
        }
    }

    /** At a layer: its sets, who leads, and the radius. `before` is where points were one layer before the end of a jump
     * with a mask, and their sets. @param {bigint} layer @param {{rows: VerifyRow[], sets: number[][][]} | null} before */
    function arrive(layer, before) {
        for (; problem.entries[next]?.from === layer; next++) {
            const { head, points, sets: told } = problem.entries[next];
            if (!points) {
                sets.push(told);
                continue;
            }
            const all = [...sets[head]];
            const still = new Set(isPaper ? pending : []);
            points.forEach((/** @type {number} */ i, /** @type {number} */ k) => {
                verifyRequire(`${all[i]}` !== `${told[k]}`, `attended: that of point ${i} is no other at layer ${layer}`);
                verifyRequire(!isPaper || still.has(i), `layer ${layer}: point ${i} follows a leader for ever`);
                all[i] = told[k];
            });
            sets = sets.map((old, h) => (h === head ? all : old));
        }
        checkAttended(layer);
        for (const i of pending) {
            if (isPaper && since.has(i)) continue;
            if (!leads(z, sets, i)) since.delete(i);
            else if (!since.has(i)) {
                const isFirst = !before || !leads(before.rows, before.sets, i);
                verifyRequire(isFirst, `budget: since when point ${i} leads is not known`);
                since.set(i, layer);
            }
        }
        if (problem.radius[0]) checkRadius(layer);
        const isFollower = (/** @type {number} */ i) => sets[0][i].length === 1 && `${sets[0][sets[0][i][0]]}` === `${sets[0][i]}`;
        if (isPaper) pending = pending.filter((i) => !isFollower(i));
    }

    let [layer, next] = [0n, 0];
    let before = /** @type {{rows: VerifyRow[], sets: number[][][]} | null} */ (null);
    let closed = /** @type {ReturnType<typeof closedForm> | null} */ (null);
    for (const { from, to, steps } of problem.jumps) {
        for (arrive(layer, before); layer < from; arrive(layer, null)) step(layer++);
        before = null;
        verifyRequire(!problem.radius[0] || !pending.length, "radius: not all follow leaders before a jump");
        closed = closedForm(steps);
        const { form, over } = closed;
        checkStay(form, over, to === null ? null : to - from - 1n, layer);
        if (mask) {
            // Who coincides with all that it attends to in all terms leads throughout; of the others nothing is known.
            for (const i of [...since.keys()]) if (!form.every(({ rows }) => leads(rows, sets, i))) since.delete(i);
        }
        if (to === null) break;
        if (mask) before = { rows: formAt(closed, to - from - 1n).rows, sets };
        const next = formAt(closed, to - from);
        [z, scale, isFar, layer] = [next.rows, next.over, isFar || next.isFar, to];
    }

    const leading = [...since].sort(([i], [j]) => i - j);
    const isSame = leading.length === problem.leaders.length
        && leading.every(([i, at], k) => i === problem.leaders[k][0] && at === problem.leaders[k][1]);
    verifyRequire(isSame, `leaders: they are ${leading.map(([i, at]) => `${i} from layer ${at} on`).join(", ") || "none"}`);

    // Statement 5: what is said of the limits is true, since g^m C(m, k) tends to 0.
    const { form, over } = /** @type {ReturnType<typeof closedForm>} */ (closed);
    const part = (/** @type {number} */ k) => form.find((term) => !term.r && term.k === k)?.rows;
    const ends = /** @type {VerifyRow[]} */ (part(0));
    const drift = part(1) ?? everybody.map(() => axes.map(() => 0n));
    const judged = /** @type {Map<number, number>} */ (new Map()); // a point of each description
    let moving = 0;
    for (const i of everybody) {
        tick(() => `limits: ${verifyShown(i)} of ${verifyShown(n)} points`);
        const [number, isMoving] = [problem.limitOf[i], drift[i].some(sign)];
        const [said, known] = [c.limits[number], judged.get(number)];
        const there = said.moves ? drift : ends;
        const isTrue = isMoving === Boolean(said.moves)
            && (known === undefined ? isLimit(there, i, said) : coincide(there, i, known));
        const words = JSON.stringify(said).replaceAll("#", "");
        verifyRequire(isTrue, `limits: of point ${i} it is false that ${words}`);
        judged.set(number, i);
        moving += Number(isMoving);
    }
    return verifyWords(c, problem, moving);

    /** @param {VerifyRow[]} there @param {number} i @param {any} end @returns {boolean} */
    function isLimit(there, i, { vertex, face, weights, point, moves }) {
        if (vertex) return since.has(verifyIndex(vertex)) && coincide(there, i, verifyIndex(vertex));
        const place = /** @type {bigint[][]} */ ((point ?? moves).map(verifyNumber));
        const isThere = axes.every((k) => !compare(verifyTimes(place[k][1], there[i][k]), place[k][0] * over));
        if (!isThere || !face) return isThere;
        const way = along(heads[0], there[i]);
        let best = /** @type {number[]} */ ([]);
        for (const [v] of leading) {
            const lead = best.length ? compare(verifyDot(way, there[v]), verifyDot(way, there[best[0]])) : 1;
            best = lead > 0 ? [v] : lead === 0 ? [...best, v] : best;
        }
        const { over: shares, common } = verifyNumbers(weights, tick);
        const isFace = `${best}` === `${face.map(verifyIndex)}` && shares.length === best.length && !c.layer.heads;
        const isMean = isFace && axes.every((k) =>
            !compare(verifyDot(shares, best.map((v) => there[v][k])), verifyTimes(common, there[i][k])));
        return isMean && shares.reduce((sum, share) => sum + share) === common;
    }
}

/** What was proved, in sentences. @param {any} c @param {VerifyProblem} problem @param {number} moving */
function verifyWords({ layer, settled_at, radius }, { points, counts, scale, d, leaders }, moving) {
    const texts = points.map((row) => `["${row.join('","')}"]`);
    const cloud = sha256(`{"denominator":"${scale}","multiplicities":[${counts}],"points":[${texts}]}`);
    const { inverse, ...told } = layer;
    const { alpha, metric, heads } = layer;
    const rows = metric?.map((/** @type {string[]} */ row) => row.join(", ")).join("; ").slice(0, 200) ?? "identity";
    const others = ["value", "mask", "attention"].filter((name) => layer[name] !== null);
    const parts = [`alpha ${alpha.join(", ")}`, heads ? `${heads.length} heads` : `metric ${rows}`, ...others];
    const tokens = counts.reduce((sum, count) => sum + count);
    return [
        moving ? "some points move for ever" : "every point has its limit",
        `The cloud has ${verifyCounted(tokens, "token")} in ${verifyCounted(d, "dimension")} (sha256 ${cloud}).`,
        `The layer has ${parts.join(", ")}.`,
        `The problem, cloud and layer, has the sha256 ${sha256(verifyJson({ cloud, layer: told }))}.`,
        `No attended set changes from layer ${settled_at.slice(1)} on.`,
        `In the end there are ${verifyCounted(leaders.length, "leader")}.`,
        moving ? `For ever move ${verifyCounted(moving, "point")}; all others have limits.`
            : "Every token tends to the limit that is named.",
        ...(radius === undefined ? [] : [`Moving every token by at most ${radius} changes no attended set at any layer.`]),
    ];
}
