/**
 * Check a certificate of an infinite-depth limit: exactly, alone, and in bounded time. This module imports nothing and
 * shares nothing with the one that makes certificates, so an error in one of them does not hide in the other.
 *
 * Points z_i with multiplicities m_i go from layer to layer by hardmax self-attention with a matrix A and a step alpha:
 *
 *     z_i  ↦  (z_i + alpha w_i) / (1 + alpha),    w_i = the mean of the points in C_i, counted with multiplicity,
 *                                                 C_i = argmax_j <A z_i, z_j>, the attended set of point i.
 *
 * A certificate states where every point ends; docs/certificate.md has its schema and the proofs of what is asked here.
 *
 * @typedef {{accepted: boolean, reason: string, decided: boolean}} Verdict  the reason names the first false statement;
 *     `decided` is false if the check was given up for its cost: then nothing is proved or refuted
 */

const VERIFY_LENGTH = 2 ** 22; // of a text
const VERIFY_ROOM = 2 ** 30; // bits of all the numbers that are held at once
const VERIFY_DIGITS = 8600; // of a number; Python reads 4,300 on either side of the stroke

/** Why a check ends: a statement is false, or the rest would cost too much (`budget: …`). */
class VerifyStop extends Error {}

/** @param {unknown} holds @param {string} reason */
function verifyRequire(holds, reason) {
    if (!holds) throw new VerifyStop(reason.slice(0, 300));
}

/**
 * Check a certificate as `JSON.parse` gives it. The text says more: there 1.0 is no index, and no key may be repeated.
 * @param {unknown} certificate @param {number} [budget] milliseconds @returns {Verdict}
 */
export function verify(certificate, budget) {
    return verifyRead(() => JSON.stringify(certificate), budget);
}

/**
 * Check the text of a certificate, or the bytes of its file.
 * @param {string | Uint8Array} text @param {number} [budget] milliseconds @returns {Verdict}
 */
export function verifyText(text, budget) {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return verifyRead(() => (typeof text === "string" ? text : decoder.decode(text)), budget);
}

/** @param {() => string} read @param {number} [budget] milliseconds @returns {Verdict} */
function verifyRead(read, budget = 10_000) {
    const end = performance.now() + budget;
    const tick = () => verifyRequire(performance.now() < end, `budget: the time of ${budget} ms is up`);
    try {
        const text = read().replace(/^\ufeff/, "");
        verifyRequire(text.length <= VERIFY_LENGTH, "unreadable: longer than 4 MB");
        const certificate = JSON.parse(text);
        // Written again it must be the same text but for spaces, which no certificate has within a word. So nothing was
        // lost in reading: no fraction 1.0 became an index, no integer beyond 2^53 was rounded, no key came twice.
        const same = JSON.stringify(certificate) === text.replace(/[ \t\n\r]+/g, "");
        verifyRequire(same, "unreadable: a key appears twice, a number is beyond 2^53, or something is spelled oddly");
        verifyShape(certificate);
        verifyWalk(certificate, tick);
        const reason = `every point has its limit, settled at layer ${certificate.settled_at}`;
        return { accepted: true, decided: true, reason };
    } catch (error) {
        // Whatever broke the check off, nothing is proved.
        const reason = error instanceof VerifyStop ? error.message : `shape: not as documented, ${error}`.slice(0, 300);
        return { accepted: false, decided: !reason.startsWith("budget:"), reason };
    }
}

/** @param {(item: any) => boolean} test @returns {(value: any) => boolean} whether it is a list of one or more such */
function verifyList(test) {
    return (value) => Array.isArray(value) && value.length > 0 && value.every(test);
}

/** @param {RegExp} pattern @returns {(value: any) => boolean} */
function verifyMatch(pattern) {
    return (value) => typeof value === "string" && pattern.test(value);
}

/** @param {any} value @param {string} keys sorted @returns {boolean} whether it is an object with just these keys */
function verifyKeys(value, keys) {
    return value instanceof Object && !Array.isArray(value) && `${Object.keys(value).sort()}` === keys;
}

