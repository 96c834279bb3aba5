// Texts: from a model's files and a text to its tokens, the label and both ledgers, as the Python package has them.

import { layerPositions, layersIntegers, layersPower, makeLayerRules, ratioToNumber, walkLayers } from "./textlayers.js";

/**
 * @typedef {string | number | boolean} Label
 * @typedef {import("./textlayers.js").LayerRules} LayerRules
 * @typedef {import("./textlayers.js").LayerRun} LayerRun
 *
 * A model. Row v of `table` (rows, d) is where token v starts; after all tokens come the extra token and, with a gate, the
 * place of silent tokens. `scores` are (rows, logits).
 * @typedef {{name: string, classes: Label[], layers: number, alpha: string, temperature: number, gate: number | null,
 *     neutralWeight: number, binary: boolean, longestPhrase: number, overlapping: boolean, dimension: number,
 *     surfaces: string[], index: Map<string, number>, table: Float64Array, decoder: Float64Array, bias: Float64Array,
 *     scores: Float64Array, strengths: Float64Array, levels: Uint8Array, extra: number, hasNeutral: boolean,
 *     usual: number, rules: LayerRules, lengths: [number, number] | null}} Model
 *
 * A token of a text: `places` are UTF-16 offsets, `leader` the index of the token that it follows at the last layer or -1,
 * `side` the number of the class that this one counts towards.
 * @typedef {{id: number, word: string, places: [number, number][], count: number, mass: number, contribution: number,
 *     vote: number, active: boolean, leads: boolean, leaderSince: number, leader: number, side: number,
 *     start: number[], end: number[]}} TextToken
 *
 * `tokens` in order of appearance, the extra token last; `path` is (layers + 1, tokens, d), of infinitely many layers those
 * up to eight after the last change and the limits.
 * @typedef {{label: Label, answer: number, decided: boolean, reason: string, probability: number,
 *     probabilities: number[], logits: number[], logit: number, bias: number, towards: Label, tokens: TextToken[],
 *     rest: number, known: number, notes: string[], readonly path: number[][][]}} Classified
 */

export const EXTRA_TOKEN = "(extra token)"; // no word can look like this

// ---------------------------------------------------------------- characters

const SEPARATOR = 0, APOSTROPHE = 1, SENTENCE_END = 2, TAG_START = 3, LETTER = 4, SIGN = 5, JOINER = 6, SOLO = 7, LEAD = 8, FLAG = 9;
// Ranges of characters in hexadecimal; what is in none is a letter, and a later line wins over an earlier one.
/** @type {[number, string][]} */
const TEXT_KINDS = [
    [SEPARATOR, "0-2F 3A-40 5B-60 7B-A9 AB-B1 B4 B6-B8 BB BF D7 F7 37E 387 55A-55F 5BE 60C 61B 61F 66A-66D 6D4 964-965"],
    [SEPARATOR, "2000-200B 200E-206F 20A0-20CF 2190-25FF 2E00-2E7F 3000-3003 3008-301F 30FB D800-DFFF"],
    [SEPARATOR, "FE10-FE1F FE30-FE6F FEFF FF01-FF0F FF1A-FF20 FF3B-FF40 FF5B-FF65 FFF9-FFFF"],
    [SOLO, "E01-E2F E46 E81-EAF EBD EC6 EDC-EDF 1000-102A 103F 104C-1055 105A-108F 109A-109F A9E0-A9EF A9FA-A9FF"],
    [SOLO, "AA60-AA7A AA7E-AA7F 1780-17B3 17D7 17DC 2600-27BF 2B00-2BFF 1F000-1FAFF 2E80-2FDF 3005-3007 3021-3029"],
    [SOLO, "3031-3035 3038-303C 3400-4DBF 4E00-9FFF F900-FAFF 20000-3FFFD 3041-3096 309D-309F 1B001-1B11F"],
    [SOLO, "3105-312F 31A0-31BF A000-A4CF 17000-18D7F 1B170-1B2FF"],
    [SIGN, "300-36F 20D0-20F0 FE00-FE0F E30-E3A E45 E47-E4E EB0-EBC EC8-ECE 102B-103E 1056-1059 105E-1060 1062-1064"],
    [SIGN, "1067-106D 1071-1074 1082-108D 108F 109A-109D A9E5 AA7B-AA7D 17B4-17D3 17DD 200C 302A-302F 3099-309C 30FC"],
    [SIGN, "1F3FB-1F3FF E0020-E007F E0100-E01EF"],
    [JOINER, "200D 1039 17D2"],
    [LEAD, "E40-E44 EC0-EC4"],
    [FLAG, "1F1E6-1F1FF"],
    [SEPARATOR, "E3F E4F E5A-E5B F01-F0C F3A-F3D 104A 17D9-17DB"],
    [SENTENCE_END, "F0D-F12 F14 104B 17D4-17D6 17D8 21 2E 3A-3B 3F 37E 61B 61F 6D4 964-965 2026 3002 FF01 FF0E FF1A-FF1B FF1F"],
    [APOSTROPHE, "27 2019"],
    [TAG_START, "3C"],
];

