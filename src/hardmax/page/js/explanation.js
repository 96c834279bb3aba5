// An explanation as elements, in the words, marks and tables of Python's: answer, marked text, both ledgers.
import { el } from "./dom.js";
import { EXTRA_TOKEN } from "./text.js";

/**
 * @typedef {import("./text.js").Model} Model
 * @typedef {import("./text.js").Classified} Classified
 * @typedef {import("./text.js").TextToken} TextToken
 * @typedef {{start: number, end: number, surface: string}} Word
 */

const CLASS_SIGNS = ["●", "■", "▲", "✚", "▼", "◀\uFE0E", "▶\uFE0E"]; // shapes, since nothing is shown by colour alone
const MOST_VOTES = 40;
const MOST_LEADERS = 10;
const MOST_CLASSES = 6;
const MOST_NAMED = 4;
const WHOLE_TEXT = 20_000; // characters: of a longer text, only the beginning is shown

/** Shape and CSS class, which sets the colour: the second of two classes comes first. @param {number} number @param {number} classes */
export function lookOfClass(number, classes) {
    const place = classes === 2 ? 1 - number : number;
    return { sign: CLASS_SIGNS[place % 7], css: `c${place % 12}` };
}

/** @param {Model} model @param {number} side */
function cssOf(model, side) {
    return lookOfClass(side, model.classes.length).css;
}

/**
 * The text with controls, marks of direction and invisible characters written as escapes.
 * @param {string} text
 */
function visibleText(text) {
    const unsafe = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Cs}\u{e0000}-\u{e0fff}]/gu;
    return text.replaceAll("\r\n", "\n").replace(unsafe, (found) => `\\u${found.codePointAt(0)?.toString(16).padStart(4, "0")}`);
}

/** A token or the name of a class in one line, cut if it is very long. @param {unknown} name */
export function shortName(name, most = 80) {
    const visible = visibleText(String(name)).replace(/\s/g, " ");
    return visible.length > most ? `${visible.slice(0, most - 1)}…` : visible;
}

/** @param {number} count @param {string} what */
export function plural(count, what, ending = "s") {
    return `${String(count).replace(/\B(?=(\d{3})+$)/g, ",")} ${what}${count === 1 ? "" : ending}`;
}

/** A probability, which never claims certainty. @param {number} probability */
function percentOf(probability) {
    const shown = `${(100 * probability).toFixed(1)} %`;
    return { "100.0 %": "> 99.9 %", "0.0 %": "< 0.1 %" }[shown] ?? shown;
}

/** The label and its probability, or "undecided". @param {Classified} found */
export function answerOf(found) {
    return found.decided ? `${shortName(found.label)} ${percentOf(found.probability)}` : "undecided";
}

/** The leaders to name, the largest mass first: none without layers. @param {Model} model @param {Classified} found */
function leadersOf(model, found) {
    const isNamed = (/** @type {TextToken} */ token) => token.leads && !(model.hasNeutral && token.id === model.extra);
    return model.layers ? found.tokens.filter(isNamed).sort((a, b) => b.mass - a.mass) : [];
}

/** The active tokens, the largest votes first. @param {Classified} found */
function activeOf(found) {
    return found.tokens.filter((token) => token.active).sort((a, b) => Math.abs(b.vote) - Math.abs(a.vote));
}

/** The answer with its bar, and a sentence about who leads or why it is undecided. @param {Model} model @param {Classified} found */
export function showAnswer(model, found) {
    const order = [...found.probabilities.keys()];
    if (order.length > 2) order.sort((a, b) => found.probabilities[b] - found.probabilities[a]);
    const [listed, left] = [order.slice(0, MOST_CLASSES), order.slice(MOST_CLASSES)];
    const bars = [...listed.map((c) => ({ css: cssOf(model, c), p: found.probabilities[c] })),
        { css: "", p: left.reduce((sum, c) => sum + found.probabilities[c], 0) }];
    return [
        el("h1", { class: "hardmax-verdict" }, el("strong", {}, el("bdi", {}, found.decided ? shortName(found.label) : "undecided")),
            found.decided ? ` ${percentOf(found.probability)}` : ""),
        el("p", { class: "hardmax-summary" }, ...sentenceOf(model, found)),
        ...found.notes.map((note) => el("p", { class: "hardmax-warning" }, note)),
        el("div", { class: "hardmax-bar", "aria-hidden": "true" }, ...bars.map(({ css, p }) => {
            const bar = el("i", { class: css, hidden: p === 0 });
            bar.style.flex = p.toFixed(4);
            return bar;
        })),
        el("ul", { class: "hardmax-classes" }, ...listed.map((c) =>
            el("li", { class: cssOf(model, c) }, el("i"), el("bdi", {}, shortName(model.classes[c])), ` ${percentOf(found.probabilities[c])}`)),
        left.length ? el("li", {}, `and ${plural(left.length, "other class", "es")}`) : null),
    ];
}

