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

const VERIFY_BYTES = 2 ** 22; // of a text
const VERIFY_ROOM = 2 ** 30; // bits of all the numbers that are held at once
const VERIFY_DIGITS = 4300; // of a number, as Python reads them

/** Why a check ends: a statement is false, or the rest would cost too much (`budget: …`). */
class VerifyStop extends Error {}

/** @param {unknown} holds @param {string} reason */
function verifyRequire(holds, reason) {
    if (!holds) throw new VerifyStop(reason.length > 300 ? `${reason.slice(0, 300)}…` : reason);
}

/**
 * Check a certificate as `JSON.parse` gives it, which says less than its text: 1 may have been 1.0, and large integers
 * are rounded. What is accepted is true of the object that was given.
 * @param {unknown} certificate @param {number} [budget] milliseconds @returns {Verdict}
 */
export function verify(certificate, budget) {
    try {
        return verifyText(JSON.stringify(certificate) ?? "", budget);
    } catch (error) {
        return { accepted: false, decided: true, reason: `shape: not as documented, ${error}` };
    }
}

/**
 * Check the text of a certificate, or the bytes of its file.
 * @param {string | Uint8Array} text @param {number} [budget] milliseconds @returns {Verdict}
 */
export function verifyText(text, budget = 10_000) {
    const end = performance.now() + budget;
    const tick = () => verifyRequire(performance.now() < end, `budget: the time of ${budget} ms is up`);
    try {
        verifyRequire(text.length <= VERIFY_BYTES, "unreadable: longer than 4 MB");
        const decoder = new TextDecoder("utf-8", { fatal: true });
        const certificate = verifyParse(typeof text === "string" ? text : decoder.decode(text), tick);
        verifyShape(certificate);
        const layer = verifyWalk(certificate, tick);
        return { accepted: true, decided: true, reason: `every point has its limit, settled at layer ${layer}` };
    } catch (error) {
        // Whatever broke the check off, nothing is proved.
        const reason = error instanceof VerifyStop ? error.message : `shape: not as documented, ${error}`.slice(0, 300);
        return { accepted: false, decided: !reason.startsWith("budget:"), reason };
    }
}

/**
 * The value of a JSON text: objects are Maps, integers BigInts of any size. What no certificate has is refused: other
 * numbers, true, false, and a key that appears twice in one object.
 * @param {string} text @param {() => void} tick @returns {any}
 */