/**
 * The kind of every character, 0 to 9, and those that lower case changes.
 * @returns {{kinds: Uint8Array, folded: Map<string, string>}}
 */
export function textCharacters() {
    const kinds = new Uint8Array(0x110000).fill(LETTER);
    for (const [kind, ranges] of TEXT_KINDS) {
        for (const range of ranges.split(" ")) {
            const [first, last] = range.split("-").map((code) => parseInt(code, 16));
            kinds.fill(kind, first, (last ?? first) + 1);
        }
    }
    const folded = new Map([["\u2019", "'"]]);
    for (const [first, last] of [[0x41, 0x5a], [0x80, 0x58f], [0x1e00, 0x1fff]]) {
        for (let code = first; code <= last; code++) {
            const lower = String.fromCharCode(code).toLowerCase();
            if (lower.length === 1 && lower.charCodeAt(0) !== code) folded.set(String.fromCharCode(code), lower);
        }
    }
    return { kinds, folded };
}

/** @type {{pieces: RegExp, solo: RegExp, folded: Map<string, string>} | undefined} */
let textPatternsMade;

/** The expressions for pieces (groups: solo, word, end of sentence; a tag has none) and for one solo; made once. */
function textPatterns() {
    if (textPatternsMade) return textPatternsMade;
    const { kinds, folded } = textCharacters();
    const of = (/** @type {number[]} */ ...wanted) => {
        let ranges = "";
        for (let code = 0, first = -1; code <= kinds.length; code++) {
            const isIn = code < kinds.length && wanted.includes(kinds[code]);
            if (isIn && first < 0) first = code;
            if (!isIn && first >= 0) {
                ranges += `\\u{${first.toString(16)}}-\\u{${(code - 1).toString(16)}}`;
                first = -1;
            }
        }
        return `[${ranges}]`;
    };
    const solo = `(?:${of(LEAD)}?${of(SOLO)}|${of(LEAD)}|${of(FLAG)}${of(FLAG)}?)(?:${of(SIGN)}|${of(JOINER)}${of(SOLO, FLAG)}?)*`;
    const letters = `${of(LETTER, SIGN, JOINER)}+`;
    const pieces = `</?[A-Za-z][^<>]{0,200}>|(${solo})|(${letters}(?:['\u2019]${letters})*)|(${of(SENTENCE_END)})`;
    textPatternsMade = { pieces: new RegExp(pieces, "gu"), solo: new RegExp(solo, "uy"), folded };
    return textPatternsMade;
}

/**
 * Lower case, character by character, with plain apostrophes.
 * @param {string} word
 */
export function textFold(word) {
    if (/^[\x00-\x7f]*$/.test(word)) return word.toLowerCase();
    const { folded } = textPatterns();
    return Array.from(word, (character) => folded.get(character) ?? character).join("");
}

/**
 * The words of a text, in order. `sentence` counts sentences, `gap` is what joins a word to the one before in a phrase: no
 * space between two solos, unless they would become one.
 * @param {string} text
 */
export function textWords(text) {
    const { pieces, solo } = textPatterns();
    /** @type {{surface: string, start: number, end: number, isSolo: boolean, sentence: number, gap: string}[]} */
    const words = [];
    let sentence = 0;
    for (const piece of text.matchAll(pieces)) {
        const word = piece[1] ?? piece[2];
        if (word === undefined) {
            sentence++;
            continue;
        }
        const surface = textFold(word);
        const before = words[words.length - 1];
        let gap = " ";
        if (piece[1] !== undefined && before?.isSolo) {
            solo.lastIndex = 0;
            solo.test(before.surface + surface);
            if (solo.lastIndex === before.surface.length) gap = "";
        }
        const start = /** @type {number} */ (piece.index);
        words.push({ surface, start, end: start + word.length, isSolo: piece[1] !== undefined, sentence, gap });
    }
    return words;
}

