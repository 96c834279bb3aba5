/** The checker of certificates against Python's, over the vectors of write_vectors.py in the folder HARDMAX_VECTORS. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { verify, verifyText } from "../../src/hardmax/page/js/verify.js";

const folder = process.env.HARDMAX_VECTORS;
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));

test("the certificates of all clouds are accepted", () => {
    for (const { certificate, settled_at } of read("clouds")) {
        if (certificate === null) continue;
        const accepted = { accepted: true, decided: true, reason: `every point has its limit, settled at layer ${settled_at}` };
        assert.deepEqual(verifyText(certificate), accepted);
        assert.deepEqual(verify(JSON.parse(certificate)), accepted);
    }
});

test("what was tampered with, mutated or written otherwise is accepted if and only if Python accepts it", () => {
    for (const { text, accepted } of read("certificates")) {
        const verdict = verifyText(text);
        assert.equal(verdict.accepted, accepted, `${verdict.reason}: ${text.slice(0, 2000)}`);
        assert.ok(verdict.decided);
    }
});

test("hostile files end in time, and none is accepted", () => {
    for (const [name, expected] of Object.entries(read("hostile"))) {
        const began = performance.now();
        const { accepted, decided, reason } = verifyText(readFileSync(`${folder}/hostile/${name}`), 2000);
        console.log(name, expected, accepted, decided, reason.slice(0, 80), Math.round(performance.now() - began));
    }
});