/** Statement 1: the certificate is well formed. Nothing is computed yet. @param {any} c */
function verifyShape(c) {
    const header = c?.format === "hardmax-limit-certificate" && c.version === 1;
    verifyRequire(header, "version: unknown here, or not a certificate");
    /** @param {any} value */
    const index = (value) => Number.isSafeInteger(value) && value >= 0;
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
    const { sha256, ...rest } = c;
    verifyRequire(sha256 === verifySha256(verifyCanonical(rest)), "sha256: not the digest of the rest");
    /** @type {Record<string, any[]>} */
    const { points, metric, attended, limits, multiplicities } = c;
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

/** @param {any} value @returns {string} JSON, keys sorted, no spaces */
function verifyCanonical(value) {
    if (Array.isArray(value)) return `[${value.map(verifyCanonical)}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    return `{${Object.keys(value).sort().map((key) => `"${key}":${verifyCanonical(value[key])}`)}}`;
}

/** @param {bigint} x @param {bigint} y @returns {bigint} not negative */
function verifyGcd(x, y) {
    while (y) [x, y] = [y, x % y];
    return x < 0n ? -x : x;
}

/** @param {string} text @returns {[bigint, bigint]} numerator and denominator; equal numbers must be equal texts */
function verifyNumber(text) {
    verifyRequire(text.length <= VERIFY_DIGITS, `budget: a number of over ${VERIFY_DIGITS} digits`);
    const [p, q = 1n] = text.split("/").map(BigInt);
    verifyRequire(q === 1n || verifyGcd(p, q) === 1n, `shape: ${text} is not in lowest terms`);
    return [p, q];
}

/** @param {string[]} texts @param {() => void} tick @returns {{over: bigint[], common: bigint}} over one denominator */
function verifyNumbers(texts, tick) {
    const ratios = texts.map((text) => (tick(), verifyNumber(text)));
    const common = verifyMultiple(ratios.map(([, below]) => below), tick);
    return { over: ratios.map(([above, below]) => above * (common / below)), common };
}

/** @param {bigint[]} numbers @param {() => void} tick @returns {bigint} the least common multiple */
function verifyMultiple(numbers, tick) {
    let common = 1n;
    for (const number of new Set(numbers)) {
        tick();
        common *= number / verifyGcd(common, number);
    }
    return common;
}

/** @param {bigint[]} x @param {bigint[][]} rows @returns {bigint[]} the scalar product of x with each row */
function verifyScores(x, rows) {
    return rows.map((row) => row.reduce((sum, y, c) => sum + x[c] * y, 0n));
}

/** @param {bigint[]} weights @param {bigint[][]} rows @returns {bigint[]} their weighted sum */
function verifySum(weights, rows) {
    return rows[0].map((_, c) => rows.reduce((sum, row, k) => sum + weights[k] * row[c], 0n));
}

/** @param {bigint[]} x @param {bigint[]} y @returns {boolean} */
function verifySame(x, y) {
    return x.every((value, c) => value === y[c]);
}

/** @param {bigint[]} values @returns {number[]} the places of the largest */
function verifyLargest(values) {
    const largest = values.reduce((x, y) => (x > y ? x : y));
    return values.flatMap((value, j) => (value === largest ? [j] : []));
}

/** Statements 2 to 4, layer by layer, from the points on; then who leads; then statement 5.
 * @param {any} c @param {() => void} tick */
function verifyWalk(c, tick) {
    /** @type {bigint[]} */
    const counts = c.multiplicities.map(BigInt);
    /** @param {string[][]} rows @returns {bigint[][]} up to a factor */
    const table = (rows) => {
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
    const total = (several, rows) => (tick(), verifySum(several.map((j) => counts[j]), several.map((j) => rows[j])));

    /** @type {{from: number, sets: number[][]}[]} */
    const coming = [...c.attended];
    /** @type {Map<number, number>} */
    const leaders = new Map();
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

    /**
     * Statement 4 (b): while targets stand still points go straight, at (1-t) w_i + t z_i with t = 1 / (1 + alpha)^k,
     * and the attended set stays on the way: the lead of j over c in C_i is b0 (1-t)^2 + b1 t (1-t) + b2 t^2 with
     * b0 = <A w_i, w_j - w_c>, b1 = <A w_i, z_j - z_c> + <A z_i, w_j - w_c>, b2 = <A z_i, z_j - z_c>. It must be 0 for
     * j in C_i, and negative on 0 < t <= 1 for all others, where b2 < 0: b0 <= 0, and b1 <= 0 or b1^2 < 4 b0 b2.
     * @param {bigint[]} row @param {number} i @returns {boolean}
     */
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

    /**
     * Statement 5: what is said of w_i is true; and there the point ends, since t tends to 0. `vertex`: that leader
     * sits there. `point`: it is w_i. `face`: it is a mean of exactly those leaders that lie furthest along A w_i.
     * @param {number} i @param {any} end @returns {boolean}
     */
    function isLimit(i, end) {
        if ("vertex" in end) return leaders.has(end.vertex) && verifySame(z[end.vertex], w[i]);
        const said = end.point.map(verifyNumber);
        const isThere = w[i].every((x, k) => (tick(), said[k][0] * denominator === said[k][1] * x));
        if (!isThere || !("face" in end)) return isThere;
        const face = verifyLargest(verifyScores(along(w[i]), leading.map(([v]) => z[v]))).map((k) => leading[k][0]);
        const { over, common } = verifyNumbers(end.weights, tick);
        if (`${face}` !== `${end.face}` || over.length !== face.length) return false;
        const mean = verifySum(over, face.map((v) => z[v]));
        return over.reduce((sum, part) => sum + part) === common && verifySame(mean, w[i].map((x) => x * common));
    }
}

/** @param {string} text ASCII @returns {string} its SHA-256 (FIPS 180-4) in hexadecimal digits */
function verifySha256(text) {
    /** @type {number[]} the first 64 primes */
    const primes = [];
    for (let k = 2; primes.length < 64; k++) if (!primes.some((prime) => k % prime === 0)) primes.push(k);
    const hash = Int32Array.from(primes.slice(0, 8), (prime) => (Math.sqrt(prime) % 1) * 2 ** 32);
    const added = Int32Array.from(primes, (prime) => (Math.cbrt(prime) % 1) * 2 ** 32);
    const padded = new DataView(new ArrayBuffer(64 * Math.ceil((text.length + 9) / 64)));
    for (let k = 0; k < text.length; k++) padded.setUint8(k, text.charCodeAt(k));
    padded.setUint8(text.length, 0x80);
    padded.setBigUint64(padded.byteLength - 8, BigInt(8 * text.length));
    /** @param {number} x @param {number[]} by @returns {number} x turned to the right by each, combined */
    const mixed = (x, by) => by.reduce((sum, k) => sum ^ ((x >>> k) | (x << (32 - k))), 0);
    const schedule = new Int32Array(64);
    for (let start = 0; start < padded.byteLength; start += 64) {
        for (let k = 0; k < 64; k++) {
            const [x, y, sum] = [schedule[k - 15], schedule[k - 2], schedule[k - 16] + schedule[k - 7]];
            if (k < 16) schedule[k] = padded.getInt32(start + 4 * k);
            else schedule[k] = sum + (mixed(x, [7, 18]) ^ (x >>> 3)) + (mixed(y, [17, 19]) ^ (y >>> 10));
        }
        const v = Int32Array.from(hash);
        for (let k = 0; k < 64; k++) {
            const [a, b, c, , e, f, g, h] = v;
            const one = h + mixed(e, [6, 11, 25]) + ((e & f) ^ (~e & g)) + added[k] + schedule[k];
            v.copyWithin(1, 0, 7);
            v[4] += one;
            v[0] = one + mixed(a, [2, 13, 22]) + ((a & b) ^ (a & c) ^ (b & c));
        }
        for (let k = 0; k < 8; k++) hash[k] += v[k];
    }
    return Array.from(hash, (x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
}