/**
 * The known tokens of a text in the order in which they end, the shorter first; if they may not overlap, its segments.
 * @param {Model} model
 * @param {string} text
 */
function textFind(model, text) {
    const words = textWords(text);
    /** @type {{id: number, first: number, last: number}[]} */
    let found = [];
    words.forEach((word, last) => {
        let surface = "";
        for (let first = last; first > last - model.longestPhrase && words[first]?.sentence === word.sentence; first--) {
            surface = first === last ? word.surface : words[first].surface + words[first + 1].gap + surface;
            const id = model.index.get(surface);
            if (id !== undefined) found.push({ id, first, last });
        }
    });
    if (!model.overlapping) {
        // Tokens are taken in the order of the vocabulary, each from left to right, if none of their words is taken yet.
        const taken = new Uint8Array(words.length);
        const kept = new Set();
        for (const token of [...found].sort((a, b) => a.id - b.id)) {
            if (taken.subarray(token.first, token.last + 1).includes(1)) continue;
            taken.fill(1, token.first, token.last + 1);
            kept.add(token);
        }
        found = found.filter((token) => kept.has(token));
    }
    /** @type {Map<number, [number, number][]>} */
    const places = new Map();
    for (const { id, first, last } of found) {
        if (!places.has(id)) places.set(id, []);
        places.get(id)?.push([words[first].start, words[last].end]);
    }
    return places;
}

// ---------------------------------------------------------------- a model from its files

/**
 * The files of a model in one: gzip of a header's length (4 bytes, little-endian), the header, JSON
 * `{"name": …, "files": [["config.json", 394], …]}` with the name and size of each, and their bytes, one after the other.
 * @param {string} packed base64
 * @returns {Promise<{name: string, files: Record<string, Uint8Array>}>}
 */
export async function unpackModel(packed) {
    const zipped = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    const data = new Uint8Array(await new Response(stream).arrayBuffer());
    let at = 4 + new DataView(data.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(data.subarray(4, at)));
    /** @type {Record<string, Uint8Array>} */
    const files = {};
    for (const [name, size] of header.files) files[name] = data.subarray(at, (at += size));
    return { name: header.name, files };
}

/**
 * A model from the files of its folder, checked: hashes.json, if it is there, says whether the others are as they were
 * saved; metrics.json, which lengths of texts are usual.
 * @param {Record<string, Uint8Array>} files by name
 * @param {string} name
 * @returns {Promise<Model>}
 */
export async function loadModel(files, name) {
    try {
        for (const file of ["config.json", "model.safetensors", "vocabulary.txt"]) {
            if (!files[file]) textRefuse(`${file} is missing: expected config.json, vocabulary.txt and model.safetensors`);
        }
        await textCheckHashes(files);
        const config = textJson(files, "config.json");
        if (config.format !== "hardmax text model" || config.version !== 1) {
            const found = `${textShort(config.format)}, version ${textShort(config.version)}`;
            textRefuse(`config.json is of ${found}: expected "hardmax text model", version 1`);
        }
        const lengths = files["metrics.json"] ? textJson(files, "metrics.json").training_lengths : null;
        return makeModel(config, textTensors(files["model.safetensors"], config.tensors), files["vocabulary.txt"], lengths, name);
    } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`The model ${textShort(name)} cannot be used: ${reason}.`);
    }
}

/**
 * @param {string} reason
 * @returns {never}
 */
function textRefuse(reason) {
    throw new Error(reason);
}

/** @param {unknown} value */
function textShort(value) {
    const shown = JSON.stringify(value) ?? "nothing";
    return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
}

/** @param {Record<string, Uint8Array>} files */
async function textCheckHashes(files) {
    // Pages that come over plain http have no `subtle`; the other checks are made there, too.
    if (!files["hashes.json"] || !globalThis.crypto?.subtle) return;
    const hashes = textJson(files, "hashes.json");
    for (const file of ["config.json", "model.safetensors", "vocabulary.txt"]) {
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (files[file])));
        const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
        if (hashes[file] !== hash) textRefuse(`${file} is not the file that was saved: its hash differs. Copy it again`);
    }
}

/**
 * @param {Record<string, Uint8Array>} files
 * @param {string} name
 * @returns {Record<string, any>}
 */
function textJson(files, name) {
    let found;
    try {
        found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(files[name]));
    } catch {
        textRefuse(`${name} is damaged or cut off: it is not JSON`);
    }
    if (typeof found !== "object" || found === null || Array.isArray(found)) textRefuse(`${name} is not a JSON object`);
    return found;
}

