// The controls of the Dynamics room, what it says in words, and the table of all numbers.
import { MOST_DIMENSIONS, MOST_TOKENS, NAMED_CLOUDS, cellFloat, parseCsv, pythonLines } from "./cloud.js";
import { MOST_CHARACTERS, plainRows, readAlpha, readSquare, rowsText } from "./cloud.js";
import { download, el, labelled, plural } from "./dom.js";
import { exactAlong, exactDot, exactDynamics, exactFloat, exactPositions, exactText, makeCertificate } from "./exact.js";
import { attendedTokens, floatAlong, floatDot, positionsAt } from "./floats.js";
import { FLOAT_ENOUGH, readAttention } from "./layers.js";
import { PAPER, drawScene, ellipseEnd, svgPen } from "./scene.js";
import { QUESTIONS, buildQuiz } from "./quiz.js";
import { buildTour } from "./tour.js";

/** What can be shown, and whether it is at first. @type {[string, string, boolean][]} */
export const SWITCHES = [
    ["paths", "Paths", true], ["polytope", "Polytope of the leaders", true], ["cells", "Cells of the leaders", true],
    ["follow", "Who follows whom", false], ["halfspace", "Half-space of the selected token", true],
    ["numbers", "Numbers or names of the tokens", false], ["ellipse", "Show the metric as a draggable ellipse", false],
];
/** Kinds of attention: their names, and what is to be given with a usual value. @type {Record<string, string[]>} */
const KINDS = {
    hardmax: ["Hardmax: the furthest token"], topk: ["Top-k: the k furthest", "k", "2"],
    localmax: ["Localmax: all within a slack", "Slack", "1/2"], softmax: ["Softmax, beside hardmax", "β", "10"],
};
const PLANE_ONLY = ["cells", "halfspace"]; // of what can be shown
const ROTATE = "Drag the background to rotate it.";
const LEGEND =
    "★ leader, from the start if no layer is beside it · filled: where a token is now · hollow: where it started · same " +
    "colour and shape: same leader · grey: between leaders";
const OWN_TOKENS = "One token per line: 1/3, -0.5 or, with a name, Ann: 1, 0. Or drop a CSV file here.";
const EXERCISE = "Stars and colours are hidden until a question is answered. For a question about one token, select it first. Start, then copy the link.";

const MOST_FRACTIONS = 60; // layers, of small clouds
const TABLE_LAYERS = 20; // whole layers in the table
const CHECKING = "Whether the proof of a limit is right, of any layer, is checked by this page alone. Or drop the file on the page.";
const MOST_BYTES = 2 ** 28; // of a file to be checked

