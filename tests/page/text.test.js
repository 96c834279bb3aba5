// text.js against what Python says: HARDMAX_VECTORS is a folder that write_text_vectors.py wrote.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { classify, loadModel, removalsFlip, unpackModel } from "../../src/hardmax/page/js/text.js";
import { textCharacters, textFold, textWords, withoutWords } from "../../src/hardmax/page/js/textwords.js";

const folder = process.env.HARDMAX_VECTORS ?? "";
const { default: fc } = await import("fast-check").catch(() => ({ default: null }));
const names = ["config.json", "vocabulary.txt", "model.safetensors", "hashes.json", "metrics.json"];

/** @param {string} model @returns {Record<string, Uint8Array>} */
const filesOf = (model) => {
    return Object.fromEntries(names.map((name) => [name, new Uint8Array(fs.readFileSync(path.join(model, name)))]));
};

/** @param {number} x @param {number} y @param {string} where */
const assertClose = (x, y, where = "") => {
    assert.ok(Math.abs(x - y) <= 1e-12 * Math.max(1, Math.abs(y)), `${x} is not ${y} ${where}`);
};

test("characters are of the same kind, and fold to the same, as in Python", () => {
    const expected = fs.readFileSync(path.join(folder, "characters.bin"));
    const { kinds, folded } = textCharacters();
    assert.deepEqual(Buffer.from(kinds), expected.subarray(0, 0x110000));
    for (let code = 0; code < 0x110000; code++) {
        const lower = expected.readUInt32LE(0x110000 + 4 * code);
        if (code >= 0xd800 && code < 0xe000) continue;
        const found = folded.get(String.fromCodePoint(code)) ?? String.fromCodePoint(code);
        assert.equal(found.codePointAt(0), code === 0x2019 ? 0x27 : lower, code.toString(16));
        if (code >= 0x20000) continue;
        const [stretched, letters] = [expected[5 * 0x110000 + code], textFold(`_${found.repeat(4)}_`)];
        assert.equal(letters, `_${found.repeat(stretched ? 2 : 4)}_`, code.toString(16));
    }
});

test("texts have the words that they have in Python", () => {
    const cases = JSON.parse(fs.readFileSync(path.join(folder, "words.json"), "utf8"));
    assert.equal(cases.length, 3000);
    for (const [text, expected] of cases) {
        const found = textWords(text).map(({ surface, start, end }) => [surface, start, end]);
        assert.deepEqual(found, expected, JSON.stringify(text));
    }
});

test("texts are classified as in Python, bit for bit", async (context) => {
    const cases = JSON.parse(fs.readFileSync(path.join(folder, "texts.json"), "utf8"));
    let [furthest, number, milliseconds] = [0, 0, 0];
    for (const { model: location, texts, answers } of cases) {
        const model = await loadModel(filesOf(location), path.basename(location));
        for (const [at, text] of texts.entries()) {
            const { active, attends, probabilities, tokens, ...expected } = answers[at];
            const where = `${location} ${JSON.stringify(text.slice(0, 200))}`;
            const before = performance.now();
            const found = classify(model, text);
            milliseconds += performance.now() - before;
            number++;
            for (const [key, value] of Object.entries(expected)) assert.deepEqual(found[key], value, `${key} ${where}`);
            assert.equal(found.decided, expected.answer >= 0, where);
            assert.equal(found.tokens.filter((token) => token.active).length, active, where);
            assert.equal(found.tokens.flatMap((token) => token.attended.filter(Boolean)).length, attends, where);
            // Exponentials are rounded differently.
            const differences = found.probabilities.map((p, c) => Math.abs(p - probabilities[c]));
            furthest = Math.max(furthest, ...differences);
            assert.ok(furthest <= 1e-15, `${furthest} ${where}`);
            if (tokens) assert.deepEqual(found.tokens, tokens, where); // of reviews not all is written
        }
    }
    const each = (milliseconds / number).toFixed(2);
    context.diagnostic(`${number} texts, probabilities within ${furthest}, ${each} ms each`);
});