/** @typedef {{shape: number[], values: Float32Array | Float64Array}} TextTensor */

/**
 * The tensors of a safetensors file.
 * @param {Uint8Array} data
 * @param {unknown} expected their names
 * @returns {Record<string, TextTensor>}
 */
function textTensors(data, expected) {
    /** @type {Record<string, TextTensor>} */
    const tensors = {};
    const wanted = { embeddings: "F32", decoder: "F32", bias: "F32", extra: "F32", metric: "F64" };
    const damaged = "model.safetensors is cut off, or not a safetensors file";
    const size = data.length < 8 ? 0n : new DataView(data.buffer, data.byteOffset).getBigUint64(0, true);
    if (!size || size > BigInt(data.length - 8)) textRefuse(damaged);
    const start = 8 + Number(size);
    /** @type {[string, any][]} */
    let entries = [];
    try {
        entries = Object.entries(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data.subarray(8, start))));
        entries = entries.filter(([name]) => name !== "__metadata__").sort((a, b) => a[1].data_offsets[0] - b[1].data_offsets[0]);
    } catch {
        textRefuse(damaged);
    }
    let at = 0;
    for (const [name, { dtype, shape, data_offsets: [first, last] }] of entries) {
        const kind = /** @type {Record<string, string>} */ (wanted)[name];
        if (kind && dtype !== kind) textRefuse(`\`${name}\` is ${textShort(dtype)}: expected ${textShort(kind)}`);
        const isWhole = Array.isArray(shape) && shape.every((side) => Number.isSafeInteger(side) && side >= 0);
        const bytes = (dtype === "F64" ? 8 : 4) * (isWhole ? shape.reduce((product, side) => product * side, 1) : NaN);
        if (first !== at || (kind && last - first !== bytes) || last > data.length - start) textRefuse(damaged);
        const copy = data.slice(start + first, start + last).buffer; // numbers must be aligned
        if (kind) tensors[name] = { shape, values: dtype === "F64" ? new Float64Array(copy) : new Float32Array(copy) };
        at = last;
    }
    if (at !== data.length - start) textRefuse(damaged);
    const names = entries.map(([name]) => name).sort();
    const isComplete = ["embeddings", "decoder", "bias"].every((name) => tensors[name]) && names.every((name) => tensors[name]);
    if (!isComplete || JSON.stringify(names) !== JSON.stringify(expected)) {
        textRefuse(`model.safetensors has ${names.join(", ") || "nothing"}: expected ${textShort(expected)}`);
    }
    return tensors;
}

/**
 * The tokens of vocabulary.txt, a line each, and how many training texts of each class have tokens, all together.
 * @param {Uint8Array} data
 */
function textVocabulary(data) {
    const damaged = "vocabulary.txt is damaged or cut off: expected a token and its counts on every line";
    let text = "";
    try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
    } catch {
        textRefuse(damaged);
    }
    const lines = text.split("\n");
    if (lines.pop() !== "") textRefuse(damaged);
    /** @type {string[]} */
    const surfaces = [];
    /** @type {number[]} */
    const totals = lines.length ? lines[0].split("\t").slice(1).map(() => 0) : [0];
    /** @type {Map<string, number>} */
    const index = new Map();
    for (const line of lines) {
        const cells = line.split("\t");
        if (cells.length !== totals.length + 1 || cells.length < 2) textRefuse(damaged);
        for (let c = 0; c < totals.length; c++) {
            if (!/^\d{1,18}$/.test(cells[c + 1])) textRefuse(damaged);
            totals[c] += Number(cells[c + 1]);
        }
        if (index.has(cells[0])) textRefuse(`vocabulary.txt has ${textShort(cells[0])} twice: expected each token once`);
        index.set(cells[0], surfaces.length);
        surfaces.push(cells[0]);
    }
    return { surfaces, index, totals };
}

/**
 * @param {Record<string, any>} config
 * @param {Record<string, TextTensor>} tensors
 * @param {Uint8Array} vocabulary
 * @param {any} lengths
 * @param {string} name
 * @returns {Model}
 */
