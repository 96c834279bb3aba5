// An explanation as elements, in the words and marks of Python's: answer, marked text, votes.
import { el, plural } from "./dom.js";

/** @typedef {import("./text.js").Model} Model @typedef {import("./text.js").Classified} Classified
 * @typedef {import("./text.js").TextToken} TextToken */

const MOST_NAMED = 4; // votes of each side in the summary
const MOST_VOTES = 10; // that are shown at once
const UNSAFE =
    /(?![\n\t])[\p{Cc}\p{Cs}\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const SIZEABLE = 0.1; // of the largest vote: modifiers that change a vote by more are shown in the text
const SHADES = [0.1, 0.3, 0.6]; // of the largest vote: a mark is the darker, the more of these it has
const WHOLE_TEXT = 20_000; // characters: of a longer text, only the beginning is shown

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

export function explanationOf(/** @type {Model} */ model, /** @type {Classified} */ found) {
    const active = found.tokens.filter((token) => token.active);
    const less = (/** @type {"vote" | "weight"} */ what, /** @type {TextToken[]} */ ...[a, b]) =>
        Math.abs(b[what]) - Math.abs(a[what]);
    active.sort((a, b) => less("vote", a, b) || less("weight", a, b));
    const leaders = active.filter((token) => token.leads);
    const largest = Math.abs(active[0]?.vote) || 1;
    const isTwo = model.classes.length === 2;
    const hasLinks = found.tokens.some((token) => token.modifiers.length);
    const nameOf = (/** @type {number} */ c) => shortName(model.classes[c]);
    // The last class comes first, then the first: as `place_of_class` of Python.
    const css = (/** @type {number} */ index) => `c${((index + 1) % model.classes.length) % 12}`;
    const cssOf = (/** @type {TextToken} */ token) =>
        `${css(token.classIndex)}${token.leads && model.share < 1 ? " leads" : ""}`;
    // What stands beside a text that runs the other way keeps its place.
    const isolated = (/** @type {unknown} */ name) => el("bdi", {}, shortName(name));
    const attends = (/** @type {TextToken} */ { modifiers }) =>
        (modifiers.length ? [" ← ", isolated(modifiers.join(", "))] : []);
    return { showAnswer, showText, showVotes };

    /** The answer, a sentence, notes, and the probabilities of the classes. */
    function showAnswer() {
        const { probabilities } = found;
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
            el("p", { class: "hardmax-summary" }, ...sentence()),
            ...found.notes.map((note) => el("p", { class: "hardmax-warning" }, note)),
            el("div", { class: "hardmax-bar", "aria-hidden": "true" }, ...bars),
            el("ul", { class: "hardmax-classes" }, ...items),
        ];
    }

    /** The strongest votes for the label and against it, and what they attend to; or why not. */
    function sentence() {
        const { decided, reason, answer } = found;
        if (!decided) return [`${reason[0].toUpperCase()}${reason.slice(1)}.`];
        const sides = [["Because of", true], ["Against", false]];
        const named = sides.flatMap(([name, isFor]) => {
            const side = active.filter(({ classIndex }) => (classIndex === answer) === isFor);
            const [more, end] = [side.length - MOST_NAMED, side.length ? ". " : ""];
            const shown = side.slice(0, MOST_NAMED).flatMap((token, n) => [
                n ? ", " : `${name}: `,
                el("b", { class: css(token.classIndex) }, isolated(token.word), ...attends(token)),
            ]);
            return [...shown, more > 0 ? ` and ${more.toLocaleString("en")} more. ` : end];
        });
        return named;
    }

    /** The text, active tokens marked, words apart so that they can be crossed out. Where tokens
     * overlap, leaders come first, then larger votes. In `data-to` a mark has where the modifier begins
     * that it attends to.
     * @param {string} text @param {{start: number, end: number}[]} words
     * @param {Set<number>} out where crossed-out words start */
    function showText(text, words, out) {
        const last = Math.min(text.length, WHOLE_TEXT);
        const taken = new Uint8Array(text.length);
        /** @type {{start: number, end: number, look: import("./dom.js").Attributes}[]} */
        const marks = [];
        /** What modifiers do, and whether there are arrows to them, by where they begin.
         * @type {Map<number, {change: string, isShown: boolean}>} */
        const modifiers = new Map();
        for (const token of [...leaders, ...active.filter((each) => !each.leads)]) {
            const shade = SHADES.filter((share) => Math.abs(token.vote) / largest >= share).length;
            token.places.forEach(([start, end], n) => {
                if (end > last || taken.subarray(start, end).includes(1)) return;
                taken.fill(1, start, end);
                const vote = `${token.word}: vote ${signed(token.vote)}`;
                const look = { class: `${cssOf(token)} s${shade}`, title: vote };
                const [at, until, factor, shift] = token.attended[n] ?? [-1, -1, 1, 0];
                marks.push({ start, end, look });
                if (at < 0) return;
                const moves = (factor - 1) * token.weight + shift / found.size;
                const isShown = Math.abs(moves) > SIZEABLE * largest;
                const change = `× ${factor}${shift ? `, then ${signed(shift / found.size)}` : ""}`;
                modifiers.set(at, { change, isShown: isShown || !!modifiers.get(at)?.isShown });
                const [by, otherwise] = [text.slice(at, until), signed(token.weight)];
                const title = `${vote}; attends to “${by}” (${change}), else ${otherwise}`;
                Object.assign(look, isShown ? { title, "data-to": at, "data-by": by } : { title });
            });
        }
        let [at, word] = [0, 0];
        const shown = marks.sort((a, b) => a.start - b.start).flatMap(({ start, end, look }) =>
            [...cutWords(start), el("mark", look, ...cutWords(end))]);
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
                const [modifier, spelt] = [modifiers.get(start), visibleText(text.slice(start, end))];
                const title = `“${spelt}” changes the votes of words after it: ${modifier?.change}`;
                if (modifier) Object.assign(look, { class: modifier.isShown && "hm-modifier", title });
                const shown = el(out.has(start) ? "del" : "span", look, spelt);
                parts.push(visibleText(text.slice(at, start)), shown);
                at = end;
            }
            parts.push(visibleText(text.slice(at, until)));
            at = until;
            return parts;
        }
    }

    /** The votes, which add up to the logit, and what the terms mean.
     * @param {(token: TextToken) => void} remove what a click on a token does */
    function showVotes(remove) {
        if (!active.length) return [];
        const [positive, more] = [shortName(found.positiveClass), active.slice(MOST_VOTES)];
        const rows = active.slice(0, MOST_VOTES).map(rowOf);
        const line = (/** @type {string} */ name, /** @type {number} */ adds) =>
            [name, signed(adds), "", ""];
        if (more.length) {
            const rest = more.reduce((sum, token) => sum + token.vote, 0);
            const [count, most] = [more.length.toLocaleString("en"), Math.abs(more[0].vote).toFixed(3)];
            rows.push(line(`${count} more, each ≤ ${most}`, rest));
        }
        rows.push(line("bias", found.bias), line("logit", found.logit));
        const against = el("bdi", {}, isTwo ? nameOf(0) : "other classes");
        const classes = el("span", {}, against, " ", el("bdi", {}, positive));
        const heads = ["token", "vote", classes, "attends to"];
        const decides = isTwo ? ", which is the label if the logit is above 0."
            : "; the largest logit gives the label.";
        const terms = [
            ["Vote", `what a token adds to the logit of ${positive}${decides}`],
            ["←", "the token attends to this word, which changes its vote; “else” is what the vote would "
                + "be without it. Arrows show those that change it by more than a tenth of the largest vote."],
            ["★", "the strongest word for its class."],
        ].filter(([term]) => (term !== "←" || hasLinks) && (term !== "★" || model.share < 1));
        const meanings = terms.flatMap(([term, means]) => [el("dt", {}, term), el("dd", {}, means)]);
        const columns = hasLinks ? 4 : 3;
        /** @param {(string | HTMLElement)[]} cells @param {"row" | "col"} scope of heads */
        const tableRow = (cells, scope) => el("tr", {}, ...cells.slice(0, columns).map((content, n) => {
            const look = { class: n === 2 && "hardmax-votes" };
            return n && scope === "row" ? el("td", look, content) : el("th", { ...look, scope }, content);
        }));
        const caption = el("caption", {}, "votes, which add up to the logit");
        const tableOf = (/** @type {(string | HTMLElement)[][]} */ listed, /** @type {HTMLElement[]} */ ...top) =>
            el("table", {}, ...top, el("tbody", {}, ...listed.map((cells) => tableRow(cells, "row"))));
        const rest = el("details", {}, el("summary", {}, `${plural(more.length, "vote")} more`),
            tableOf(more.slice(0, 1000).map(rowOf)));
        return [
            tableOf(rows, caption, el("thead", {}, tableRow(heads, "col"))),
            ...(more.length ? [rest] : []),
            el("dl", { class: "hardmax-note" }, ...meanings),
        ];

        /** A token, its vote, a bar, and what it attends to.
         * @param {TextToken} token @returns {(string | HTMLElement)[]} */
        function rowOf(token) {
            const direction = token.vote < 0 ? "against" : "for";
            const bar = el("i", { class: `${css(token.classIndex)} ${direction}` });
            bar.style.width = `${((50 * Math.abs(token.vote)) / largest).toFixed(1)}%`;
            const times = token.count > 1 ? ` ×${token.count}` : "";
            const otherwise = token.modifiers.length ? `, else ${signed(token.weight)}` : "";
            const title = "Cross it out wherever it is";
            const look = { class: `hm-token ${cssOf(token)}`, title, click: () => remove(token) };
            const name = el("button", look, isolated(token.word), times);
            return [name, signed(token.vote), bar, el("span", {}, ...attends(token), otherwise)];
        }
    }
}
