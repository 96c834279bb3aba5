// Texts: from a model's files and a text to tokens, what they attend to, votes and label, bit for bit
// as in Python.
import { exactFloat, readNumber } from "./exact.js";
import { textFold, textWords, withoutWords } from "./textwords.js";

/** @typedef {string | number | boolean} Label
 * @typedef {[number, number]} Place  UTF-16 offsets: text.slice(start, end)
 *
 * A form such as "*n't" stands for all words that end in its `letters`, or, not `atEnd`, begin with them.
 * @typedef {{word: string, factor: number, shift: number, letters: string, atEnd: boolean, isForm: boolean}} Modifier
 *
 * `weights` has a row for each token; two classes have one logit. A token keeps `share` of its vote.
 * `lengths` are those of training texts, in characters.
 * @typedef {{name: string, classes: Label[], modifiers: Modifier[], scope: number, gate: number,
 *     share: number, neutralWeight: number, longestPhrase: number, overlapping: boolean,
 *     surfaces: string[], index: Map<string, number>, weights: Float32Array, bias: Float32Array,
 *     lengths: any[] | null}} Model
 *
 * Place, factor and shift of a modifier; null: a token attends to itself.
 * @typedef {[number, number, number, number] | null} Attended
 *
 * `attended` is what it attends to at each place, `weight` what its vote would be without modifiers,
 * `leads` whether it is the strongest of its class, `classIndex` the
 * index of the class that it counts towards.
 * @typedef {{id: number, word: string, places: Place[], attended: Attended[], modifiers: string[],
 *     count: number, factor: number, shift: number, weight: number, vote: number, active: boolean, leads: boolean,
 *     classIndex: number}} TextToken
 *
 * `answer` is the number of the class or -1 for undecided, of which `reason` says why; `notes` are
 * reasons to trust it less; `logit`, `bias` and votes are about the class `positiveClass`; tokens are in order
 * of appearance.
 * @typedef {{label: Label, answer: number, decided: boolean, reason: string, probability: number,
 *     notes: string[], probabilities: number[], logits: number[], logit: number, bias: number,
 *     positiveClass: Label, tokens: TextToken[], known: number, size: number}} Classified
 * What votes are divided by is `size`. */

const STEPS_OF_FACTORS = 8; // factors are multiples of 1/8
const MOSTLY_UNKNOWN = 0.2;

/** The known tokens of a text by first appearance, each with its places and what it attends to there.
 * They come in the order in which they end, the shorter first; unless they may overlap, those that are
 * taken first by the order of the vocabulary keep their words.
 * @param {Model} model @param {string} text */
function textFind(model, text) {
    const words = textWords(text);
    let known = words.flatMap((word, last) => {
        const ending = [];
        for (let first = last, surface = word.surface; ; ) {
            const id = model.index.get(surface);
            if (id !== undefined) ending.push({ id, first, last });
            const { gap } = words[first];
            if (gap === null || last - --first >= model.longestPhrase) return ending;
            surface = words[first].surface + gap + surface;
        }
    });
    if (!model.overlapping) {
        const taken = new Uint8Array(words.length);
        const kept = new Set();
        for (const token of [...known].sort((a, b) => a.id - b.id)) {
            if (taken.subarray(token.first, token.last + 1).includes(1)) continue;
            taken.fill(1, token.first, token.last + 1);
            kept.add(token);
        }
        known = known.filter((token) => kept.has(token));
    }
    const { modifierAt, attendedFrom } = textAttention(model, words);
    const spots = /** @type {Map<number, {place: Place, seen: Attended}[]>} */ (new Map());
    for (const { id, first, last } of known) {
        // Who contains a modifier attends to itself.
        const isModifier = modifierAt.slice(first, last + 1).some(Boolean);
        const at = isModifier ? -1 : attendedFrom(first);
        const modifier = modifierAt[at];
        /** @type {{place: Place, seen: Attended}} */
        const spot = { place: [words[first].start, words[last].end], seen: null };
        if (modifier) spot.seen = [words[at].start, words[at].end, modifier.factor, modifier.shift];
        if (!spots.get(id)?.push(spot)) spots.set(id, [spot]);
    }
    return spots;
}

