// text.js against what Python says: HARDMAX_VECTORS is a folder that write_text_vectors.py wrote.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { classify, loadModel, textCharacters } from "../../src/hardmax/page/js/text.js";

const folder = process.env.HARDMAX_VECTORS ?? "";
const names = ["config.json", "vocabulary.txt", "model.safetensors", "hashes.json", "metrics.json"];

/** @param {string} model @returns {Record<string, Uint8Array>} */
const filesOf = (model) => Object.fromEntries(names.map((name) => [name, new Uint8Array(fs.readFileSync(path.join(model, name)))]));

/** @param {number} x @param {number} y */
const apart = (x, y) => (x === y ? 0 : Math.abs(x - y) / Math.max(1, Math.abs(y)));

test("characters are of the same kind, and fold to the same, as in Python", () => {
    const expected = fs.readFileSync(path.join(folder, "characters.bin"));
    const { kinds, folded } = textCharacters();
    assert.deepEqual(Buffer.from(kinds), expected.subarray(0, 0x110000));
    for (let code = 0; code < 0x110000; code++) {
        const lower = expected.readUInt32LE(0x110000 + 4 * code);
        if (code >= 0xd800 && code < 0xe000) continue;
        const found = folded.get(String.fromCodePoint(code)) ?? String.fromCodePoint(code);
        assert.equal(found.codePointAt(0), code === 0x2019 ? 0x27 : lower, code.toString(16));
    }
});

test("texts are classified as in Python", async (context) => {
    const cases = JSON.parse(fs.readFileSync(path.join(folder, "vectors.json"), "utf8"));
    let [furthest, number, milliseconds] = [0, 0, 0];
    for (const { model: location, texts, answers } of cases) {
        const model = await loadModel(filesOf(location), path.basename(location));
        for (const [at, text] of texts.entries()) {
            const expected = answers[at];
            const where = `${location} ${JSON.stringify(text.slice(0, 200))}`;
            const before = performance.now();
            const found = classify(model, text);
            milliseconds += performance.now() - before;
            number++;
            assert.equal(found.answer, expected.answer, where);
            assert.equal(found.label, expected.label, where);
            assert.equal(found.decided, expected.answer >= 0, where);
            assert.equal(found.tokens.filter((token) => token.active).length, expected.active, where);
            found.probabilities.forEach((p, c) => (furthest = Math.max(furthest, Math.abs(p - expected.probabilities[c]))));
            assert.ok(furthest <= 1e-12, `${furthest} ${where}`);
            if (!expected.ids) continue;
            for (const key of ["reason", "towards", "known", "notes"]) assert.deepEqual(found[key], expected[key], `${key} ${where}`);
            /** @type {[string, string][]} */
            const same = [["id", "ids"], ["word", "words"], ["count", "counts"], ["places", "places"], ["active", "actives"],
                ["leaderSince", "since"], ["leader", "follows"], ["start", "starts"]];
            for (const [key, theirs] of same) assert.deepEqual(found.tokens.map((token) => token[key]), expected[theirs], `${key} ${where}`);
            found.tokens.forEach((token, t) => {
                const close = [["mass", "masses"], ["contribution", "contributions"], ["vote", "votes"]];
                for (const [key, theirs] of close) assert.ok(apart(token[key], expected[theirs][t]) <= 1e-12, `${key} ${where}`);
                token.end.forEach((x, c) => assert.ok(apart(x, expected.ends[t][c]) <= 1e-12, `end ${where}`));
                assert.equal(token.leads, expected.since[t] >= 0);
            });
            const sides = found.tokens.map((token) => token.side);
            if (!found.tokens.every((token) => token.leader >= 0 || Math.abs(token.vote) < 1e-12)) assert.deepEqual(sides, expected.sides, where);
            for (const key of ["logit", "bias", "rest"]) assert.ok(apart(found[key], expected[key]) <= 1e-12, `${key} ${where}`);
            const sum = found.tokens.reduce((total, token) => total + token.contribution, found.bias);
            assert.ok(apart(sum, found.logit) <= 1e-12, where);
            if (!expected.path) continue;
            assert.equal(found.path.length, expected.path.length, `path ${where}`);
            found.path.forEach((layer, k) => layer.forEach((z, t) => z.forEach((x, c) =>
                assert.ok(apart(x, expected.path[k][t][c]) <= 1e-12, `path ${k} ${where}`))));
        }
    }
    context.diagnostic(`${number} texts, probabilities within ${furthest}, ${(milliseconds / number).toFixed(2)} ms each`);
});