function makeModel(config, tensors, vocabulary, lengths, name) {
    const { surfaces, index, totals } = textVocabulary(vocabulary);
    const { classes, layers, temperature, gate = null, neutral_weight: neutralWeight = 1, counts, dimension: d } = config;
    const must = (/** @type {boolean} */ holds, /** @type {string} */ what, /** @type {unknown} */ value) => {
        if (!holds) textRefuse(`\`${what}, not ${textShort(value)}`);
    };
    const isCount = (/** @type {unknown} */ value, /** @type {number} */ least, most = Infinity) =>
        Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
    must(Array.isArray(classes) && classes.length >= 2 && classes.every((c) => ["string", "number", "boolean"].includes(typeof c))
        && new Set(classes.map((c) => (typeof c === "boolean" ? Number(c) : c))).size === classes.length,
        "classes` must be at least two texts, numbers or truth values, all different", classes);
    must(layers === "inf" || isCount(layers, 0, 10000), 'layers` must be a whole number from 0 to 10000, or "inf"', layers);
    must(Number.isFinite(temperature) && temperature > 0, "temperature` must be a finite number above 0", temperature);
    must(gate === null || (Number.isFinite(gate) && gate >= 0 && gate < 1), "gate` must be a number from 0 to below 1", gate);
    must(isCount(neutralWeight, 1), "neutral_weight` must be a whole number from 1 up", neutralWeight);
    must(counts === "all" || counts === "presence", 'counts` must be "all" or "presence"', counts);
    must(Array.isArray(lengths ?? []), "training_lengths` must be two numbers", lengths);
    const { longest_phrase: longestPhrase = 2, overlapping = true, ...unknown } = config.tokeniser ?? { tokeniser: "missing" };
    must(isCount(longestPhrase, 1, 5), "longest_phrase` must be a whole number from 1 to 5", longestPhrase);
    must(typeof overlapping === "boolean", "overlapping` must be true or false", overlapping);
    must(!Object.keys(unknown).length, "tokeniser` has options of another version", unknown);
    if (config.tokens !== surfaces.length) textRefuse(`vocabulary.txt has ${surfaces.length} tokens: expected ${textShort(config.tokens)}`);
    must(isCount(d, 1), "dimension` must be a whole number from 1 up", d);
    const logits = classes.length === 2 ? 1 : classes.length;
    const shapes = { embeddings: [surfaces.length, d], decoder: [logits, d], bias: [logits], extra: [d], metric: [d, d] };
    for (const [tensor, { shape, values }] of Object.entries(tensors)) {
        const expected = textShort(/** @type {Record<string, number[]>} */ (shapes)[tensor]);
        if (JSON.stringify(shape) !== expected) textRefuse(`\`${tensor}\` has shape ${textShort(shape)}: expected ${expected}`);
        const bad = values.findIndex((/** @type {number} */ value) => !Number.isFinite(value));
        if (bad >= 0) textRefuse(`\`${tensor}\` is ${values[bad]} at place ${bad}: expected finite numbers`);
    }
    if (surfaces.length && totals.length !== classes.length) {
        textRefuse(`vocabulary.txt counts ${totals.length} classes: expected ${classes.length}`);
    }
    const extra = tensors.extra?.values;
    if (!extra && (gate !== null || neutralWeight !== 1)) textRefuse("`gate` and `neutral_weight` need an extra token");
    const metric = tensors.metric ? Float64Array.from(tensors.metric.values, (x) => x + 0) : null;
    if (metric && !textIsMetric(metric, d)) textRefuse("`metric` must be symmetric positive definite");
    const rules = makeLayerRules(d, textAlpha(config.alpha), metric, layers === "inf" ? Infinity : layers);
    const words = tensors.embeddings.values;
    const silent = extra && gate !== null ? Array.from(extra, (x) => Math.fround(x / 2)) : [];
    const table = Float64Array.from([...words, ...(extra ?? []), ...silent], (x) => x + 0); // no -0
    const decoder = Float64Array.from(tensors.decoder.values);
    const scores = textScores(table, decoder, d, temperature);
    const strengths = new Float64Array(table.length / d);
    for (let at = 0; at < words.length; at++) {
        const row = Math.floor(at / d);
        strengths[row] = Math.max(strengths[row], Math.abs(words[at]));
    }
    const ofExtra = scores.subarray(surfaces.length * logits, (surfaces.length + 1) * logits);
    return {
        name, classes, layers: rules.layers, alpha: String(config.alpha), temperature, gate, neutralWeight,
        binary: counts === "presence", longestPhrase, overlapping, dimension: d, surfaces, index, table, decoder, scores, strengths,
        bias: Float64Array.from(tensors.bias.values, (x) => x / temperature),
        levels: textLevels(table, d), extra: extra ? surfaces.length : -1,
        hasNeutral: !!extra && ofExtra.every((score) => score === (logits > 1 ? ofExtra[0] : 0)),
        usual: surfaces.length ? totals.indexOf(Math.max(...totals)) : 0,
        rules, lengths: lengths ?? null,
    };
}

