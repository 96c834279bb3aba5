/** Floats and clouds of the Dynamics room: floats against the exact kernel where nothing is rounded, clouds from texts. */
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { NAMED_CLOUDS, cloudFloats, cloudOf, parseCsv, readAlpha, readCell } from "../../src/hardmax/page/js/cloud.js";
import { exactLimit } from "../../src/hardmax/page/js/exact.js";
import {
    attendedTokens,
    compareRuns,
    floatRun,
    planeHull,
    positionsAt,
    runOfLimit,
} from "../../src/hardmax/page/js/floats.js";

fc.configureGlobal({ seed: 1 });
const METRICS = [null, ["2", "1", "1", "3"]];
// Small integers: with alpha = 1 floats compute some fifty layers of these without rounding, and ties are everywhere.
const coordinate = fc.integer({ min: -6, max: 6 });
const [small, large] = [[1, 12], [40, 90]].map(([minLength, maxLength]) => fc.array(fc.tuple(coordinate, coordinate), { minLength, maxLength }));
const clouds = fc.oneof(small, large);
const both = (rows, alpha, metric) => {
    const tokens = rows.map((row) => row.map(String));
    const floats = cloudFloats(tokens);
    const exact = exactLimit(tokens, { alpha, metric: metric && [metric.slice(0, 2), metric.slice(2)] });
    const numbers = metric && Float64Array.from(metric, Number);
    const run = floatRun(floats, 2, { alpha: Number(alpha), metric: numbers });
    return { exact, run, truth: runOfLimit(floats, 2, Number(alpha), exact) };
};

test("where nothing is rounded, every choice, leader and limit is that of exact arithmetic", () => {
    fc.assert(
        fc.property(clouds, fc.constantFrom(...METRICS), (rows, metric) => {
            const { exact, run, truth } = both(rows, "1", metric);
            rows.forEach((_, token) => assert.deepEqual(attendedTokens(run, token, 0), attendedTokens(truth, token, 0)));
            assert.deepEqual(Array.from(run.since), Array.from(truth.since));
            assert.deepEqual(compareRuns(truth, run), []);
            assert.ok(run.limits && exact.limits);
        }),
        { numRuns: 300 },
    );
});

test("positions after the last layer are those of more layers", () => {
    const { run } = both([[1, 1], [-1, 1], [-1, -1], [1, -1], [0.5, 0.25], [-0.25, 0.125]], "1", null);
    let z = run.layers[0].positions;
    for (let layer = 0; layer < 12; layer++) {
        positionsAt(run, layer).forEach((x, k) => assert.ok(Math.abs(x - z[k]) < 1e-15));
        const { targets } = run.layers[Math.min(layer, run.layers.length - 1)];
        z = z.map((x, k) => (x + targets[k]) / 2);
    }
    assert.deepEqual(positionsAt(run, Infinity), run.limits);
});

test("in every direction some vertex of the hull is furthest, and a thick hull has all points that are", () => {
    fc.assert(
        fc.property(clouds, fc.integer({ min: -2, max: 2 }), fc.integer({ min: -2, max: 2 }), (rows, a, b) => {
            const points = [...new Map(rows.map((row) => [`${row}`, row])).values()];
            const z = Float64Array.from(points.flat());
            const scores = points.map(([x, y]) => a * x + b * y);
            const best = Math.max(...scores);
            assert.ok(planeHull(z).some((i) => scores[i] === best));
            const thick = new Set(planeHull(z, true));
            if (a || b) scores.forEach((score, i) => assert.ok(score < best || thick.has(i)));
        }),
    );
});

test("floats lose the ties of the rotated cloud, and only these", () => {
    const differing = (name) => {
        const floats = cloudFloats(cloudOf(name));
        const truth = runOfLimit(floats, 2, 0.5, exactLimit(cloudOf(name), { alpha: "1/2" }));
        return compareRuns(truth, floatRun(floats, 2, { alpha: 0.5, metric: null }));
    };
    assert.deepEqual(differing("nonleader"), []);
    assert.deepEqual(differing("rotated").map(({ token, layer, exactly }) => [token, layer, exactly]), [[4, 0, [0, 3]], [5, 0, [1, 2]]]);
});

test("random clouds are the same for the same seed, named ones can be read", () => {
    assert.deepEqual(cloudOf("random:40,3,7"), cloudOf("random:40,3,7"));
    assert.notDeepEqual(cloudOf("random:40,3,7"), cloudOf("random:40,3,8"));
    for (const name of Object.keys(NAMED_CLOUDS)) assert.ok(cloudOf(name).length > 3);
    for (const bad of ["", "__proto__", "random:0,2,1", "random:2001,2,1", "random:3,17,1"]) assert.throws(() => cloudOf(bad));
});

test("CSV is read as it is written, and of a long one the beginning", () => {
    assert.deepEqual(parseCsv("x;y\r\n1/3;-0.1\r\n\r\n2e-3;4\r\n", "a").tokens, [["1/3", "-0.1"], ["2e-3", "4"]]);
    assert.deepEqual(parseCsv('\uFEFF"1","2"\n', "a").tokens, [["1", "2"]]);
    const { tokens, note } = parseCsv("1,2\n".repeat(1e6), "big.csv");
    assert.equal(tokens.length, 2000);
    assert.match(note, /first 2,000 rows/);
    for (const bad of ["", "1,2\n3", "1,nan", "<b>,1", "1e400,1", "1/0,1"]) assert.throws(() => parseCsv(bad, "a"));
});

test("numbers are the binary fractions that they are, texts what they say", () => {
    assert.deepEqual([0.5, -3, 0.1, "0.1"].map((value) => readCell(value, "x")), ["0.5", "-3", "3602879701896397/36028797018963968", "0.1"]);
    for (const bad of ["0", "-1", "1e4", "x", "1/0"]) assert.throws(() => readAlpha(bad));
});