/** The modifier that each word is, if any, and for a token that begins with a word the number of the
 * word that it attends to: the strongest modifier in its scope, of equals the nearest; -1: itself.
 * @param {Model} model @param {ReturnType<typeof textWords>} words */
function textAttention({ modifiers, scope }, words) {
    const exact = new Map(modifiers.flatMap((each) => (each.isForm ? [] : [[each.word, each]])));
    const forms = modifiers.filter((each) => each.isForm);
    const hasForm = (/** @type {string} */ word, /** @type {Modifier} */ { letters, atEnd }) =>
        (atEnd ? word.endsWith(letters) : word.startsWith(letters));
    const modifierAt = words.map(({ surface }) =>
        exact.get(surface) ?? forms.find((form) => hasForm(surface, form)));
    const attendedFrom = (/** @type {number} */ first) => {
        let [found, strongest] = [-1, -1];
        for (let at = first; at > first - scope && words[at].gap !== null; ) {
            const modifier = modifierAt[--at];
            const strength = modifier ? Math.abs(modifier.factor - 1) : -1;
            if (strength > strongest) [found, strongest] = [at, strength];
        }
        return found;
    };
    return { modifierAt, attendedFrom };
}

/** The files of a model from gzip in base64: the length of a header (4 bytes, little-endian), the header, JSON
 * `{"name": …, "files": [["config.json", 394], …]}` with sizes, and the files. @param {string} packed */
export async function unpackModel(packed) {
    const zipped = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    const data = new Uint8Array(await new Response(stream).arrayBuffer());
    let at = 4 + new DataView(data.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(data.subarray(4, at)));
    const files = /** @type {Record<string, Uint8Array>} */ ({});
    for (const [name, size] of header.files) files[name] = data.subarray(at, (at += size));
    return files;
}

/** A model from the files of its folder, checked. If hashes.json is there, the others must be as they were saved.
 * @param {Record<string, Uint8Array>} files by name @param {string} name @returns {Promise<Model>} */
export async function loadModel(files, name) {
    try {
        const deciding = ["config.json", "model.safetensors", "vocabulary.txt"];
        for (const file of deciding) textMust(files[file], `${file} is missing: expected ${deciding.join(", ")}`);
        // Pages that come over plain http have no `subtle`: there the hashes are not checked.
        const given = globalThis.crypto?.subtle ? files["hashes.json"] : undefined;
        const hashes = given ? textJson(given, "hashes.json") : null;
        for (const file of hashes ? deciding : []) {
            const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", files[file].slice()));
            const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
            textMust(hashes?.[file] === hash, `${file} is not as it was saved: its hash differs. Copy it again`);
        }
        const config = textJson(files["config.json"], "config.json");
        const [format, version] = [textShort(config.format), textShort(config.version)];
        textMust(config.format === "hardmax text model" && config.version === 2, "config.json is of "
            + `${format}, version ${version}: expected "hardmax text model", version 2`);
        const measured = files["metrics.json"];
        const { training_lengths: lengths } = measured ? textJson(measured, "metrics.json") : {};
        const tensors = textTensors(files["model.safetensors"]);
        const model = textModel(config, tensors, textVocabulary(files["vocabulary.txt"]));
        return { ...model, name, lengths: Array.isArray(lengths) ? lengths : null };
    } catch (error) {
        const reason = /** @type {Error} */ (error).message.replace(/\.$/, "");
        throw new Error(`The model ${textShort(name)} cannot be used: ${reason}.`);
    }
}

/** @param {unknown} holds @param {string} otherwise @returns {asserts holds} */
function textMust(holds, otherwise) {
    if (!holds) throw new Error(otherwise);
}

function textShort(/** @type {unknown} */ value) {
    const shown = JSON.stringify(value) ?? "missing";
    return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
}

/** @param {Uint8Array} data @param {string} name @returns {Record<string, any>} */
function textJson(data, name) {
    try {
        const found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
        if (typeof found === "object" && found && !Array.isArray(found)) return found;
    } catch {}
    throw new Error(`${name} is damaged or cut off: expected a JSON object`);
}

