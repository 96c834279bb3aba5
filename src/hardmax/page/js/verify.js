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

/** The places of the largest. @param {bigint[]} values */
function verifyLargest(values) {
    const largest = values.reduce((x, y) => (x > y ? x : y));
    return values.flatMap((value, j) => (value === largest ? [j] : []));
}

/** A sum of c g^e, by e: g = 1 / (1 + alpha), and no long power of it is ever written out.
 * @typedef {Map<bigint, bigint>} VerifySum
 * Where points are m layers later: the sum of g^(e + r m) C(m, k) times the rows.
 * @typedef {{e: bigint, r: number, k: number, rows: bigint[][]}[]} VerifyForm */

/** @param {bigint[][]} terms pairs (e, c) @returns {VerifySum} */
function verifyTotal(terms) {
    const sum = new Map();
    for (const [e, c] of terms) sum.set(e, (sum.get(e) ?? 0n) + c);
    return sum;
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
     * What is left is enclosed ever more closely, until 0 is outside. @param {VerifySum} sum */
    function sign(sum) {
        let left = [...sum].filter(([, c]) => c).sort(([e], [f]) => (e < f ? -1 : 1));
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

    /** Whether a lead, the sum of terms g^(r m) C(m, k) times a sum of powers, is negative at m = 1 to layers, or for
     * ever, as it is at 0. Ever smaller ranges are looked at. From `first` to `last` C(m, k) is put at the end at which
     * the term is larger: what is left is a polynomial in g^m, whose coefficients in Bernstein's form must be negative.
     * From `first` on, no positive term may gain on the one that is the largest in the end.
     * @param {{r: number, k: number, sum: VerifySum}[]} terms @param {bigint | null} layers */
    function isNegative(terms, layers) {
        const all = terms.map((term) => ({ ...term, sign: sign(term.sum) })).filter((term) => term.sign);
        const positive = all.filter((term) => term.sign > 0);
        const main = all.reduce((a, b) => (a.r < b.r || (a.r === b.r && a.k > b.k) ? a : b));
        if (!positive.length || (layers === null && main.sign > 0)) return !positive.length;
        // Points that go straight are seldom that close: b0 (1-t)^2 + b1 t (1-t) + b2 t^2 is negative if b1^2 < 4 b0 b2.
        const [b0, a1, a2] = [0, 1, 2].map((r) => all.find((term) => term.r === r)?.sum.get(0n) ?? 0n);
        const straight = all.every(({ k, sum }) => !k && sum.size === 1 && sum.has(0n));
        if (straight && (a1 + 2n * b0) ** 2n < 4n * b0 * (b0 + a1 + a2)) return true;
        /** @type {(some: typeof all, size: (term: typeof main) => bigint) => [number, bigint, bigint][]} */
        const sized = (some, size) =>
            some.flatMap((term) => {
                const factor = verifyChoose(size(term), term.k);
                return [...term.sum].map(([e, c]) => /** @type {[number, bigint, bigint]} */ ([term.r, e, c * factor]));
            });
        const ranges = /** @type {[bigint, bigint | null][]} */ ([[1n, layers]]);
        for (let range = ranges.pop(); range; range = ranges.pop()) {
            tick();
            const [first, last] = range;
            /** @type {(terms: [number, bigint, bigint][], ...shifts: bigint[][]) => boolean} */
            const isBelow = (terms, ...shifts) =>
                sign(verifyTotal(terms.flatMap(([r, e, c]) => shifts[r].map((shift) => [e + shift, c])))) < 0;
            if (last === null) {
                const gains = positive.some(({ r, k }) => {
                    const [s, ahead] = [BigInt(r - main.r), first + 1n];
                    return p ** s * (ahead - BigInt(main.k)) > q ** s * (ahead - BigInt(k));
                });
                if (!gains && isBelow(sized([main, ...positive], () => first), [0n], [first], [2n * first])) continue;
            } else {
                const terms = sized(all, (term) => (term.sign > 0 ? last : first));
                const ends = [first, last].every((m) => isBelow(terms, [0n], [m], [2n * m]));
                if (ends && isBelow(terms, [0n, 0n], [first, last], [first + last, first + last])) continue;
                if (first === last) return false;
            }
            const half = last === null || first + last > 4n * first ? 2n * first : (first + last) / 2n;
            ranges.push([half + 1n, last], [first, half]);
        }
        return true;
    }
    return { sign, isNegative };
}

/** Statements 2 to 4, from one change of sets to the next; then who leads; then statement 5.
 * @param {any} c @param {() => void} tick */
function verifyWalk(c, tick) {
    const counts = /** @type {bigint[]} */ (c.multiplicities.map(BigInt));
    const table = (/** @type {string[][]} */ rows) => {
        const { over } = verifyNumbers(rows.flat(), tick);
        return rows.map((row, i) => over.slice(i * row.length, (i + 1) * row.length));
    };
    const metric = table(c.metric ?? []);
    const [p, q] = verifyNumber(c.alpha);
    const { sign, isNegative } = verifySigns(q, p + q, tick);
    let scale = verifyNumber(c.denominator)[0];
    let z = new Map([[0n, table(c.points)]]); // positions times the scale: sums of g^e times rows, by e
    const everybody = /** @type {number[]} */ ([...c.points.keys()]);
    const axes = /** @type {number[]} */ ([...c.points[0].keys()]);
    /** A z, up to a factor that changes no comparison. @param {bigint[]} row */
    const along = (row) => (tick(), metric.length ? verifyScores(row, metric) : row);
    /** @type {(...parts: [bigint, bigint[][]][]) => bigint[][]} */
    const mixed = (...parts) =>
        everybody.map((i) => bigSum(parts.map(([factor]) => factor), parts.map(([, rows]) => rows[i])));

    /** The scores of all along A z_i, sorted by r and k. @param {VerifyForm} form @param {number} i */
    function scored(form, i) {
        const found = /** @type {Map<string, {r: number, k: number, rows: Map<bigint, bigint[]>}>} */ (new Map());
        for (const x of form) {
            const direction = along(x.rows[i]);
            for (const y of form) {
                const [row, e, r] = [verifyScores(direction, y.rows), x.e + y.e, x.r + y.r];
                // C(m, a) C(m, b) is the sum of C(k, a) C(a, k - b) C(m, k) over k.
                for (let k = Math.max(x.k, y.k); k <= x.k + y.k; k++) {
                    const factor = verifyChoose(BigInt(k), x.k) * verifyChoose(BigInt(x.k), k - y.k);
                    const there = found.get(`${r},${k}`) ?? { r, k, rows: new Map() };
                    const old = there.rows.get(e);
                    there.rows.set(e, row.map((score, j) => factor * score + (old?.[j] ?? 0n)));
                    found.set(`${r},${k}`, there);
                }
            }
        }
        return [...found.values()];
    }

    /** Which of some points lie furthest along A z_i. @param {typeof z} z @param {number} i @param {number[]} some */
    function furthest(z, i, some) {
        const [{ rows }] = scored([...z].map(([e, rows]) => ({ e, r: 0, k: 0, rows })), i);
        const row = rows.get(0n) ?? [];
        if (rows.size === 1) return verifyLargest(some.map((j) => row[j])).map((k) => some[k]);
        let best = /** @type {number[]} */ ([]);
        for (const j of some) {
            const lead = best.length ? sign(new Map([...rows].map(([e, x]) => [e, x[j] - x[best[0]]]))) : 1;
            best = lead > 0 ? [j] : lead === 0 ? [...best, j] : best;
        }
        return best;
    }

    /** Whether two points sit at the same place. @param {typeof z} z @param {number} i @param {number} j */
    const coincide = (z, i, j) =>
        i === j || axes.every((k) => !sign(new Map([...z].map(([e, rows]) => [e, rows[i][k] - rows[j][k]]))));

    /** A factor, and that factor times the means over the sets. @param {number[][]} sets @param {typeof z} z */
    function means(sets, z) {
        const sizes = sets.map((several) => several.reduce((sum, j) => sum + counts[j], 0n));
        const common = verifyMultiple(sizes, tick);
        const mean = (/** @type {bigint[][]} */ rows) => sets.map((several, i) => {
            tick();
            return bigSum(several.map((j) => (counts[j] * common) / sizes[i]), several.map((j) => rows[j]));
        });
        return { common, w: new Map([...z].map(([e, rows]) => [e, mean(rows)])) };
    }

    /** Where points are m layers later while the sets stay, and over what; null if there is no such form. With M for
     * the mean over the attended set a layer is g z + (1-g) M z. If M w = w for w = M^L z, m of them are
     * w + g^m (the sum of C(m, k) alpha^k (M^k z - w) over k < L), by the binomial theorem. @param {number[][]} sets */
    function closedForm(sets) {
        let [steps, over, moving] = [[z], scale, new Set([-1, ...everybody])];
        for (;;) {
            const last = steps[steps.length - 1];
            const { common, w } = means(sets, last);
            const before = moving;
            const goes = (/** @type {number} */ i) => [...w].some(([e, rows]) => {
                const old = /** @type {bigint[][]} */ (last.get(e))[i];
                return rows[i].some((x, k) => x !== common * old[k]);
            });
            moving = new Set(everybody.filter(goes));
            if (!moving.size) break;
            if ([...before].every((i) => moving.has(i))) return null;
            steps = [...steps.map((z) => new Map([...z].map(([e, rows]) => [e, mixed([common, rows])]))), w];
            over *= common;
        }
        const ends = /** @type {typeof z} */ (steps.pop());
        const most = BigInt(Math.max(0, steps.length - 1));
        const form = /** @type {VerifyForm} */ ([]);
        for (const [e, end] of ends) {
            form.push({ e, r: 0, k: 0, rows: mixed([q ** most, end]) });
            for (const [k, step] of steps.entries()) {
                const factor = p ** BigInt(k) * q ** (most - BigInt(k));
                form.push({ e, r: 1, k, rows: mixed([factor, step.get(e) ?? []], [-factor, end]) });
            }
        }
        return { form, over: over * q ** most };
    }

    /** Statement 4: the attended sets are the same for so many layers, or for ever (null). The lead of j over c in C_i
     * must be 0 if j is in C_i, and negative if not; who follows a leader does so for ever.
     * @param {number[][]} sets @param {VerifyForm} form @param {bigint | null} layers */
    const stay = (sets, form, layers) => sets.every((tied, i) => {
        if ((tied.length === 1 && `${sets[tied[0]]}` === `${tied}`) || form.every(({ r }) => !r)) return true;
        const scores = scored(form, i);
        return everybody.every((j) => {
            const lead = scores.map(({ r, k, rows }) =>
                ({ r, k, sum: new Map([...rows].map(([e, row]) => [e, row[j] - row[tied[0]]])) }));
            return tied.includes(j) ? !lead.some(({ sum }) => sign(sum)) : isNegative(lead, layers);
        });
    });

    /** Go some layers further.
     * @param {number[][]} sets @param {ReturnType<typeof closedForm>} found @param {number} layers */
    function move(sets, found, layers) {
        if (layers === 1 || !found) {
            const { common, w } = means(sets, z);
            z = new Map([...z].map(([e, rows]) => [e, mixed([q * common, rows], [p, w.get(e) ?? []])]));
            scale *= (p + q) * common;
        } else {
            const [m, parts] = [BigInt(layers), /** @type {Map<bigint, [bigint, bigint[][]][]>} */ (new Map())];
            const close = m * verifyBits(p + q) <= 4096n;
            for (const { e, r, k, rows } of found.form) {
                const [factor, at] = [close ? (r ? q : p + q) ** m : 1n, close || !r ? e : e + m];
                parts.set(at, [...(parts.get(at) ?? []), [factor * verifyChoose(m, k), rows]]);
            }
            z = new Map([...parts].map(([e, some]) => [e, mixed(...some)]));
            scale = found.over * (close ? (p + q) ** m : 1n);
        }
        const digits = [...z.values()].flat(2).reduce((sum, x) => sum + Number(verifyBits(x)), 0);
        verifyRequire(digits <= VERIFY_ROOM, "budget: the numbers need too much memory");
    }

    const leaders = /** @type {Map<number, number>} */ (new Map());
    let ends = /** @type {typeof z} */ (new Map());
    for (const [k, { from, sets }] of /** @type {{from: number, sets: number[][]}[]} */ (c.attended).entries()) {
        const until = c.attended[k + 1]?.from ?? null;
        for (let layer = from; layer !== until; ) {
            for (const i of everybody) {
                // Statement 2: these are the attended sets, by their definition.
                const [found, said] = [`[${furthest(z, i, everybody)}]`, `[${sets[i]}]`];
                verifyRequire(found === said, `layer ${layer}: point ${i} attends to ${found}, not to ${said}`);
                // Statement 3: a point leads from the first layer on at which all that it attends to sit where it sits.
                if (!leaders.has(i) && sets[i].every((j) => coincide(z, i, j))) leaders.set(i, layer);
            }
            const found = closedForm(sets);
            verifyRequire(layer <= c.settled_at - (until === null ? 0 : 1), "settled_at: before the last change");
            if (until === null) {
                const words = found && stay(sets, found.form, null) ? "last" : "need not last";
                const told = `settled_at: the sets of layer ${layer} ${words}`;
                verifyRequire((words === "last") === (layer === c.settled_at), told);
                if (found && layer === c.settled_at) {
                    ends = new Map(found.form.filter(({ r }) => !r).map(({ e, rows }) => [e, rows]));
                    scale = found.over;
                    break;
                }
            }
            const far = until === null || !found ? 1 : until - layer;
            const jump = found && far > 1 && stay(sets, found.form, BigInt(far - 1)) ? far : 1;
            move(sets, found, jump);
            layer += jump;
        }
    }
    const leading = [...leaders].sort(([i], [j]) => i - j);
    const said = JSON.stringify(leading);
    verifyRequire(said === JSON.stringify(c.leaders), `leaders: they are ${said}`);
    for (const [i, end] of c.limits.entries())
        verifyRequire(isLimit(i, end), `limits: of point ${i} it is false that ${JSON.stringify(end)}`);

    /** Statement 5: what is said of w_i is true; and there the point ends, since g^m C(m, k) tends to 0. `vertex`: that
     * leader sits there. `point`: it is w_i. `face`: it is a mean of just those leaders that lie furthest along A w_i.
     * @param {number} i @param {any} end @returns {boolean} */
    function isLimit(i, end) {
        if ("vertex" in end) return leaders.has(end.vertex) && coincide(ends, i, end.vertex);
        const isThere = axes.every((k) => {
            const [above, below] = verifyNumber(end.point[k]);
            return !sign(verifyTotal([[0n, -above * scale], ...[...ends].map(([e, rows]) => [e, below * rows[i][k]])]));
        });
        if (!isThere || !("face" in end)) return isThere;
        const face = furthest(ends, i, leading.map(([v]) => v));
        const { over, common } = verifyNumbers(end.weights, tick);
        if (`${face}` !== `${end.face}` || over.length !== face.length) return false;
        const off = (/** @type {bigint[][]} */ rows) => bigSum([...over, -common], [...face, i].map((v) => rows[v]));
        const isMean = axes.every((k) => !sign(new Map([...ends].map(([e, rows]) => [e, off(rows)[k]]))));
        return isMean && over.reduce((sum, part) => sum + part) === common;
    }
}