/** Builds the page round the canvas. @param {HTMLElement} root @param {import("./dynamics.js").DynamicsRoom} room */
export function buildPanel(root, room) {
    const { context } = room;
    const { home } = context.data;
    let isNew = true;
    /** @type {(words: string, click: () => unknown, title?: string) => HTMLButtonElement} */
    const button = (words, click, title = "") => el("button", { click: () => context.attempt(click), title }, words);
    /** @type {(title: string, ...children: Node[]) => HTMLElement} */
    const group = (title, ...children) => el("fieldset", { class: "hm-group" }, el("legend", {}, title), ...children);
    /** What an exercise hides until it is answered. @template {HTMLElement} Part @param {Part} part */
    const afterwards = (part) => (part.classList.add("hm-after"), part);
    /** @type {(title: string, ...children: Node[]) => HTMLDetailsElement} */
    const folded = (title, ...children) => el("details", { class: "hm-group" }, el("summary", {}, title), ...children);
    const row = (/** @type {Node[]} */ ...children) => el("div", { class: "hm-row" }, ...children);
    const note = (words = "") => el("p", { class: "hm-note" }, words);

    const and = (/** @type {number[]} */ tokens) =>
        (tokens.length > 6 ? `${tokens.length} tokens` : tokens.map(room.nameOf).join(", ").replace(/, ([^,]+)$/, " and $1"));
    const listed = (/** @type {number[]} */ tokens) => {
        const isPlain = tokens.length <= 6 && !tokens.some((token) => room.problem.names[token]);
        return (isPlain ? `token${tokens.length > 1 ? "s" : ""} ` : "") + and(tokens);
    };
    /** @type {(rows: Float64Array, point: number) => string} */
    const place = (rows, point) => {
        const numbers = Array.from(rows.subarray(point * room.d, point * room.d + room.d));
        return `(${numbers.map((x) => Number(x.toPrecision(5))).join(", ")})`;
    };
    const capital = (/** @type {string} */ words) => words.replace(/^./, (first) => first.toUpperCase());
    const endOf = (/** @type {number} */ token) => {
        const limit = room.exact?.limit;
        return limit?.limits?.[limit.ofToken[token]];
    };
    const open = (/** @type {File | undefined} */ chosen) => context.attempt(async () => {
        const text = await chosen?.slice(0, MOST_CHARACTERS).text();
        if (chosen) take(parseCsv(text ?? "", chosen.name.slice(0, 60), chosen.size));
    });
    const randomSource = () => "random:" + fields.map(({ value, min, max }) =>
        Math.max(+min, Math.min(+max, Math.round(Number(value)))));
    const setAlpha = (/** @type {string} */ text) => context.attempt(() => room.set({ alpha: readAlpha(text) }));

    const slider = el("input", { type: "range", min: 0, input: () => room.goTo(Number(slider.value)) });
    const layerName = el("span");
    const playButton = button("Play", () => room.toggle());
    const verdict = afterwards(el("div", { class: "hm-verdict", "aria-live": "polite" }));
    const proof = el("div", { class: "hm-verdict", hidden: true });
    let stopCheck = () => {};
    const proofs = el("input", { type: "file", accept: ".json", change: () => check([...(proofs.files ?? [])]) });
    const choose = () => cloud.value !== "own" && begin(cloud.value === "random" ? randomSource() : cloud.value);
    const named = Object.entries(NAMED_CLOUDS).map(([value, [label]]) => el("option", { value }, label));
    const cloud = el(
        "select", { change: choose }, el("option", { value: "random" }, "Random"),
        el("optgroup", { label: "Figure 2 of the paper" }, ...named.slice(0, 4)),
        el("optgroup", { label: "More" }, ...named.slice(4)), el("option", { value: "own" }, "Your own"),
    );
    const fields = [[1, MOST_TOKENS, 60], [1, MOST_DIMENSIONS, 2], [0, 999_999_999, 71]].map(([min, max, value]) =>
        el("input", { type: "number", min, max, value, change: () => begin(randomSource()) }));
    const random = row(...["Tokens", "Dimensions", "Seed"].map((name, k) => labelled(name, fields[k])));
    const about = afterwards(note());
    const file = el("input", { type: "file", accept: ".csv,.tsv,.txt", change: () => open(file.files?.[0]) });
    const pasted = el("textarea", { rows: 4, spellcheck: "false", placeholder: "1, 1/3\n-0.5, 2" });
    const alpha = el("input", { type: "text", size: 6, change: () => setAlpha(alpha.value) });
    const slideAlpha = () => setAlpha(String(Number((10 ** Number(alphaSlider.value)).toPrecision(2))));
    const alphaSlider = el("input", { type: "range", min: -2, max: 1, step: 0.01, input: slideAlpha });
    const boxes = SWITCHES.map(([name]) => {
        const flip = () => (room.show.delete(name) || room.show.add(name), room.draw(), context.changed());
        return el("input", { type: "checkbox", change: flip });
    });
    const checks = SWITCHES.map(([, label], k) => el("label", { class: "hm-check" }, boxes[k], ` ${label}`));
    const planeNote = note();
    const drawnNote = note();
    const [matrix, valueMatrix] = /** @type {const} */ (["metric", "value"]).map((name) => {
        const read = () => room.set({ [name]: readSquare(text.value, room.d, name) });
        const text = el("textarea", { rows: 3, spellcheck: "false", change: () => context.attempt(read) });
        return text;
    });
    const metricNote = note();
    const attention = el("select", { change: () => setAttention(KINDS[attention.value][2]) },
        ...Object.entries(KINDS).map(([value, [label]]) => el("option", { value }, label)));
    const amount = el("input", { type: "text", size: 6, change: () => setAttention(amount.value) });
    const slideBeta = () => setAttention(String(Number((10 ** Number(betaSlider.value)).toPrecision(2))));
    const betaSlider = el("input", { type: "range", min: -1, max: 3, step: 0.01, input: slideBeta });
    const amountLabel = labelled("", amount);
    const betaLabel = labelled("0.1 to 1000", betaSlider);
    const causal = el("input", { type: "checkbox", change: () => context.attempt(() =>
        room.set({ mask: causal.checked ? "causal" : null })) });
    const softNote = note();
    const softBox = el("div", {}, room.softCanvas, softNote);
    const hardNote = note();
    const pair = el("div", { class: "hm-pair" }, el("div", {}, room.canvas, hardNote, drawnNote));
    const table = el("table", { class: "hm-table" });
    const scroll = { class: "hm-scroll", tabindex: 0, role: "region", "aria-label": "All numbers" };
    const every = el("input", { type: "checkbox", change: fillTable });
    const everyLayer = afterwards(el("label", { class: "hm-check" }, every, " Every layer"));
    const numbers = folded("All numbers", everyLayer, el("div", scroll, table));
    const reason = afterwards(note());
    const paper = el("p", { class: "hm-paper" });
    numbers.addEventListener("toggle", fillTable);
    let layerInTable = -1;
    /** @type {{of: unknown, dynamics: import("./exact.js").ExactDynamics, walk: ReturnType<typeof exactPositions>, layers: any[]} | {of: null}} */
    let fractions = { of: null };
    const speed = el("select", { change: () => (room.speed = Number(speed.value)) },
        ...[0.25, 0.5, 1, 2, 4].map((value) => el("option", { value, selected: value === 1 }, `${value}×`)));
    const limitButton = button("To the limit", () => room.goTo(Infinity), "Infinitely many layers");
    const resetButton = button("Reset", () => room.reset(), "As when the page was opened");
    const player = afterwards(row(
        playButton,
        button("Back", () => room.step(-1), "One layer back"),
        button("Step", () => room.step(1), "One layer on"),
        limitButton,
        el("label", { class: "hm-label hm-grow" }, layerName, slider), labelled("Speed", speed),
        resetButton,
        ...(context.link ? [button("Copy link", copyLink, "A link to what is shown")] : []),
    ));
    const tour = buildTour(room, { canvas: room.canvas, verdict });
    const quiz = buildQuiz(room, { limitOf, listed, why, copyLink });
    const question = el("select", {}, ...Object.entries(QUESTIONS).map(([value, [words]]) =>
        el("option", { value }, words.split("?")[0].replace("*", "the selected token") + "?")), el("option", { value: "leaders;attends;ends" }, "All three"));
    const lock = el("input", { type: "checkbox", checked: true });
    const setExercise = () => {
        const asked = question.value.replace(/attends|ends/g, `$&:${room.selected}`);
        if (room.selected < 0 && asked !== "leaders") throw new Error("Select the token that the question is about: click on it.");
        quiz.start(asked, lock.checked, true);
    };
    const otherLayers = folded(
        "Other layers", note("The paper's layer is hardmax without mask and value matrix. The page proves limits only of this one."),
        labelled("A token attends to", attention), row(amountLabel, betaLabel),
        el("label", { class: "hm-check" }, causal, " Causal mask: only itself and earlier tokens"),
        labelled("Value matrix V, row by row", valueMatrix), button("Identity", () => room.set({ value: null })),
    );
    const settings = [
        group(
            "Cloud", labelled("Begin with", cloud), random, about,
            row(button("Add token", () => room.add()), button("Delete", () => room.remove(), "The selected token")),
            el(
                "details", {}, el("summary", {}, "Names and coordinates"), note(OWN_TOKENS), labelled("Tokens", pasted),
                button("Use these tokens", takeTyped), labelled("CSV file", file),
            ),
        ),
        group("Step size", row(labelled("alpha", alpha), labelled("0.01 to 10", alphaSlider))),
        afterwards(folded("Show", ...checks.slice(0, -1), planeNote)),
        folded(
            "Metric", note("Token z looks along A z. Drag the ellipse, or type the entries of A."),
            checks[checks.length - 1], labelled("A, row by row", matrix), metricNote,
            button("Identity", () => room.set({ metric: null })),
        ),
        ...(context.embedded ? [] : [otherLayers]), // in a notebook Python would not know of these
    ];
    if (context.link) settings.push(afterwards(folded(
        "Exercise", note(EXERCISE), labelled("Question", question),
        el("label", { class: "hm-check" }, lock, " Lock the settings"), button("Start", setExercise),
        ...(home ? [el("a", { href: home.replace(/[^/]*$/, "exercises.html"), target: "_top" }, "Ten exercises with solutions")] : []),
    )));
    const allSettings = el("fieldset", { class: "hm-controls hm-settings" }, ...settings);
    const grey = el("input", { type: "checkbox" });
    const more = [
        folded("Save and share", row(
            button("PNG", savePng), button("SVG", saveSvg),
            button("CSV", () => download("tokens.csv", `${rowsText(room.problem.tokens, "\n")}\n`, "text/csv")),
            button("Certificate", saveCertificate, "A proof of the limit that hm.verify checks"),
            button("Copy Python", copyPython),
        ), el("label", { class: "hm-check" }, grey, " Pictures in black and white")),
        folded("Check a certificate", note(CHECKING), labelled("Certificate", proofs)),
    ].map(afterwards);
    root.append(
        el("p", { class: "hm-lead" }, el("span", {}, el("b", {}, "Drag a token"), " and watch the leaders change."),
            button("Take the tour", tour.start, "Six steps, with the mouse or the keys")),
        el("div", { class: "hm-stage" },
            el("div", {}, tour.box, quiz.box, paper, pair, player, verdict, reason, proof, afterwards(note(LEGEND))),
            el("div", { class: "hm-controls" }, allSettings, ...more)),
        numbers,
    );
    return { check, describe, open, quiz, tour, update, updateLayer };

    /** Shows whether a certificate is accepted: the first among some files. @param {File[]} files */
    function check(files) {
        return context.attempt(async () => {
            stopCheck();
            const certificate = files.find(({ name }) => name.endsWith(".json"));
            if (!certificate) throw new Error("There is no certificate among the files: its name ends in .json.");
            if (certificate.size > MOST_BYTES) throw new Error("The page checks files of up to 256 MB.");
            const name = certificate.name.slice(0, 60);
            const show = (/** @type {string} */ words, /** @type {Node[]} */ ...more) =>
                proof.replaceChildren(el("p", {}, el("b", {}, name), `: ${words}`), ...more);
            const stop = el("button", { click: () => (stopCheck(), show("the check was stopped; nothing is proved or refuted.")) }, "Stop");
            const bytes = new Uint8Array(await certificate.arrayBuffer());
            proof.hidden = false;
            const running = el("span", {}, "checking …");
            proof.replaceChildren(el("p", {}, el("b", {}, name), ": ", running), stop);
            proof.scrollIntoView({ block: "nearest" });
            const task = context.check(bytes, (words) => (running.textContent = `checking, ${words} …`));
            stopCheck = task.stop;
            const { accepted, decided, reason, proved } = await task.verdict;
            const word = accepted ? "accepted" : decided ? "refused" : "undecided";
            show(`${word}: ${reason}.`, ...(accepted ? [el("ul", {}, ...proved.map((/** @type {string} */ line) => el("li", {}, line)))] : []));
            proof.classList.toggle("hm-differs", !accepted);
            proof.scrollIntoView({ block: "nearest" });
            context.announce(`${name}: ${word}`);
        });
    }

    /** @param {string} source @param {string[][]} [tokens] @param {string[]} [names] */
    function begin(source, tokens, names) {
        room.use(source, tokens, names);
        room.begin();
    }

    function take(/** @type {ReturnType<typeof parseCsv>} */ { tokens, names, note: warning }) {
        begin("own", tokens, names);
        context.fail(warning);
    }

    function takeTyped() {
        if (pasted.value.includes("=")) throw new Error("tokens: write a colon after a name, such as Ann: 1, 0, not “=”.");
        take(parseCsv(plainRows(pasted.value), "tokens"));
    }

    /** @param {string} text @param {string} what @param {string} [more] */
    async function copy(text, what, more = "") {
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            throw new Error(`The browser does not let this page copy the ${what}.${more}`);
        }
        context.announce(`${what} copied`);
    }

    function copyPython() {
        return copy(pythonLines(room.problem, room.wholeLayer), "Python lines");
    }

    async function copyLink() {
        if (room.playing) room.goTo(room.layer); // the link shows what is seen
        const { tokens, cloud: name, tour: step } = room.state();
        if (!tokens && !name && !step) throw new Error("These are too many tokens for a link: save them as CSV instead.");
        await copy(context.link?.() ?? "", "link", " Copy the address of the page instead.");
        if (location.protocol === "file:")
            context.announce("link copied; it works on this computer only: send the file too, or put it on a server");
    }

    function savePng() {
        const canvas = el("canvas", { width: 2 * room.frame.width, height: 2 * room.frame.height });
        room.paint({ ...PAPER, grey: grey.checked }, canvas);
        canvas.toBlob((blob) => blob && download("hardmax.png", blob, "image/png"));
    }

    function saveSvg() {
        const { pen, text } = svgPen(room.frame.width, room.frame.height, PAPER.ground);
        drawScene(pen, room, { ...PAPER, grey: grey.checked });
        download("hardmax.svg", text(), "image/svg+xml");
    }

    function saveCertificate() {
        if (room.others.length) throw new Error("Certificates support only the paper's layer.");
        if (!room.exact?.limit) throw new Error("There is nothing to certify: exact arithmetic has not found the limit.");
        const { alpha: step, metric } = room.problem;
        const certificate = makeCertificate(room.exact.limit, { alpha: step, metric });
        download("certificate.json", JSON.stringify(certificate), "application/json");
    }

    /** The limit of a token, as fractions where these are short. @param {number} token */
    function limitOf(token) {
        const [exactly, { limits, ofToken }] = [endOf(token)?.point, room.run];
        if (exactly && exactly.join().length <= 10 * room.d) return `(${exactly.join(", ")})`;
        return limits ? place(limits, ofToken[token]) : "";
    }

    /** Positions of a layer in fractions, if they are known and not too long. @param {number} layer */
    function fractionsAt(layer) {
        const { exact, problem: { alpha: step, metric } } = room;
        if (!exact?.limit?.limits || layer > MOST_FRACTIONS || room.n * room.d > 1000) return null;
        if (fractions.of !== exact) {
            const dynamics = exactDynamics({ alpha: step, metric, budget: Infinity }, room.d);
            fractions = { of: exact, dynamics, walk: exactPositions(exact.limit, dynamics), layers: [] };
        }
        while (fractions.layers.length <= layer) fractions.layers.push(fractions.walk.next().value);
        return { ...fractions.layers[layer], dynamics: fractions.dynamics };
    }

    /** Where a token is, in fractions where these are short. @param {number} token @param {number} layer */
    function placeOf(token, layer) {
        if (!layer) return `(${room.problem.tokens[token].join(", ")})`;
        const { rows, denominator } = fractionsAt(layer) ?? {};
        const texts = rows?.[room.run.ofToken[token]].map((/** @type {bigint} */ x) => exactText(x, denominator));
        if (texts && texts.join().length <= 10 * room.d) return `(${texts.join(", ")})`;
        return (layer === Infinity && limitOf(token)) || place(positionsAt(room.run, layer), room.run.ofToken[token]);
    }

    /** Which tokens a token attends to, and the scores by which it does. @param {number} token */
    function why(token) {
        const { run, problem: { mask, metric } } = room;
        const layer = room.wholeLayer === Infinity ? run.layers.length - 1 : room.wholeLayer;
        const [point, exactly, positions] = [run.ofToken[token], fractionsAt(layer), positionsAt(run, layer)];
        const decimals = (/** @type {number} */ x) => String(Number(x.toPrecision(5)));
        const told = (/** @type {any} */ score) => {
            if (!exactly) return decimals(score);
            const unit = exactly.denominator ** 2n * exactly.dynamics.scale;
            const text = exactText(score, unit);
            return text.length < 10 ? text : decimals(exactFloat(score, unit));
        };
        const along = /** @type {any} */ (exactly ? exactAlong(exactly.rows[point], exactly.dynamics)
            : floatAlong(positions, point, room.d, room.metric));
        const scores = run.first.slice(0, mask ? point + 1 : undefined).map((_, j) => ({
            point: j,
            score: exactly ? exactDot(along, exactly.rows[j]) : floatDot(along, positions.subarray(j * room.d, (j + 1) * room.d)),
        }));
        scores.sort((a, b) => (a.score < b.score ? 1 : a.score > b.score ? -1 : 0));
        const tokensAt = (/** @type {number} */ at) => [...room.problem.tokens.keys()].filter((each) => run.ofToken[each] === at);
        const words = scores.slice(0, 5).map(({ point: at, score }) => `${told(score)} for ${and(tokensAt(at))}`);
        const rest = scores.length > words.length ? ", no more for any other" : "";
        const who = room.called(token);
        const kind = metric ? "⟨A z, z′⟩" : `(inner products with ${who})`;
        return `At layer ${layer} ${who} attends to ${listed(attendedTokens(run, token, layer))}. Scores ${kind}: ${words.join(", ")}${rest}.`;
    }

    /** What a token does at this layer. @param {number} token */
    function describe(token) {
        const { run, layer } = room;
        const since = run.since[run.ofToken[token]];
        const follows = () => `attends to ${listed(attendedTokens(run, token, layer))}`;
        return `${room.called(token)} at ${placeOf(token, layer)} ${since >= 0 && since <= layer ? `leads since layer ${since}` : follows()}`;
    }

    /** What exact arithmetic says. @param {string} reason why it says nothing */
    function judge(reason) {
        const { exact, floatRun, differences, n, others } = room;
        if (!n) return ["No tokens. Add one with the key a, or choose a cloud."];
        if (others.length) return judgeOthers(reason);
        if (reason) return [`Computed in floats, not proved: exact arithmetic ${reason}.`];
        if (!exact?.limit?.limits) return ["Computed in floats; exact arithmetic is on its way …"];
        const { settledAt, leaders } = exact.limit;
        const between = room.problem.tokens.flatMap((_, token) => (endOf(token)?.kind === "vertex" ? [] : [token]));
        const count = leaders.length === 1 ? "There is 1 leader" : `There are ${leaders.length} leaders`;
        const verb = between.length > 1 ? "do" : "does";
        const ends = between.length ? `only ${listed(between)} ${verb} not end at one` : "every token ends at one";
        const lines = [`Proved in exact arithmetic: no choice changes after layer ${settledAt}. ${count}; ${ends}.`];
        for (const { token, layer, exactly, floats } of differences.slice(0, 4)) {
            const wrong = place(positionsAt(floatRun, Infinity), floatRun.ofToken[token]);
            const choice = exactly.length > 1 ? `ties between ${and(exactly)}` : `attends to ${and(exactly)}`;
            const event = `at layer ${layer} it ${choice}, but floats see ${and(floats)}`;
            const why = layer < 0 ? "because of those that it follows" : event;
            const right = limitOf(token);
            lines.push(`Floats say that ${room.called(token)} ends at ${wrong}, exactly it ends at ${right}: ${why}.`);
        }
        if (differences.length > 4) lines.push(`Floats go wrong with ${differences.length - 4} more tokens.`);
        for (const token of differences.length ? [] : between.slice(0, 2)) {
            const tied = and(attendedTokens(exact.run, token, Infinity));
            lines.push(capital(`${room.called(token)} ties between ${tied} for ever and ends at ${limitOf(token)}.`));
        }
        return lines;
    }

    /** What is known of layers other than the paper's. @param {string} reason why there are no more layers */
    function judgeOthers(reason) {
        const why = reason ? ` (${reason})` : "";
        const known = `Computed in exact arithmetic: attended sets and positions of layers 0 to ${room.lastLayer}${why}.`;
        const floats = `Computed in floats; exact arithmetic ${reason || "is on its way …"}`;
        return [room.exact ? known : floats, `This page does not prove limits of layers with ${room.others.join(" and ")}.`];
    }

    function setAttention(/** @type {string | undefined} */ number) {
        const kind = attention.value;
        return context.attempt(() => room.set({ attention: kind === "hardmax" ? null : `${kind}:${(number ?? "").trim()}` }));
    }

    /** What is drawn beside hardmax, and how well it is known. */
    function describeSoft() {
        const { soft, softLayer, problem } = room;
        const shown = Math.floor(softLayer);
        const [error, isLast] = [soft?.errors[shown], room.layer > softLayer];
        const name = `Softmax with β = ${readAttention(problem.attention)?.text}, in floats, layer ${shown}`;
        if (error === undefined) return `${name}. How far floats can be trusted is computed when you let go.`;
        if (!(error <= FLOAT_ENOUGH)) return `${name}: floats do not suffice.`;
        const bound = `${name}: no coordinate is off by more than ${error.toExponential(0)}.`;
        const next = soft?.errors[shown + 1] === undefined ? "No later layer was computed."
            : `After it floats do not suffice: the error may exceed ${FLOAT_ENOUGH}.`;
        return isLast ? `${bound} ${next}` : bound;
    }

    function fillTable() {
        if (!numbers.open) return;
        const { run, wholeLayer: layer } = room;
        layerInTable = layer;
        const at = layer === Infinity ? "At the limit" : `At layer ${layer}`;
        if (every.checked && !room.asking) return fillLayers();
        const body = room.problem.tokens.map((start, token) => {
            const [point, end] = [run.ofToken[token], endOf(token)];
            const attended = attendedTokens(run, token, layer).slice(0, 12).map(room.nameOf).join(", ");
            const since = run.since[point] < 0 ? "" : String(run.since[point]);
            // The words of Python's `clusters.kind_of`.
            const corners = (end?.face ?? [end?.vertex ?? -1]).map((corner) => room.nameOf(run.first[corner])).join(", ");
            const kind = !end ? "not proved" : end.kind === "point" ? "elsewhere" : `${end.kind} ${corners}`;
            const cells = [`(${start.join(", ")})`, placeOf(token, layer), attended, since, limitOf(token), kind];
            return [room.nameOf(token), ...cells.slice(0, room.asking ? 1 : undefined)];
        });
        const head = ["Token", "Start", at, "Attends to", "Leader since", "Limit", "Kind of limit"];
        fill(head.slice(0, room.asking ? 2 : undefined), body, room.selected);
    }

    /** A row for each layer. */
    function fillLayers() {
        const layers = Array.from({ length: Math.min(TABLE_LAYERS, room.lastLayer) + 1 }, (_, k) => k);
        if (room.run.limits) layers.push(Infinity);
        const tokens = [...room.problem.tokens.keys()];
        const rows = layers.map((k) => [k === Infinity ? "Limit" : String(k), ...tokens.map((token) => placeOf(token, k))]);
        fill(["Layer", ...tokens.map(room.nameOf)], rows, layers.indexOf(room.wholeLayer));
    }

    /** @param {string[]} head @param {string[][]} rows @param {number} chosen */
    function fill(head, rows, chosen) {
        const body = rows.map(([name, ...cells], k) => el("tr", { class: k === chosen && "hm-chosen" },
            el("th", { scope: "row" }, name), ...cells.map((cell) => el("td", {}, cell))));
        const heads = head.map((name) => el("th", { scope: "col" }, name));
        table.replaceChildren(el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body));
    }

    function updateLayer() {
        const { wholeLayer: layer, lastLayer, run, playing } = room;
        const name = layer === Infinity ? "Layer ∞: the limit" : `Layer ${layer} of ${lastLayer}`;
        slider.max = String(lastLayer + (run.limits ? 1 : 0));
        slider.value = String(Math.min(layer, lastLayer + 1));
        layerName.textContent = run.limits && layer < Infinity ? `${name}, then ∞` : name;
        slider.setAttribute("aria-valuetext", name);
        playButton.textContent = playing ? "Pause" : "Play";
        limitButton.disabled = !run.limits;
        const isChosen = room.selected >= 0 && room.selected < room.n && !quiz.state();
        reason.textContent = isChosen ? why(room.selected) : "";
        const { alpha: step, metric } = room.problem;
        const parts = [`α = ${step}`, layer === Infinity ? "limit" : `layer ${layer}`, metric ? `A = (${rowsText(metric, "; ")})` : "", ...room.others];
        paper.textContent = parts.filter(Boolean).join(" · ");
        if (room.soft) softNote.textContent = describeSoft();
        if (!room.drag && !(playing && layer === layerInTable)) fillTable();
    }

    /** The problem is new, or what is known about it. */
    function update() {
        root.classList.toggle("hm-asking", room.asking);
        allSettings.disabled = room.locked;
        resetButton.hidden = quiz.state() !== null;
        resetButton.textContent = room.beforeReset ? "Undo reset" : "Reset";
        if (room.asking && room.n <= 20) numbers.open = true;
        if (document.activeElement !== pasted && room.n <= 200)
            pasted.value = room.problem.tokens.map((cells, k) => (room.problem.names[k] ? `${room.problem.names[k]}: ` : "") + cells.join(", ")).join("\n");
        const [kind, rest] = room.problem.source.split(":");
        cloud.value = kind;
        random.hidden = kind !== "random";
        rest?.split(",").forEach((value, k) => (fields[k].value = value));
        about.textContent = room.others.length ? "" : NAMED_CLOUDS[kind]?.[1] ?? "";
        if (document.activeElement !== alpha) alpha.value = room.problem.alpha;
        alphaSlider.value = String(Math.log10(cellFloat(room.problem.alpha)));
        const isPlane = room.d === 2;
        SWITCHES.forEach(([name], k) => {
            boxes[k].checked = room.show.has(name);
            boxes[k].disabled = !isPlane && PLANE_ONLY.includes(name);
        });
        planeNote.textContent = isPlane ? "" : "Cells and half-spaces are drawn in two dimensions only.";
        drawnNote.textContent = room.d > 3 ? `Drawn: the first three of ${room.d} coordinates, seen from an angle. ${ROTATE}`
            : room.d === 3 ? `Drawn: three dimensions, seen from an angle. ${ROTATE}` : "";
        drawnNote.hidden = room.d < 3;
        const size = `${plural(room.n, "token")} in ${plural(room.d, "dimension")}`;
        room.canvas.setAttribute("aria-label", `${size}. The table “All numbers” says what the picture shows.`);
        verdict.replaceChildren(...judge(room.reason).map((line) => el("p", {}, line)));
        verdict.classList.toggle("hm-differs", room.differences.length > 0);
        const identity = Array.from(room.startOf(0), (_, r) => Array.from(room.startOf(0), (__, c) => Number(r === c)));
        [room.problem.metric, room.problem.value].forEach((rows, k) => {
            const text = [matrix, valueMatrix][k];
            const shown = (rows ?? identity).map((cells) => cells.join(", ")).join("\n");
            if (document.activeElement !== text) text.value = shown;
        });
        checks[checks.length - 1].hidden = !isPlane;
        const plain = !isPlane || ellipseEnd(room.frame, room.metric);
        metricNote.textContent = plain ? "" : "A is not symmetric positive definite: the theorem does not apply.";
        const chosen = readAttention(room.problem.attention);
        if (isNew) otherLayers.open = room.others.length > 0 || chosen !== null; // as a link may ask for
        isNew = false;
        attention.value = chosen?.kind ?? "hardmax";
        [amountLabel.hidden, betaLabel.hidden] = [!chosen, chosen?.kind !== "softmax"];
        const [label] = amountLabel.children;
        label.textContent = KINDS[attention.value][1] ?? "";
        if (chosen && document.activeElement !== amount) amount.value = chosen.text;
        if (chosen?.kind === "softmax") betaSlider.value = String(Math.log10(cellFloat(chosen.text)));
        causal.checked = room.problem.mask !== null;
        const isSoft = Boolean(room.soft) && !room.asking;
        if (softBox.isConnected !== isSoft) {
            if (isSoft) pair.append(softBox);
            else softBox.remove();
            pair.classList.toggle("hm-two", isSoft);
            room.resize();
        }
        hardNote.textContent = isSoft ? "Hardmax" : "";
        room.softCanvas.setAttribute("aria-label", room.soft ? `${size}, with softmax attention` : "");
        updateLayer();
    }
}