/** The tensors of a safetensors file: the length of its header (8 bytes), the header, JSON, and the numbers.
 * @param {Uint8Array} data @returns {Record<string, {shape: number[], values: Float32Array}>} */
function textTensors(data) {
    const damaged = "model.safetensors is cut off, or not a safetensors file";
    const size = data.length < 8 ? 0 : Number(new DataView(data.buffer, data.byteOffset).getBigUint64(0, true));
    textMust(size && size <= data.length - 8, damaged);
    const { __metadata__, ...header } = textJson(data.subarray(8, 8 + size), "the header of model.safetensors");
    const entries = Object.entries(header);
    const names = entries.map(([name]) => name).sort();
    textMust(`${names}` === "bias,weights",
        `model.safetensors has ${textShort(names)}: expected bias, weights`);
    textMust(entries.every(([, entry]) => Array.isArray(entry?.shape) && Array.isArray(entry.data_offsets)), damaged);
    entries.sort(([, { data_offsets: a }], [, { data_offsets: b }]) => a[0] - b[0] || a[1] - b[1]);
    let end = 8 + size; // tensors follow one another without a gap
    const tensors = entries.map(([name, { dtype, shape, data_offsets: [first, last] }]) => {
        textMust(dtype === "F32", `\`${name}\` is ${textShort(dtype)}: expected "F32"`);
        const bytes = shape.reduce((/** @type {any} */ a, /** @type {any} */ b) => a * b, 4);
        textMust(first === end - 8 - size && last - first === bytes && 8 + size + last <= data.length, damaged);
        const copy = data.slice(end, (end += bytes)).buffer; // numbers must be aligned
        return [name, { shape, values: new Float32Array(copy) }];
    });
    textMust(end === data.length, damaged);
    return Object.fromEntries(tensors);
}

/** The tokens, and the number of classes: a token, and how many training texts of each class have it, are a line.
 * @param {Uint8Array} data */
function textVocabulary(data) {
    const damaged = "vocabulary.txt is damaged or cut off: expected a token and its counts on every line";
    const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(data).split("\n");
    const cut = lines.pop() !== "" || lines.some((line) => !/^[^\t\ufffd]*(\t\d{1,18})+$/.test(line));
    const cells = lines.map((line) => line.split("\t"));
    const columns = [...(cells[0] ?? []).keys()].slice(1);
    textMust(!cut && cells.every((row) => row.length === columns.length + 1), damaged);
    const surfaces = cells.map(([surface]) => surface);
    const index = new Map(surfaces.map((surface, id) => [surface, id]));
    const twice = surfaces.find((surface, id) => index.get(surface) !== id);
    textMust(twice === undefined, `vocabulary.txt has ${textShort(twice)} twice: expected each token once`);
    return { surfaces, index, columns: columns.length };
}

const textIsWhole = (/** @type {any} */ value, least = 0, most = Infinity) =>
    Number.isSafeInteger(value) && value >= least && value <= most;

/** The nearest whole number, of two the even one. @param {number} x */
const textRound = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** A modifier as config.json has it. @param {any} given @returns {Modifier} */
function textModifier(given) {
    const { word: spelt, factor, shift = 0, texts = 0, ...others } = Object(given);
    const word = typeof spelt === "string" ? textFold(spelt) : "";
    const letters = word.replace("*", "");
    const isForm = word.startsWith("*") !== word.endsWith("*");
    const example = isForm ? word.replace("*", "a") : word;
    const words = textWords(example);
    const isWord = words.length === 1 && words[0].surface === example;
    const isFactor = Number.isFinite(factor) && factor !== 0 && Math.abs(factor) <= 16
        && Number.isFinite(shift);
    textMust(isWord && isFactor && textIsWhole(texts) && !Object.keys(others).length,
        `\`modifiers\` in config.json has ${textShort(given)}: expected a word and a factor up to 16`);
    const eighths = textRound(factor * STEPS_OF_FACTORS) || 1;
    const atEnd = word.startsWith("*");
    return { word, factor: eighths / STEPS_OF_FACTORS, shift: Math.fround(shift), letters, atEnd, isForm };
}

