// The room for texts: a text, what a model answers, and why; words can be crossed out, or others be written.
import { drawArrows } from "./arrows.js";
import { acceptDrops, el, labelled } from "./dom.js";
import { answerOf, explanationOf, shortName, signed } from "./explanation.js";
import { classify, loadModel, removalsFlip, unpackModel } from "./text.js";
import { textWords, withoutWords } from "./textwords.js";

/** @typedef {import("./text.js").Model} Model @typedef {import("./text.js").Classified} Classified */

const EXAMPLE = "The plot is not new, but it never gets boring, and the two leads are wonderful.";
const ABOUT_TEXTS = "Words vote, and the votes add up to the answer. Arrows go from a word to the modifier, such as "
    + "“never”, that it attends to: its vote is muted, turned or strengthened.";
const ABOUT_WORDS = "Click a word to cross it out; Shift-click crosses out every occurrence. Keys: Tab, the arrows, Enter.";
const MODEL_FILES =
    ["config.json", "vocabulary.txt", "model.safetensors", "hashes.json", "metrics.json"];
const LONGEST_IN_URL = 2000; // characters
const RIGHT_TO_LEFT = /^\P{L}*[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}]/u;

/** Models by name, read when they are first needed. @type {Map<string, () => Promise<Model>>} */
const reviewModels = new Map();

function keepModel(/** @type {string} */ name, /** @type {() => Promise<Model>} */ read) {
    let found = /** @type {Promise<Model> | undefined} */ (undefined);
    reviewModels.set(name, () => (found ??= read()));
}

/** A model of the page: the one of that name, or the first. @param {string} [name] */
async function modelNamed(name = [...reviewModels.keys()][0]) {
    const read = reviewModels.get(name);
    if (!read) throw new Error(`The page has no model "${shortName(name ?? "")}": open its folder.`);
    return read();
}

/** Classify with a model of the page. @param {string} text @param {string} [model] */
export const classifyHere = async (text, model) => classify(await modelNamed(model), String(text));

