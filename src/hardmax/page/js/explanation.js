// An explanation as elements, in the words, marks and tables of Python's: answer, marked text, both ledgers.
import { el, plural } from "./dom.js";
import { EXTRA_TOKEN } from "./text.js";

/** @typedef {import("./text.js").Model} Model @typedef {import("./text.js").Classified} Classified
 * @typedef {import("./text.js").TextToken} TextToken */

// Shapes, since nothing is shown by colour alone.
const CLASS_SIGNS = ["●", "■", "▲", "✚", "▼", "◀\uFE0E", "▶\uFE0E"];
const MOST_VOTES = 40; // that are shown
const UNSAFE =
    /(?![\n\t])[\p{Cc}\p{Cs}\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const WHOLE_TEXT = 20_000; // characters: of a longer text, only the beginning is shown

/** Shape and CSS class; the second of two classes comes first. @param {Model} model @param {number} side */
export function lookOfClass({ classes }, side) {
    const place = classes.length === 2 ? 1 - side : side;
    return { sign: CLASS_SIGNS[place % 7], css: `c${place % 12}` };
}

/** The text with controls, marks of direction and invisible characters written as escapes. @param {string} text */
function visibleText(text) {
    const codeOf = (/** @type {string} */ mark) => `\\u${mark.codePointAt(0)?.toString(16).padStart(4, "0")}`;
    return text.replaceAll("\r\n", "\n").replace(UNSAFE, codeOf);
}

/** A token or the name of a class in one line, cut if it is very long. @param {unknown} name */
export function shortName(name, most = 80) {
    const visible = visibleText(String(name)).replace(/\s/g, " ");
    return visible.length > most ? `${visible.slice(0, most - 1)}…` : visible;
}

/** A probability, which never claims certainty. @param {number} probability */
function percentOf(probability) {
    const shown = `${(100 * probability).toFixed(1)} %`;
    return { "100.0 %": "> 99.9 %", "0.0 %": "< 0.1 %" }[shown] ?? shown;
}

export const signed = (/** @type {number} */ value) => `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(3)}`;

/** @param {Classified} found @returns {[string, string]} the label and its probability, or "undecided" */
export const answerOf = (found) =>
    found.decided ? [shortName(found.label), ` ${percentOf(found.probability)}`] : ["undecided", ""];

/** The active tokens, leaders apart or not, the largest votes first. @param {Classified} found */
export function activeTokens({ tokens }, leadersFirst = false) {
    const rank = (/** @type {TextToken} */ token) => Number(leadersFirst && token.leads);
    const active = tokens.filter((token) => token.active);
    return active.sort((a, b) => rank(b) - rank(a) || Math.abs(b.vote) - Math.abs(a.vote));
}

export function explanationOf(/** @type {Model} */ model, /** @type {Classified} */ found) {
    const active = activeTokens(found);
    // Without layers nobody follows, and a neutral leader has no effect.
    const isLeader = (/** @type {TextToken} */ token) =>
        token.leads && model.layers > 0 && !(model.hasNeutral && token.id === model.extra);
    const leaders = found.tokens.filter(isLeader).sort((a, b) => b.mass - a.mass);
    const largest = Math.abs(active[0]?.vote) || 1;
    const nameOf = (/** @type {number} */ c) => shortName(model.classes[c]);
    const css = (/** @type {number} */ side) => lookOfClass(model, side).css;
    const cssOf = (/** @type {TextToken} */ token) => `${css(token.side)}${isLeader(token) ? " leads" : ""}`;
    return { showAnswer, showText, showLedgers };

    /** The answer with its bar, why it is undecided, and whether most of the text is unknown. @param {string} text */
    function showAnswer(text) {
        const covered = new Uint8Array(text.length);
        for (const { places } of found.tokens) for (const [start, end] of places) covered.fill(1, start, end);
        const share = (100 * covered.reduce((sum, one) => sum + one, 0)) / text.length;
        const { probabilities, reason } = found;
        const order = [...probabilities.keys()];
        if (order.length > 2) order.sort((a, b) => probabilities[b] - probabilities[a]);
        const [label, probability] = answerOf(found);
        const bars = order.map((c) => {
            const bar = el("i", { class: css(c) });
            bar.style.flex = probabilities[c].toFixed(4);
            return bar;
        });
        const items = order.map((c) =>
            el("li", { class: css(c) }, el("i"), el("bdi", {}, nameOf(c)), ` ${percentOf(probabilities[c])}`));
        return [
            el("h1", { class: "hardmax-verdict" }, el("strong", {}, el("bdi", {}, label)), probability),
            el("p", { class: "hardmax-summary" }, reason && `${reason[0].toUpperCase()}${reason.slice(1)}.`),
            el("p", { class: "hardmax-warning", hidden: !found.known || share >= 20 },
                `Most words are unknown: known tokens cover ${share.toFixed(0)} % of the text.`),
            el("div", { class: "hardmax-bar", "aria-hidden": "true" }, ...bars),
            el("ul", { class: "hardmax-classes" }, ...items),
        ];
    }

    /** The text, active tokens marked, words apart so that they can be crossed out. Where tokens overlap, leaders come
     * first, then larger votes. @param {string} text @param {{start: number, end: number}[]} words
     * @param {Set<number>} out where crossed-out words start */
    function showText(text, words, out) {
        const last = Math.min(text.length, WHOLE_TEXT);
        const taken = new Uint8Array(text.length);
        const marks = /** @type {{start: number, end: number, token: TextToken}[]} */ ([]);
        for (const token of activeTokens(found, true)) {
            for (const [start, end] of token.places) {
                if (end > last || taken.subarray(start, end).includes(1)) continue;
                taken.fill(1, start, end);
                marks.push({ start, end, token });
            }
        }
        let [at, word] = [0, 0];
        const shown = marks.sort((a, b) => a.start - b.start).flatMap(({ start, end, token }) => {
            const shade = Math.min(Math.floor((4 * Math.abs(token.vote)) / largest), 3);
            const look = { class: `${cssOf(token)} s${shade}`, title: `vote ${signed(token.vote)}` };
            return [...cutWords(start), el("mark", look, ...cutWords(end))];
        });
        shown.push(...cutWords(last));
        const left = text.length - last;
        if (left) shown.push(el("em", { class: "hardmax-gap" }, `… ${plural(left, "character")} left out …`));
        return shown;

        /** The text up to a place, its words as elements. @param {number} until */
        function cutWords(until) {
            const parts = /** @type {(Node | string)[]} */ ([]);
            for (; word < words.length && words[word].end <= until; word++) {
                const { start, end } = words[word];
                const look = { "data-start": start, tabindex: -1 };
                const shown = el(out.has(start) ? "del" : "span", look, visibleText(text.slice(start, end)));
                parts.push(visibleText(text.slice(at, start)), shown);
                at = end;
            }
            parts.push(visibleText(text.slice(at, until)));
            at = until;
            return parts;
        }
    }

    /** Both ledgers, which add up to the logit, and what their terms mean.
     * @param {(token: TextToken) => void} remove what a click on a token does */
    function showLedgers(remove) {
        if (!active.length) return [];
        /** @type {(tokens: TextToken[], what: "vote" | "contribution" | "mass") => number} */
        const sum = (tokens, what) => tokens.reduce((all, token) => all + token[what], 0);
        const share = (/** @type {TextToken[]} */ tokens) => `${(100 * sum(tokens, "mass")).toFixed(1)} %`;
        const [towards, isTwo] = [shortName(found.towards), model.classes.length === 2];
        const inactive = found.known - active.length;
        const votes = active.slice(0, MOST_VOTES).map((token) =>
            row(token, token.vote, isLeader(token) ? "leads" : found.tokens[token.leader]?.word ?? "several"));
        const more = active.slice(MOST_VOTES);
        if (more.length) votes.push(row(`… and ${more.length} more`, sum(more, "vote")));
        if (inactive) votes.push(row(plural(inactive, "inactive token"), found.rest));
        else if (found.rest) votes.push(row("extra token", found.rest));
        const masses = leaders.map((token) =>
            row(token, token.contribution, `${share([token])} × ${signed(token.contribution / token.mass)}`));
        const others = found.tokens.filter((token) => !token.leads);
        for (const [name, tokens] of /** @type {[string, TextToken[]][]} */ ([
            ["neutral leader", found.tokens.filter((token) => token.leads && !isLeader(token))],
            [plural(others.length, "other"), others],
        ])) if (tokens.length) masses.push(row(name, sum(tokens, "contribution"), share(tokens)));
        const total = [row("bias", found.bias), row("logit", found.logit)];
        const against = el("bdi", {}, isTwo ? nameOf(0) : "other classes");
        const bars = el("span", {}, against, " ", el("bdi", {}, towards));
        const formula = isTwo ? `The probability of ${towards} is 1 / (1 + exp(-logit)).`
            : "Probabilities are the softmax of the logits of all classes.";
        const terms = [
            ["Vote", `what a token adds to the logit of ${towards}. ${formula}`],
            ["Leader", "a token that attends to itself alone: its followers move towards it."],
            ["Mass", "the share of a leader in the mean after the last layer; it adds mass times weight to the logit."],
        ].slice(0, leaders.length ? 3 : 1).flatMap(([term, means]) => [el("dt", {}, term), el("dd", {}, means)]);
        const heads = ["token", "vote", bars, leaders.length ? "leader" : ""];
        return [
            table("active tokens", heads, [...votes, ...total]),
            leaders.length ? table("leaders", ["token", "adds", "", "mass × weight"], [...masses, ...total]) : "",
            el("dl", { class: "hardmax-note" }, ...terms),
        ];

        /** A line, what it adds, a bar, and what else. @param {string | TextToken} what @param {number} adds */
        function row(what, adds, beside = "") {
            const last = el("bdi", {}, shortName(beside));
            if (typeof what === "string") return [what, signed(adds), "", last];
            const bar = el("i", { class: `${css(what.side)} ${adds < 0 ? "against" : "for"}` });
            bar.style.width = `${((50 * Math.abs(adds)) / largest).toFixed(1)}%`;
            const label = el("bdi", {}, `${shortName(what.word)}${what.count > 1 ? ` ×${what.count}` : ""}`);
            const look = { class: `hm-token ${cssOf(what)}`, title: "Cross it out wherever it is" };
            return [el("button", { ...look, click: () => remove(what) }, label), signed(adds), bar, last];
        }

        /** Columns without a head are left out.
         * @param {string} title @param {(string | HTMLElement)[]} heads @param {(string | HTMLElement)[][]} rows */
        function table(title, heads, rows) {
            /** @type {(n: number, content: string | HTMLElement, scope?: string | false) => HTMLElement} */
            const cell = (n, content, scope = !n && "row") =>
                el(scope ? "th" : "td", { class: n === 2 && "hardmax-votes", scope }, content);
            const kept = [...heads.keys()].filter((n) => heads[n]);
            const head = el("tr", {}, ...kept.map((n) => cell(n, heads[n], "col")));
            const body = rows.map((cells) => el("tr", {}, ...kept.map((n) => cell(n, cells[n]))));
            return el("table", {}, el("caption", {}, title), el("thead", {}, head), el("tbody", {}, ...body));
        }
    }
}