/**
 * The step size as a fraction: "1/4", "0.25", 0.25.
 * @param {unknown} alpha
 */
function textAlpha(alpha) {
    const parts = /^(\d+)(?:\/(\d+)|(?:\.(\d*))?(?:e([+-]?\d{1,4}))?)$/i.exec(String(alpha).trim());
    const [, whole, below, decimals = "", exponent = "0"] = parts ?? [];
    const power = Number(exponent) - decimals.length;
    const p = BigInt((whole ?? "0") + decimals) * 10n ** BigInt(Math.max(power, 0));
    const q = BigInt(below ?? "1") * 10n ** BigInt(Math.max(-power, 0));
    if (p <= 0n || q <= 0n) textRefuse(`\`alpha\` must be a positive number or fraction such as "1/2", not ${textShort(alpha)}`);
    return { p, q };
}

/**
 * Whether a matrix is symmetric positive definite: all leading minors, by elimination without fractions, are positive.
 * @param {Float64Array} metric
 * @param {number} d
 */
function textIsMetric(metric, d) {
    if (metric.some((x, at) => x !== metric[(at % d) * d + Math.floor(at / d)])) return false;
    const { numerators: a } = layersIntegers(metric);
    for (let k = 0, previous = 1n; k < d; previous = a[k * d + k], k++) {
        const pivot = a[k * d + k];
        if (pivot <= 0n) return false;
        for (let row = k + 1; row < d; row++) {
            for (let j = k + 1; j < d; j++) a[row * d + j] = (a[row * d + j] * pivot - a[row * d + k] * a[k * d + j]) / previous;
        }
    }
    return true;
}

/**
 * What a text would add to the logits all of whose tokens lie at a point, (points, logits).
 * @param {Float64Array} points
 * @param {Float64Array} decoder
 * @param {number} d
 * @param {number} temperature
 */
function textScores(points, decoder, d, temperature) {
    const logits = decoder.length / d;
    const scores = new Float64Array((points.length / d) * logits);
    for (let at = 0; at < scores.length; at++) {
        const point = Math.floor(at / logits) * d;
        const row = (at % logits) * d;
        let total = 0;
        for (let axis = 0; axis < d; axis++) total += points[point + axis] * decoder[row + axis];
        scores[at] = total / temperature;
    }
    return scores;
}

/**
 * Levels of length, eight an octave, the longest on level 0: Python adds masses in this order, and rounding shows it.
 * @param {Float64Array} table
 * @param {number} d
 */
function textLevels(table, d) {
    const norms = new Float64Array(table.length / d);
    for (let at = 0; at < table.length; at++) norms[Math.floor(at / d)] += table[at] * table[at];
    const longest = Math.sqrt(norms.reduce((a, b) => Math.max(a, b), 0)) || 1;
    return Uint8Array.from(norms, (square) => Math.min(127, Math.max(0, (Math.log2(longest) - Math.log2(Math.sqrt(square))) * 8)));
}

// ---------------------------------------------------------------- a text

/**
 * Classify a text: the label with its probability, and what every token adds to the logit.
 * @param {Model} model
 * @param {string} text
 * @returns {Classified}
 */
