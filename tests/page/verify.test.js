/** The checker of certificates against Python's, over the vectors of write_vectors.py in the folder HARDMAX_VECTORS. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { verify, verifySigns } from "../../src/hardmax/page/js/verify.js";

const folder = process.env.HARDMAX_VECTORS;
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));

test("the certificates of all clouds are accepted", () => {
    for (const { certificate, settled_at } of read("clouds")) {
        if (certificate === null) continue;
        const reason = `every point has its limit, settled at layer ${settled_at}`;
        assert.deepEqual(verify(certificate, 60_000), { accepted: true, decided: true, reason });
        if (settled_at < 50) assert.ok(verify(JSON.parse(certificate)).accepted);
    }
});

test("what was tampered with, mutated or written otherwise is accepted if and only if Python accepts it", () => {
    let [agreed, odd] = [0, 0];
    for (const { text, accepted } of read("certificates")) {
        const verdict = verify(text);
        assert.ok(verdict.decided);
        if (verdict.accepted === accepted) agreed++;
        else {
            // Only spelling may differ: escapes, -0 for 0, multiplicities beyond 2^53.
            assert.ok(accepted && verdict.reason.startsWith("unreadable:"), `${verdict.reason}: ${text}`);
            assert.notEqual(JSON.stringify(JSON.parse(text)), text.replace(/\s/g, ""));
            odd++;
        }
    }
    assert.ok(odd < 0.05 * agreed, `${odd} of ${agreed + odd} differ`);
});

test("a lead is negative at every layer if and only if Python says so", () => {
    for (const { keep, lead, layers, negative } of read("signs")) {
        const terms = lead.map(([r, k, part]) => ({ r, k, sum: new Map(part.map((pair) => pair.map(BigInt))) }));
        const { isNegative } = verifySigns(...keep.map(BigInt), () => {});
        assert.equal(isNegative(terms, layers && BigInt(layers)), negative, JSON.stringify({ keep, lead, layers }));
    }
});

test("hostile files end in time, and only those are accepted that are true", () => {
    for (const [name, expected] of Object.entries(read("hostile"))) {
        const began = performance.now();
        const { accepted, decided, reason } = verify(readFileSync(`${folder}/hostile/${name}`), 3000);
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
    for (const odd of ["", "null", "[]", '"x"', "{}", '{"format":"hardmax-limit-certificate","version":1}'])
        assert.equal(verify(odd).accepted, false);
});
