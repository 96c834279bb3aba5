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
 * @typedef {string | bigint | null | any[] | Map<string, any>} VerifyValue  all that a certificate is made of
 * @typedef {Map<string, any>} VerifyObject
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
 * Check the text of a certificate. Text says more than `JSON.parse` leaves of it: 1.0 is no index, integers have any
 * size, and an object that has a key twice is refused.
 * @param {string | Uint8Array} text @param {number} [budget] milliseconds @returns {Verdict}
 */
export function verifyText(text, budget = 10_000) {
    return verifyVerdict(() => {
        verifyRequire(text.length <= VERIFY_BYTES, "unreadable: longer than 4 MB");
        return verifyParse(typeof text === "string" ? text : new TextDecoder("utf-8", { fatal: true }).decode(text));
    }, budget);
}

/**
 * Check a certificate as `JSON.parse` gives it. Numbers that it may have rounded are refused.
 * @param {unknown} certificate @param {number} [budget] milliseconds @returns {Verdict}
 */
export function verify(certificate, budget = 10_000) {
    return verifyVerdict(() => verifyValue(certificate, 0), budget);
}

/** @param {() => VerifyValue} read @param {number} budget @returns {Verdict} */
function verifyVerdict(read, budget) {
    const end = performance.now() + budget;
    const tick = () => verifyRequire(performance.now() < end, `budget: the time of ${budget} ms is up`);
    try {
        const certificate = read();
        verifyShape(certificate);
        const layer = verifyWalk(/** @type {VerifyObject} */ (certificate), tick);
        return { accepted: true, decided: true, reason: `every point has its limit, settled at layer ${layer}` };
    } catch (error) {
        // Whatever broke the check off, nothing is proved.
        const reason = error instanceof VerifyStop ? error.message : `shape: not as documented, ${String(error).slice(0, 200)}`;
        return { accepted: false, decided: !reason.startsWith("budget:"), reason };
    }
}

