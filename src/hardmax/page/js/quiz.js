// An exercise in the Dynamics room: questions about its cloud. Until one is answered, or the answer is asked for, nothing gives it away.
import { cellFloat, plainRows, readCell } from "./cloud.js";
import { el, labelled } from "./dom.js";
import { attendedTokens } from "./floats.js";
import { toWorld } from "./scene.js";

/** @typedef {{kind: string, token: number}} Question  the token is -1 in a question about all of them
 * @typedef {import("./dynamics.js").DynamicsRoom} Room */

const CLICK = "Click on tokens, or type their numbers or names, with commas between.";
/** The questions: what they ask of a token, and how to answer. @type {Record<string, [string, string]>} */
export const QUESTIONS = {
    leaders: ["Which tokens lead, sooner or later?", CLICK],
    attends: ["Which tokens does * attend to? There are several if they lie equally far.", CLICK],
    ends: ["Where does * end, after infinitely many layers?", "Click on the place, or type its coordinates, with commas between."],
};
const NEAR = 13; // pixels: what the mouse can hit

/** Questions such as “leaders;attends:3;ends:3”. @param {string} text @param {number} n @returns {Question[]} */
function readQuestions(text, n) {
    return text.split(";", 20).map((part) => {
        const [, kind, of = "-1"] = /^(leaders(?=$)|attends(?=:)|ends(?=:)):?(\d{1,4})?$/.exec(part) ?? [];
        const token = Number(of);
        if (kind && token < n && (token >= 0 || kind === "leaders")) return { kind, token };
        throw new Error(`ask must be leaders, attends:3 or ends:3, of one of the tokens, not “${part.slice(0, 20)}”.`);
    });
}

/** The box of an exercise and what it does. @param {Room} room
 * @param {{limitOf: (token: number) => string, listed: (tokens: number[]) => string, why: (token: number) => string,
 *     copyLink: () => unknown}} panel */