/** @param {Record<string, any>} config @param {ReturnType<typeof textTensors>} tensors
 * @param {ReturnType<typeof textVocabulary>} vocabulary */
function textModel(config, tensors, { surfaces, index, columns }) {
    const { classes, scope, gate, neutral_weight: neutralWeight, tokeniser } = config;
    const { longest_phrase: longestPhrase = 2, overlapping = true, ...others } = Object(tokeniser);
    const tokens = surfaces.length;
    // Truth values are numbers to Python: 1 and true are one class.
    const toPython = (/** @type {any} */ label) => (typeof label === "boolean" ? Number(label) : label);
    const labels = Array.isArray(classes) ? classes.map(toPython) : [];
    const areLabels = labels.every((label) => ["string", "number"].includes(typeof label)) && new Set(labels).size > 1;
    /** @type {[string, string, boolean][]} */
    const checks = [
        ["classes", "two or more labels, all different", areLabels && new Set(labels).size === labels.length],
        ["modifiers", "a list of words with factors", Array.isArray(config.modifiers)],
        ["scope", "a whole number from 1 to 100", textIsWhole(scope, 1, 100)],
        ["gate", "a number from 0 to below 1", Number.isFinite(gate) && gate >= 0 && gate < 1],
        ["alpha", 'a number or fraction such as "1/2"', /string|number/.test(typeof config.alpha)],
        ["neutral_weight", "a whole number from 1 up", textIsWhole(neutralWeight, 1, 2 ** 31 - 1)],
        ["tokeniser", "a longest_phrase from 1 to 5 and overlapping, true or false", Object(tokeniser) === tokeniser
            && textIsWhole(longestPhrase, 1, 5) && typeof overlapping === "boolean" && !Object.keys(others).length],
        ["tokens", `${tokens}, as vocabulary.txt has`, config.tokens === tokens],
    ];
    for (const [key, wish, holds] of checks) {
        textMust(holds, `\`${key}\` in config.json must be ${wish}, not ${textShort(config[key])}`);
    }
    const modifiers = /** @type {any[]} */ (config.modifiers).map(textModifier);
    const isTwice = new Set(modifiers.map(({ word }) => word)).size < modifiers.length;
    textMust(!isTwice, "`modifiers` in config.json has a word twice: expected each once");
    const alpha = readNumber(String(config.alpha), "`alpha` in config.json");
    const isStep = alpha.p === 0n || (alpha.p > 0n && labels.length === 2);
    const wish = labels.length > 2 ? "0 with several classes" : "0 or more";
    textMust(isStep, `\`alpha\` in config.json must be ${wish}, not ${textShort(config.alpha)}`);
    textMust(columns === classes.length, `vocabulary.txt counts ${columns} classes: expected ${classes.length}`);
    const rows = classes.length === 2 ? 1 : classes.length;
    /** @type {Record<string, number[]>} */
    const shapes = { weights: [tokens, rows], bias: [rows] };
    for (const [name, { shape, values }] of Object.entries(tensors)) {
        const expected = textShort(shapes[name]);
        textMust(textShort(shape) === expected, `\`${name}\` has shape ${textShort(shape)}: expected ${expected}`);
        const bad = values.findIndex((value) => !Number.isFinite(value));
        textMust(bad < 0, `\`${name}\` is ${values[bad]} at place ${bad}: expected finite numbers. Train again`);
    }
    return {
        classes, modifiers, scope, gate, share: exactFloat(alpha.q, alpha.p + alpha.q), neutralWeight,
        longestPhrase, overlapping, surfaces, index, weights: tensors.weights.values,
        bias: tensors.bias.values,
    };
}

/** The label, and what each token adds to it.
 * @param {Model} model @param {string} text @returns {Classified} */
