// Texts: from a model's files and a text to tokens, label and both ledgers, number for number as in Python.
import { exactAt, exactCloud, exactDynamics, exactFloat, exactWalk } from "./exact.js";
import { floatDot } from "./floats.js";
import { textWords, withoutWords } from "./textwords.js";

/** @typedef {string | number | boolean} Label
 * @typedef {[number, number]} Place  UTF-16 offsets: text.slice(start, end)
 * @typedef {{name: string, classes: Label[], layers: number, temperature: number, gate: number | null,
 *     neutralWeight: number, binary: boolean, longestPhrase: number, overlapping: boolean, dimension: number,
 *     surfaces: string[], index: Map<string, number>, table: number[][], decoder: number[][], bias: number[],
 *     extra: number, hasNeutral: boolean, usual: number, dynamics: import("./exact.js").ExactDynamics}} Model  `layers`
 *     may be Infinity; row v of `table` is where token v starts, after all tokens come the extra one (its number is
 *     `extra`, -1: none) and the place of silent tokens; two classes have one logit; `usual`: the class if undecided
 * @typedef {{id: number, word: string, places: Place[], count: number, mass: number, contribution: number,
 *     vote: number, active: boolean, leads: boolean, leaderSince: number, leader: number, side: number,
 *     start: number[], end: number[]}} TextToken  `leader`: the index of the token that it follows at the last layer,
 *     or -1; `side`: the number of the class that its leader counts towards, or itself if it has none
 * @typedef {{label: Label, answer: number, decided: boolean, reason: string, probability: number,
 *     probabilities: number[], logits: number[], logit: number, bias: number, towards: Label, tokens: TextToken[],
 *     rest: number, known: number, readonly path: number[][][]}} Classified  `answer` is the number of
 *     the class or -1 for undecided, of which `reason` says why; `logit`, `bias`, contributions and votes are about the
 *     class `towards`; tokens in order of appearance, the extra one last; `path` is (layers + 1, tokens, d), of
 *     infinitely many layers those up to eight after the last change of an attended set, and the limits */

const TEXT_DEEPEST = 10_000; // of infinitely many layers; a text that has not settled by then is taken as it is there
const TEXT_BUDGET = 20_000; // milliseconds for the layers of a text
export const EXTRA_TOKEN = "(extra token)"; // no word can look like this

/** The known tokens of a text by first appearance, each with its places. They come in the order in which they end, the
 * shorter first; unless they may overlap, those that are taken first by the order of the vocabulary keep their words.
 * @param {Model} model @param {string} text @returns {Map<number, Place[]>} */
