/** Check a certificate of an infinite-depth limit: exactly, alone, and in bounded time. With the module that makes
 * certificates it shares integers and SHA-256, and no step of a proof: an error there does not hide here.
 *
 * Points z_i with multiplicities m_i go from layer to layer by hardmax self-attention with a matrix A and a step alpha:
 *
 *     z_i  ↦  (z_i + alpha w_i) / (1 + alpha),    w_i = the mean of the points in C_i, counted with multiplicity,
 *                                                 C_i = argmax_j <A z_i, z_j>, the attended set of point i.
 *
 * A certificate states where every point ends; docs/certificate.md has its schema and the proofs of what is asked here.
 *
 * @typedef {{accepted: boolean, reason: string, decided: boolean}} Verdict  the reason names the first false statement;
 *     `decided` is false if the check was given up for its cost: then nothing is proved or refuted */
import { bigGcd, bigMultiple, bigSum, canonicalJson, sha256 } from "./integers.js";

const VERIFY_LENGTH = 2 ** 22; // of a text
const VERIFY_ROOM = 2 ** 30; // bits of all the numbers that are held at once
const VERIFY_DIGITS = 8600; // of a number; Python reads 4,300 on either side of the stroke

/** Why a check ends: a statement is false, or the rest would cost too much (`budget: …`). */
class VerifyStop extends Error {}

function verifyRequire(/** @type {unknown} */ holds, /** @type {string} */ reason) {
    if (!holds) throw new VerifyStop(reason.slice(0, 300));
}

/** Check a certificate: its text, the bytes of its file, or what `JSON.parse` gives. The text says more: there 1.0 is
 * no index, and no key may be repeated. @param {unknown} certificate @returns {Verdict} */
export function verify(certificate, budget = 10_000) {
    const end = performance.now() + budget;
    const tick = () => verifyRequire(performance.now() < end, `budget: the time of ${budget} ms is up`);
    try {
        const bytes = certificate instanceof Uint8Array;
        const given = bytes ? new TextDecoder("utf-8", { fatal: true }).decode(certificate) : certificate;
        const text = (typeof given === "string" ? given : JSON.stringify(given)).replace(/^\ufeff/, "");
        verifyRequire(text.length <= VERIFY_LENGTH, "unreadable: longer than 4 MB");
        const parsed = JSON.parse(text);
        // Written again it must be the same text but for spaces, which no certificate has within a word. So nothing was
        // lost in reading: no fraction 1.0 became an index, no integer beyond 2^53 was rounded, no key came twice.
        const same = JSON.stringify(parsed) === text.replace(/[ \t\n\r]+/g, "");
        verifyRequire(same, "unreadable: a key appears twice, a number is beyond 2^53, or something is spelled oddly");
        verifyShape(parsed);
        verifyWalk(parsed, tick);
        const reason = `every point has its limit, settled at layer ${parsed.settled_at}`;
        return { accepted: true, decided: true, reason };
    } catch (error) {
        // Whatever broke the check off, nothing is proved.
        const reason = error instanceof VerifyStop ? error.message : `shape: not as documented, ${error}`.slice(0, 300);
        return { accepted: false, decided: !reason.startsWith("budget:"), reason };
    }
}

/** Whether it is a list of one or more such. @type {(test: (item: any) => boolean) => (value: any) => boolean} */
const verifyList = (test) => (value) => Array.isArray(value) && value.length > 0 && value.every(test);
/** @type {(pattern: RegExp) => (value: any) => boolean} */
const verifyMatch = (pattern) => (value) => typeof value === "string" && pattern.test(value);
/** Whether it is an object with just these keys, sorted. @type {(value: any, keys: string) => boolean} */
const verifyKeys = (value, keys) => `${value}` === "[object Object]" && `${Object.keys(value).sort()}` === keys;