/** @param {string} text JSON, of which no certificate has fractions, exponents, true or false @returns {VerifyValue} */
function verifyParse(text) {
    const token = /[ \t\n\r]*(?:([[\]{},:])|("[^"\\]*(?:\\.[^"\\]*)*")|(-?(?:0|[1-9][0-9]*))(?![0-9.eE])|(null)|($))/y;
    const source = text.replace(/^\ufeff/, "");
    const take = () => {
        const found = token.exec(source);
        verifyRequire(found, "unreadable: not the JSON of a certificate");
        return /** @type {RegExpExecArray} */ (found);
    };
    let [, mark, string, integer, nothing, end] = take();
    const advance = () => ([, mark, string, integer, nothing, end] = take());
    /** @param {string} expected @returns {boolean} whether it comes next; it is then passed over */
    const passes = (expected) => mark === expected && Boolean(advance());
    /** @param {string} expected */
    const expect = (expected) => verifyRequire(passes(expected), `unreadable as JSON: a ${expected} is missing`);
    /** @param {string} last @param {() => void} item what to do for each of the items up to a bracket */
    const items = (last, item) => {
        if (passes(last)) return;
        do item();
        while (passes(","));
        expect(last);
    };
    /** @param {number} depth @returns {VerifyValue} */
    const value = (depth) => {
        verifyRequire(depth < 9, "unreadable: nested too deeply for a certificate");
        if (passes("[")) {
            /** @type {VerifyValue[]} */
            const list = [];
            items("]", () => list.push(value(depth + 1)));
            return list;
        }
        if (passes("{")) {
            const object = new Map();
            items("}", () => {
                verifyRequire(string, "unreadable as JSON: a key is missing");
                const key = JSON.parse(string);
                verifyRequire(!object.has(key), "unreadable: a key appears twice in one object");
                advance();
                expect(":");
                object.set(key, value(depth + 1));
            });
            return object;
        }
        verifyRequire(string ?? integer ?? nothing, "unreadable as JSON: a value is missing");
        verifyRequire((integer?.length ?? 0) <= VERIFY_DIGITS, "budget: an integer of too many digits");
        const found = string ? JSON.parse(string) : integer ? BigInt(integer) : null;
        advance();
        return found;
    };
    const document = value(0);
    verifyRequire(end !== undefined, "unreadable as JSON: more than one value");
    return document;
}

/** @param {unknown} value @param {number} depth @returns {VerifyValue} what `JSON.parse` gave, numbers as integers */
function verifyValue(value, depth) {
    verifyRequire(depth < 9, "shape: nested too deeply for a certificate");
    if (value === null || typeof value === "string" || typeof value === "bigint") return value;
    if (typeof value === "number") {
        verifyRequire(Number.isSafeInteger(value), "shape: a number that JSON.parse may have rounded; check the text");
        return BigInt(value);
    }
    verifyRequire(typeof value === "object", "shape: neither text, integer, list nor object");
    if (Array.isArray(value)) return Array.from(value, (item) => verifyValue(item, depth + 1));
    const entries = Object.entries(/** @type {object} */ (value));
    return new Map(entries.map(([key, item]) => [key, verifyValue(item, depth + 1)]));
}

/** @param {(item: any) => boolean} test @returns {(value: any) => boolean} whether it is a list of one or more such */
function verifyList(test) {
    return (value) => Array.isArray(value) && value.length > 0 && value.every(test);
}

/** @param {RegExp} pattern @returns {(value: any) => boolean} */
function verifyMatch(pattern) {
    return (value) => typeof value === "string" && pattern.test(value);
}

/** @param {any} value @param {string[]} keys @returns {boolean} whether it is an object with these keys and no others */
function verifyKeys(value, keys) {
    return value instanceof Map && value.size === keys.length && keys.every((key) => value.has(key));
}

/** @param {any} c Statement 1: the certificate is well formed. Nothing is computed yet. */
function verifyShape(c) {
    verifyRequire(c instanceof Map && typeof c.get("format") === "string", "shape: not a certificate");
    const known = c.get("format") === "hardmax-limit-certificate" && c.get("version") === 1n;
    verifyRequire(known, "version: unknown here");
    const index = (/** @type {any} */ value) => typeof value === "bigint" && value >= 0n;
    const numbers = verifyList(verifyMatch(/^(0|-?[1-9][0-9]*)(\/([2-9]|[1-9][0-9]+))?$/));
    const weights = verifyList(verifyMatch(/^(0|[1-9][0-9]*)(\/([2-9]|[1-9][0-9]+))?$/));
    const [indices, tables] = [verifyList(index), verifyList(numbers)];
    /** @type {Record<string, (value: any) => boolean>} */
    const schema = {
        alpha: verifyMatch(/^[1-9][0-9]*(\/([2-9]|[1-9][0-9]+))?$/),
        metric: (value) => value === null || tables(value),
        denominator: verifyMatch(/^[1-9][0-9]*$/),
        points: verifyList(verifyList(verifyMatch(/^(0|-?[1-9][0-9]*)$/))),
        multiplicities: verifyList((value) => index(value) && value > 0n),
        attended: verifyList(
            (entry) => verifyKeys(entry, ["from", "sets"]) && index(entry.get("from")) && verifyList(indices)(entry.get("sets")),
        ),
        settled_at: index,
        leaders: (value) => Array.isArray(value) && value.every(indices),
        limits: verifyList((end) => {
            if (verifyKeys(end, ["vertex"])) return index(end.get("vertex"));
            const onFace = verifyKeys(end, ["face", "point", "weights"]) && indices(end.get("face")) && weights(end.get("weights"));
            return (onFace || verifyKeys(end, ["point"])) && numbers(end.get("point"));
        }),
    };
    for (const [key, holds] of Object.entries(schema)) verifyRequire(holds(c.get(key)), `shape: ${key} is not as documented`);
    verifyRequire(verifyKeys(c, [...Object.keys(schema), "format", "version", "sha256"]), "shape: other keys than documented");
    const rest = new Map([...c].filter(([key]) => key !== "sha256"));
    verifyRequire(c.get("sha256") === verifySha256(verifyCanonical(rest)), "sha256: not the digest of the rest");
    const [points, metric, entries, ends] = ["points", "metric", "attended", "limits"].map((key) => c.get(key));
    const d = points[0].length;
    const wide = [...points, ...(metric ?? []), metric ?? points[0], ...ends.map((/** @type {any} */ end) => end.get("point") ?? points[0])];
    const long = [c.get("multiplicities"), ends, ...entries.map((/** @type {any} */ entry) => entry.get("sets"))];
    const fits = wide.every((row) => row.length === d) && long.every((list) => list.length === points.length);
    verifyRequire(fits, "shape: lists of unequal length");
    verifyRequire(new Set(points.map(String)).size === points.length, "points: not distinct");
    const changes = entries.every((/** @type {any} */ entry, /** @type {number} */ k) => {
        if (k === 0) return entry.get("from") === 0n;
        const before = entries[k - 1];
        return entry.get("from") > before.get("from") && verifyCanonical(entry.get("sets")) !== verifyCanonical(before.get("sets"));
    });
    verifyRequire(changes, "attended: not listed at layer 0 and whenever they change");
}

/** @param {VerifyValue} value well formed, so that texts are plain ASCII @returns {string} JSON, keys sorted, no spaces */
function verifyCanonical(value) {
    if (Array.isArray(value)) return `[${value.map(verifyCanonical).join()}]`;
    if (value instanceof Map) return `{${[...value.keys()].sort().map((key) => `"${key}":${verifyCanonical(value.get(key))}`).join()}}`;
    return typeof value === "string" ? `"${value}"` : String(value);
}

/** @param {bigint} x @param {bigint} y @returns {bigint} not negative */
function verifyGcd(x, y) {
    while (y) [x, y] = [y, x % y];
    return x < 0n ? -x : x;
}

/** @param {string} text @returns {[bigint, bigint]} numerator and denominator; equal numbers must be equal texts */
function verifyNumber(text) {
    verifyRequire(!/[0-9]{4301}/.test(text), `budget: a number of more than ${VERIFY_DIGITS} digits`);
    const [p, q] = text.split("/").map(BigInt);
    verifyRequire(q === undefined || verifyGcd(p, q) === 1n, `shape: ${text} is not in lowest terms`);
    return [p, q ?? 1n];
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
 * @param {VerifyObject} c @param {() => void} tick @returns {number} the layer at which the points are settled
 */
function verifyWalk(c, tick) {
    /** @type {bigint[][]} */
    let z = c.get("points").map((/** @type {string[]} */ row) => row.map((text) => verifyNumber(text)[0]));
    let [under] = verifyNumber(c.get("denominator"));
    const [n, d] = [z.length, z[0].length];
    const [p, q] = verifyNumber(c.get("alpha"));
    /** @type {bigint[]} */
    const counts = c.get("multiplicities");
    /** @type {[bigint, bigint][][]} */
    const ratios = (c.get("metric") ?? []).map((/** @type {string[]} */ row) => row.map(verifyNumber));
    const times = verifyMultiple(ratios.flat().map(([, below]) => below), tick);
    const metric = ratios.map((row) => row.map(([above, below]) => above * (times / below)));
    /** A z, up to a factor that changes no comparison. @param {bigint[]} row */
    const along = (row) => (tick(), metric.length ? verifyScores(row, metric) : row);
    /** @param {number[]} several @param {bigint[][]} rows the multiplicities and rows of those in a set */
    const of = (several, rows) => /** @type {const} */ ([several.map((j) => counts[j]), several.map((j) => rows[j])]);

    const coming = c.get("attended").map((/** @type {VerifyObject} */ entry) => ({
        from: entry.get("from"),
        sets: entry.get("sets").map((/** @type {bigint[]} */ several) => several.map(Number)),
    }));
    /** @type {Map<number, number>} */
    const leaders = new Map();
    /** @type {number[][]} */
    let sets = [];
    let w = z;
    for (let [layer, lasting] = [0, false]; !lasting; layer++) {
        if (layer > 0) z = z.map((row, i) => (tick(), row.map((x, k) => q * x + p * w[i][k])));
        under *= layer > 0 ? p + q : 1n;
        if (coming[0]?.from === BigInt(layer)) sets = coming.shift().sets;
        // Statement 2: these are the attended sets, by their definition.
        for (const [i, row] of z.entries()) {
            const scores = verifyScores(along(row), z);
            const best = scores.reduce((x, y) => (x > y ? x : y));
            const attended = scores.flatMap((score, j) => (score === best ? [j] : []));
            const reason = `layer ${layer}: point ${i} attends to [${attended}], not to [${sets[i]}]`;
            verifyRequire(`${attended}` === `${sets[i]}`, reason);
            // Statement 3: a point leads from the first layer on at which all that it attends to sit where it sits.
            if (!leaders.has(i) && attended.every((j) => verifySame(z[j], row))) leaders.set(i, layer);
        }
        // Points and the means of their attended sets, over one denominator.
        const sizes = sets.map((several) => several.reduce((sum, j) => sum + counts[j], 0n));
        const common = verifyMultiple(sizes, tick);
        under *= common;
        verifyRequire(under.toString(16).length * 4 * n * d <= VERIFY_ROOM, `budget: layer ${layer} needs too much memory`);
        w = sets.map((several, i) => (tick(), verifySum(...of(several, z)).map((x) => x * (common / sizes[i]))));
        z = z.map((row) => row.map((x) => x * common));
        lasting = lastForEver();
        const said = BigInt(layer) === c.get("settled_at");
        verifyRequire(lasting === said, `settled_at: the sets of layer ${layer} ${lasting ? "last" : "need not last"}`);
    }
    verifyRequire(!coming.length, "attended: not listed at layer 0 and whenever they change");
    const leading = [...leaders].sort(([i], [j]) => i - j);
    verifyRequire(JSON.stringify(leading) === verifyCanonical(c.get("leaders")), `leaders: they are ${JSON.stringify(leading)}`);
    for (const [i, end] of c.get("limits").entries())
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
            const size = several.reduce((sum, j) => sum + counts[j], 0n);
            if (!verifySame(verifySum(...of(several, w)), w[i].map((x) => x * size))) return false;
        }
        for (const [i, several] of sets.entries()) {
            const [aw, az] = [along(w[i]), along(z[i])];
            const [ww, wz, zw] = [verifyScores(aw, w), verifyScores(aw, z), verifyScores(az, w)];
            const [first, tied] = [several[0], new Set(several)];
            for (let j = 0; j < n; j++) {
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
     * Statement 5: what is said of w_i is true; and there the point ends, since t tends to 0. `vertex`: that leader sits
     * there. `point`: it is w_i. `face`: it is a mean of exactly those leaders that lie furthest along A w_i.
     * @param {number} i @param {VerifyObject} end @returns {boolean}
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
            const [x, y] = [schedule[k - 15], schedule[k - 2]];
            if (k < 16) schedule[k] = padded.getInt32(start + 4 * k);
            else schedule[k] = schedule[k - 16] + schedule[k - 7] + (mixed(x, [7, 18]) ^ (x >>> 3)) + (mixed(y, [17, 19]) ^ (y >>> 10));
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