/** @param {HTMLElement} root @param {import("./main.js").Context} context @returns {import("./main.js").Room} */
export function mountReviews(root, context) {
    const { models = [], text: givenText } = context.data;
    /** Do what a user asked for. @param {() => Promise<void>} action */
    const attempt = (action) => (context.fail(""), context.attempt(action));
    for (const { name, data } of models) keepModel(name, async () => loadModel(await unpackModel(data), name));
    const choice = el("select", { change: () => attempt(() => choose(choice.value)) });
    const folder = el("input", { type: "file", webkitdirectory: true, hidden: true, change: openFolder });
    const noModel = el("p", { class: "hm-problem" }, "There is no model in this page: drop the folder of one here, or "
        + "make a page with ", el("code", {}, "hardmax page --model sentiment-en"), ".");
    const look = { rows: 5, spellcheck: "false", placeholder: "Type or paste a text" };
    const input = el("textarea", { ...look, input: edit, change: settle });
    const verdict = el("div", { "aria-live": "polite" });
    const answer = el("div");
    const change = el("div", { class: "hm-change", "aria-live": "polite" });
    const about = "Words of the text: arrows go from one to the next, Enter crosses one out";
    const group = { role: "group", tabindex: 0, "aria-label": about, keydown: moveInText };
    const marked = el("div", { class: "hardmax-text hm-marked", dir: "auto", lang: "", ...group });
    marked.addEventListener("click", (event) => crossOut(event.target, event.shiftKey));
    for (const kind of ["mouseover", "focusin", "mouseleave"]) marked.addEventListener(kind, tell);
    const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    drawing.setAttribute("aria-hidden", "true");
    const votes = el("div");
    const flipping = el("button", { click: crossFew }, "Find words that change the answer");
    const told = { class: "hardmax-note hm-told", "aria-live": "polite" };
    const aboutWords = el("p", told, ABOUT_WORDS);
    const drawn = el("div", { class: "hm-drawn" }, marked, drawing);
    const textShown = el("div", {}, el("h2", {}, "The text"), drawn, aboutWords, flipping);
    const opening = el("button", { click: () => folder.click() }, "Open a model folder, or drop it here …");
    const answered = el("div", {}, verdict, answer, change);
    const parts = [labelled("Text", input), answered, textShown, votes];
    root.classList.add("hardmax");
    root.append(
        el("p", { class: "hm-intro" }, ABOUT_TEXTS),
        el("div", { class: "hm-models" }, labelled("Model", choice), opening, folder), noModel,
        el("div", { class: "hm-columns" }, ...parts));
    let arrows = /** @type {ReturnType<typeof drawArrows>} */ ([]);
    new ResizeObserver(() => (arrows = drawArrows(marked, drawing))).observe(marked);
    acceptDrops(root, (files, name) => attempt(() => open(files, name)));

    let [name, original, last, wait, timer] = ["", "", "", 0, 0]; // `last` is the text that is shown
    /** Where crossed-out words start. @type {Set<number>} */
    let out = new Set();
    let model = /** @type {Model | null} */ (null);
    let words = /** @type {ReturnType<typeof textWords>} */ ([]);
    const setText = (/** @type {string} */ text) => ([input.value, original, out] = [text, text, new Set()]);
    setText(givenText ?? "");
    listModels(context.data.model);

    return {
        state: () => {
            const state = /** @type {Record<string, string>} */ (name ? { model: name } : {});
            const crossed = words.flatMap((word, n) => (out.has(word.start) ? [n] : [])).join(".");
            if (last.length > LONGEST_IN_URL || crossed.length > LONGEST_IN_URL) return state;
            if (last !== (givenText ?? "")) state.text = last;
            return crossed ? { ...state, out: crossed } : state;
        },
        restore: (state) => {
            if (state.text !== undefined) setText(state.text.slice(0, LONGEST_IN_URL));
            words = textWords(input.value);
            const numbers = (state.out ?? "").slice(0, LONGEST_IN_URL).split(".");
            out = new Set(numbers.flatMap((n) => words[n === "" ? -1 : Number(n)]?.start ?? []));
            listModels(state.model);
            if (state.model && state.model !== name) context.attempt(() => modelNamed(state.model));
        },
        keys: [["← →", "in the text: from word to word"],
            ["Enter", "in the text: cross a word out"], ["r", "restore the original text"]],
        key: (event) => {
            if (event.key !== "r") return false;
            restoreText();
            return true;
        },
        values: () => ({ text: input.value }),
        setValues: ({ text = input.value }) => {
            if (text === input.value) return;
            setText(text);
            update();
        },
        shown: () => void (name && context.attempt(() => choose(name))),
        open: (files, folder) => void attempt(() => open(files, folder)),
        hidden: () => {},
    };

    function listModels(wanted = "") {
        const names = [...reviewModels.keys()];
        choice.replaceChildren(...names.map((each) => el("option", { value: each }, shortName(each))));
        for (const part of [change, textShown]) part.hidden = true;
        [noModel.hidden, choice.disabled] = [names.length > 0, !names.length];
        name = names.includes(wanted) ? wanted : names[0] ?? "";
        choice.value = name;
    }

    async function choose(/** @type {string} */ wanted) {
        name = wanted;
        const found = await modelNamed(wanted);
        if (name !== wanted) return; // another one was chosen meanwhile
        model = found;
        if (!input.value && givenText === undefined && classify(model, EXAMPLE).decided) setText(EXAMPLE);
        update();
    }

    function openFolder() {
        const files = [...(folder.files ?? [])];
        attempt(() => open(files, files[0]?.webkitRelativePath.split("/")[0]));
        folder.value = "";
    }

    async function open(/** @type {File[]} */ files, /** @type {string | undefined} */ from) {
        const wanted = files.filter((file) => MODEL_FILES.includes(file.name));
        const title = from || "dropped model";
        const read = wanted.map(async (file) => [file.name, new Uint8Array(await file.arrayBuffer())]);
        const found = await loadModel(Object.fromEntries(await Promise.all(read)), title);
        keepModel(title, async () => found);
        listModels(title);
        await choose(title);
    }

    function restoreText() {
        setText(original || input.value);
        update();
    }

    function edit() {
        clearTimeout(timer);
        timer = window.setTimeout(readEdited, wait);
    }

    function readEdited() {
        const text = input.value;
        const [start, end] = sharedEnds(original, text);
        // A text of which more than half is new is another one: there is nothing to compare it with.
        if (start + end < original.length / 2) original = "";
        // Words stay crossed out if they stand in the same place, seen from the beginning or from the end.
        const [head, tail] = sharedEnds(last, text);
        const crossed = words.filter((word) => out.has(word.start));
        out = new Set(crossed.flatMap((word) => (word.end <= head ? [word.start]
            : word.start >= last.length - tail ? [word.start + text.length - last.length] : [])));
        update();
    }

    /** Whoever leaves the text box is done with the text: it is the original, if there is none. */
    function settle() {
        if (last !== input.value) readEdited();
        original ||= input.value;
    }

    function toggleWords(/** @type {{start: number}[]} */ which) {
        settle();
        const isBack = which.every((word) => out.has(word.start));
        for (const { start } of which) isBack ? out.delete(start) : out.add(start);
        update();
    }

    /** Cross out a few words that change the answer: found one by one, not proved to be the fewest. */
    function crossFew() {
        settle();
        const few = model ? removalsFlip(model, last).words : [];
        if (!few.length) return context.announce("no words were found that change the answer");
        out = new Set(words.flatMap((word) => (few.includes(word.surface) ? [word.start] : [])));
        update();
    }

    function crossOut(/** @type {EventTarget | null} */ target, /** @type {boolean} */ everywhere) {
        const start = target instanceof Element ? target.closest("[data-start]")?.getAttribute("data-start") : null;
        const word = words.find((each) => start && each.start === Number(start));
        if (!word) return;
        toggleWords(everywhere ? words.filter((each) => each.surface === word.surface) : [word]);
        /** @type {HTMLElement | null} */ (marked.querySelector(`[data-start="${start}"]`))?.focus();
    }

    /** What the word under the mouse or with the focus says and attends to; its arrows stand out.
     * @param {Event} event */
    function tell({ target, type }) {
        const at = type !== "mouseleave" && target instanceof Element ? target : marked;
        const [mark, word] = [at.closest("mark"), at.closest("[data-start]")];
        const about = [word, mark].map((each) => each?.getAttribute("title")).filter(Boolean);
        aboutWords.textContent = about.join(". ") || ABOUT_WORDS;
        const start = word?.getAttribute("data-start");
        for (const { arrow, mark: from, to } of arrows) {
            arrow.classList.toggle("hm-on", from === mark || to === start);
        }
    }

    /** The arrows go from word to word. @param {Event} event */
    function moveInText(event) {
        const { key, shiftKey, target } = /** @type {KeyboardEvent} */ (event);
        const all = /** @type {HTMLElement[]} */ ([...marked.querySelectorAll("[data-start]")]);
        const at = all.findIndex((each) => each === target);
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[key];
        if (to !== undefined) all[to]?.focus();
        else if (key === "Enter" || key === " ") crossOut(target, shiftKey);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }

    /** Read the text again. */
    function update() {
        clearTimeout(timer);
        if (!model) return;
        const started = performance.now();
        last = input.value;
        // Browsers take many seconds to find the direction of a very long text themselves.
        input.dir = RIGHT_TO_LEFT.test(last) ? "rtl" : "ltr";
        words = textWords(last);
        const crossed = words.filter((word) => out.has(word.start));
        const { text, origin } = withoutWords(last, crossed);
        const found = classify(model, text);
        placeInOriginal(found, origin);
        textShown.hidden = !last;
        const why = explanationOf(model, found);
        const [heading, ...rest] = why.showAnswer();
        verdict.replaceChildren(heading); // what is read aloud
        answer.replaceChildren(...rest);
        marked.replaceChildren(...why.showText(last, words, out));
        arrows = drawArrows(marked, drawing);
        aboutWords.textContent = ABOUT_WORDS;
        votes.replaceChildren(...why.showVotes(({ places }) => toggleWords(words.filter((word) =>
            places.some(([start, end]) => start <= word.start && word.end <= end)))));
        change.hidden = !original || original === text;
        if (!change.hidden) change.replaceChildren(...showChange(classify(model, original), found, crossed));
        wait = Math.min(1000, 2 * (performance.now() - started)); // long texts are not read at every key
        context.changed();
    }

    /** @param {Classified} before @param {Classified} after @param {{surface: string}[]} crossed */
    function showChange(before, after, crossed) {
        const names = [...new Set(crossed.map((word) => `“${shortName(word.surface, 30)}”`))];
        const how = last === original ? [] : ["edited"];
        if (names.length) how.push(`without ${names.join(", ")}`);
        if (before.positiveClass === after.positiveClass) how.push(`logit ${signed(before.logit)} → ${signed(after.logit)}`);
        return [el("p", {}, ...answerOf(before), " → ", el("strong", {}, ...answerOf(after)), ` (${how.join("; ")})`),
            el("button", { click: restoreText }, "Restore the original")];
    }
}

/** Give all places as they are in the text in which words are crossed out.
 * @param {Classified} found @param {number[]} origin where each character was */
function placeInOriginal({ tokens }, origin) {
    /** @type {(start: number, end: number) => [number, number]} */
    const place = (start, end) => [origin[start], origin[end - 1] + 1];
    for (const token of tokens) {
        token.places = token.places.map((at) => place(...at));
        token.attended = token.attended.map((at) => at && [...place(at[0], at[1]), at[2], at[3]]);
    }
}

/** How many characters texts share at the beginning, and how many at the end. @param {string} a @param {string} b */
function sharedEnds(a, b) {
    const most = Math.min(a.length, b.length);
    let [start, end] = [0, 0];
    while (start < most && a[start] === b[start]) start++;
    while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
    return [start, end];
}