function textFind(model, text) {
    const words = textWords(text);
    let found = words.flatMap((word, last) => {
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
        for (const token of [...found].sort((a, b) => a.id - b.id)) {
            if (taken.subarray(token.first, token.last + 1).includes(1)) continue;
            taken.fill(1, token.first, token.last + 1);
            kept.add(token);
        }
        found = found.filter((token) => kept.has(token));
    }
    const places = /** @type {Map<number, Place[]>} */ (new Map());
    for (const { id, first, last } of found) {
        const place = /** @type {Place} */ ([words[first].start, words[last].end]);
        if (!places.get(id)?.push(place)) places.set(id, [place]);
    }
    return places;
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
        textMust(config.format === "hardmax text model" && config.version === 1,
            `config.json is of ${format}, version ${version}: expected "hardmax text model", version 1`);
        const tensors = textTensors(files["model.safetensors"], config.tensors);
        return { ...textModel(config, tensors, textVocabulary(files["vocabulary.txt"])), name };
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

/** Numbers as rows of a length. @param {Float64Array | Float32Array} x @param {number} d */
const textRows = (x, d) => Array.from({ length: x.length / d }, (_, r) => [...x.subarray(r * d, r * d + d)]);

/** The tensors of a safetensors file: the length of its header (8 bytes), the header, JSON, and the numbers.
 * @param {Uint8Array} data @param {unknown} expected names
 * @returns {Record<string, {shape: number[], values: Float32Array | Float64Array}>} */
function textTensors(data, expected) {
    const damaged = "model.safetensors is cut off, or not a safetensors file";
    /** @type {Record<string, string>} */
    const kinds = { embeddings: "F32", decoder: "F32", bias: "F32", extra: "F32", metric: "F64" };
    const size = data.length < 8 ? 0 : Number(new DataView(data.buffer, data.byteOffset).getBigUint64(0, true));
    textMust(size && size <= data.length - 8, damaged);
    const { __metadata__, ...header } = textJson(data.subarray(8, 8 + size), "the header of model.safetensors");
    const entries = Object.entries(header);
    const names = entries.map(([name]) => name).sort();
    const complete = ["embeddings", "decoder", "bias"].every((name) => header[name]);
    const known = names.every((name) => Object.hasOwn(kinds, name)) && textShort(names) === textShort(expected);
    textMust(complete && known, `model.safetensors has ${textShort(names)}: expected ${textShort(expected)}`);
    textMust(entries.every(([, entry]) => Array.isArray(entry?.shape) && Array.isArray(entry.data_offsets)), damaged);
    entries.sort(([, { data_offsets: a }], [, { data_offsets: b }]) => a[0] - b[0] || a[1] - b[1]);
    let end = 8 + size; // tensors follow one another without a gap
    const tensors = entries.map(([name, { dtype, shape, data_offsets: [first, last] }]) => {
        textMust(dtype === kinds[name], `\`${name}\` is ${textShort(dtype)}: expected "${kinds[name]}"`);
        const bytes = shape.reduce((/** @type {any} */ a, /** @type {any} */ b) => a * b, dtype === "F64" ? 8 : 4);
        textMust(first === end - 8 - size && last - first === bytes && 8 + size + last <= data.length, damaged);
        const copy = data.slice(end, (end += bytes)).buffer; // numbers must be aligned
        return [name, { shape, values: dtype === "F64" ? new Float64Array(copy) : new Float32Array(copy) }];
    });
    textMust(end === data.length, damaged);
    return Object.fromEntries(tensors);
}

/** The tokens, and how many training texts of each class have them, all added up: a token and its counts are a line.
 * @param {Uint8Array} data */
function textVocabulary(data) {
    const damaged = "vocabulary.txt is damaged or cut off: expected a token and its counts on every line";
    const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(data).split("\n");
    const cut = lines.pop() !== "" || lines.some((line) => !/^[^\t\ufffd]*(\t\d{1,18})+$/.test(line));
    const cells = lines.map((line) => line.split("\t"));
    const columns = [...(cells[0] ?? []).keys()].slice(1);
    textMust(!cut && cells.every((row) => row.length === columns.length + 1), damaged);
    const totals = columns.map((c) => cells.reduce((sum, row) => sum + Number(row[c]), 0));
    const surfaces = cells.map(([surface]) => surface);
    const index = new Map(surfaces.map((surface, id) => [surface, id]));
    const twice = surfaces.find((surface, id) => index.get(surface) !== id);
    textMust(twice === undefined, `vocabulary.txt has ${textShort(twice)} twice: expected each token once`);
    return { surfaces, index, totals };
}

const textIsWhole = (/** @type {any} */ value, least = 0, most = Infinity) =>
    Number.isSafeInteger(value) && value >= least && value <= most;

/** @param {Record<string, any>} config @param {ReturnType<typeof textTensors>} tensors
 * @param {ReturnType<typeof textVocabulary>} vocabulary */
function textModel(config, tensors, { surfaces, index, totals }) {
    const { classes, layers, alpha, temperature, gate = null, neutral_weight: neutralWeight = 1, tokeniser } = config;
    const { longest_phrase: longestPhrase = 2, overlapping = true, ...others } = Object(tokeniser);
    const [tokens, d] = [surfaces.length, config.dimension];
    // Truth values are numbers to Python: 1 and true are one class.
    const toPython = (/** @type {any} */ label) => (typeof label === "boolean" ? Number(label) : label);
    const labels = Array.isArray(classes) ? classes.map(toPython) : [];
    const areLabels = labels.every((label) => ["string", "number"].includes(typeof label)) && new Set(labels).size > 1;
    /** @type {[string, string, boolean][]} */
    const checks = [
        ["classes", "two or more labels, all different", areLabels && new Set(labels).size === labels.length],
        ["layers", 'a whole number from 0 to 10000, or "inf"', layers === "inf" || textIsWhole(layers, 0, 10_000)],
        ["alpha", 'a positive number or fraction such as "1/2"', ["string", "number"].includes(typeof alpha)],
        ["temperature", "a finite number above 0", Number.isFinite(temperature) && temperature > 0],
        ["gate", "null, or from 0 to below 1", gate === null || (Number.isFinite(gate) && gate >= 0 && gate < 1)],
        ["neutral_weight", "a whole number from 1 up", textIsWhole(neutralWeight, 1)],
        ["counts", '"all" or "presence"', ["all", "presence"].includes(config.counts)],
        ["tokeniser", "a longest_phrase from 1 to 5 and overlapping, true or false", Object(tokeniser) === tokeniser
            && textIsWhole(longestPhrase, 1, 5) && typeof overlapping === "boolean" && !Object.keys(others).length],
        ["tokens", `${tokens}, as vocabulary.txt has`, config.tokens === tokens],
        ["dimension", "a whole number from 1 up", textIsWhole(d, 1)], // the shapes of tensors must fit it
    ];
    for (const [key, wish, holds] of checks) {
        textMust(holds, `\`${key}\` in config.json must be ${wish}, not ${textShort(config[key])}`);
    }
    const columns = totals.length;
    textMust(columns === classes.length, `vocabulary.txt counts ${columns} classes: expected ${classes.length}`);
    const logits = classes.length === 2 ? 1 : classes.length;
    /** @type {Record<string, number[]>} */
    const shapes = { embeddings: [tokens, d], decoder: [logits, d], bias: [logits], extra: [d], metric: [d, d] };
    for (const [name, { shape, values }] of Object.entries(tensors)) {
        const expected = textShort(shapes[name]);
        textMust(textShort(shape) === expected, `\`${name}\` has shape ${textShort(shape)}: expected ${expected}`);
        const bad = values.findIndex((/** @type {number} */ value) => !Number.isFinite(value));
        textMust(bad < 0, `\`${name}\` is ${values[bad]} at place ${bad}: expected finite numbers. Train again`);
    }
    const { embeddings, extra, metric } = tensors;
    textMust(extra || (gate === null && neutralWeight === 1), "`gate` and `neutral_weight` need an extra token");
    const dynamics = exactDynamics({ alpha, metric: metric ? textRows(metric.values, d) : null }, d);
    textMust(dynamics.definite, "`metric` must be symmetric positive definite");
    const table = textRows(embeddings.values, d);
    if (extra) table.push([...extra.values], Array.from(extra.values, (x) => Math.fround(x / 2)));
    const decoder = textRows(tensors.decoder.values, d);
    const neutral = textSays({ decoder, temperature }, table[tokens] ?? []);
    return {
        classes, layers: layers === "inf" ? Infinity : layers, temperature, gate, neutralWeight,
        binary: config.counts === "presence", longestPhrase, overlapping, dimension: d, surfaces, index, table, decoder,
        bias: Array.from(tensors.bias.values, (x) => x / temperature), extra: extra ? tokens : -1,
        hasNeutral: !!extra && neutral.every((score) => score === (logits > 1 ? neutral[0] : 0)),
        usual: totals.indexOf(Math.max(...totals)), dynamics,
    };
}

/** What a text would add to the logits all of whose tokens lie at a point.
 * @param {Pick<Model, "decoder" | "temperature">} model @param {number[]} point */
const textSays = ({ decoder, temperature }, point) => decoder.map((row) => floatDot(row, point) / temperature);

/** The layers of a text, every choice proved: attended sets and positions of points up to the layer `last`. If it has
 * settled no set changes later, and `at` knows any layer, Infinity included; `since` is -1 for no leader.
 * @param {import("./exact.js").ExactCloud} cloud @param {Pick<Model, "layers" | "dynamics">} model */
export function textWalk(cloud, { layers, dynamics }) {
    const [end, most] = [performance.now() + TEXT_BUDGET, Math.min(layers, TEXT_DEEPEST)];
    const steps = /** @type {import("./exact.js").ExactStep[]} */ ([]);
    const tick = () => textMust(performance.now() < end, "Ties in this text take too long: shorten the text.");
    for (const step of exactWalk(cloud, { ...dynamics, tick })) if (steps.push(step) > most) break;
    const last = steps.length - 1;
    const stepAt = (/** @type {number} */ layer) => steps[Math.min(layer, last)];
    return {
        last, settled: steps[last].lasts,
        since: cloud.numerators.map((_, i) => steps.findIndex((step) => step.leads[i])),
        sets: (/** @type {number} */ layer) => stepAt(layer).sets,
        at: (/** @type {number} */ layer) => exactAt(stepAt(layer), dynamics, layer),
    };
}

/** The label, and what each token adds to it. @param {Model} model @param {string} text @returns {Classified} */
export function classify(model, text) {
    const { dimension: d, extra, layers, bias, gate, table } = model;
    const places = textFind(model, text);
    const ids = [...places.keys(), ...(extra < 0 ? [] : [extra])];
    const counts = ids.map((id) => places.get(id)?.length ?? 1);
    const voices = ids.map((id, t) => (id === extra ? model.neutralWeight : model.binary ? 1 : counts[t]));
    const strengthOf = (/** @type {number} */ id) => table[id].reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    const strengths = ids.map((id) => (id === extra ? 0 : strengthOf(id)));
    // A gate silences tokens no stronger than a share of the loudest: they start halfway to the extra one.
    const bar = gate === null ? -1 : gate * Math.max(0, ...strengths);
    const rows = ids.map((id, t) => (id !== extra && strengths[t] <= bar ? extra + 1 : id));
    const starts = rows.map((row) => table[row]);
    // A text of which nothing is known is one point that has no token.
    const cloud = ids.length ? exactCloud(starts, voices) : exactCloud([new Array(d).fill(0)]);
    const of = ids.map((_, t) => cloud.ofToken[t]); // tokens with one vector are one point
    const run = textWalk(cloud, model);
    const masses = textMasses(voices, of, cloud.multiplicities, run, model);
    const ends = run.at(run.settled ? layers : run.last);
    const [first, says] = [starts, ends].map((points) => points.map((point) => textSays(model, point)));
    const final = run.sets(run.last);
    const leaders = of.map((point) => {
        const [leader, ...more] = final[point];
        return layers && !more.length && run.since[leader] >= 0 ? of.lastIndexOf(leader) : -1;
    });
    const neutral = model.hasNeutral ? ids.length - 1 : ids.length; // who follows it has no effect
    const active = ids.map((id, t) => id !== extra && rows[t] === id && leaders[t] !== neutral);
    const adds = (/** @type {number} */ t, /** @type {number} */ row) => masses[t] * first[t][row];
    const logits = Array.from(bias, (b, row) => b + ids.reduce((sum, _, t) => sum + adds(t, row), 0));
    const probabilities = textProbabilities(logits);
    const [next, top] = [...probabilities].sort((a, b) => a - b).slice(-2);
    const decided = active.includes(true) && next < top;
    const best = decided ? probabilities.indexOf(top) : model.usual;
    const [isTwo, row] = [bias.length === 1, bias.length === 1 ? 0 : best];
    const total = Math.max(1, voices.reduce((sum, voice) => sum + voice, 0));
    const tokens = ids.map((id, t) => {
        const [point, leader] = [of[t], leaders[t]];
        const own = leader < 0 ? says[point] : first[leader];
        return {
            id, word: model.surfaces[id] ?? EXTRA_TOKEN, places: places.get(id) ?? [], count: counts[t],
            mass: masses[t], contribution: adds(t, row), vote: (voices[t] / total) * says[point][row],
            active: active[t], leads: run.since[point] >= 0, leaderSince: run.since[point], leader,
            side: isTwo ? Number(own[0] >= 0) : own.indexOf(Math.max(...own)), start: starts[t], end: ends[point],
        };
    });
    const reason = !places.size ? "the model knows no word of this text"
        : active.includes(true) ? "several classes have the same score" : "none of the known tokens is active";
    return {
        label: model.classes[best], answer: decided ? best : -1, decided, reason: decided ? "" : reason,
        probability: probabilities[best], probabilities, logits, logit: logits[row], bias: bias[row],
        towards: model.classes[isTwo ? 1 : best], tokens,
        rest: tokens.reduce((sum, token) => (token.active ? sum : sum + token.vote), 0),
        known: places.size,
        get path() {
            const isLimit = run.settled && layers === Infinity;
            const shown = isLimit ? run.last + 8 : Math.min(layers, run.settled ? Infinity : run.last);
            return [...Array(shown + 1).keys(), ...(isLimit ? [Infinity] : [])].map((layer) => {
                const z = run.at(layer);
                return of.map((point) => z[point]);
            });
        },
    };
}

/** The mass of each token in the mean of the last layer. A layer backwards, a point keeps the share 1 / (1 + alpha) of
 * its mass and gives the rest to those it attends to, by their weights; infinitely many leave everything to leaders.
 * @param {number[]} voices @param {number[]} of @param {number[]} weights @param {ReturnType<typeof textWalk>} run
 * @param {Model} model */
function textMasses(voices, of, weights, run, { layers, dynamics }) {
    const give = (/** @type {number[]} */ mass, /** @type {number[][]} */ sets, /** @type {number} */ kept) => {
        const after = mass.map((m) => kept * m);
        sets.forEach((set, i) => {
            const whole = set.reduce((sum, j) => sum + weights[j], 0);
            for (const j of set) after[j] += (1 - kept) * mass[i] * (weights[j] / whole);
        });
        return after;
    };
    const [depth, keep] = [layers === Infinity ? run.last : layers, exactFloat(dynamics.keep.p, dynamics.keep.q)];
    let mass = weights;
    if (layers === Infinity && run.settled) {
        const sets = run.sets(run.last).map((set, i) => (set.length > 1 ? set.filter((j) => j !== i) : set));
        while (mass.some((m, i) => m && sets[i][0] !== i)) mass = give(mass, sets, 0);
    }
    for (let layer = depth - 1; layer >= 0; layer--) mass = give(mass, run.sets(layer), keep);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return of.map((point, t) => (mass[point] * (voices[t] / weights[point])) / total);
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

/** A few words that change the label if they are crossed out: the word of an active token that helps most, again and
 * again, in the end without those that are not needed. So they are found, not proved to be the fewest. A word goes
 * wherever it is, and a sentence ends there: no phrase arises that nobody wrote. `words` is empty if nothing was
 * found. @param {Model} model @param {string} text @param {number} [budget] milliseconds
 * @returns {{words: string[], text: string, label: Label, probability: number}} */
export function removalsFlip(model, text, budget = 5_000) {
    const [end, all, { answer }] = [performance.now() + budget, textWords(text), classify(model, text)];
    const without = (/** @type {string[]} */ words) => {
        const changed = withoutWords(text, all.filter((word) => words.includes(word.surface)));
        const { tokens, decided, label, probability, probabilities } = classify(model, changed);
        const lead = Math.max(...probabilities.filter((_, c) => c !== answer)) - probabilities[answer];
        const flips = decided && lead > 1e-9;
        return { words, text: changed, tokens, label, probability, lead: flips ? 1 + lead : Math.min(lead, 0) };
    };
    let best = without([]);
    while (answer >= 0 && best.lead <= 0) {
        const active = best.tokens.filter((token) => token.active).flatMap((token) => textWords(token.word));
        const options = [...new Set(active.map((word) => word.surface))];
        const found = options.map((word) => (performance.now() < end ? without([...best.words, word]) : best));
        const next = found.reduce((most, each) => (each.lead > most.lead ? each : most), found[0] ?? best);
        if (next === best) break;
        best = next;
    }
    if (best.lead <= 0) best = without([]);
    for (const word of best.words) {
        const fewer = without(best.words.filter((other) => other !== word));
        if (fewer.lead > 0) best = fewer;
    }
    return { words: best.words, text: best.text, label: best.label, probability: best.probability };
}