export function classify(model, text) {
    const { bias, gate, share, classes } = model;
    const spots = textFind(model, text);
    const rows = [...bias.keys()];
    const size = spots.size + model.neutralWeight;
    // Of -0 the bits are not those of 0, of -0 + 0 they are.
    const weightOf = (/** @type {number} */ id, /** @type {number} */ row) =>
        model.weights[id * rows.length + row] + 0;
    const read = Array.from(spots, ([id, at]) => {
        const factor = at.reduce((sum, { seen }) => sum + (seen?.[2] ?? 1), 0) / at.length;
        const shift = at.reduce((sum, { seen }) => sum + (seen?.[3] ?? 0), 0) / at.length;
        const own = rows.map((row) => weightOf(id, row) * factor + shift);
        return { id, at, factor, shift, own, strength: Math.max(...own.map(Math.abs)) };
    });
    const least = gate * Math.max(0, ...read.map(({ strength }) => strength));
    const active = read.map(({ strength }) => strength > least);
    // With two classes, active tokens may move towards the largest vote of their side.
    const firsts = read.map(({ own }) => own[0]);
    const ends = [Math.min, Math.max].map((furthest) => furthest(0, ...firsts));
    const votes = read.map(({ own }, t) => own.map((vote) => {
        if (!active[t]) return 0;
        return (share < 1 ? share * vote + (1 - share) * ends[Number(vote > 0)] : vote) / size;
    }));
    const logits = rows.map((row) => votes.reduce((sum, vote) => sum + vote[row], 0) + bias[row]);
    const probabilities = textProbabilities(logits);
    const [next, top] = [...probabilities].sort((a, b) => a - b).slice(-2);
    const decided = active.includes(true) && next < top;
    const best = probabilities.indexOf(top);
    const [isTwo, row] = [rows.length === 1, rows.length === 1 ? 0 : best];
    const classOf = (/** @type {number[]} */ vote) => {
        if (isTwo) return Number(vote[0] > 0);
        // What does not add to the label counts towards another class.
        const others = vote.map((value, c) => (c === best ? -Infinity : value));
        return vote[best] > 0 ? best : others.indexOf(Math.max(...others));
    };
    const leaders = textLeaders(read.map(({ own }) => own), active);
    const spelt = (/** @type {Attended} */ seen) => (seen ? textFold(text.slice(seen[0], seen[1])) : []);
    const tokens = read.map(({ id, at, factor, shift }, t) => ({
        id, word: model.surfaces[id], places: at.map(({ place }) => place), count: at.length,
        attended: at.map(({ seen }) => seen), factor, shift: shift / size,
        modifiers: [...new Set(at.flatMap(({ seen }) => spelt(seen)))],
        weight: weightOf(id, row) / size, vote: votes[t][row], active: active[t],
        leads: leaders.has(t), classIndex: classOf(votes[t]),
    }));
    const reason = !tokens.length ? "the model knows no word of this text"
        : active.includes(true) ? "several classes have the same score" : "none of the known tokens is active";
    return {
        label: classes[best], answer: decided ? best : -1, decided, reason: decided ? "" : reason,
        probability: probabilities[best], probabilities, logits, logit: logits[row], bias: bias[row],
        positiveClass: classes[isTwo ? 1 : best], tokens, known: tokens.length, size,
        notes: textNotes(model, text, tokens),
    };
}

/** The active tokens that are the strongest of their class, of equals the first.
 * @param {number[][]} votes @param {boolean[]} active */
function textLeaders(votes, active) {
    const sides = votes.map((vote) => (vote.length === 1 ? [-vote[0], vote[0]] : vote));
    const strongest = /** @type {Map<number, number>} */ (new Map());
    const leaders = /** @type {Map<number, number>} */ (new Map());
    for (const [t, side] of sides.entries()) {
        const strength = Math.max(...side);
        const label = side.indexOf(strength);
        if (!active[t] || strength <= (strongest.get(label) ?? -Infinity)) continue;
        strongest.set(label, strength);
        leaders.set(label, t);
    }
    return new Set(leaders.values());
}

/** Reasons to trust an answer less.
 * @param {Model} model @param {string} text @param {TextToken[]} tokens */