/** @param {Model} model @param {Classified} found */
function sentenceOf(model, found) {
    if (!found.decided) return [`${found.reason[0].toUpperCase()}${found.reason.slice(1)}.`];
    const [active, leaders] = [activeOf(found), leadersOf(model, found)];
    const named = leaders.length ? leaders : active;
    const parts = named.slice(0, MOST_NAMED).flatMap((token, n) => {
        const followers = active.filter((each) => each !== token && found.tokens[each.leader] === token).length;
        return [n ? ", " : "", el("b", { class: cssOf(model, token.side) }, el("bdi", {}, token.word === EXTRA_TOKEN ? "the extra token" : shortName(token.word))),
            ` (${shortName(model.classes[token.side])}${followers ? `, ${plural(followers, "follower")}` : ""})`];
    });
    const alone = leaders.length ? active.filter((token) => token.leader < 0).length : 0;
    const inactive = found.known - active.length;
    const has = (/** @type {number} */ count) => (count === 1 ? "has" : "have");
    return [leaders.length ? "Leaders: " : "Largest votes: ", ...parts, named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more.` : ".",
        alone ? ` ${plural(alone, "token")} ${has(alone)} no single leader.` : "", inactive ? ` ${plural(inactive, "known token")} ${has(inactive)} no effect.` : ""];
}

// ---------------------------------------------------------------- the text

/**
 * The text, active tokens marked, words apart so that they can be crossed out. Where tokens overlap, leaders come first,
 * then larger votes.
 * @param {Model} model
 * @param {Classified} found
 * @param {string} text
 * @param {Word[]} words
 * @param {Set<number>} out where crossed-out words start
 */
export function showText(model, found, text, words, out) {
    const active = activeOf(found);
    const last = Math.min(text.length, WHOLE_TEXT);
    const taken = new Uint8Array(text.length);
    /** @type {{start: number, end: number, token: TextToken}[]} */
    const marks = [];
    for (const token of [...active].sort((a, b) => Number(b.leads) - Number(a.leads) || (a.leads ? b.mass - a.mass : 0))) {
        for (const [start, end] of token.places) {
            if (end > last || taken.subarray(start, end).includes(1)) continue;
            taken.fill(1, start, end);
            marks.push({ start, end, token });
        }
    }
    const largest = Math.abs(active[0]?.vote) || 1;
    /** @type {(Node | string)[]} */
    const shown = [];
    let [at, word] = [0, 0];
    for (const { start, end, token } of marks.sort((a, b) => a.start - b.start)) {
        const shade = Math.min(Math.floor((4 * Math.abs(token.vote)) / largest), 3);
        const css = `${cssOf(model, token.side)} s${shade}${token.leads && model.layers ? " leads" : ""}`;
        const title = `${token.leads && model.layers ? "leads; " : ""}vote ${signed(token.vote)}`;
        shown.push(...cutWords(start), el("mark", { class: css, title }, ...cutWords(end)));
    }
    shown.push(...cutWords(last));
    if (last < text.length) shown.push(el("em", { class: "hardmax-gap" }, `… ${plural(text.length - last, "character")} left out …`));
    return shown;

    /** The text up to a place, its words as elements. @param {number} until */
    function cutWords(until) {
        /** @type {(Node | string)[]} */
        const parts = [];
        for (; word < words.length && words[word].end <= until; word++) {
            const { start, end } = words[word];
            parts.push(visibleText(text.slice(at, start)), el(out.has(start) ? "del" : "span", { "data-start": start }, visibleText(text.slice(start, end))));
            at = end;
        }
        parts.push(visibleText(text.slice(at, until)));
        at = until;
        return parts;
    }
}

// ---------------------------------------------------------------- the ledgers

/** @param {number} value */
export function signed(value) {
    return `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(3)}`;
}

/** @param {TextToken[]} tokens @param {"vote" | "contribution" | "mass"} what */
function sumOf(tokens, what) {
    return tokens.reduce((sum, token) => sum + token[what], 0);
}

/**
 * A line of a ledger: a token, or what a line is about; what it adds; what else is known.
 * @typedef {{name: string | TextToken, adds: number, beside?: string}} LedgerRow
 */

/**
 * Both ledgers, which add up to the logit, and what their terms mean.
 * @param {Model} model
 * @param {Classified} found
 * @param {(token: TextToken) => void} remove what a click on a token does
 */
export function showLedgers(model, found, remove) {
    const [active, leaders] = [activeOf(found), leadersOf(model, found)];
    if (!active.length) return [];
    const [inactive, towards] = [found.known - active.length, shortName(found.towards)];
    /** @type {LedgerRow[]} */
    const total = [{ name: "bias", adds: found.bias }, { name: "logit", adds: found.logit }];
    const [shown, more] = [active.slice(0, MOST_VOTES), active.slice(MOST_VOTES)];
    const leaderOf = (/** @type {TextToken} */ token) => (token.leads ? "leads" : found.tokens[token.leader]?.word ?? "several");
    /** @type {LedgerRow[]} */
    const votes = shown.map((token) => ({ name: token, adds: token.vote, beside: leaders.length ? leaderOf(token) : "" }));
    if (more.length) votes.push({ name: `… and ${more.length} more`, adds: sumOf(more, "vote") });
    if (inactive || found.rest) votes.push({ name: inactive ? plural(inactive, "inactive token") : "extra token", adds: found.rest });
    const others = found.tokens.filter((token) => !leaders.includes(token));
    /** @type {LedgerRow[]} */
    const masses = leaders.slice(0, MOST_LEADERS).map((token) =>
        ({ name: token, adds: token.contribution, beside: `${(100 * token.mass).toFixed(1)} % × ${signed(token.contribution / token.mass)}` }));
    for (const [name, tokens] of /** @type {[string, TextToken[]][]} */ ([
        [`… and ${leaders.length - MOST_LEADERS} more`, leaders.slice(MOST_LEADERS)],
        ["neutral leader", others.filter((token) => token.leads)],
        [plural(others.filter((token) => !token.leads).length, "other"), others.filter((token) => !token.leads)],
    ])) if (tokens.length) masses.push({ name, adds: sumOf(tokens, "contribution"), beside: `${(100 * sumOf(tokens, "mass")).toFixed(1)} %` });
    const formula = model.classes.length === 2 ? `The probability of ${towards} is 1 / (1 + exp(-logit)).` : "Probabilities are the softmax of the logits of all classes.";
    const terms = [["Vote", `what a token adds to the logit of ${towards}. Votes, inactive tokens and bias add up to the logit. ${formula}`],
        ["Leader", "a token that attends to itself alone: its followers move towards it."],
        ["Mass", "the share of a leader in the mean of the text after the last layer; it adds mass times weight to the logit."]];
    return [
        tableOf("active tokens", "vote", leaders.length ? "leader" : "", [...votes, ...total]),
        ...(leaders.length ? [tableOf("leaders", "adds", "mass × weight", [...masses, ...total])] : []),
        el("dl", { class: "hardmax-note" }, ...terms.slice(0, leaders.length ? 3 : 1).flatMap(([term, means]) => [el("dt", {}, term), el("dd", {}, means)])),
    ];

    /** @param {string} title @param {string} adds @param {string} beside @param {LedgerRow[]} rows of which the last is the total */
    function tableOf(title, adds, beside, rows) {
        const largest = adds === "vote" ? Math.max(...shown.map((token) => Math.abs(token.vote))) || 1 : 0;
        const against = model.classes.length === 2 ? shortName(model.classes[0]) : "other classes";
        const head = largest ? el("th", { scope: "col", class: "hardmax-votes" }, el("span", {}, el("bdi", {}, against), " ", el("bdi", {}, towards))) : null;
        return el("table", {}, el("caption", {}, title),
            el("thead", {}, el("tr", {}, ...["token", adds].map((name) => el("th", { scope: "col" }, name)), head, beside ? el("th", { scope: "col" }, beside) : null)),
            el("tbody", {}, ...rows.map((row) => el("tr", {}, el("th", { scope: "row" }, nameOf(row.name)), el("td", {}, signed(row.adds)),
                largest ? el("td", { class: "hardmax-votes" }, barOf(row, largest)) : null,
                beside ? el("td", {}, el("bdi", {}, shortName(row.beside ?? ""))) : null))));
    }

    /** @param {string | TextToken} name */
    function nameOf(name) {
        if (typeof name === "string") return name;
        const css = `hm-token ${cssOf(model, name.side)}${name.leads && leaders.length ? " leads" : ""}`;
        const label = `${shortName(name.word)}${name.count > 1 ? ` ×${name.count}` : ""}`;
        return el("button", { class: css, click: () => remove(name), title: "Cross it out wherever it is" }, el("bdi", {}, label));
    }

    /** @param {LedgerRow} row @param {number} largest */
    function barOf({ name, adds }, largest) {
        if (typeof name === "string" || !adds) return null;
        const bar = el("i", { class: `${cssOf(model, name.side)} ${adds < 0 ? "against" : "for"}` });
        bar.style.width = `${((50 * Math.abs(adds)) / largest).toFixed(1)}%`;
        return bar;
    }
}
