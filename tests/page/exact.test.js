/** The exact kernel against Python, over the vectors of write_vectors.py in the folder HARDMAX_VECTORS. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";
import fc from "fast-check";
import {
    exactLimit,
    makeCertificate,
    readNumber,
} from "../../src/hardmax/page/js/exact.js";
import { exactLayer, exactLayers } from "../../src/hardmax/page/js/layers.js";
import { verify } from "../../src/hardmax/page/js/verify.js";

// The same examples every time, as with Hypothesis.
fc.configureGlobal({ seed: 1 });
const clouds = JSON.parse(readFileSync(`${process.env.HARDMAX_VECTORS}/clouds.json`, "utf8"));
const optionsOf = ({ alpha, metric, multiplicities, max_layers }) => ({
    alpha,
    metric,
    multiplicities: multiplicities ?? undefined,
    maxLayers: max_layers ?? undefined,
    budget: 60_000,
});

test(`limits of ${clouds.length} clouds are Python's, and so are their certificates`, () => {
    for (const cloud of clouds) {
        const found = exactLimit(cloud.tokens, optionsOf(cloud));
        const firstAt = found.points.numerators.map((_, point) => found.ofToken.indexOf(point));
        const named = ({ kind, vertex, face }) => {
            if (kind === "point") return "elsewhere";
            return kind === "vertex" ? `vertex ${firstAt[vertex]}` : `face ${face.map((v) => firstAt[v]).join(", ")}`;
        };
        assert.equal(found.settledAt, cloud.settled_at, JSON.stringify(cloud));
        assert.deepEqual(found.ofToken, cloud.of_token);
        assert.deepEqual(found.leaders, cloud.leaders);
        if (found.limits === null) {
            assert.equal(found.reason, cloud.stopped.split("; ")[0]);
            continue;
        }
        const limits = found.ofToken.map((point) => found.limits[point]);
        assert.equal(found.reason, "");
        assert.deepEqual(limits.map(named), cloud.kinds);
        assert.deepEqual(limits.map(({ point }) => point), cloud.exact_limit_points);
        assert.deepEqual(limits.map(({ floats }) => floats), cloud.floats);
        // Python's jump over long ways, and list limits in another order.
        const certificates = [makeCertificate(found, optionsOf(cloud)), JSON.parse(cloud.certificate)];
        const [ours, theirs] = certificates.map(({ sha256, jumps, limits, limit_of, ...rest }) =>
            ({ ...rest, ends: limit_of.map((k) => limits[k]), last: jumps.at(-1) }));
        assert.deepEqual(ours, theirs);
    }
});

test("layers and attended sets are Python's, one by one", () => {
    for (const cloud of clouds) {
        const { points, layers } = exactLayers(cloud.tokens, { ...optionsOf(cloud), layers: cloud.layers.length - 1 });
        for (const [layer, { floats, attended }] of cloud.layers.entries()) {
            const step = layers[layer];
            assert.deepEqual(points.ofToken.map((point) => step.floats[point]), floats);
            const tokensOf = (set) => points.ofToken.flatMap((point, token) => (set.includes(point) ? [token] : []));
            assert.deepEqual(points.ofToken.map((point) => tokensOf(step.sets[point])), attended);
            if (layer === 1) assert.deepEqual(exactLayer(cloud.tokens, optionsOf(cloud)), floats);
        }
    }
});

const texts = fc.oneof(fc.integer({ min: -3, max: 3 }).map(String), fc.constantFrom("1/2", "-1/3", "0.25", "2e-1"));
const alphas = fc.constantFrom("1", "1/2", "2", "1/10", 0.3, "7/3");
const metrics = { 1: [null, [["2"]]], 2: [null, [[2, 1], [1, 1]]], 3: [null, [[2, -1, 0], [-1, 2, -1], [0, -1, 2]]] };
const problems = fc.integer({ min: 1, max: 3 }).chain((d) => {
    const token = fc.array(texts, { minLength: d, maxLength: d });
    const tokens = fc.array(token, { minLength: 1, maxLength: 9 });
    return fc.record({ tokens, alpha: alphas, metric: fc.constantFrom(...metrics[d]) });
});

test("the limit of permuted tokens is the permuted limit", () => {
    const permuted = problems.chain((problem) => {
        const places = problem.tokens.map((_, i) => i);
        const order = fc.shuffledSubarray(places, { minLength: places.length });
        return fc.record({ problem: fc.constant(problem), order });
    });
    const told = (limit) => {
        const since = new Map(limit.leaders);
        return limit.ofToken.map((point) => ({ ...limit.limits[point].point, since: since.get(point) }));
    };
    fc.assert(
        fc.property(permuted, ({ problem, order }) => {
            const one = exactLimit(problem.tokens, problem);
            const two = exactLimit(order.map((i) => problem.tokens[i]), problem);
            assert.equal(one.settledAt, two.settledAt);
            assert.deepEqual(order.map((i) => told(one)[i]), told(two));
        }),
    );
});

test("certificates are accepted; with a change and a new digest only those that are still true", () => {
    const sorted = (value) => {
        if (Array.isArray(value)) return value.map(sorted);
        if (!(value instanceof Object)) return value;
        return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
    };
    const places = (value, path = []) =>
        value instanceof Object ? Object.keys(value).flatMap((key) => places(value[key], [...path, key])) : [path];
    const nudged = (value) => (typeof value === "number" ? value + 1 : value === null ? [] : value === "1" ? "2" : "1");
    const digest = (document) => createHash("sha256").update(JSON.stringify(sorted(document))).digest("hex");
    let accepted = 0;
    fc.assert(
        fc.property(problems, fc.nat(), ({ tokens, ...options }, seed) => {
            const { sha256, ...rest } = makeCertificate(exactLimit(tokens, options), options);
            assert.equal(sha256, digest(rest));
            assert.ok(verify({ ...rest, sha256 }).accepted);
            const forged = structuredClone(rest);
            const path = places(forged)[seed % places(forged).length];
            const holder = path.slice(0, -1).reduce((value, key) => value[key], forged);
            holder[path.at(-1)] = nudged(holder[path.at(-1)]);
            assert.equal(verify({ ...forged, sha256 }).accepted, false);
            if (!verify({ ...forged, sha256: digest(forged) }).accepted) return;
            accepted++;
            const { points, denominator, multiplicities } = forged.cloud;
            const again = points.map((row) => row.map((text) => `${text}/${denominator}`));
            const { alpha: [alpha], metric } = forged.layer;
            const told = makeCertificate(exactLimit(again, { alpha, metric, multiplicities: multiplicities ?? undefined }), { alpha, metric });
            for (const key of ["attended", "settled_at", "leaders"]) assert.deepEqual(told[key], forged[key]);
        }),
        { numRuns: 150 },
    );
    assert.ok(accepted > 0, "no change left a certificate true");
});

test("one token stays where it is, whatever the float", () => {
    const floats = fc.double({ noNaN: true, noDefaultInfinity: true });
    const stays = (x) => assert.equal(exactLimit([[x]], { alpha: 1 }).limits[0].floats[0], x + 0);
    fc.assert(fc.property(floats, stays), { numRuns: 500 });
    [5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, Number.MAX_VALUE, 0.1, 1e23].forEach(stays);
});

test("halves of the last place are rounded to even, as Python rounds them", () => {
    const rounded = (text) => exactLimit([[text]], { alpha: 1 }).limits[0].floats[0];
    assert.equal(rounded("9007199254740993"), 9007199254740992);
    assert.equal(rounded("9007199254740995"), 9007199254740996);
    assert.equal(rounded("9007199254740993.0000000000000000000001"), 9007199254740994);
    assert.equal(rounded(`1/${2n ** 1075n}`), 0);
    assert.equal(rounded(`3/${2n ** 1075n}`), 1e-323);
});

test("numbers are read as they are written", () => {
    const same = { 0.1: [1n, 10n], "-1/3": [-1n, 3n], "2e-3": [1n, 500n], "+.5": [1n, 2n], "5.": [5n, 1n] };
    for (const [text, [p, q]] of Object.entries(same)) assert.deepEqual(readNumber(text), { p, q });
    assert.deepEqual(readNumber(0.1), { p: 3602879701896397n, q: 36028797018963968n });
    assert.deepEqual(readNumber("-0"), { p: 0n, q: 1n });
    for (const odd of ["", ".", "1/0", "1e999999999", "1e400", "0x10", "1_0", "NaN", "--1", "1/2/3", NaN, Infinity])
        assert.throws(() => readNumber(odd), /must be a finite number/);
});

test("what cannot be computed is refused in one line", () => {
    assert.throws(() => exactLimit([], { alpha: 1 }), /tokens must not be empty/);
    assert.throws(() => exactLimit([[1], [1, 2]], { alpha: 1 }), /row 1 has 2 numbers, row 0 1/);
    assert.throws(() => exactLimit([[1, "x"]], { alpha: 1 }), /tokens, row 0, column 1, must be a finite number/);
    assert.throws(() => exactLimit([[1]], { alpha: 0 }), /alpha must be positive/);
    assert.throws(() => exactLimit([[1]], { alpha: 1, metric: [[1, 0], [0, 1]] }), /metric must be 1 by 1/);
    assert.throws(() => exactLimit([[1]], { alpha: 1, multiplicities: [0] }), /positive whole numbers/);
    const endless = exactLimit([[1], [-1]], { alpha: "1/2", metric: [[-1]] });
    assert.match(endless.reason, /^gave up at layer 500: not settled yet$/);
    assert.throws(() => makeCertificate(endless, { alpha: "1/2", metric: [[-1]] }), /there is no proof/);
});

test("the time budget ends any run, and says so", () => {
    const ring = Array.from({ length: 400 }, (_, k) => [Math.cos(k), Math.sin(k), Math.sin(k * k), 0.1 * (k % 7)]);
    const metric = [[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1], [0, 0, -1, 0]];
    const options = { alpha: 1e-9, metric, maxLayers: 1e9, budget: 50 };
    const began = performance.now();
    const found = exactLimit(ring, options);
    assert.match(found.reason, /^gave up at layer [0-9,]+: the time of 50 ms is up$/);
    assert.ok(performance.now() - began < 3000);
});

test("200 tokens of the plane take some 50 ms", () => {
    const tokens = Array.from({ length: 200 }, (_, k) => [Math.cos(k * k) * (1 + (k % 9)), Math.sin(3 * k) * (1 + k)]);
    const times = Array.from({ length: 5 }, () => {
        const began = performance.now();
        assert.notEqual(exactLimit(tokens, { alpha: 0.5 }).settledAt, null);
        return performance.now() - began;
    });
    assert.ok(Math.min(...times) < 500, `${times}`); // a busy machine may take ten times as long
});