/** Statement 1: the certificate is well formed. Nothing is computed yet. @param {any} c */
function verifyShape(c) {
    const header = c?.format === "hardmax-limit-certificate" && c.version === 1;
    verifyRequire(header, "version: unknown here, or not a certificate");
    const index = (/** @type {any} */ value) => Number.isSafeInteger(value) && value >= 0;
    const [indices, sets] = [verifyList(index), verifyList(verifyList(index))];
    const numbers = verifyList(verifyMatch(/^(0|-?[1-9][0-9]*)(\/([2-9]|[1-9][0-9]+))?$/));
    const weights = verifyList(verifyMatch(/^(0|[1-9][0-9]*)(\/([2-9]|[1-9][0-9]+))?$/));
    /** @type {Record<string, (value: any) => boolean>} */
    const schema = {
        alpha: verifyMatch(/^[1-9][0-9]*(\/([2-9]|[1-9][0-9]+))?$/),
        attended: verifyList((entry) => verifyKeys(entry, "from,sets") && index(entry.from) && sets(entry.sets)),
        denominator: verifyMatch(/^[1-9][0-9]*$/),
        format: () => true,
        leaders: (value) => Array.isArray(value) && value.every(indices),
        limits: verifyList((end) => {
            if (verifyKeys(end, "vertex")) return index(end.vertex);
            const onFace = verifyKeys(end, "face,point,weights") && indices(end.face) && weights(end.weights);
            return (onFace || verifyKeys(end, "point")) && numbers(end.point);
        }),
        metric: (value) => value === null || verifyList(numbers)(value),
        multiplicities: verifyList((value) => index(value) && value > 0),
        points: verifyList(verifyList(verifyMatch(/^(0|-?[1-9][0-9]*)$/))),
        settled_at: index,
        sha256: () => true,
        version: () => true,
    };
    verifyRequire(verifyKeys(c, `${Object.keys(schema)}`), "shape: other keys than documented");
    for (const key in schema) verifyRequire(schema[key](c[key]), `shape: ${key} is not as documented`);
    const { sha256: digest, ...rest } = c;
    verifyRequire(digest === sha256(canonicalJson(rest)), "sha256: not the digest of the rest");
    const { points, metric, attended, limits, multiplicities } = /** @type {Record<string, any[]>} */ (c);
    const places = limits.map((end) => end.point ?? points[0]);
    const wide = [...points, ...(metric ?? []), metric ?? points[0], ...places];
    const long = [points, multiplicities, limits, ...attended.map(({ sets }) => sets)];
    const equal = [wide, long].every((lists) => lists.every((list) => list.length === lists[0].length));
    verifyRequire(equal, "shape: lists of unequal length");
    verifyRequire(new Set(points.map(String)).size === points.length, "points: not distinct");
    const changes = attended.every((entry, k) => {
        const before = attended[k - 1] ?? { from: -1, sets: null };
        return entry.from > before.from && JSON.stringify(entry.sets) !== JSON.stringify(before.sets);
    });
    verifyRequire(changes && attended[0].from === 0, "attended: not listed at layer 0 and whenever they change");
}

