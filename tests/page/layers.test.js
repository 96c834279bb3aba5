/** Layers other than the paper's against Python, over what write_layers.py wrote to the file HARDMAX_LAYERS. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { cloudFloats } from "../../src/hardmax/page/js/cloud.js";
import { FLOAT_ENOUGH, checkLayer, exactLayers, floatLayers, otherParts, readAttention, runOfLayers } from "../../src/hardmax/page/js/layers.js";

const { exact, softmax } = JSON.parse(readFileSync(process.env.HARDMAX_LAYERS, "utf8"));

test(`attended sets, positions and leaders of ${exact.length} clouds are Python's`, (context) => {
    let refused = 0;
    for (const { tokens, positions, attended, leaders, ...layer } of exact) {
        const found = exactLayers(tokens, { ...layer, layers: positions.length - 1, budget: 60_000 });
        const { ofToken } = found.points;
        refused += found.reason ? 1 : 0;
        const whole = found.reason ? positions.slice(0, found.layers.length) : positions;
        assert.ok(whole.length === found.layers.length);
        whole.forEach((rows, k) => {
            const { sets, floats } = found.layers[k];
            assert.deepEqual(ofToken.map((point) => floats[point]), rows, JSON.stringify(layer));
            const tokensOf = (set) => ofToken.flatMap((point, token) => (set.includes(point) ? [token] : []));
            assert.deepEqual(ofToken.map((point) => tokensOf(sets[point])), attended[k], JSON.stringify(layer));
        });
        const run = runOfLayers(tokens[0].length, found);
        if (!found.reason) assert.deepEqual(run.first.map((token, i) => run.since[i]), run.first.map((token) => leaders[token]));
    }
    assert.ok(refused <= 0.05 * exact.length, `${refused}`);
    context.diagnostic(`refused by name: ${refused} of ${exact.length}`);
});

test(`softmax of ${softmax.length} clouds is within 1e-9 of Python's enclosures, or says that floats do not suffice`, (context) => {
    const refused = { plain: 0, value: 0 }, drawn = { plain: 0, value: 0 };
    let worst = 0;
    for (const { tokens, positions, error, metric, ...layer } of softmax) {
        const options = { ...layer, metric: metric && cloudFloats(metric.map((row) => row.map(String))) };
        const run = floatLayers(cloudFloats(tokens), tokens[0].length, options, { layers: positions.length - 1, budget: 60_000 });
        const kind = layer.value ? "value" : "plain";
        drawn[kind] += 1;
        refused[kind] += run.layers.length < positions.length || run.errors.some((each) => each > FLOAT_ENOUGH) ? 1 : 0;
        run.layers.forEach(({ positions: rows }, k) => {
            const off = Math.max(...positions[k].flat().map((x, at) => Math.abs(x - rows[at])));
            // The bound holds, whether it is small or not.
            assert.ok(off <= run.errors[k] + error, `${off} at layer ${k}, but ${run.errors[k]}: ${JSON.stringify(layer)}`);
            if (run.errors[k] <= FLOAT_ENOUGH) worst = Math.max(worst, off);
        });
    }
    const told = `${refused.plain} of ${drawn.plain}, with a value matrix ${refused.value} of ${drawn.value}`;
    context.diagnostic(`floats do not suffice: ${told}; largest difference otherwise ${worst}`);
    assert.ok(worst <= 1e-9, `${worst}`);
    assert.ok(refused.plain <= 0.05 * drawn.plain, told);
    assert.ok(refused.value <= 0.3 * drawn.value, told); // its norm multiplies the bound in every layer
});

test("layers are called by their names, and wrong ones are refused in one line", () => {
    assert.deepEqual(otherParts({ mask: null, value: null, attention: null }), []);
    assert.deepEqual(otherParts({ value: [["1", "0"], ["0/3", "1.0"]], attention: "topk:1" }), []);
    const names = ["a causal mask", "a value matrix", "top-2 attention"];
    assert.deepEqual(otherParts({ mask: "causal", value: [["1/2"]], attention: "topk:2" }), names);
    for (const bad of ["topk", "topk:0", "topk:1/2", "softmax:0", "softmax:-1", "localmax:-1", "x:1", "softmax:1e999999999"])
        assert.throws(() => readAttention(bad), /must be/);
    assert.throws(() => checkLayer({ alpha: "1/2", value: [["-2"]] }, 1), /has no inverse/);
    assert.throws(() => checkLayer({ alpha: "1/2", value: [["1"]] }, 2), /2 by 2/);
    assert.throws(() => checkLayer({ alpha: "1/2", mask: "other" }, 2), /mask must be causal/);
});
