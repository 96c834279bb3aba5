// The Reviews room: a text, what a model answers, and why. It shows what Python's explanations show, in the same words.
import { acceptDrops, el, labelled } from "./dom.js";
import { answerOf, plural, shortName, showAnswer, showLedgers, showText } from "./explanation.js";
import { classify, loadModel, textWords, unpackModel } from "./text.js";
import { mountPlane } from "./wordplane.js";

/**
 * @typedef {import("./text.js").Model} Model
 * @typedef {import("./text.js").Classified} Classified
 */

const EXAMPLE = "An awful script and a dull first hour, but the two leads are wonderful together, and the ending is great.";
const MODEL_FILES = ["config.json", "vocabulary.txt", "model.safetensors", "hashes.json", "metrics.json"];
const LARGEST_MODEL = 500e6; // bytes
const LONGEST_IN_URL = 2000; // characters

/** Models by name, read when they are first needed. @type {Map<string, () => Promise<Model>>} */
const reviewModels = new Map();

/**
 * Classify with a model of the page: the one of that name, or the first.
 * @param {string} text
 * @param {string} [name]
 * @returns {Promise<Classified>}
 */
export async function classifyHere(text, name) {
    const model = reviewModels.get(name ?? [...reviewModels.keys()][0]);
    if (!model) throw new Error(`The page has no model ${name ?? ""}: expected ${[...reviewModels.keys()].join(", ") || "one to be dropped on it"}.`);
    return classify(await model(), String(text));
}

/** Keeps a model, which is read once. @param {string} name @param {() => Promise<Model>} read */
function keepModel(name, read) {
    /** @type {Promise<Model> | undefined} */
    let found;
    reviewModels.set(name, () => (found ??= read()));
}

/**
 * @param {HTMLElement} root
 * @param {import("./main.js").Context} context
 * @returns {import("./main.js").Room}
 */