function verifyParse(text, tick) {
    const source = text.replace(/^\ufeff/, "");
    const token = /[ \t\n\r]*(?:([[\]{},:])|("[^"\\]*(?:\\.[^"\\]*)*")|(-?(?:0|[1-9][0-9]*))(?![0-9.eE])|(null)|$)/y;
    /** @type {(string | undefined)[]} the next token, by its kind; at the end there is none */
    let [mark, string, integer, nothing] = [];
    const advance = () => {
        tick();
        const found = token.exec(source);
        verifyRequire(found, "unreadable: not the JSON of a certificate");
        [, mark, string, integer, nothing] = found ?? [];
        return true;
    };
    /** @param {string} expected @returns {boolean} whether it comes next, and is then passed over */
    const passes = (expected) => mark === expected && advance();
    /** @param {string} last @param {() => void} item */
    const items = (last, item) => {
        if (passes(last)) return;
        do item();
        while (passes(","));
        verifyRequire(passes(last), `unreadable as JSON: a ${last} is missing`);
    };
    /** @param {number} depth @returns {any} */
    const value = (depth) => {
        verifyRequire(depth < 9, "unreadable: nested too deeply for a certificate");
        const [list, object] = [/** @type {any[]} */ ([]), new Map()];
        if (passes("[")) return items("]", () => list.push(value(depth + 1))), list;
        if (passes("{")) {
            items("}", () => {
                const key = JSON.parse(string ?? "");
                verifyRequire(!object.has(key), "unreadable: a key appears twice in one object");
                verifyRequire(advance() && passes(":"), "unreadable as JSON: a : is missing");
                object.set(key, value(depth + 1));
            });
            return object;
        }
        verifyRequire(string ?? integer ?? nothing, "unreadable as JSON: a value is missing");
        const found = string ? JSON.parse(string) : integer ? verifyInteger(integer) : null;
        advance();
        return found;
    };
    advance();
    const document = value(0);
    verifyRequire(!(mark ?? string ?? integer ?? nothing), "unreadable as JSON: more than one value");
    return document;
}

/** @param {string} text @returns {bigint} */
function verifyInteger(text) {
    verifyRequire(text.length <= VERIFY_DIGITS, `budget: a number of over ${VERIFY_DIGITS} digits`);
    return BigInt(text);
}

/** @param {(item: any) => boolean} test @returns {(value: any) => boolean} whether it is a list of one or more such */
function verifyList(test) {
    return (value) => Array.isArray(value) && value.length > 0 && value.every(test);
}

/** @param {RegExp} pattern @returns {(value: any) => boolean} */
function verifyMatch(pattern) {
    return (value) => typeof value === "string" && pattern.test(value);
}

/** @param {any} value @param {...string} keys @returns {boolean} whether it is an object with just these keys */
function verifyKeys(value, ...keys) {
    return value instanceof Map && value.size === keys.length && keys.every((key) => value.has(key));
}

/** Statement 1: the certificate is well formed. Nothing is computed yet. @param {any} c */
function verifyShape(c) {
    verifyRequire(c instanceof Map && typeof c.get("format") === "string", "shape: not a certificate");
    const known = c.get("format") === "hardmax-limit-certificate" && c.get("version") === 1n;
    verifyRequire(known, "version: unknown here");
    /** @param {any} value */
    const index = (value) => typeof value === "bigint" && value >= 0n;
    const [indices, sets] = [verifyList(index), verifyList(verifyList(index))];
    const numbers = verifyList(verifyMatch(/^(0|-?[1-9][0-9]*)(\/([2-9]|[1-9][0-9]+))?$/));
    const weights = verifyList(verifyMatch(/^(0|[1-9][0-9]*)(\/([2-9]|[1-9][0-9]+))?$/));
    /** @param {any} end */
    const bare = (end) => verifyKeys(end, "point") && numbers(end.get("point"));
    /** @param {any} end */
    const face = (end) => indices(end.get("face")) && weights(end.get("weights")) && numbers(end.get("point"));
    /** @type {Record<string, (value: any) => boolean>} */
    const schema = {
        alpha: verifyMatch(/^[1-9][0-9]*(\/([2-9]|[1-9][0-9]+))?$/),
        metric: (value) => value === null || verifyList(numbers)(value),
        denominator: verifyMatch(/^[1-9][0-9]*$/),
        points: verifyList(verifyList(verifyMatch(/^(0|-?[1-9][0-9]*)$/))),
        multiplicities: verifyList((value) => index(value) && value > 0n),
        attended: verifyList(
            (entry) => verifyKeys(entry, "from", "sets") && index(entry.get("from")) && sets(entry.get("sets")),
        ),
        settled_at: index,
        leaders: (value) => Array.isArray(value) && value.every(indices),
        limits: verifyList((end) => {
            if (verifyKeys(end, "vertex")) return index(end.get("vertex"));
            return verifyKeys(end, "face", "point", "weights") ? face(end) : bare(end);
        }),
    };
    for (const key in schema) verifyRequire(schema[key](c.get(key)), `shape: ${key} is not as documented`);
    const keys = [...Object.keys(schema), "format", "version", "sha256"];
    verifyRequire(verifyKeys(c, ...keys), "shape: other keys than documented");
    const digest = verifySha256(verifyCanonical(new Map([...c].filter(([key]) => key !== "sha256"))));
    verifyRequire(c.get("sha256") === digest, "sha256: not the digest of the rest");
    /** @type {any[][]} */
    const [points, metric, entries, ends] = ["points", "metric", "attended", "limits"].map((key) => c.get(key));
    const places = ends.map((end) => end.get("point") ?? points[0]);
    const wide = [...points, ...(metric ?? []), metric ?? points[0], ...places];
    const long = [points, c.get("multiplicities"), ends, ...entries.map((entry) => entry.get("sets"))];
    const equal = [wide, long].every((lists) => lists.every((list) => list.length === lists[0].length));
    verifyRequire(equal, "shape: lists of unequal length");
    verifyRequire(new Set(points.map(String)).size === points.length, "points: not distinct");
    const [layers, listed] = ["from", "sets"].map((key) => entries.map((entry) => entry.get(key)));
    const texts = listed.map(verifyCanonical);
    const changes = layers.every((from, k) => (k ? from > layers[k - 1] && texts[k] !== texts[k - 1] : from === 0n));
    verifyRequire(changes, "attended: not listed at layer 0 and whenever they change");
}

/** @param {any} value well formed, so that its texts are plain ASCII @returns {string} JSON, keys sorted, no spaces */
function verifyCanonical(value) {
    if (Array.isArray(value)) return `[${value.map(verifyCanonical)}]`;
    if (!(value instanceof Map)) return typeof value === "string" ? `"${value}"` : String(value);
    return `{${[...value.keys()].sort().map((key) => `"${key}":${verifyCanonical(value.get(key))}`)}}`;
}

/** @param {bigint} x @param {bigint} y @returns {bigint} not negative */
function verifyGcd(x, y) {
    while (y) [x, y] = [y, x % y];
    return x < 0n ? -x : x;
}

/** @param {string} text @returns {[bigint, bigint]} numerator and denominator; equal numbers must be equal texts */
function verifyNumber(text) {
    const [p, q = 1n] = text.split("/").map(verifyInteger);
    verifyRequire(q === 1n || verifyGcd(p, q) === 1n, `shape: ${text} is not in lowest terms`);
    return [p, q];
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

/** @param {bigint[]} weights @param {bigint[][]} rows @returns {bigint[]} */
function verifySum(weights, rows) {
    return rows[0].map((_, c) => rows.reduce((sum, row, k) => sum + weights[k] * row[c], 0n));
}

/** @param {bigint[]} x @param {bigint[]} y @returns {boolean} */
function verifySame(x, y) {
    return x.every((value, c) => value === y[c]);
}

/**
 * Statements 2 to 4, layer by layer, from the points on; then who leads; then statement 5.
 * @param {Map<string, any>} c @param {() => void} tick @returns {number} the layer at which the points are settled
 */
function verifyWalk(c, tick) {
    /** @type {Record<string, any[]>} */
    const { points, multiplicities: counts, metric: entries, attended, limits } = Object.fromEntries(c);
    let z = points.map((/** @type {string[]} */ row) => row.map(verifyInteger));
    let [w, under] = [z, verifyInteger(c.get("denominator"))];
    const [p, q] = verifyNumber(c.get("alpha"));
    const ratios = (entries ?? []).map((/** @type {string[]} */ row) => row.map(verifyNumber));
    const times = verifyMultiple(ratios.flat().map(([, below]) => below), tick);
    const metric = ratios.map((row) => row.map(([above, below]) => above * (times / below)));
    /** A z, up to a factor that changes no comparison. @param {bigint[]} row */
    const along = (row) => (tick(), metric.length ? verifyScores(row, metric) : row);
    /** The sum of some points, counted with multiplicity. @param {number[]} several @param {bigint[][]} rows */
    const total = (several, rows) => verifySum(several.map((j) => counts[j]), several.map((j) => rows[j]));
    const coming = attended.map((entry) => ({
        from: entry.get("from"),
        sets: entry.get("sets").map((/** @type {bigint[]} */ several) => several.map(Number)),
    }));
    /** @type {Map<number, number>} */
    const leaders = new Map();
    /** @type {number[][]} */
    let sets = [];
    /** @type {bigint[]} */
    let sizes = [];
    for (let [layer, lasting] = [0, false]; !lasting; layer++) {
        if (layer > 0) z = z.map((row, i) => (tick(), row.map((x, k) => q * x + p * w[i][k])));
        under *= layer > 0 ? p + q : 1n;
        sets = coming[0]?.from === BigInt(layer) ? coming.shift()?.sets : sets;
        // Statement 2: these are the attended sets, by their definition.
        for (const [i, row] of z.entries()) {
            const scores = verifyScores(along(row), z);
            const best = scores.reduce((x, y) => (x > y ? x : y));
            const attended = scores.flatMap((score, j) => (score === best ? [j] : []));
            const [found, said] = [`[${attended}]`, `[${sets[i]}]`];
            verifyRequire(found === said, `layer ${layer}: point ${i} attends to ${found}, not to ${said}`);
            // Statement 3: a point leads from the first layer on at which all that it attends to sit where it sits.
            if (!leaders.has(i) && attended.every((j) => verifySame(z[j], row))) leaders.set(i, layer);
        }
        // Points and the means of their attended sets, over one denominator.
        sizes = sets.map((several) => several.reduce((sum, j) => sum + counts[j], 0n));
        const common = verifyMultiple(sizes, tick);
        under *= common;
        const room = under.toString(16).length * 4 * z.length * z[0].length;
        verifyRequire(room <= VERIFY_ROOM, `budget: the numbers of layer ${layer} need too much memory`);
        w = sets.map((several, i) => (tick(), total(several, z).map((x) => x * (common / sizes[i]))));
        z = z.map((row) => row.map((x) => x * common));
        lasting = lastForEver();
        const said = BigInt(layer) === c.get("settled_at");
        verifyRequire(lasting === said, `settled_at: the sets of layer ${layer} ${lasting ? "last" : "need not last"}`);
    }
    verifyRequire(!coming.length, "attended: not listed at layer 0 and whenever they change");
    const leading = [...leaders].sort(([i], [j]) => i - j);
    const found = JSON.stringify(leading);
    verifyRequire(found === verifyCanonical(c.get("leaders")), `leaders: they are ${found}`);
    for (const [i, end] of limits.entries())
        verifyRequire(isLimit(i, end), `limits: of point ${i} it is false that ${verifyCanonical(end)}`);
    return Number(c.get("settled_at"));

    /**
     * Statement 4: the attended sets are the same at all later layers. Two things are asked.
     * (a) Targets stand still: the mean of w over C_i is w_i. So while the sets stay, points go straight, at
     *     (1-t) w_i + t z_i with t = 1 / (1 + alpha)^k.
     * (b) The sets stay on the way: the lead of j over c in C_i is b0 (1-t)^2 + b1 t (1-t) + b2 t^2 with
     *     b0 = <A w_i, w_j - w_c>, b1 = <A w_i, z_j - z_c> + <A z_i, w_j - w_c>, b2 = <A z_i, z_j - z_c>. It must be 0
     *     for j in C_i, and negative on 0 < t <= 1 for all others, where b2 < 0 is known: that is, b0 <= 0, and
     *     b1 <= 0 or b1^2 < 4 b0 b2.
     */
    function lastForEver() {
        for (const [i, several] of sets.entries()) {
            tick();
            if (!verifySame(total(several, w), w[i].map((x) => x * sizes[i]))) return false;
        }
        for (const [i, several] of sets.entries()) {
            const [aw, az] = [along(w[i]), along(z[i])];
            const [ww, wz, zw] = [verifyScores(aw, w), verifyScores(aw, z), verifyScores(az, w)];
            const [first, tied] = [several[0], new Set(several)];
            for (let j = 0; j < z.length; j++) {
                const [b0, b1] = [ww[j] - ww[first], wz[j] - wz[first] + zw[j] - zw[first]];
                if (tied.has(j) ? b0 || b1 : b0 > 0n) return false;
                if (tied.has(j) || b1 <= 0n) continue;
                const [mine, theirs] = verifyScores(az, [z[j], z[first]]);
                if (b1 * b1 >= 4n * b0 * (mine - theirs)) return false;
            }
        }
        return true;
    }

    /**
     * Statement 5: what is said of w_i is true; and there the point ends, since t tends to 0. `vertex`: that leader
     * sits there. `point`: it is w_i. `face`: it is a mean of exactly those leaders that lie furthest along A w_i.
     * @param {number} i @param {Map<string, any>} end @returns {boolean}
     */
    function isLimit(i, end) {
        if (end.has("vertex")) {
            const vertex = Number(end.get("vertex"));
            return leaders.has(vertex) && verifySame(z[vertex], w[i]);
        }
        /** @type {[bigint, bigint][]} */
        const point = end.get("point").map(verifyNumber);
        if (!point.every(([above, below], k) => (tick(), above * under === below * w[i][k]))) return false;
        if (!end.has("face")) return true;
        /** @type {[bigint, bigint][]} */
        const weights = end.get("weights").map(verifyNumber);
        const common = verifyMultiple(weights.map(([, below]) => below), tick);
        const parts = weights.map(([above, below]) => above * (common / below));
        const corners = leading.map(([v]) => z[v]);
        const scores = verifyScores(along(w[i]), corners);
        const highest = scores.reduce((x, y) => (x > y ? x : y));
        const face = leading.filter((_, k) => scores[k] === highest).map(([v]) => v);
        if (`${face}` !== `${end.get("face")}` || parts.length !== face.length) return false;
        const whole = parts.reduce((sum, part) => sum + part) === common;
        return whole && verifySame(verifySum(parts, face.map((v) => z[v])), w[i].map((x) => x * common));
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
