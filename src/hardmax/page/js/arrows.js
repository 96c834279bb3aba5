// Arrows above a text, from words to the modifiers that they attend to.

const HIGHEST = 22; // pixels above a line, of the points that bend an arrow

/** Draw an arrow from each mark with `data-to` to the word that begins there. If that is on another
 * line, there is no arrow: the style sheet writes the modifier beside the mark, which is `hm-apart`.
 * @param {HTMLElement} text @param {Element} svg */
export function drawArrows(text, svg) {
    const words = new Map(Array.from(text.querySelectorAll(".hm-modifier"), (word) =>
        [word.getAttribute("data-start"), word]));
    const links = Array.from(text.querySelectorAll("mark[data-to]"), (mark) => {
        const to = mark.getAttribute("data-to") ?? "";
        mark.classList.remove("hm-apart");
        return { mark, to, from: mark.querySelector("[data-start]") ?? mark, word: words.get(to) ?? mark };
    });
    let near = links;
    for (let count = -1; count !== near.length;) {
        count = near.length;
        const isOneLine = near.map(({ from, word }) => {
            const [a, b] = [from, word].map(boxOf);
            return Math.abs(a.top - b.top) < a.height / 2;
        });
        // A name takes room, and may move other words to the next line: look again.
        near.forEach(({ mark }, n) => mark.classList.toggle("hm-apart", !isOneLine[n]));
        near = near.filter((_, n) => isOneLine[n]);
    }
    const { left, top } = text.getBoundingClientRect();
    const head = (/** @type {Element} */ element) => {
        const box = boxOf(element);
        return { x: box.left + box.width / 2 - left, y: box.top - top + 3 };
    };
    const arrows = near.map(({ mark, to, from, word }) => {
        const [a, b] = [from, word].map(head);
        const high = Math.min(HIGHEST, 10 + 0.08 * Math.abs(a.x - b.x));
        const bend = `C${a.x} ${a.y - high} ${b.x} ${b.y - high}`;
        const arrow = document.createElementNS("http://www.w3.org/2000/svg", "path");
        arrow.setAttribute("d", `M${a.x} ${a.y}${bend} ${b.x} ${b.y}m-4-5l4 5l4-5`);
        arrow.setAttribute("class", mark.classList[0]);
        return { arrow, mark, to };
    });
    svg.replaceChildren(...arrows.map(({ arrow }) => arrow));
    return arrows;
}

/** Where the first line of an element is. @param {Element} element */
const boxOf = (element) => element.getClientRects()[0] ?? element.getBoundingClientRect();
