// What the exact dynamics and the checker of certificates both need, beside BigInt: nothing in here knows of tokens.

/** The greatest common divisor, not negative. @param {bigint} x @param {bigint} y */
export function bigGcd(x, y) {
    while (y) [x, y] = [y, x % y];
    return x < 0n ? -x : x;
}

/** The least common multiple. @param {bigint} x positive @param {bigint} y positive */
export const bigMultiple = (x, y) => (x % y ? x * (y / bigGcd(x, y)) : x);
/** The weighted sum of one or more rows. @param {bigint[]} weights @param {bigint[][]} rows */
export const bigSum = (weights, rows) => rows[0].map((_, c) => rows.reduce((sum, z, k) => sum + weights[k] * z[c], 0n));

/** Rows after elimination without fractions (Bareiss, Gauss-Jordan), in which the k-th pivot is the k-th leading minor;
 * null if one of them is not positive. With swaps rows may change places, and pivots need only not be 0.
 * @param {bigint[][]} rows */
export function bigEliminated(rows, swaps = false) {
    rows = [...rows];
    let before = 1n;
    for (let k = 0; k < rows.length; k++) {
        const pivot = swaps ? rows.findIndex((row, i) => i >= k && row[k]) : k;
        if (pivot < 0 || (!swaps && rows[k][k] <= 0n)) return null;
        [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
        const lead = rows[k];
        rows = rows.map((row, i) => (i === k ? lead : row.map((x, j) => (lead[k] * x - row[k] * lead[j]) / before)));
        before = lead[k];
    }
    return rows;
}

/** JSON with sorted keys and no spaces, whose digest a certificate has. @type {(value: any) => string} */
export function canonicalJson(value) {
    if (Array.isArray(value)) return `[${value.map(canonicalJson)}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    return `{${Object.keys(value).sort().map((key) => `"${key}":${canonicalJson(value[key])}`)}}`;
}

/** SHA-256 (FIPS 180-4), in hexadecimal: Web Crypto's is asynchronous. @param {string | Uint8Array} content ASCII */
export function sha256(content) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const primes = [2];
    for (let k = 3; primes.length < 64; k++) if (primes.every((prime) => k % prime)) primes.push(k);
    const hash = Int32Array.from(primes.slice(0, 8), (prime) => (Math.sqrt(prime) % 1) * 2 ** 32);
    const added = Int32Array.from(primes, (prime) => (Math.cbrt(prime) % 1) * 2 ** 32);
    const padded = new Uint8Array(64 * Math.ceil((bytes.length + 9) / 64));
    padded.set(bytes);
    padded[bytes.length] = 0x80;
    const view = new DataView(padded.buffer);
    view.setBigUint64(padded.length - 8, BigInt(8 * bytes.length));
    /** A word rotated to the right by each of these, combined. @type {(x: number, i: number, j: number, k: number) => number} */
    const mixed = (x, i, j, k) => ((x >>> i) | (x << (32 - i))) ^ ((x >>> j) | (x << (32 - j))) ^ ((x >>> k) | (x << (32 - k)));
    const schedule = new Int32Array(64);
    for (let start = 0; start < padded.length; start += 64) {
        for (let k = 0; k < 64; k++) {
            const [x, y] = [schedule[k - 15], schedule[k - 2]]; // a rotation by 0 cancels the word itself
            if (k < 16) schedule[k] = view.getInt32(start + 4 * k);
            else schedule[k] = schedule[k - 16] + schedule[k - 7] + (mixed(x, 7, 18, 0) ^ x ^ (x >>> 3)) + (mixed(y, 17, 19, 0) ^ y ^ (y >>> 10));
        }
        let [a, b, c, d, e, f, g, h] = hash;
        for (let k = 0; k < 64; k++) {
            const one = (h + mixed(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + added[k] + schedule[k]) | 0;
            const two = mixed(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
            [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
        }
        [a, b, c, d, e, f, g, h].forEach((x, k) => (hash[k] += x));
    }
    return Array.from(hash, (x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
}