/** Numerator and denominator; equal numbers must be equal texts. @param {string} text */
function verifyNumber(text) {
    verifyRequire(text.length <= VERIFY_DIGITS, `budget: a number of over ${VERIFY_DIGITS} digits`);
    const [p, q = 1n] = text.split("/").map(BigInt);
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

/** The scalar product of x with each row. @param {bigint[]} x @param {bigint[][]} rows */
const verifyScores = (x, rows) => rows.map((row) => row.reduce((sum, y, c) => sum + x[c] * y, 0n));

const verifySame = (/** @type {bigint[]} */ x, /** @type {bigint[]} */ y) => x.every((value, c) => value === y[c]);

/** The places of the largest. @param {bigint[]} values */
function verifyLargest(values) {
    const largest = values.reduce((x, y) => (x > y ? x : y));
    return values.flatMap((value, j) => (value === largest ? [j] : []));
}

/** Statements 2 to 4, layer by layer, from the points on; then who leads; then statement 5.
 * @param {any} c @param {() => void} tick */
function verifyWalk(c, tick) {
    const counts = /** @type {bigint[]} */ (c.multiplicities.map(BigInt));
    const table = (/** @type {string[][]} */ rows) => {
        const { over } = verifyNumbers(rows.flat(), tick);
        return rows.map((row, i) => over.slice(i * row.length, (i + 1) * row.length));
    };
    const metric = table(c.metric ?? []);
    let [z, [denominator]] = [table(c.points), verifyNumber(c.denominator)];
    let w = z;
    const [p, q] = verifyNumber(c.alpha);
    /** A z, up to a factor that changes no comparison. @param {bigint[]} row */
    const along = (row) => (tick(), metric.length ? verifyScores(row, metric) : row);
    /** The sum of some points, counted with multiplicity. @param {number[]} several @param {bigint[][]} rows */
    const total = (several, rows) => (tick(), bigSum(several.map((j) => counts[j]), several.map((j) => rows[j])));

    const coming = /** @type {{from: number, sets: number[][]}[]} */ ([...c.attended]);
    const leaders = /** @type {Map<number, number>} */ (new Map());
    let sets = coming[0].sets;
    for (let [layer, lasting] = [0, false]; !lasting; layer++) {
        if (layer > 0) z = z.map((row, i) => (tick(), row.map((x, k) => q * x + p * w[i][k])));
        denominator *= layer > 0 ? p + q : 1n;
        if (coming[0]?.from === layer) sets = /** @type {typeof coming[0]} */ (coming.shift()).sets;
        for (const [i, row] of z.entries()) {
            // Statement 2: these are the attended sets, by their definition.
            const attended = verifyLargest(verifyScores(along(row), z));
            const [found, said] = [`[${attended}]`, `[${sets[i]}]`];
            verifyRequire(found === said, `layer ${layer}: point ${i} attends to ${found}, not to ${said}`);
            // Statement 3: a point leads from the first layer on at which all that it attends to sit where it sits.
            if (!leaders.has(i) && attended.every((j) => verifySame(z[j], row))) leaders.set(i, layer);
        }
        // Points and the means of their attended sets, over one denominator.
        const sizes = sets.map((several) => several.reduce((sum, j) => sum + counts[j], 0n));
        const common = verifyMultiple(sizes, tick);
        denominator *= common;
        const room = 4 * denominator.toString(16).length * z.length * z[0].length;
        verifyRequire(room <= VERIFY_ROOM, `budget: the numbers of layer ${layer} need too much memory`);
        w = sets.map((several, i) => total(several, z).map((x) => x * (common / sizes[i])));
        z = z.map((row) => row.map((x) => x * common));
        // Statement 4 (a): targets stand still, the mean of w over C_i is w_i.
        lasting = sets.every((several, i) => verifySame(total(several, w), w[i].map((x) => x * sizes[i])));
        lasting &&= z.every(setLasts);
        const words = lasting ? "last" : "need not last";
        verifyRequire(lasting === (layer === c.settled_at), `settled_at: the sets of layer ${layer} ${words}`);
    }
    verifyRequire(!coming.length, "attended: not listed at layer 0 and whenever they change");
    const leading = [...leaders].sort(([i], [j]) => i - j);
    const found = JSON.stringify(leading);
    verifyRequire(found === JSON.stringify(c.leaders), `leaders: they are ${found}`);
    for (const [i, end] of c.limits.entries())
        verifyRequire(isLimit(i, end), `limits: of point ${i} it is false that ${JSON.stringify(end)}`);

    /** Statement 4 (b): while targets stand still points go straight, at (1-t) w_i + t z_i with t = 1 / (1 + alpha)^k,
     * and the attended set stays on the way: the lead of j over c in C_i is b0 (1-t)^2 + b1 t (1-t) + b2 t^2 with b0 =
     * <A w_i, w_j - w_c>, b1 = <A w_i, z_j - z_c> + <A z_i, w_j - w_c>, b2 = <A z_i, z_j - z_c>. It must be 0 for j in
     * C_i, and negative on 0 < t <= 1 for all others, where b2 < 0: b0 <= 0, and b1 <= 0 or b1^2 < 4 b0 b2.
     * @param {bigint[]} row @param {number} i @returns {boolean} */
    function setLasts(row, i) {
        const [aw, az, tied, first] = [along(w[i]), along(row), new Set(sets[i]), sets[i][0]];
        const [ww, wz, zw] = [verifyScores(aw, w), verifyScores(aw, z), verifyScores(az, w)];
        return z.every((other, j) => {
            const [b0, b1] = [ww[j] - ww[first], wz[j] - wz[first] + zw[j] - zw[first]];
            if (tied.has(j)) return b0 === 0n && b1 === 0n;
            if (b0 > 0n || b1 <= 0n) return b0 <= 0n;
            const [mine, theirs] = verifyScores(az, [other, z[first]]);
            return b1 * b1 < 4n * b0 * (mine - theirs);
        });
    }

    /** Statement 5: what is said of w_i is true; and there the point ends, since t tends to 0. `vertex`: that leader
     * sits there. `point`: it is w_i. `face`: it is a mean of exactly those leaders that lie furthest along A w_i.
     * @param {number} i @param {any} end @returns {boolean} */
    function isLimit(i, end) {
        if ("vertex" in end) return leaders.has(end.vertex) && verifySame(z[end.vertex], w[i]);
        const said = end.point.map(verifyNumber);
        const isThere = w[i].every((x, k) => (tick(), said[k][0] * denominator === said[k][1] * x));
        if (!isThere || !("face" in end)) return isThere;
        const face = verifyLargest(verifyScores(along(w[i]), leading.map(([v]) => z[v]))).map((k) => leading[k][0]);
        const { over, common } = verifyNumbers(end.weights, tick);
        if (`${face}` !== `${end.face}` || over.length !== face.length) return false;
        const mean = bigSum(over, face.map((v) => z[v]));
        return over.reduce((sum, part) => sum + part) === common && verifySame(mean, w[i].map((x) => x * common));
    }
}
