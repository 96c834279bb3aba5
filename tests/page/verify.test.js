/** The checker of certificates against Python's, over the vectors of write_vectors.py in the folder HARDMAX_VECTORS. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { verify, verifySigns } from "../../src/hardmax/page/js/verify.js";

const folder = process.env.HARDMAX_VECTORS;
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));

test("the certificates of all clouds are accepted", () => {
    for (const { certificate } of read("clouds")) {
        if (certificate === null) continue;
        assert.equal(verify(certificate, { budget: 60_000 }).reason, verify(JSON.parse(certificate)).reason);
        assert.ok(verify(certificate, { budget: 60_000 }).accepted);
    }
});

test("certificates of all layers, mutated or written otherwise, are accepted if Python accepts them", () => {
    let [agreed, accepts, undecided, odd] = [0, 0, 0, 0];
    for (const { text, accepted, decided, sentences } of read("certificates")) {
        const verdict = verify(text, { budget: 3000 });
        if (!decided || !verdict.decided) undecided++;
        else if (verdict.accepted === accepted) {
            // Numbers and digests of what was proved are the same, whatever the words.
            const facts = (lines) => lines.join().replaceAll(",", "").match(/[0-9a-f]{64}|[0-9]+/g);
            assert.deepEqual(facts(verdict.proved), facts(sentences));
            agreed++;
            accepts += accepted;
        } else {
            // Only spelling may differ: -0 is no count, and Python's JSON has NaN.
            assert.ok(accepted && /-0\b/.test(text), `${verdict.reason}: ${text}`);
            odd++;
        }
    }
    console.log(`${agreed} agreed, ${accepts} of them accepted, ${undecided} undecided, ${odd} odd`);
    assert.ok(accepts > 20 && undecided + odd < 0.05 * agreed);
});

test("a lead is negative at every layer if and only if Python says so", () => {
    for (const { keep, lead, layers, negative } of read("signs")) {
        const terms = lead.map(([r, k, part]) => ({ r, k, x: new Map(part.map((pair) => pair.map(BigInt))) }));
        const { isNegative } = verifySigns(...keep.map(BigInt), () => {});
        assert.equal(isNegative(terms, layers && BigInt(layers)), negative, JSON.stringify({ keep, lead, layers }));
    }
});

test("a power is enclosed", () => {
    for (const [p, q] of [[1n, 2n], [2n, 3n], [1n, 11n], [10n, 11n]]) {
        const { power } = verifySigns(p, q, () => {});
        for (let k = 0n; k < 400n; k++) {
            const [exponent, bits] = [k / 8n, 1n + 9n * (k % 8n)];
            const [low, high] = power(exponent, bits);
            const exactly = p ** exponent << bits;
            assert.ok(low * q ** exponent <= exactly && exactly <= high * q ** exponent);
            assert.ok(high - low <= 4n * exponent);
        }
    }
});

test("hostile files end in time, and only those are accepted that are true", () => {
    for (const [name, expected] of Object.entries(read("hostile"))) {
        let [began, told] = [performance.now(), 0];
        const options = { budget: 1000, progress: () => told++ };
        const { accepted, decided, reason } = verify(readFileSync(`${folder}/hostile/${name}`), options);
        assert.ok(told <= 2 + (performance.now() - began) / 200, `${name}: told ${told} times`);
        assert.ok(!accepted || expected === "true", name);
        assert.ok(decided || ["undecided", "true"].includes(expected), `${name}: ${reason}`);
        assert.ok(performance.now() - began < 20_000, name);
    }
});

test("a certificate is an object, and nothing breaks the checker", () => {
    const cyclic = {};
    cyclic.self = cyclic;
    for (const odd of [undefined, null, [], "x", 1, NaN, {}, { format: [] }, 10n, Symbol("x"), () => 1, cyclic])
        assert.equal(verify(odd).accepted, false);
    for (const odd of ["", "null", "[]", '"x"', "{}", '{"format":"hardmax-limit-certificate","version":2}'])
        assert.equal(verify(odd).accepted, false);
});