export function classify(model, text) {
    const { dimension: d, extra, rules, scores, bias } = model;
    const places = textFind(model, text);
    const ids = [...places.keys(), ...(extra >= 0 ? [extra] : [])];
    const counts = ids.map((id) => places.get(id)?.length ?? 1);
    const voices = ids.map((id, t) => (id === extra ? model.neutralWeight : model.binary ? 1 : counts[t]));
    const total = voices.reduce((sum, voice) => sum + voice, 0);
    const largest = ids.reduce((most, id) => Math.max(most, model.strengths[id]), 0);
    const isSilent = (/** @type {number} */ id) => model.gate !== null && id !== extra && model.strengths[id] <= model.gate * largest;
    const rows = ids.map((id) => (isSilent(id) ? extra + 1 : id));
    const cloud = textCloud(model, rows, voices);
    const run = walkLayers(cloud.start, cloud.weights, cloud.copies, rules);
    const isEndless = run.settled && !Number.isFinite(rules.layers);
    const masses = run.proved && run.last < 64 ? textMassesProved(model, rows, voices, cloud, run) : textMasses(voices, cloud, run, rules);
    const ends = layerPositions(run, cloud.weights, rules, isEndless ? Infinity : Math.min(rules.layers, run.settled ? Infinity : run.last));
    const says = textScores(ends, model.decoder, d, model.temperature);
    const leaders = cloud.of.map((point) => {
        const set = run.sets[run.last][point];
        return rules.layers && set.length === 1 && run.since[set[0]] >= 0 ? cloud.of.lastIndexOf(set[0]) : -1;
    });
    const active = ids.map((id, t) => id !== extra && rows[t] === id && !(model.hasNeutral && leaders[t] === ids.length - 1));
    const logits = Array.from(bias, (b, row) => b + masses.reduce((sum, mass, t) => sum + mass * scores[rows[t] * bias.length + row], 0));
    const probabilities = textProbabilities(logits);
    const [second, first] = [...probabilities].sort((a, b) => a - b).slice(-2);
    const decided = active.includes(true) && second < first;
    const best = decided ? probabilities.indexOf(first) : model.usual;
    const row = bias.length === 1 ? 0 : best;
    const tokens = ids.map((id, t) => {
        const point = cloud.of[t];
        const isLed = leaders[t] >= 0;
        const own = (isLed ? scores : says).subarray((isLed ? rows[leaders[t]] : point) * bias.length).subarray(0, bias.length);
        return {
            id, word: model.surfaces[id] ?? EXTRA_TOKEN, places: places.get(id) ?? [], count: counts[t], mass: masses[t],
            contribution: masses[t] * scores[rows[t] * bias.length + row],
            vote: (voices[t] / Math.max(total, 1)) * says[point * bias.length + row],
            active: active[t], leads: run.since[point] >= 0, leaderSince: run.since[point], leader: leaders[t],
            side: bias.length === 1 ? Number(own[0] >= 0) : own.indexOf(own.reduce((a, b) => Math.max(a, b))),
            start: [...cloud.start.subarray(point * d, point * d + d)], end: [...ends.subarray(point * d, point * d + d)],
        };
    });
    const known = places.size;
    const reason = !known ? "the model knows no word of this text"
        : active.includes(true) ? "several classes have the same score" : "none of the known tokens is active";
    return {
        label: model.classes[best], answer: decided ? best : -1, decided, reason: decided ? "" : reason,
        probability: probabilities[best], probabilities, logits, logit: logits[row], bias: bias[row],
        towards: model.classes[bias.length === 1 ? 1 : best], tokens,
        rest: tokens.reduce((sum, token) => (token.active ? sum : sum + token.vote), 0),
        known, notes: textNotes(model, text, places),
        get path() {
            const shown = isEndless ? run.last + 8 : Number.isFinite(rules.layers) ? rules.layers : run.last;
            const layers = [...Array(shown + 1).keys(), ...(isEndless ? [Infinity] : [])];
            return layers.map((layer) => {
                const z = layerPositions(run, cloud.weights, rules, layer);
                return cloud.of.map((point) => [...z.subarray(point * d, point * d + d)]);
            });
        },
    };
}

/**
 * The distinct points of a text: their numbers `of` tokens, where they start, how much each weighs, how many tokens it is.
 * @param {Model} model
 * @param {number[]} rows
 * @param {number[]} voices
 */
function textCloud(model, rows, voices) {
    const { dimension: d, table } = model;
    const numbers = new Map();
    /** @type {number[]} */
    const start = [];
    /** @type {number[]} */
    const weights = [];
    /** @type {number[]} */
    const copies = [];
    const of = rows.map((row, t) => {
        const vector = table.subarray(row * d, row * d + d);
        const key = vector.join();
        const point = numbers.get(key) ?? numbers.size;
        if (point === numbers.size) {
            numbers.set(key, point);
            start.push(...vector);
            weights.push(0);
            copies.push(0);
        }
        weights[point] += voices[t];
        copies[point]++;
        return point;
    });
    return { of, start: Float64Array.from(start), weights, copies };
}

/** @typedef {ReturnType<typeof textCloud>} TextCloud */

/**
 * The mass of each token in the mean of the last layer, layer by layer backwards, where all sets are single tokens. Sums are
 * made in Python's order, so that classes that are level there are level here.
 * @param {Model} model
 * @param {number[]} rows
 * @param {number[]} voices
 * @param {TextCloud} cloud
 * @param {LayerRun} run
 */