function textNotes({ lengths }, text, tokens) {
    if (!tokens.length) return [];
    const covered = new Uint8Array(text.length);
    for (const { places } of tokens) for (const [start, end] of places) covered.fill(1, start, end);
    // Python counts characters, not their halves.
    let [size, known, at] = [0, 0, 0];
    for (const character of text) {
        size++;
        known += covered[at];
        at += character.length;
    }
    const notes = [];
    const [shortest, longest] = lengths ?? [0, size];
    if (size < shortest || size > longest) {
        const unlike = size < shortest ? "shorter" : "longer";
        const counted = `The text has ${size.toLocaleString("en")} characters`;
        notes.push(`${counted}: it is ${unlike} than 99 % of the training texts.`);
    }
    if (known / size < MOSTLY_UNKNOWN) {
        const share = textRound(100 * (known / size));
        notes.push(`Most words are unknown: known tokens cover ${share} % of the text.`);
    }
    return notes;
}

/** exp(x) of x <= 0. Next to 0, where exp(x) = 1 + x + x^2 / 2, browsers forget x^2, which is what tells halves to
 * round up: classes would be apart that are level in Python. @param {number} x */
function textExp(x) {
    const isHalf = x > -(2 ** -40) && x - (1 + x - 1) === 2 ** -54;
    return isHalf ? 1 + x + 2 ** -53 : Math.exp(x);
}

/** @param {number[]} logits of two classes that of the second alone @returns {number[]} */
function textProbabilities(logits) {
    if (logits.length === 1) {
        // Both from the smaller exponential, so that neither is rounded to nothing.
        const small = textExp(-Math.abs(logits[0]));
        const both = [small / (1 + small), 1 / (1 + small)];
        return logits[0] >= 0 ? both : both.reverse();
    }
    const top = Math.max(...logits);
    const parts = logits.map((logit) => textExp(logit - top));
    const whole = parts.reduce((sum, part) => sum + part, 0);
    return parts.map((part) => part / whole);
}

/** A few words that change the label if they are crossed out: the word of an active token, or the one
 * that it attends to, that helps most, again and again, in the end without those that are not needed.
 * So they are found, not proved to be the fewest. If no other label is found, they leave the text
 * undecided, and `label` is null. A word goes wherever it is. `words` is empty if nothing was found.
 * @param {Model} model @param {string} text @param {number} [budget] milliseconds
 * @returns {{words: string[], text: string, label: Label | null, probability: number}} */
export function removalsFlip(model, text, budget = 5_000) {
    const [end, all, { answer }] = [performance.now() + budget, textWords(text), classify(model, text)];
    const without = (/** @type {string[]} */ words) => {
        const changed = withoutWords(text, all.filter((word) => words.includes(word.surface))).text;
        const { tokens, decided, label, probability, probabilities } = classify(model, changed);
        const lead = Math.max(...probabilities.filter((_, c) => c !== answer)) - probabilities[answer];
        const flips = decided && lead > 1e-9;
        return { words, text: changed, tokens, decided, label, probability, lead: flips ? 1 + lead : Math.min(lead, 0) };
    };
    let best = without([]);
    while (answer >= 0 && best.lead <= 0) {
        const active = best.tokens.filter((token) => token.active);
        const read = active.flatMap(({ word, modifiers }) => [word, ...modifiers]);
        const options = [...new Set(read.flatMap(textWords).map((word) => word.surface))];
        const found = options.map((word) => (performance.now() < end ? without([...best.words, word]) : best));
        const next = found.reduce((most, each) => (each.lead > most.lead ? each : most), found[0] ?? best);
        if (next === best) break;
        best = next;
    }
    const isFlip = best.lead > 0;
    const isDone = (/** @type {typeof best} */ { lead, decided }) => (isFlip ? lead > 0 : !decided);
    if (!isDone(best)) best = without([]);
    for (const word of best.words) {
        const fewer = without(best.words.filter((other) => other !== word));
        if (isDone(fewer)) best = fewer;
    }
    const { words, text: changed, decided, label, probability } = best;
    return { words, text: changed, label: decided ? label : null, probability };
}
