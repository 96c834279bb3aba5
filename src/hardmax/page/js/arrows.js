// Arrows above a text, from words to the modifiers that they attend to.

const HIGHEST = 22; // pixels above a line, of the points that bend an arrow

/** Draw an arrow from each mark with `data-to` to the word that begins there. If that is on another
 * line, the arrow leaves its own line at the beginning, and comes back at the end of the other one.
 * @param {HTMLElement} text @param {Element} svg */
export function drawArrows(text, svg) {
    const { left, top, width } = text.getBoundingClientRect();
    const isRight = getComputedStyle(text).direction === "rtl";
    const [begin, end] = isRight ? [width, 0] : [0, width];
    const words = new Map(Array.from(text.querySelectorAll(".hm-modifier"), (word) =>
        [word.getAttribute("data-start"), word]));
    const head = (/** @type {Element} */ element) => {
        const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
        return { x: box.left + box.width / 2 - left, y: box.top - top + 3, height: box.height };
    };
    const arrows = Array.from(text.querySelectorAll("mark[data-to]"), (mark) => {
        const to = mark.getAttribute("data-to") ?? "";
        const first = mark.querySelector("[data-start]") ?? mark;
        const [a, b] = [first, words.get(to) ?? mark].map(head);
        const high = Math.min(HIGHEST, 10 + 0.08 * Math.abs(a.x - b.x));
        const [over, above] = [a.y - high, b.y - high];
        const isOneLine = Math.abs(a.y - b.y) < a.height / 2;
        const between = isOneLine ? `C${a.x} ${over} ${b.x} ${above}`
            : `Q${a.x} ${over} ${begin} ${over}M${end} ${above}Q${b.x} ${above}`;
        const arrow = document.createElementNS("http://www.w3.org/2000/svg", "path");
        arrow.setAttribute("d", `M${a.x} ${a.y}${between} ${b.x} ${b.y}m-4-5l4 5l4-5`);
        arrow.setAttribute("class", mark.classList[0]);
        return { arrow, mark, to };
    });
    svg.replaceChildren(...arrows.map(({ arrow }) => arrow));
    return arrows;
}
