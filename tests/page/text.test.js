// text.js against what Python says: HARDMAX_VECTORS is a folder that write_text_vectors.py wrote.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { exactCloud, exactDynamics } from "../../src/hardmax/page/js/exact.js";
import { classify, loadModel, removalsFlip, textWalk, unpackModel } from "../../src/hardmax/page/js/text.js";
import { textCharacters, textWords } from "../../src/hardmax/page/js/textwords.js";

const folder = process.env.HARDMAX_VECTORS ?? "";
const { default: fc } = await import("fast-check").catch(() => ({ default: null }));
const names = ["config.json", "vocabulary.txt", "model.safetensors", "hashes.json"];

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
    }
});

test("texts are classified as in Python", async (context) => {
    const cases = JSON.parse(fs.readFileSync(path.join(folder, "texts.json"), "utf8"));
    const given = { id: "ids", word: "words", count: "counts", places: "places", start: "starts" };
    const exactly = Object.entries({ ...given, active: "actives", leaderSince: "since", leader: "follows" });
    const closely = Object.entries({ mass: "masses", contribution: "contributions", vote: "votes" });
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
            const differences = found.probabilities.map((p, c) => Math.abs(p - expected.probabilities[c]));
            furthest = Math.max(furthest, ...differences);
            assert.ok(furthest <= 1e-12, `${furthest} ${where}`);
            if (!expected.ids) continue; // of reviews nothing more is written
            for (const key of ["reason", "towards", "known"]) assert.equal(found[key], expected[key], where);
            for (const key of ["logit", "bias", "rest"]) assertClose(found[key], expected[key], `${key} ${where}`);
            for (const [key, theirs] of exactly) {
                assert.deepEqual(found.tokens.map((token) => token[key]), expected[theirs], `${key} ${where}`);
            }
            found.tokens.forEach((token, t) => {
                assert.equal(token.leads, expected.since[t] >= 0);
                for (const [key, theirs] of closely) assertClose(token[key], expected[theirs][t], `${key} ${where}`);
                token.end.forEach((x, c) => assertClose(x, expected.ends[t][c], `end ${where}`));
                // Who follows nobody and ends on the line between two classes counts towards either, by rounding.
                const isClear = token.leader >= 0 || Math.abs(token.vote) > 1e-12;
                if (isClear || model.classes.length > 2) assert.equal(token.side, expected.sides[t], `side ${where}`);
            });
            const walked = expected.path ? found.path : [];
            assert.equal(walked.length, expected.path?.length ?? 0, `path ${where}`);
            for (const [k, layer] of walked.entries()) {
                const theirs = expected.path[k].flat();
                layer.flat().forEach((x, at) => assertClose(x, theirs[at], `path ${k} ${where}`));
            }
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

test("words that are crossed out change the label", async () => {
    const model = await loadModel(filesOf("src/hardmax/models/imdb-2d"), "imdb-2d");
    const text = "An awful script, an awful film; but the cast is great.";
    const { words, text: changed, label, probability } = removalsFlip(model, text);
    assert.deepEqual(words, ["awful"]);
    assert.equal(changed, "An .     script, an .     film; but the cast is great.");
    assert.deepEqual([label, probability], [classify(model, changed).label, classify(model, changed).probability]);
    assert.notEqual(label, classify(model, text).label);
    assert.deepEqual(removalsFlip(model, "qqq").words, []);
    assert.deepEqual(removalsFlip(model, "awful").words, []); // without it the text is undecided
});

const skip = !fc && "fast-check is not installed";
test("whatever a text is, its ledgers add up and its tokens are where they say", { skip }, async () => {
    const folders = ["0", "1", "2", "5", "14"].map((name) => path.join(folder, "models", name));
    const models = await Promise.all(folders.map((model) => loadModel(filesOf(model), model)));
    const known = fc.constantFrom(...models[0].surfaces, " ", ". ", "<br />", "’");
    const pieces = fc.array(fc.oneof(known, fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 60 });
    const adds = fc.property(fc.constantFrom(...models), pieces, (model, parts) => {
        const text = parts.join("");
        const found = classify(model, text);
        const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
        assertClose(sum(found.probabilities), 1);
        if (found.tokens.length) assertClose(sum(found.tokens.map((token) => token.mass)), 1);
        const votes = found.tokens.filter((token) => token.active).map((token) => token.vote);
        assertClose(sum([found.bias, ...votes, found.rest]), found.logit);
        assertClose(sum([found.bias, ...found.tokens.map((token) => token.contribution)]), found.logit);
        for (const token of found.tokens.slice(0, found.known)) {
            assert.equal(token.places.length, token.count);
            for (const [start, end] of token.places) {
                const words = textWords(text.slice(start, end));
                assert.equal(words.map((word) => (word.gap ?? "") + word.surface).join(""), token.word);
            }
        }
    });
    fc.assert(adds, { numRuns: 200, seed: 1 });
});

test("ties are found where rounding breaks them", () => {
    // The first two points have the same coordinates in another order: to the third, they are equally far out.
    const rules = { layers: 1, dynamics: exactDynamics({ alpha: "1/3" }, 3) };
    let broken = 0;
    for (let k = 1; k <= 200; k++) {
        const [x, y, w] = [Math.fround(1000 * Math.sin(k) ** 2), Math.fround(0.001 * k), Math.fround(Math.cos(k) ** 2)];
        const c = Math.fround((x + y + w) / 10);
        broken += Number(c * x + c * y + c * w !== c * w + c * y + c * x);
        const cloud = exactCloud([[x, y, w], [w, y, x], [c, c, c]]);
        assert.deepEqual(textWalk(cloud, rules).sets(0)[2], [0, 1]);
    }
    assert.ok(broken > 20, `${broken}`);
});