test("files are refused, with one clear line, where Python refuses them", async () => {
    const cases = JSON.parse(fs.readFileSync(path.join(folder, "damaged.json"), "utf8"));
    for (const { name, files: packed, said } of cases) {
        const files = Object.fromEntries(
            Object.entries(packed).map(([file, data]) => [file, new Uint8Array(Buffer.from(data, "base64"))]),
        );
        const found = await loadModel(files, "<b>name").then(() => "", (error) => error.message);
        assert.equal(found === "", said === "", `${name}: "${found}" and in Python "${said}"`);
        if (!found) continue;
        assert.match(found, /^The model "<b>name" cannot be used: .{10,300}\.$/, name);
        assert.doesNotMatch(found, /undefined|Cannot|\[object|is not a function|not iterable/, name);
    }
});

test("a byte that has changed, and a file that is missing, are noticed", async () => {
    const files = filesOf(path.join(folder, "models", "0"));
    for (const file of ["config.json", "vocabulary.txt", "model.safetensors"]) {
        const changed = files[file].slice();
        changed[changed.length - 2] ^= 1;
        const given = { ...files, [file]: changed };
        await assert.rejects(loadModel(given, "m"), new RegExp(`${file} is not as it was saved`));
        const { [file]: _, ...rest } = files;
        await assert.rejects(loadModel(rest, "m"), new RegExp(`${file} is missing`));
    }
});

test("a packed model is the one that was packed", async () => {
    const files = filesOf(path.join(folder, "models", "0"));
    const sizes = Object.entries(files).map(([name, data]) => [name, data.length]);
    const header = Buffer.from(JSON.stringify({ name: "näme", files: sizes }));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(header.length);
    const packed = gzipSync(Buffer.concat([length, header, ...Object.values(files)])).toString("base64");
    const found = await unpackModel(packed);
    assert.deepEqual(found, files);
    await loadModel(found, "näme");
});

/** A model of two classes, from numbers. @param {Record<string, number>} weights @param {Record<string, any>} config */
const modelOf = (weights, config = {}) => {
    const [tokens, encode] = [Object.keys(weights), (/** @type {any} */ value) => new TextEncoder().encode(value)];
    const given = { format: "hardmax text model", version: 2, classes: ["no", "yes"], modifiers: [], scope: 4, gate: 0,
        alpha: "0", neutral_weight: 1, tokeniser: {}, tokens: tokens.length, ...config };
    const offsets = [4 * tokens.length, 4 * tokens.length + 4];
    const header = encode(JSON.stringify({
        weights: { dtype: "F32", shape: [tokens.length, 1], data_offsets: [0, offsets[0]] },
        bias: { dtype: "F32", shape: [1], data_offsets: offsets },
    }));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    const numbers = new Uint8Array(Float32Array.from([...Object.values(weights), 0]).buffer);
    return loadModel({
        "config.json": encode(JSON.stringify(given)),
        "vocabulary.txt": encode(tokens.map((token) => `${token}\t1\t0\n`).join("")),
        "model.safetensors": new Uint8Array(Buffer.concat([length, header, numbers])),
    }, "made");
};

test("a word attends to the strongest modifier in its clause, of equals to the nearest", async () => {
    const modifiers = [["never", -0.5], ["not", -0.5], ["*n't", 2.5], ["hardly", -1]];
    const config = { modifiers: modifiers.map(([word, factor]) => ({ word, factor })), scope: 3 };
    const model = await modelOf({ boring: -2, "not boring": 1 }, config);
    const readings = {
        "It never gets boring": ["never"], "It never, ever gets boring": [], "never a b boring": ["never"],
        "never a b c boring": [], "never not so boring": ["not"], "never didn't boring": ["didn't"],
        "hardly never boring": ["hardly"], "boring. Never boring": ["never"], "never (boring)": [],
        "never -- boring": [], "never-boring": ["never"], "isn’t 1.5 boring": ["isn't"], "never\nboring": ["never"],
    };
    for (const [text, attended] of Object.entries(readings)) {
        const token = classify(model, text).tokens.find(({ word }) => word === "boring");
        assert.deepEqual(token?.modifiers, attended, text);
    }
    const [boring, phrase] = classify(model, "not boring; boring").tokens;
    assert.deepEqual([boring.factor, boring.attended], [0.25, [[0, 3, -0.5, 0], null]]);
    assert.deepEqual([phrase.factor, phrase.attended], [1, [null]]);
});

test("words that are crossed out change the label", async () => {
    const model = await modelOf({ awful: -4, great: 2 });
    const text = "An awful script, an awful film; but the cast is great.";
    const { words, text: changed, label, probability } = removalsFlip(model, text);
    assert.deepEqual(words, ["awful"]);
    assert.equal(changed, "An ⋯ script, an ⋯ film; but the cast is great.");
    assert.deepEqual([label, probability], [classify(model, changed).label, classify(model, changed).probability]);
    assert.notEqual(label, classify(model, text).label);
    assert.deepEqual(removalsFlip(model, "qqq").words, []);
});

test("where no other label is found, the words are crossed out without which there is none", async () => {
    const model = await modelOf({ awful: -4, dull: -1, "so dull": -2 });
    const { words, text, label } = removalsFlip(model, "An awful film and so dull.");
    assert.deepEqual([words, text, label], [["awful", "dull"], "An ⋯ film and so ⋯.", null]);
    assert.equal(classify(model, text).decided, false);
});

test("a modifier is crossed out if that changes the label", async () => {
    const model = await modelOf({ boring: -2 }, { modifiers: [{ word: "never", factor: -0.5 }] });
    assert.deepEqual(removalsFlip(model, "It never gets boring.").words, ["never"]);
});

test("what is left after crossing out is known by where it was", () => {
    const { text, origin } = withoutWords("a good 👍 film", [{ start: 2, end: 6 }, { start: 7, end: 9 }]);
    assert.equal(text, "a ⋯ ⋯ film");
    assert.deepEqual(origin, [0, 1, 2, 6, 7, 9, 10, 11, 12, 13]);
});

const skip = !fc && "fast-check is not installed";
test("whatever a text is, its votes add up and its tokens are where they say", { skip }, async () => {
    const folders = ["0", "1", "2", "5", "14"].map((name) => path.join(folder, "models", name));
    const models = await Promise.all(folders.map((model) => loadModel(filesOf(model), model)));
    const known = fc.constantFrom(...models[0].surfaces, " ", ". ", "<br />", "’");
    const pieces = fc.array(fc.oneof(known, fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 60 });
    const adds = fc.property(fc.constantFrom(...models), pieces, (model, parts) => {
        const text = parts.join("");
        const found = classify(model, text);
        const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
        assertClose(sum(found.probabilities), 1);
        assertClose(sum([found.bias, ...found.tokens.map((token) => token.vote)]), found.logit);
        for (const token of found.tokens) {
            assert.equal(token.places.length, token.count);
            assert.equal(token.attended.length, token.count);
            for (const [start, end] of token.places) {
                const words = textWords(text.slice(start, end));
                assert.equal(words.map((word) => (word.gap ?? "") + word.surface).join(""), token.word);
            }
            const seen = token.attended.flatMap((at) => (at ? [textFold(text.slice(at[0], at[1]))] : []));
            assert.deepEqual([...new Set(seen)], token.modifiers);
        }
    });
    fc.assert(adds, { numRuns: 200, seed: 1 });
});