export function buildQuiz(room, { limitOf, listed, why, copyLink }) {
    const { context } = room;
    let questions = /** @type {Question[]} */ ([]);
    let [asked, at, layer, points, isFirst, isOwn] = ["", -1, 0, 0, true, false];
    let isOpen = false; // the question waits for an answer
    /** @type {(words: string, click: () => unknown) => HTMLButtonElement} */
    const button = (words, click) => el("button", { click: () => context.attempt(click) }, words);
    const [title, words, told, score, sheet] = [el("h2"), el("p"), el("p"), el("span"), el("ol", { class: "hm-paper" })];
    const answer = el("input", { type: "text", size: 14, autocomplete: "off", spellcheck: "false", input: mark });
    const field = labelled("Your answer", answer);
    const check = button("Check", () => known().then(judge));
    const give = button("Show the answer", () => known().then(() => reveal("Answer", false)));
    const next = button("", () => ask((at + 1) % questions.length));
    const [copy, close] = [button("Copy link", copyLink), button("Leave the exercise", leave)];
    answer.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault(); // or it would press the button that gets the focus
        check.click();
    });
    const box = el("section", { class: "hm-tour hm-quiz", "aria-label": "Exercise", hidden: true },
        title, words, el("div", { class: "hm-row" }, field, check, give, next, score, copy, close),
        el("div", { "aria-live": "polite" }, told), sheet);
    return { box, start, leave, point, state };

    function start(/** @type {string} */ text, /** @type {boolean} */ locked, own = false) {
        const read = readQuestions(text, room.n);
        if (room.others.length && read.some(({ kind }) => kind === "ends"))
            throw new Error(`Where tokens end is not proved for layers with ${room.others.join(" and ")}: ask something else.`);
        questions = read;
        // Where it happens to be while it plays, or at its end, nobody has chosen.
        const isChosen = !room.playing && !room.caught && room.layer < Infinity;
        layer = isChosen ? Math.min(room.wholeLayer, room.lastLayer) : 0;
        [asked, isOwn, room.locked] = [text, own, locked];
        room.show.add("numbers");
        sheet.replaceChildren(...questions.map((question) => el("li", {}, textOf(question))));
        ask(0);
    }

    /** What a link to the exercise keeps. */
    function state() {
        const lock = /** @type {Record<string, string>} */ (room.locked ? { lock: "yes" } : {});
        return at < 0 ? null : { ask: asked, layer: String(layer), ...lock };
    }

    function textOf(/** @type {Question} */ { kind, token }) {
        const when = layer && kind === "attends" ? `At layer ${layer}: ` : "";
        return when + QUESTIONS[kind][0].replace("*", room.called(token));
    }

    function ask(/** @type {number} */ question) {
        if (!question) points = 0;
        [at, isFirst, isOpen, room.asking] = [question, true, true, true];
        title.textContent = questions.length > 1 ? `Exercise, question ${at + 1} of ${questions.length}` : "Exercise";
        words.textContent = `${textOf(questions[at])} ${QUESTIONS[questions[at].kind][1]}`;
        told.textContent = score.textContent = answer.value = "";
        room.selected = questions[at].token;
        refresh();
        room.goTo(layer);
        answer.focus({ preventScroll: true });
        box.scrollIntoView({ block: "nearest" });
    }

    /** The mark of a click or a drag. @param {number} token -1: next to all @param {number[]} place */
    function point(token, place, isNew = true) {
        if (!isOpen) return;
        if (questions[at].kind === "ends") {
            const found = room.problem.tokens[token] ?? toWorld(room.frame, place).map((x) => room.coordinate(x));
            if (token >= 0 || room.d === 2) answer.value = found.join(", ");
        } else if (token >= 0 && isNew) {
            const tokens = answer.value.split(/[\s,]+/).filter(Boolean);
            const rest = tokens.filter((name) => name !== room.nameOf(token));
            answer.value = (rest.length < tokens.length ? rest : [...rest, room.nameOf(token)]).join(", ");
        }
        mark();
    }

    /** What is typed, in the picture. */
    function mark() {
        const isPlace = questions[at].kind === "ends";
        try {
            room.marked = { ray: false, rings: isPlace ? [] : readTokens(), spot: isPlace ? readPlace() : [] };
        } catch {
            room.marked = { ray: false, rings: [], spot: [] }; // it is not finished
        }
        room.draw();
    }

    function readTokens() {
        const names = answer.value.split(",").map((name) => name.trim()).filter(Boolean);
        return [...new Set(names.map((name) => {
            const token = room.problem.tokens.findIndex((_, k) => room.nameOf(k).toLowerCase() === name.toLowerCase());
            if (token < 0) throw new Error(`There is no token ${name.slice(0, 20)}. Separate tokens by commas.`);
            return token;
        }))];
    }

    function readPlace() {
        const cells = plainRows(answer.value).split(",").map((cell) => readCell(cell.trim(), "your answer"));
        if (cells.length !== room.d) throw new Error(`Type ${room.d} coordinates, separated by commas.`);
        return cells.map(cellFloat);
    }

    /** Until exact arithmetic has the answer, or says why not. */
    async function known() {
        while (!room.exact && !room.reason) await new Promise((resolve) => setTimeout(resolve, 50));
    }

    /** The tokens, or the place, that the question asks for. @returns {number[]} */
    function truth() {
        const { kind, token } = questions[at];
        const { limit, run } = room.exact ?? {};
        if (kind === "ends" && limit?.limits) return limit.limits[limit.ofToken[token]].floats;
        if (!run || kind === "ends") throw new Error("Exact arithmetic has not found the answer.");
        if (kind === "attends") return attendedTokens(run, token, layer);
        return room.problem.tokens.flatMap((_, k) => (run.since[run.ofToken[k]] < 0 ? [] : [k]));
    }

    function judge() {
        const right = truth();
        context.fail("");
        if (questions[at].kind === "ends") {
            const away = Math.hypot(...readPlace().map((x, c) => x - right[c])) * room.frame.scale;
            if (away < NEAR) return reveal(away ? "Close enough" : "Right", true);
            told.textContent = "That is not where it ends. Try again.";
        } else {
            const given = readTokens();
            const hits = given.filter((token) => right.includes(token)).length;
            if (hits === right.length && hits === given.length) return reveal("Right", true);
            told.textContent = `Not yet: ${hits} right, ${given.length - hits} wrong, ${right.length - hits} missing. Try again.`;
        }
        isFirst = false;
    }

    function reveal(/** @type {string} */ verdict, /** @type {boolean} */ isRight) {
        const [{ kind, token }, right] = [questions[at], truth()];
        points += Number(isRight && isFirst);
        const isLast = at + 1 === questions.length;
        const who = room.called(token);
        isOpen = room.asking = false;
        const solution = kind === "ends" ? `${who} ends at ${limitOf(token)}.`
            : kind === "attends" ? why(token).replace("At", "at") : `${listed(right)} lead${right.length > 1 ? "" : "s"}.`;
        room.asking = !isLast; // the rest of the page would answer the questions that follow
        refresh();
        if (isLast && kind !== "attends") room.goTo(Infinity);
        else room.marked = { ray: kind === "attends", rings: kind === "ends" ? [] : right, spot: kind === "ends" ? right : [] };
        told.textContent = `${verdict}: ${solution}`;
        score.textContent = `Score: ${points} of ${at + 1}`;
        next.textContent = isLast ? "Again" : "Next question";
        next.focus({ preventScroll: true });
    }

    function leave() {
        if (at < 0) return;
        [at, isOpen, room.asking, room.locked] = [-1, false, false, false];
        refresh();
        context.changed();
    }

    function refresh() {
        box.hidden = at < 0;
        for (const each of [field, check, give]) each.hidden = !isOpen;
        next.hidden = isOpen;
        copy.hidden = !isOwn;
        close.hidden = room.locked && !isOwn;
        room.marked = { ray: false, rings: [], spot: [] };
        room.panel.update();
        room.draw();
    }
}