function textMassesProved(model, rows, voices, cloud, run) {
    const order = rows.map((_, t) => t).sort((a, b) => model.levels[rows[a]] - model.levels[rows[b]]);
    const back = (/** @type {number[]} */ mass, /** @type {number} */ share, /** @type {number[][]} */ sets) => {
        const before = mass.map(() => 0);
        for (const t of order) {
            const chosen = cloud.of.indexOf(sets[cloud.of[t]][0]);
            if (cloud.of[chosen] === cloud.of[t]) before[t] += mass[t];
            else {
                before[t] += share * mass[t];
                before[chosen] += (1 - share) * mass[t];
            }
        }
        return before;
    };
    const total = voices.reduce((sum, voice) => sum + voice, 0);
    const share = run.settled ? layersPower(model.rules, model.layers - run.last) : 1;
    let mass = share < 1 ? back(voices, share, run.sets[run.last]) : voices;
    const keep = layersPower(model.rules, 1);
    for (let layer = run.last - 1; layer >= 0; layer--) mass = back(mass, keep, run.sets[layer]);
    return mass.map((m) => m / total);
}

/**
 * The same for any sets: a layer backwards, a point keeps the share 1 / (1 + alpha) and gives the rest to those it attends
 * to, by their weights; of infinitely many layers, leaders end with everything.
 * @param {number[]} voices
 * @param {TextCloud} cloud
 * @param {LayerRun} run
 * @param {LayerRules} rules
 */
function textMasses(voices, { of, weights }, run, rules) {
    const keep = layersPower(rules, 1);
    const final = run.sets[run.last];
    const weigh = (/** @type {number[]} */ set) => set.reduce((sum, j) => sum + weights[j], 0);
    let mass = weights;
    if (run.settled && !Number.isFinite(rules.layers)) {
        const leads = final.map((set, i) => set.length === 1 && set[0] === i);
        const takers = final.map((set, i) => (leads[i] ? set : set.filter((j) => j !== i)));
        while (mass.some((m, i) => m && !leads[i])) {
            const after = mass.map(() => 0);
            takers.forEach((set, i) => {
                const whole = weigh(set);
                for (const j of set) after[j] += mass[i] * (weights[j] / whole);
            });
            mass = after;
        }
    }
    for (let layer = (Number.isFinite(rules.layers) ? rules.layers : run.last) - 1; layer >= 0; layer--) {
        const before = mass.map((m) => keep * m);
        run.sets[Math.min(layer, run.last)].forEach((set, i) => {
            const whole = weigh(set);
            for (const j of set) before[j] += (1 - keep) * mass[i] * (weights[j] / whole);
        });
        mass = before;
    }
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return of.map((point, t) => (mass[point] * (voices[t] / weights[point])) / total);
}

/**
 * @param {number[]} logits one for two classes: that of the second
 */
function textProbabilities(logits) {
    if (logits.length === 1) {
        // Both from the smaller exponential, so that neither is rounded to nothing.
        const small = Math.exp(-Math.abs(logits[0]));
        const both = [small / (1 + small), 1 / (1 + small)];
        return logits[0] >= 0 ? both : both.reverse();
    }
    const top = logits.reduce((a, b) => Math.max(a, b));
    const parts = logits.map((logit) => Math.exp(logit - top));
    const whole = parts.reduce((sum, part) => sum + part, 0);
    return parts.map((part) => part / whole);
}

/**
 * Reasons to trust the answer less: a text unlike those of training, or of mostly unknown words.
 * @param {Model} model
 * @param {string} text
 * @param {Map<number, [number, number][]>} places
 */
function textNotes(model, text, places) {
    const notes = [];
    if (!places.size) return [];
    const sizeOf = (/** @type {string} */ part) => part.length - (part.match(/[\ud800-\udbff][\udc00-\udfff]/g) ?? []).length;
    const size = sizeOf(text);
    const [shortest, longest] = model.lengths ?? [0, size];
    if (size < shortest || size > longest) {
        const unlike = size < shortest ? "shorter" : "longer";
        notes.push(`The text has ${size.toLocaleString("en-US")} characters: it is ${unlike} than 99 % of the training texts.`);
    }
    let covered = 0;
    let reached = 0;
    for (const [start, end] of [...places.values()].flat().sort((a, b) => a[0] - b[0])) {
        if (end > reached) covered += sizeOf(text.slice(Math.max(start, reached), end));
        reached = Math.max(reached, end);
    }
    if (covered / size < 0.2) {
        notes.push(`Most words are unknown: known tokens cover ${Math.round((100 * covered) / size)} % of the text.`);
    }
    return notes;
}