export function mountReviews(root, context) {
    for (const { name, data } of context.data.models ?? []) {
        keepModel(name, async () => loadModel((await unpackModel(data)).files, name));
    }
    const choice = el("select", { change: () => choose(choice.value) });
    const folder = el("input", { type: "file", multiple: true, webkitdirectory: true, hidden: true, "aria-label": "Folder of a model" });
    folder.addEventListener("change", () => void open([...(folder.files ?? [])], folder.files?.[0]?.webkitRelativePath.split("/")[0] ?? ""));
    const input = el("textarea", { rows: 5, dir: "auto", spellcheck: "false", placeholder: "Type or paste a text", input: edited, change: settled });
    const [answer, change, marked, ledgers, legend] = [el("div", { "aria-live": "polite" }), el("div", { class: "hm-change" }),
        el("div", { class: "hardmax-text hm-marked", dir: "auto", lang: "" }), el("div", { class: "hm-ledgers" }), el("figure", { class: "hm-figure" })];
    marked.addEventListener("click", (event) => crossOut(event.target, event.shiftKey));
    marked.addEventListener("keydown", moveInText);
    const noModel = el("p", { class: "hm-problem" }, "There is no model in this page: drop the folder of one here, or make a page with ", el("code", {}, "hardmax page --model imdb-2d"), ".");
    const results = el("div", {}, el("h2", {}, "The text"), el("p", { class: "hardmax-note" },
        "Click a word to cross it out; with Shift, wherever it is. Keys: Tab, the arrows, Enter."), marked);
    root.classList.add("hardmax");
    root.append(
        el("p", { class: "hm-intro" }, "Every word or phrase that the model knows is a point. In each layer a point moves towards those that it attends to, "
            + "so that words gather round a few leaders (★). The side on which their mean (▲) ends up is the answer."),
        el("div", { class: "hm-models" }, labelled("Model", choice), el("button", { click: () => folder.click() }, "Open a model folder …"), folder,
            el("span", { class: "hardmax-note" }, "or drop the folder anywhere on this page")),
        noModel, el("div", { class: "hm-columns" }, el("div", {}, labelled("Text", input), answer, change, results), el("div", {}, legend, ledgers)));
    const plane = mountPlane(legend, context.calm);
    acceptDrops(root, (files, name) => void open(files, name));

    let [name, base, lastText, wasEmpty, wait] = ["", "", "", true, 0];
    /** Where crossed-out words start. @type {Set<number>} */
    let out = new Set();
    /** @type {Model | null} */
    let model = null;
    /** @type {Classified | null} */
    let found = null;
    /** @type {ReturnType<typeof textWords>} */
    let words = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    setText(context.data.text ?? "");
    listModels(context.data.model ?? "");

    return {
        state: () => {
            /** @type {Record<string, string>} */
            const kept = name ? { model: name } : {};
            const crossed = words.flatMap((word, n) => (out.has(word.start) ? [n] : [])).join(".");
            if (input.value.length > LONGEST_IN_URL || crossed.length > LONGEST_IN_URL) return kept;
            if (input.value !== context.data.text) kept.text = input.value;
            if (crossed) kept.out = crossed;
            return kept;
        },
        restore: (state) => {
            if (state.text !== undefined) setText(String(state.text).slice(0, LONGEST_IN_URL));
            words = textWords(input.value);
            if (/^\d{1,4}(\.\d{1,4})*$/.test(state.out ?? "")) {
                out = new Set(state.out.split(".").flatMap((n) => words[Number(n)]?.start ?? []));
            }
            if (state.model && reviewModels.has(state.model)) listModels(state.model);
            else if (state.model) throw new Error(`The page has no model "${shortName(state.model)}": open its folder.`);
        },
        keys: [["Space", "play or pause"], ["← →", "one layer back or on"], ["r", "restore the original text"]],
        key: (event) => {
            if (event.target instanceof Element && event.target.closest("button, [role=button], [role=tab], summary")) return false;
            if (event.key === " ") plane.toggle();
            else if (event.key === "ArrowLeft" || event.key === "ArrowRight") plane.step(event.key === "ArrowLeft" ? -1 : 1);
            else if (event.key === "r") restoreOriginal();
            else return false;
            return true;
        },
        values: () => ({ text: input.value }),
        setValues: ({ text = input.value }) => {
            if (text === input.value) return;
            setText(text);
            update(true);
        },
        shown: () => void choose(name),
        hidden: () => plane.stop(),
    };

    /** @param {string} text */
    function setText(text) {
        input.value = text;
        base = text;
        wasEmpty = !text;
        out = new Set();
    }

    /** @param {string} wanted */
    function listModels(wanted) {
        choice.replaceChildren(...[...reviewModels.keys()].map((each) => el("option", { value: each }, shortName(each))));
        noModel.hidden = reviewModels.size > 0;
        choice.disabled = !reviewModels.size;
        name = reviewModels.has(wanted) ? wanted : [...reviewModels.keys()][0] ?? "";
        choice.value = name;
    }

    /** @param {string} wanted */
    async function choose(wanted) {
        name = wanted;
        for (const part of [answer, change, results, ledgers, legend]) part.hidden = true;
        if (!name) return;
        try {
            const loaded = await /** @type {() => Promise<Model>} */ (reviewModels.get(name))();
            if (name !== wanted) return; // another one was chosen meanwhile
            model = loaded;
            if (!input.value && classify(model, EXAMPLE).decided && context.data.text === undefined) setText(EXAMPLE);
            const layers = model.layers === Infinity ? "infinitely many layers" : plural(model.layers, "layer");
            context.fail("");
            context.announce(`Model ${shortName(name)}: ${plural(model.classes.length, "class", "es")}, ${model.surfaces.length.toLocaleString("en")} tokens, ${model.dimension} dimension${model.dimension > 1 ? "s" : ""}, ${layers}.`);
            update(true);
        } catch (error) {
            context.fail(error instanceof Error ? error.message : String(error));
        }
    }

    /** @param {File[]} files @param {string} from the name of their folder */
    async function open(files, from) {
        const wanted = files.filter((file) => MODEL_FILES.includes(file.name));
        const title = from || "dropped model";
        try {
            if (!files.length) return;
            if (!wanted.length) throw new Error(`${shortName(title)} is no model: expected a folder with config.json, vocabulary.txt and model.safetensors.`);
            const size = wanted.reduce((sum, file) => sum + file.size, 0);
            if (size > LARGEST_MODEL) throw new Error(`The model has ${Math.round(size / 1e6)} MB: expected at most ${LARGEST_MODEL / 1e6}.`);
            const read = await Promise.all(wanted.map(async (file) => [file.name, new Uint8Array(await file.arrayBuffer())]));
            const loaded = await loadModel(Object.fromEntries(read), title);
            keepModel(title, async () => loaded);
            listModels(title);
            await choose(title);
            context.changed();
        } catch (error) {
            context.fail(error instanceof Error ? error.message : String(error));
        }
        folder.value = "";
    }

    function edited() {
        clearTimeout(timer);
        timer = setTimeout(() => {
            const [before, text] = [words, input.value];
            const [start, end] = common(base, text);
            // A text of which more than half is new is another one: there is nothing to compare it with.
            if (!text || start + end < base.length / 2) [base, wasEmpty] = ["", true];
            // Words stay crossed out if they stand in the same place, seen from the beginning or from the end.
            const [kept, tail] = common(lastText, text);
            out = new Set(before.filter((word) => out.has(word.start) && (word.end <= kept || word.start >= lastText.length - tail))
                .map((word) => (word.end <= kept ? word.start : word.start + text.length - lastText.length)));
            update(false);
        }, wait);
    }

    /** The text that was typed is the original from now on, if there was none. */
    function settled() {
        if (wasEmpty) [base, wasEmpty] = [input.value, !input.value];
    }

    function restoreOriginal() {
        setText(base || input.value);
        update(false);
    }

    /** @param {EventTarget | null} target @param {boolean} everywhere */
    function crossOut(target, everywhere) {
        const element = target instanceof Element ? target.closest("[data-start]") : null;
        if (!element) return;
        const start = Number(element.getAttribute("data-start"));
        const surface = words.find((word) => word.start === start)?.surface;
        toggleWords(words.filter((word) => (everywhere ? word.surface === surface : word.start === start)));
        const again = marked.querySelector(`[data-start="${start}"]`);
        if (again instanceof HTMLElement) focusWord(again);
    }

    /** @param {{start: number}[]} which */
    function toggleWords(which) {
        settled();
        const remove = which.every((word) => out.has(word.start));
        for (const word of which) remove ? out.delete(word.start) : out.add(word.start);
        update(false);
    }

    /** The arrows go from word to word; only the word with the focus is a button. @param {KeyboardEvent} event */
    function moveInText(event) {
        const all = /** @type {HTMLElement[]} */ ([...marked.querySelectorAll("[data-start]")]);
        const at = all.findIndex((each) => each === document.activeElement);
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
        if (to !== undefined) focusWord(all[Math.max(0, Math.min(all.length - 1, to))]);
        else if (event.key === "Enter" || event.key === " ") crossOut(event.target, event.shiftKey);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }

    /** @param {HTMLElement} word */
    function focusWord(word, now = true) {
        for (const before of marked.querySelectorAll("[role=button]")) {
            for (const attribute of ["role", "tabindex", "aria-pressed"]) before.removeAttribute(attribute);
        }
        word.setAttribute("role", "button");
        word.setAttribute("aria-pressed", String(word.localName === "del"));
        word.tabIndex = 0;
        if (now) word.focus();
    }

    /** @param {boolean} fresh whether to play from the first layer */
    function update(fresh) {
        if (!model) return;
        const started = performance.now();
        const text = input.value;
        words = textWords(text);
        const crossed = words.filter((word) => out.has(word.start));
        out = new Set(crossed.map((word) => word.start));
        const changed = blanked(text, crossed);
        found = classify(model, changed);
        const original = base || text;
        answer.replaceChildren(...showAnswer(model, found));
        showChange(crossed, original === changed ? null : classify(model, original));
        marked.replaceChildren(...showText(model, found, text, words, out));
        const first = marked.querySelector("[data-start]");
        if (first instanceof HTMLElement) focusWord(first, false);
        ledgers.replaceChildren(...showLedgers(model, found, (token) => toggleWords(words.filter((word) => token.places.some(([a, b]) => a <= word.start && word.end <= b)))));
        for (const part of [answer, results, ledgers]) part.hidden = false;
        plane.show(model, found, fresh);
        lastText = text;
        wait = Math.min(1000, 2 * (performance.now() - started));
        context.changed();
    }

    /** @param {ReturnType<typeof textWords>} crossed @param {Classified | null} before */
    function showChange(crossed, before) {
        change.hidden = !before;
        if (!before || !found) return;
        const names = [...new Set(crossed.map((word) => word.surface))];
        const how = [...(input.value === (base || input.value) ? [] : ["edited"]),
            ...(names.length ? [`without ${names.slice(0, 6).map((each) => `“${shortName(each, 30)}”`).join(", ")}${names.length > 6 ? ` and ${names.length - 6} more` : ""}`] : [])];
        change.replaceChildren(
            el("p", {}, el("span", {}, answerOf(before)), " → ", el("strong", {}, answerOf(found)), ` (${how.join(", ")})`),
            el("button", { click: restoreOriginal }, "Restore the original"),
            ...(input.value === base ? [] : [el("button", { click: () => { base = input.value; update(false); } }, "Compare with this text from now on")]));
    }
}

/** How many characters two texts share at the beginning, and how many more at the end. @param {string} a @param {string} b */
function common(a, b) {
    const most = Math.min(a.length, b.length);
    let [start, end] = [0, 0];
    while (start < most && a[start] === b[start]) start++;
    while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
    return [start, end];
}

/**
 * The text with a full stop in place of each of these words, so that no phrase arises that nobody wrote; every other
 * character stays where it is.
 * @param {string} text
 * @param {{start: number, end: number}[]} words in order
 */
function blanked(text, words) {
    let [done, at] = ["", 0];
    for (const { start, end } of words) {
        done += `${text.slice(at, start)}.${" ".repeat(end - start - 1)}`;
        at = end;
    }
    return done + text.slice(at);
}
